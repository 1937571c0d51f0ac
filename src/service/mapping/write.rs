//! Writes requests: from our shape into the names, or the shape, that the service wants.

use serde_json::{Map, Value};

use super::kind::WriteKind;
use super::path::Path;
use super::profile_mapping::Mapping;

impl Mapping {
    /// A request's body as the service wants it. An expression of the profile writes all of it;
    /// without one, the dialect's names take the place of the contract's. The error is a sentence;
    /// nothing may be sent then.
    pub(crate) fn request(
        &self,
        kind: WriteKind,
        body: Map<String, Value>,
    ) -> Result<Value, String> {
        if let Some(expression) = self.write.get(&kind) {
            let name = format!("the profile's expression write.{}", kind.as_str());
            let written =
                expression.apply(&Value::Object(body)).map_err(|why| format!("{name} {why}"))?;
            let refuse = || format!("{name} does not give an object");
            return Some(written).filter(Value::is_object).ok_or_else(refuse);
        }
        let names = self.names_of(kind);
        let mut written = Map::new();
        for (name, value) in body {
            let named = names.iter().find(|(own, ..)| *own == name);
            let taken = match named.and_then(|(.., path)| Path::parse(path)) {
                Some(path) => path.set(&mut written, value).err(),
                None => written.insert(name.clone(), value).map(|_| name),
            };
            if let Some(taken) = taken {
                return Err(format!(
                    "the request cannot hold two things at `{taken}`: the dialect gives both that name"
                ));
            }
        }
        Ok(Value::Object(written))
    }

    /// The request fields of the dialect: our name, the dialect's key, the service's name.
    pub(crate) fn names_of(&self, kind: WriteKind) -> Vec<(&'static str, &'static str, &str)> {
        let fields = kind.fields().iter().copied();
        fields.filter_map(|(own, key)| Some((own, key, self.dialect.get(key)?))).collect()
    }
}

impl WriteKind {
    /// The fields of the contract's request that bookctl sends by itself, with the dialect's key
    /// for the name of each. Without one, an expression has to say it.
    pub(crate) fn fields(self) -> &'static [(&'static str, &'static str)] {
        match self {
            WriteKind::Search => {
                &[("datetime", ""), ("party_size", ""), ("providers", "providers_field")]
            }
            WriteKind::Slots => &[
                ("venue_id", "slots_venue_field"),
                ("datetime", "slots_datetime_field"),
                ("party_size", "slots_party_size_field"),
            ],
            WriteKind::Otp => &[("otp", "otp_field")],
            WriteKind::Modify => &[
                ("datetime", "modify_datetime_field"),
                ("party_size", "modify_party_size_field"),
                ("seating_preference", "modify_seating_field"),
            ],
            WriteKind::Cancel => &[("reason", "cancel_reason_field")],
            WriteKind::Connect => &[("phone", "session_phone_field")],
            WriteKind::Verify => &[("code", "session_code_field")],
            WriteKind::Create | WriteKind::Payment | WriteKind::Abort | WriteKind::Action => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn dialect_names_replace_ours_inside_other_objects_too() {
        let mut mapping = Mapping::default();
        let body = || {
            object(
                json!({"venue_id": 17, "datetime": "2026-12-01", "party_size": 2, "provider": "a"}),
            )
        };
        assert_eq!(mapping.request(WriteKind::Slots, body()), Ok(Value::Object(body())));
        for (key, name) in
            [("slots_venue_field", "query.venue"), ("slots_party_size_field", "query.covers")]
        {
            mapping.dialect.rename(key, name).unwrap();
        }
        let sent =
            json!({"query": {"venue": 17, "covers": 2}, "datetime": "2026-12-01", "provider": "a"});
        assert_eq!(mapping.request(WriteKind::Slots, body()), Ok(sent));
        for taken in ["provider", "datetime", "query.venue.size"] {
            mapping.dialect.rename("slots_party_size_field", taken).unwrap();
            assert!(mapping.request(WriteKind::Slots, body()).is_err(), "{taken}");
        }
    }

    #[test]
    fn the_sessions_own_fields_keep_their_names_in_other_requests() {
        let mut mapping = Mapping::default();
        mapping.dialect.rename("session_code_field", "pin").unwrap();
        let code = object(json!({"code": "1"}));
        assert_eq!(mapping.request(WriteKind::Verify, code.clone()), Ok(json!({"pin": "1"})));
        assert_eq!(mapping.request(WriteKind::Action, code), Ok(json!({"code": "1"})));
    }
}
