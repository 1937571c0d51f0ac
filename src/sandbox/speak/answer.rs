//! Answers and events: from the contract's shape to what is sent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::kind::{AnswerKind, RequestKind};
use super::page::Page;
use super::path::Path;
use super::scalars;
use super::speech::Speech;

/// An answer as it is sent.
#[derive(Debug)]
pub(crate) struct Spoken {
    pub(crate) document: Value,
    /// The number of the next page, for a `Link` header.
    pub(crate) next_page: Option<usize>,
}

impl Speech {
    /// The ids in a document that are sent as numbers.
    pub(crate) fn ids(&self, document: &mut Value) -> BTreeSet<String> {
        match self.number_ids {
            true => scalars::ids(document),
            false => BTreeSet::new(),
        }
    }

    /// A document as it is sent. `asked` is the kind of the request that it answers. The error says which expression
    /// failed and how.
    pub(crate) async fn write(
        &self,
        kind: AnswerKind,
        asked: Option<RequestKind>,
        mut document: Value,
        numbers: &BTreeMap<String, i64>,
        page: Page,
    ) -> Result<Spoken, String> {
        let next_page = self.leave_page(&mut document, kind, page);
        scalars::number_ids(&mut document, |id| numbers.get(id).copied());
        scalars::rename_providers(&mut document, |name| self.provider_name(name));
        scalars::write_times(&mut document, self.times, self.local_times);
        scalars::write_money(&mut document, self.money);
        self.write_pauses(&mut document);
        if kind == AnswerKind::Error {
            self.name_fields(asked, &mut document);
        }
        let document = match self.write.get(&kind) {
            Some(expression) => expression
                .apply(&document)
                .await
                .map_err(|why| format!("the expression write.{} {why}", kind.as_str()))?,
            None => self.write_names(kind, document),
        };
        Ok(Spoken {
            document,
            next_page,
        })
    }

    /// Puts the names of an answer's list or of an event in the place of the contract's.
    fn write_names(&self, kind: AnswerKind, document: Value) -> Value {
        let names: &[(&str, &str)] = match kind {
            AnswerKind::Venues => &[("venues", &self.dialect.venues_field)],
            AnswerKind::Slots => &[("slots", &self.dialect.slots_field)],
            AnswerKind::Sessions => &[("sessions", &self.dialect.sessions_field)],
            AnswerKind::Event => &[
                ("id", &self.dialect.event_id_field),
                ("type", &self.dialect.event_type_field),
            ],
            _ => return document,
        };
        match document {
            Value::Object(fields) => rename(fields, names).into(),
            document => document,
        }
    }

    /// The words and the place of the kind of every `next_action`.
    fn write_pauses(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::Object(action)) = fields.get_mut("next_action") {
                    if let Some(Value::String(kind)) = action.get_mut("type") {
                        match kind.as_str() {
                            "otp" => kind.clone_from(&self.dialect.otp_action),
                            "payment_approval" => kind.clone_from(&self.dialect.payment_action),
                            _ => {}
                        }
                    }
                    let names = [("type", self.dialect.next_action_type_field.as_str())];
                    *action = rename(std::mem::take(action), &names);
                }
                fields.values_mut().for_each(|it| self.write_pauses(it));
            }
            Value::Array(elements) => elements.iter_mut().for_each(|it| self.write_pauses(it)),
            _ => {}
        }
    }

    /// Makes an error about fields call them as the service does.
    fn name_fields(&self, asked: Option<RequestKind>, error: &mut Value) {
        let Some(kind) = asked.filter(|kind| !self.read.contains_key(kind)) else {
            return;
        };
        let names = self.dialect.request_names(kind);
        let renamed = |name: &str| names.iter().find(|(own, _)| *own == name).map(|it| it.1);
        if let Some(Value::Object(fields)) = error.get_mut("fields") {
            *fields = std::mem::take(fields)
                .into_iter()
                .map(|(name, message)| match renamed(&name) {
                    Some(own) => (own.to_owned(), message),
                    None => (name, message),
                })
                .collect();
        }
        if let Some(field) = error.get_mut("field")
            && let Some(own) = field.as_str().and_then(renamed)
        {
            *field = own.into();
        }
    }
}

/// An object whose fields stand at other paths. Where only the name differs, the order stays.
fn rename(fields: Map<String, Value>, names: &[(&str, &str)]) -> Map<String, Value> {
    let (mut renamed, mut moved) = (Map::new(), Vec::new());
    for (name, value) in fields {
        let path = names.iter().find(|(own, _)| *own == name);
        match path.and_then(|(_, path)| Path::parse(path)) {
            Some(path) if !path.is(&name) => moved.push((path, value)),
            _ => {
                renamed.insert(name, value);
            }
        }
    }
    for (path, value) in moved {
        path.put(&mut renamed, value);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::jq::Worker;
    use crate::sandbox::speak::scalars::{Money, Times};
    use serde_json::json;

    fn speech(names: &[(&str, &str)]) -> Speech {
        let mut speech = Speech::default();
        for (key, name) in names {
            speech.dialect.set(key, name).unwrap();
        }
        speech
    }

    async fn write(speech: &Speech, kind: AnswerKind, document: Value) -> Result<Value, String> {
        let numbers = BTreeMap::from([("bk_1".to_owned(), 17)]);
        let asked = Some(RequestKind::Slots);
        let spoken = speech.write(kind, asked, document, &numbers, Page::default());
        spoken.await.map(|it| it.document)
    }

    #[tokio::test]
    async fn nothing_changes_where_the_file_says_nothing() {
        let document = json!({
            "id": "evt_1", "type": "booking.created",
            "data": {"object": {"id": "bk_2", "next_action": {"type": "otp", "expires_at": "2026-11-21T12:00:00.040Z"}}},
        });
        for (kind, ..) in AnswerKind::TABLE {
            let written = write(&Speech::default(), *kind, document.clone()).await;
            assert_eq!(written, Ok(document.clone()));
        }
    }

    #[tokio::test]
    async fn lists_events_and_pauses_have_the_names_of_the_dialect() {
        let speech = speech(&[
            ("venues_field", "data.results"),
            ("event_id_field", "meta.event"),
            ("event_type_field", "kind"),
            ("next_action_type_field", "challenge.kind"),
            ("otp_action", "sms_code"),
        ]);
        let venues = json!({"object": "list", "venues": [1]});
        assert_eq!(
            write(&speech, AnswerKind::Venues, venues).await,
            Ok(json!({"object": "list", "data": {"results": [1]}}))
        );
        let event = json!({"id": "evt_1", "type": "x", "data": {"object": {"id": "bk_1", "next_action": {"type": "otp"}}}});
        assert_eq!(
            write(&speech, AnswerKind::Event, event).await,
            Ok(json!({
                "data": {"object": {"id": 17, "next_action": {"challenge": {"kind": "sms_code"}}}},
                "meta": {"event": "evt_1"}, "kind": "x",
            }))
        );
    }

    #[tokio::test]
    async fn an_error_names_fields_as_the_service_does() {
        let speech = speech(&[("slots_venue_field", "venue.id")]);
        let invalid = json!({"error": "validation failed", "fields": {"venue_id": "is required", "datetime": "is required"}});
        let written = write(&speech, AnswerKind::Error, invalid).await.unwrap();
        assert_eq!(
            written["fields"],
            json!({"venue.id": "is required", "datetime": "is required"})
        );
        let wrong = json!({"error": "invalid request body", "field": "venue_id", "detail": "x"});
        let written = write(&speech, AnswerKind::Error, wrong).await.unwrap();
        assert_eq!(written["field"], "venue.id");
    }

    #[tokio::test]
    async fn an_expression_sees_the_contracts_names_with_the_services_values() {
        let mut speech = speech(&[("provider_a", "alpha"), ("venues_field", "results")]);
        speech.times = Times::EpochMs;
        speech.money = Money::Object;
        let expression = Worker::new("{data: (.status |= ascii_upcase)}").unwrap();
        speech.write.insert(AnswerKind::Booking, expression);
        let booking = json!({"id": "bk_1", "status": "confirmed", "provider": "provider_a", "created_at": "2026-11-21T12:00:00.040Z"});
        assert_eq!(
            write(&speech, AnswerKind::Booking, booking).await,
            Ok(
                json!({"data": {"id": 17, "status": "CONFIRMED", "provider": "alpha", "created_at": 1_795_262_400_040_i64}})
            )
        );
        let failed = write(&speech, AnswerKind::Booking, json!([]))
            .await
            .unwrap_err();
        assert!(
            failed.starts_with("the expression write.booking failed: "),
            "{failed}"
        );
    }
}
