//! The open names: the table of the contract, written a second time for the service's side.

use axum::http::{HeaderName, HeaderValue};

use super::kind::RequestKind;
use super::path::Path;

macro_rules! dialect {
    ($($field:ident = $default:literal, $meaning:literal;)*) => {
        /// The open names; each has a default that `[dialect]` can replace.
        #[derive(Clone, Debug)]
        pub(crate) struct Dialect {
            $(#[doc = $meaning] pub(super) $field: String,)*
        }

        impl Dialect {
            /// Every open name with its default and its meaning, in the order of the contract.
            pub(crate) const TABLE: &[(&str, &str, &str)] =
                &[$((stringify!($field), $default, $meaning),)*];

            fn name(&mut self, key: &str) -> Option<&mut String> {
                match key {
                    $(stringify!($field) => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }

        impl Default for Dialect {
            fn default() -> Self {
                Self { $($field: $default.to_owned(),)* }
            }
        }
    };
}

dialect! {
    auth_header = "Authorization", "header that carries the API key";
    auth_scheme = "Bearer", "word before the key; empty for the key alone";
    service_name = "Booking", "the service's name in its signature header, `Booking-Signature`";
    provider_a = "provider_a", "id of the provider that can change and cancel bookings";
    provider_b = "provider_b", "id of the provider where people connect their accounts";
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

/// Names that must differ, and the stated names beside them.
const BESIDE_EACH_OTHER: &[(&[&str], &[&str])] = &[
    (&["provider_a", "provider_b"], &["provider_c"]),
    (
        &["providers_field"],
        &[
            "vertical",
            "datetime",
            "location",
            "latitude",
            "longitude",
            "party_size",
        ],
    ),
    (
        &[
            "slots_venue_field",
            "slots_datetime_field",
            "slots_party_size_field",
        ],
        &["provider"],
    ),
    (
        &[
            "modify_datetime_field",
            "modify_party_size_field",
            "modify_seating_field",
        ],
        &[],
    ),
    (&["otp_field"], &["psp_response", "psp_abort"]),
    (&["session_phone_field"], &["end_user", "provider"]),
    (&["otp_action", "payment_action"], &[]),
    (&["event_id_field", "event_type_field"], &["data"]),
];

impl Dialect {
    /// Sets a name. The error says why it is refused, as the predicate of a sentence.
    pub(super) fn set(&mut self, key: &str, name: &str) -> Result<(), String> {
        let own = self.name(key).ok_or_else(|| {
            let known: Vec<&str> = Self::TABLE.iter().map(|(key, ..)| *key).collect();
            format!("is not known; the names are {}", known.join(", "))
        })?;
        let why = match key {
            "auth_scheme" if HeaderValue::from_str(name).is_err() => "cannot travel in a header",
            "auth_scheme" => "",
            _ if name.trim().is_empty() => "is empty",
            "auth_header" if HeaderName::try_from(name).is_err() => "is no header name",
            "service_name" if HeaderName::try_from(format!("{name}-Signature")).is_err() => {
                "cannot stand in the name of a header"
            }
            key if key.ends_with("_field") && Path::parse(name).is_none() => {
                "has an empty part between its dots"
            }
            _ => "",
        };
        if !why.is_empty() {
            return Err(why.to_owned());
        }
        *own = name.to_owned();
        Ok(())
    }

    /// A name that gets in the way of another: its key, and why it cannot stand.
    pub(super) fn clash(&mut self) -> Option<(&'static str, String)> {
        for (keys, stated) in BESIDE_EACH_OTHER {
            let mut taken: Vec<Path> = stated.iter().filter_map(|it| Path::parse(it)).collect();
            for key in *keys {
                let name = self.name(key).cloned().unwrap_or_default();
                let Some(path) = Path::parse(&name) else {
                    continue;
                };
                if taken.iter().any(|it| it.meets(&path)) {
                    return Some((key, format!("cannot be {name:?}, which is used beside it")));
                }
                taken.push(path);
            }
        }
        None
    }

    /// The contract's names of a request's fields, with the paths at which the service takes them.
    pub(super) fn request_names(&self, kind: RequestKind) -> Vec<(&'static str, &str)> {
        match kind {
            RequestKind::Search => vec![("providers", &self.providers_field)],
            RequestKind::Slots => vec![
                ("venue_id", &self.slots_venue_field),
                ("datetime", &self.slots_datetime_field),
                ("party_size", &self.slots_party_size_field),
            ],
            RequestKind::Otp => vec![("otp", &self.otp_field)],
            RequestKind::Modify => vec![
                ("datetime", &self.modify_datetime_field),
                ("party_size", &self.modify_party_size_field),
                ("seating_preference", &self.modify_seating_field),
            ],
            RequestKind::Cancel => vec![("reason", &self.cancel_reason_field)],
            RequestKind::Connect => vec![("phone", &self.session_phone_field)],
            RequestKind::Verify => vec![("code", &self.session_code_field)],
            RequestKind::Create
            | RequestKind::Payment
            | RequestKind::Abort
            | RequestKind::Action => {
                vec![]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_names_and_the_defaults_of_the_clients() {
        assert_eq!(Dialect::TABLE, crate::adapter::Dialect::TABLE);
    }
}
