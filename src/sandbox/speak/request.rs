//! Requests: from what came to the contract's shape.

use serde_json::{Map, Value};

use super::kind::RequestKind;
use super::path::Path;
use super::scalars::{self, Times};
use super::speech::Speech;

/// A field of a request that is not as the service takes it, or the whole body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrongField {
    pub(crate) field: String,
    pub(crate) detail: String,
}

impl WrongField {
    fn new(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            detail: detail.into(),
        }
    }
}

impl Speech {
    /// The body of a request in the contract's shape, with its ids, times and providers as they came.
    pub(crate) async fn read(
        &self,
        kind: RequestKind,
        body: Value,
    ) -> Result<Map<String, Value>, WrongField> {
        if let Some(expression) = self.read.get(&kind) {
            let name = kind.as_str();
            let read = expression.apply(&body).await;
            return match read {
                Ok(Value::Object(fields)) => Ok(fields),
                Ok(_) => Err(WrongField::new(
                    "body",
                    format!("the expression read.{name} does not give an object"),
                )),
                Err(why) => Err(WrongField::new(
                    "body",
                    format!("the expression read.{name} {why}"),
                )),
            };
        }
        match body {
            Value::Object(fields) => Ok(self.renamed(kind, fields)),
            _ => Err(WrongField::new("body", "must be a JSON object")),
        }
    }

    /// A body whose fields have the contract's names. What came under a contract's name that the service does not have
    /// is not that field.
    fn renamed(&self, kind: RequestKind, mut came: Map<String, Value>) -> Map<String, Value> {
        let mut read = Map::new();
        let names = self.dialect.request_names(kind).into_iter();
        let names = names.filter_map(|(name, path)| Some((name, Path::parse(path)?)));
        let renamed: Vec<_> = names.filter(|(name, path)| !path.is(name)).collect();
        for (name, path) in &renamed {
            if let Some(value) = path.take(&mut came) {
                read.insert((*name).to_owned(), value);
            }
        }
        for (name, _) in &renamed {
            came.shift_remove(*name);
        }
        came.extend(read);
        came
    }

    /// Whether the service can be asked in a body for what stands at the top: `otp` under this dialect's name.
    pub(crate) fn answers_otp(&self, body: &Value) -> bool {
        let path = Path::parse(&self.dialect.otp_field);
        let fields = body.as_object().cloned();
        path.zip(fields)
            .is_some_and(|(path, mut fields)| path.take(&mut fields).is_some())
    }

    /// The numbers in a request that stand for ids. The error names the field that is no number.
    pub(crate) fn numbers(&self, fields: &Map<String, Value>) -> Result<Vec<i64>, WrongField> {
        let ids = ["venue_id", "availability_id"].iter();
        ids.filter_map(|name| Some((name, fields.get(*name)?)))
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| {
                value
                    .as_i64()
                    .ok_or_else(|| WrongField::new(*name, "must be a whole number"))
            })
            .collect()
    }

    /// Puts ids in the place of their numbers.
    pub(crate) fn put_ids(fields: &mut Map<String, Value>, id: impl Fn(i64) -> Option<String>) {
        for name in ["venue_id", "availability_id"] {
            if let Some(value) = fields.get_mut(name)
                && let Some(number) = value.as_i64()
            {
                *value = id(number).unwrap_or_else(|| number.to_string()).into();
            }
        }
    }

    /// Rewrites times and providers as the contract has them. `zone` is that of the venue.
    pub(crate) fn read_scalars(
        &self,
        fields: &mut Map<String, Value>,
        zone: impl FnOnce() -> jiff::tz::TimeZone,
    ) -> Result<(), WrongField> {
        if (self.local_times || self.times != Times::Rfc3339)
            && let Some(time) = fields.get_mut("datetime").filter(|it| !it.is_null())
        {
            *time = scalars::read_time(time, self.times, zone)
                .map_err(|detail| WrongField::new("datetime", detail))?;
        }
        if let Some(Value::String(provider)) = fields.get_mut("provider") {
            *provider = self.provider_called(provider);
        }
        let named = fields.get_mut("providers").and_then(Value::as_array_mut);
        for provider in named.into_iter().flatten() {
            if let Value::String(name) = provider {
                *name = self.provider_called(name);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::jq::Worker;
    use serde_json::json;

    fn speech(names: &[(&str, &str)]) -> Speech {
        let mut speech = Speech::default();
        for (key, name) in names {
            speech.dialect.set(key, name).unwrap();
        }
        speech
    }

    async fn read(speech: &Speech, kind: RequestKind, body: Value) -> Value {
        speech.read(kind, body).await.unwrap().into()
    }

    #[tokio::test]
    async fn fields_are_taken_from_their_paths_and_not_from_the_contracts_names() {
        let speech = speech(&[
            ("slots_venue_field", "query.venue"),
            ("slots_datetime_field", "query.at"),
            ("modify_datetime_field", "party_size"),
            ("modify_party_size_field", "datetime"),
        ]);
        let body =
            json!({"query": {"venue": 7, "at": "x", "more": 1}, "party_size": 2, "venue_id": "y"});
        assert_eq!(
            read(&speech, RequestKind::Slots, body).await,
            json!({"query": {"more": 1}, "party_size": 2, "venue_id": 7, "datetime": "x"})
        );
        let swapped = json!({"party_size": "x", "datetime": 4});
        assert_eq!(
            read(&speech, RequestKind::Modify, swapped).await,
            json!({"datetime": "x", "party_size": 4})
        );
        let other = json!({"venue_id": "y"});
        assert_eq!(
            read(&speech, RequestKind::Create, other.clone()).await,
            other
        );
    }

    #[tokio::test]
    async fn an_expression_reads_the_whole_body_and_its_failure_is_an_error_of_the_body() {
        let mut speech = speech(&[("otp_field", "pin")]);
        let expression = Worker::new("if .otpCode then {otp: .otpCode} else 3 end").unwrap();
        speech.read.insert(RequestKind::Otp, expression);
        let body = json!({"otpCode": "123456"});
        assert_eq!(
            read(&speech, RequestKind::Otp, body).await,
            json!({"otp": "123456"})
        );
        let none = speech.read(RequestKind::Otp, json!({})).await.unwrap_err();
        assert_eq!(
            none.detail,
            "the expression read.otp does not give an object"
        );
        let failed = speech
            .read(RequestKind::Otp, json!("text"))
            .await
            .unwrap_err();
        assert_eq!(failed.field, "body");
        assert!(
            failed
                .detail
                .starts_with("the expression read.otp failed: ")
        );
    }

    #[test]
    fn numbers_are_ids_and_nothing_else_is() {
        let speech = Speech::default();
        let mut fields = json!({"venue_id": 7, "availability_id": null, "party_size": 2});
        let fields = fields.as_object_mut().unwrap();
        assert_eq!(speech.numbers(fields), Ok(vec![7]));
        Speech::put_ids(fields, |number| (number == 7).then(|| "ven_otp".to_owned()));
        assert_eq!(fields["venue_id"], "ven_otp");
        assert_eq!(
            speech.numbers(fields),
            Err(WrongField::new("venue_id", "must be a whole number"))
        );
    }

    #[test]
    fn times_and_providers_become_the_contracts() {
        let mut speech = speech(&[("provider_a", "alpha")]);
        speech.times = Times::Epoch;
        let mut fields = json!({"datetime": 1_796_149_800, "provider": "alpha", "providers": ["provider_a", "provider_c"]});
        let fields = fields.as_object_mut().unwrap();
        speech
            .read_scalars(fields, || jiff::tz::TimeZone::UTC)
            .unwrap();
        assert_eq!(fields["datetime"], "2026-12-01T18:30:00Z");
        assert_eq!(fields["provider"], "provider_a");
        assert_eq!(fields["providers"], json!(["not provider_a", "provider_c"]));
    }
}
