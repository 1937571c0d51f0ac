//! The names that the service's specification leaves open, in exactly one place.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

macro_rules! dialect {
    ($($field:ident = $default:literal, $meaning:literal;)*) => {
        /// The open names; each has a default and can be set per profile under `[profiles.NAME.dialect]`.
        #[derive(Clone, Debug, Deserialize, Serialize)]
        #[serde(default, deny_unknown_fields)]
        pub(crate) struct Dialect {
            $(#[doc = $meaning] pub(crate) $field: String,)*
        }

        impl Dialect {
            /// Every open name with its default and its meaning, in the order of the documentation.
            pub(crate) const TABLE: &[(&str, &str, &str)] =
                &[$((stringify!($field), $default, $meaning),)*];
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
    auth_scheme = "Bearer", "word before the key; empty means the bare key";
    venues_field = "venues", "array in the venue search response";
    slots_field = "slots", "array in the availability response";
    providers_field = "providers", "request field that names the providers to use";
    slots_venue_field = "venue_id", "availability request: the venue";
    slots_datetime_field = "datetime", "availability request: the time";
    slots_party_size_field = "party_size", "availability request: the party size";
    sessions_field = "sessions", "array in the session list response";
    modify_datetime_field = "datetime", "modify request: the time";
    modify_party_size_field = "party_size", "modify request: the party size";
    modify_seating_field = "seating_preference", "modify request: the seating";
    cancel_reason_field = "reason", "optional cancel field";
    session_phone_field = "phone", "where the code of a new session is texted";
    session_code_field = "code", "verify field for the received code";
    provider_b = "provider_b", "id of the provider with connected person sessions";
    otp_field = "otp", "continue field for the one-time code";
    next_action_type_field = "type", "what names the kind of pause in `next_action`";
    otp_action = "otp", "the pause that asks for a one-time code";
    payment_action = "payment_approval", "the pause that asks for a payment answer";
}

impl Dialect {
    /// The names that are not the default ones.
    pub(crate) fn own_names(&self) -> Map<String, Value> {
        let all = serde_json::to_value(self).unwrap_or_default();
        let all = all.as_object().cloned().unwrap_or_default();
        let is_default = |key: &str, value: &Value| {
            let row = Dialect::TABLE.iter().find(|(name, ..)| *name == key);
            row.is_some_and(|(_, default, _)| value == default)
        };
        all.into_iter()
            .filter(|(key, value)| !is_default(key, value))
            .collect()
    }
}

/// The elements of a list response: the dialect's field, else `data`, else a bare array.
pub(crate) fn list<'a>(document: &'a Value, field: &str) -> Option<&'a Vec<Value>> {
    document
        .get(field)
        .or_else(|| document.get("data"))
        .unwrap_or(document)
        .as_array()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_is_read_from_its_field_else_from_data_else_from_a_bare_array() {
        for document in [json!({"results": [1]}), json!({"data": [1]}), json!([1])] {
            assert_eq!(
                list(&document, "results").map(Vec::len),
                Some(1),
                "{document}"
            );
        }
        assert_eq!(list(&json!({"venues": 3}), "venues"), None);
    }
}
