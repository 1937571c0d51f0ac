//! The names that the service's specification leaves open, in exactly one place.

use reqwest::header::{HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::{Map, Value};

use super::names::is_one_of;
use super::path::Path;
use super::transport::OWN;
use crate::service::documents::text_fold::same_words;

macro_rules! dialect {
    ($($field:ident = $default:literal, $meaning:literal;)*) => {
        /// The open names, each with a default, set under `[profiles.NAME.dialect]`.
        #[derive(Clone, Debug, Serialize)]
        #[serde(into = "Map<String, Value>")]
        pub(crate) struct Dialect {
            $(#[doc = $meaning] pub(crate) $field: String,)*
        }

        impl Dialect {
            /// Every open name with its default and its meaning, in the order of the documentation.
            pub(crate) const TABLE: &[(&str, &str, &str)] =
                &[$((stringify!($field), $default, $meaning),)*];

            pub(crate) fn get(&self, key: &str) -> Option<&str> {
                match key {
                    $(stringify!($field) => Some(&self.$field),)*
                    _ => None,
                }
            }

            fn name(&mut self, key: &str) -> Option<&mut String> {
                match key {
                    $(stringify!($field) => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }

        impl Default for Dialect {
            fn default() -> Self {
                Dialect { $($field: $default.to_owned(),)* }
            }
        }
    };
}

dialect! {
    auth_header = "Authorization", "header that carries the API key";
    auth_scheme = "Bearer", "word before the key; empty for the key alone";
    service_name = "Booking", "the service's name in its signature header, `Booking-Signature`";
    provider_a = "provider_a", "id of the provider that can change and cancel bookings";
    provider_b = "provider_b", "id of the provider where guests connect their accounts";
    venues_field = "venues", "array in the venue search response";
    slots_field = "slots", "array in the availability response";
    sessions_field = "sessions", "array in the session list response";
    providers_field = "providers", "search request: the providers to use";
    slots_venue_field = "venue_id", "availability request: the venue";
    slots_datetime_field = "datetime", "availability request: the time";
    slots_party_size_field = "party_size", "availability request: the party size";
    modify_datetime_field = "datetime", "modify request: the time";
    modify_party_size_field = "party_size", "modify request: the party size";
    modify_seating_field = "seating_preference", "modify request: the seating";
    otp_field = "otp", "continue request: the one-time code";
    session_phone_field = "phone", "connect request: the phone number for the code";
    session_code_field = "code", "verify request: the code";
    cancel_reason_field = "reason", "cancel request: the reason";
    next_action_type_field = "type", "field of `next_action` with the kind of action";
    otp_action = "otp", "kind of action that asks for a one-time code";
    payment_action = "payment_approval", "kind of action that asks for a payment answer";
    event_id_field = "id", "id of a webhook event";
    event_type_field = "type", "kind of a webhook event";
}

/// What a paused booking waits for (spec, Booking: next_action).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    Otp,
    Payment,
    /// Anything else: it is answered with the fields that it lists.
    Other,
}

impl Dialect {
    pub(crate) fn pause(&self, next_action: Option<&Value>) -> Pause {
        let Some(action) = next_action else {
            return Pause::Other;
        };
        let named = Path::parse(&self.next_action_type_field).and_then(|path| path.get(action));
        let kind = named.or(Some(action)).and_then(Value::as_str);
        if let Some(kind) = kind {
            return self.pause_of_word(kind);
        }
        // A kind under another name still is one of the two words.
        let members = action.as_object().into_iter().flatten();
        let mut known = members
            .filter_map(|(_, value)| Some(self.pause_of_word(value.as_str()?)))
            .filter(|kind| *kind != Pause::Other);
        if let (Some(kind), None) = (known.next(), known.next()) { kind } else { Pause::Other }
    }

    fn pause_of_word(&self, word: &str) -> Pause {
        if same_words(word, &self.otp_action) {
            Pause::Otp
        } else if same_words(word, &self.payment_action) {
            Pause::Payment
        } else {
            Pause::Other
        }
    }

    /// Says another name for `key`; refused, with the reason, where nothing could travel under it.
    pub(crate) fn rename(&mut self, key: &str, name: &str) -> Result<(), String> {
        let own = self.name(key).ok_or_else(|| "is not a key of the dialect".to_owned())?;
        let is_header = |name: &str| HeaderName::try_from(name).is_ok();
        let why = match key {
            "auth_scheme" if HeaderValue::from_str(name).is_ok() => None,
            "auth_scheme" => Some("it cannot be used in a header"),
            _ if name.trim().is_empty() => Some("it is empty"),
            "auth_header" if !is_header(name) => Some("it is not a valid header name"),
            "auth_header" if is_one_of(OWN, name) => {
                Some("every request has that header for something else")
            }
            // A code that was sent under it would end a payment.
            "otp_field" if matches!(name, "psp_response" | "psp_abort") => {
                Some("another field has that name")
            }
            key if key.ends_with("_field") => Path::refusal(name),
            _ if name.chars().any(char::is_control) => Some("it has a control character"),
            "service_name" if !is_header(&signature_header(name)) => {
                Some("with `-Signature` it is not a valid header name")
            }
            _ => None,
        };
        if let Some(why) = why {
            return Err(format!("cannot be {name:?}: {why}"));
        }
        *own = name.to_owned();
        Ok(())
    }

    pub(crate) fn signature_header(&self) -> String {
        signature_header(&self.service_name)
    }

    pub(crate) fn attempt_header(&self) -> String {
        format!("{}-Delivery-Attempt", self.service_name)
    }
}

/// The names that differ from the defaults.
impl From<Dialect> for Map<String, Value> {
    fn from(dialect: Dialect) -> Self {
        let rows = Dialect::TABLE.iter();
        let own = rows.filter_map(|(key, default, _)| Some((key, dialect.get(key)?, default)));
        let own = own.filter(|(_, name, default)| name != *default);
        own.map(|(key, name, _)| ((*key).to_owned(), name.into())).collect()
    }
}

fn signature_header(service_name: &str) -> String {
    format!("{service_name}-Signature")
}

/// The `<Service>` of a header that may carry a signature.
pub(crate) fn signing_service(header: &str) -> Option<&str> {
    let at = header.len().checked_sub("-signature".len())?;
    let ends = header.get(at..)?.eq_ignore_ascii_case("-signature");
    header.get(..at).filter(|service| ends && !service.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_under_which_nothing_could_travel_is_refused() {
        let mut dialect = Dialect::default();
        let refused = "auth_header=X Key|auth_header=|auth_header=Schlüssel|auth_scheme=Bearer\n|service_name=My Booking|\
            service_name=|otp_field= |otp_field=a..b|otp_field=pin\n|venues_field=..*|venues_field=data.*|\
            venues_field=data[0]|venues_field=$.data|otp_action=a\u{1b}b|provider_a=|otp_feild=pin";
        for setting in refused.split('|') {
            let (key, name) = setting.split_once('=').unwrap();
            assert!(dialect.rename(key, name).is_err(), "{setting:?}");
        }
        assert_eq!(json!(dialect), json!({}));
        assert_eq!(dialect.rename("auth_scheme", ""), Ok(()));
    }

    #[test]
    fn pause_is_found_by_its_word_at_any_place() {
        let mut dialect = Dialect::default();
        let pause = |dialect: &Dialect, action: Value| dialect.pause(Some(&action));
        for (action, expected) in [
            (json!({"type": "otp"}), Pause::Otp),
            (json!({"kind": "OTP", "message": "Enter it"}), Pause::Otp),
            (json!("payment approval"), Pause::Payment),
            (json!({"type": "call", "channel": "otp"}), Pause::Other),
            (json!({"a": "otp", "b": "payment_approval"}), Pause::Other),
            (json!(["otp"]), Pause::Other),
        ] {
            assert_eq!(pause(&dialect, action.clone()), expected, "{action}");
        }
        dialect.rename("next_action_type_field", "action.code").unwrap();
        dialect.rename("otp_action", "sms_code").unwrap();
        let action = json!({"action": {"code": "SmsCode"}});
        assert_eq!(pause(&dialect, action), Pause::Otp);
    }
}
