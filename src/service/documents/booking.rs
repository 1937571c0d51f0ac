//! A booking as the service sent it (spec, Booking), parsed leniently.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::field_value::{FieldValue, count};
use super::id::{id_in, token};
use super::text_fold::letters;
use crate::json::{Document, plain};
use crate::outcome::Exit;
use crate::outcome::code::{self, Retry};
use crate::outcome::word::Word;
use crate::service::time::document_time::DocumentTime;

/// How long a booking waits for an answer by default (spec, Limits, 5).
const LONGEST_WAIT: SignedDuration = SignedDuration::from_mins(20);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    RequiresAction,
    Processing,
    Confirmed,
    Failed,
    Cancelled,
    Expired,
    Other(String),
}

impl Status {
    const KNOWN: [(Status, &Word); 6] = [
        (Status::RequiresAction, Word::REQUIRES_ACTION),
        (Status::Processing, Word::PROCESSING),
        (Status::Confirmed, Word::CONFIRMED),
        (Status::Failed, Word::FAILED),
        (Status::Cancelled, Word::CANCELLED),
        (Status::Expired, Word::EXPIRED),
    ];

    /// The status that a word means. Case, blanks, hyphens and the spelling `canceled` make no
    /// difference.
    pub(crate) fn parse(text: &str) -> Self {
        let spelled = |text: &str| letters(text).collect::<String>().replace("cancell", "cancel");
        let meant = spelled(text);
        let known = Status::KNOWN.into_iter().find(|(_, word)| spelled(word.name) == meant);
        known.map_or_else(|| Status::Other(text.to_owned()), |(status, _)| status)
    }

    fn known_word(&self) -> Option<&'static Word> {
        Status::KNOWN.iter().find(|(status, _)| status == self).map(|(_, word)| *word)
    }

    /// The word for a person.
    pub(crate) fn word(&self) -> &str {
        self.known_word().map_or(self.as_str(), |word| word.human)
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Status::Other(text) => text,
            known => known.known_word().map_or("", |word| word.name),
        }
    }

    pub(crate) fn has_not_ended(&self) -> bool {
        !matches!(self, Status::Failed | Status::Cancelled | Status::Expired)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The one type of a booking.
///
/// Beside it stands `KeptBooking`, its record: what only this computer knows of it is no part of
/// what the service sent.
#[derive(Clone, Debug)]
pub(crate) struct Booking {
    id: String,
    /// As it came.
    pub(crate) document: Document,
    /// The booking in the contract's shape, where the answer has another one.
    pub(crate) translated: Option<Document>,
    /// What stands around the booking in the answer, as paths and texts.
    pub(crate) envelope_fields: Vec<(String, String)>,
    pub(crate) time: FieldValue<DocumentTime>,
    pub(crate) party: FieldValue<u32>,
    /// When the answered request left, or the event came; `None` if nothing was read.
    pub(crate) left_at: Option<Timestamp>,
    /// The fields that the response does not show, and that were only asked for.
    pub(crate) from_request: Box<[&'static str]>,
}

impl Booking {
    /// A booking in the contract's shape. Returns `None` if the `id` or `status` is missing.
    pub(crate) fn from_document(document: Document) -> Option<Self> {
        Booking::read(document, None, Vec::new())
    }

    /// A booking whose answer may have another shape: `translated` is it in the contract's then.
    pub(crate) fn read(
        document: Document,
        translated: Option<Value>,
        envelope_fields: Vec<(String, String)>,
    ) -> Option<Self> {
        let translated = translated.map(Document::from);
        let value = translated.as_ref().unwrap_or(&document).value();
        value.get("status")?.as_str()?;
        Some(Booking {
            id: id_in(value.get("id")?)?,
            time: FieldValue::from_value(value.get("datetime"), DocumentTime::read),
            party: FieldValue::from_value(value.get("party_size"), count),
            document,
            translated,
            envelope_fields,
            left_at: None,
            from_request: Box::default(),
        })
    }

    pub(crate) fn with_id(self, id: &str) -> Self {
        Booking { id: id.to_owned(), ..self }
    }

    /// What stands before a field that was only asked for.
    pub(crate) fn mark(&self, field: &str) -> &'static str {
        if self.from_request.contains(&field) { "asked for " } else { "" }
    }

    /// The booking in the contract's shape: as it came, where the service speaks it.
    pub(crate) fn own_document(&self) -> &Document {
        self.translated.as_ref().unwrap_or(&self.document)
    }

    pub(crate) fn value(&self) -> &Value {
        self.own_document().value()
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// A field by its path, such as `customer.name`, as text. A list or an object in place of the text,
    /// and a list in place of an object around it, are not understood. A text in place of the guest
    /// is a name if it has two words.
    pub(crate) fn field(&self, path: &str) -> FieldValue<String> {
        let (mut value, mut names) = (self.value(), path.split('.'));
        while let Value::Object(inner) = value
            && let Some(name) = names.next()
        {
            value = inner.get(name).unwrap_or(&Value::Null);
        }
        let within = names.next();
        let is_text = !value.is_object() && !value.is_array();
        if is_text && within.is_some() {
            // A reference to the guest, such as an id, shows none of its fields.
            let is_name =
                |it: &&str| it.contains(' ') && !it.contains(|it: char| it.is_ascii_digit());
            let name = value.as_str().filter(is_name).filter(|_| path == "customer.name");
            return name.map_or(FieldValue::Absent, |it| FieldValue::Read(it.to_owned()));
        }
        FieldValue::from_value(Some(value), |it| is_text.then(|| plain(it)))
    }

    /// The id of its venue: in its own field, or in the one object of the booking that has one.
    pub(crate) fn venue(&self) -> FieldValue<String> {
        let read = |value: Option<&Value>| FieldValue::from_value(value, id_in);
        let members = self.value().as_object().into_iter().flat_map(Map::values);
        let mut inner = members.filter_map(|member| member.get("venue_id"));
        match read(self.value().get("venue_id")) {
            FieldValue::Absent => read(inner.next().filter(|_| inner.next().is_none())),
            own => own,
        }
    }

    pub(crate) fn venue_id(&self) -> Option<String> {
        self.venue().read().cloned()
    }

    pub(crate) fn venue_name(&self) -> Option<String> {
        self.value().get("venue_name").and_then(token)
    }

    /// The party size; 1 if the service shows none.
    pub(crate) fn head_count(&self) -> u32 {
        self.party.read().copied().unwrap_or(1)
    }

    pub(crate) fn guest(&self) -> Option<String> {
        self.field("customer.name").read().cloned()
    }

    pub(crate) fn status(&self) -> Status {
        Status::parse(self.str("status").unwrap_or_default())
    }

    pub(crate) fn error_code(&self) -> Option<&str> {
        self.str("error_code")
    }

    pub(crate) fn str(&self, field: &str) -> Option<&str> {
        self.own_document().str(field)
    }

    /// What the booking waits for, if anything (spec, Booking: next_action). Services send an
    /// object, a text or a list; of a list with one element, this is the element.
    pub(crate) fn next_action(&self) -> Option<&Value> {
        let action = self.value().get("next_action")?;
        let only = action.as_array().filter(|actions| actions.len() == 1);
        let action = only.map_or(action, |actions| &actions[0]);
        (!action.is_null()).then_some(action)
    }

    /// The deadline of the pause as it came: the action's own, otherwise the booking's.
    pub(crate) fn deadline_value(&self) -> Option<&Value> {
        let action = self.next_action();
        let own = action.and_then(|action| action.get("expires_at"));
        own.or_else(|| self.value().get("expires_at")).filter(|at| !at.is_null())
    }

    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        let time = self.time.read().and_then(|time| time.instant);
        time.is_some_and(|time| now.duration_since(time) > SignedDuration::from_hours(24))
    }

    pub(crate) fn created(&self) -> Option<DocumentTime> {
        DocumentTime::from_field(self.value(), "created_at")
    }

    pub(crate) fn last_modification(&self) -> Option<&Value> {
        self.value().get("last_modification").filter(|it| !it.is_null())
    }

    /// What the last modification changed: `{field: {from, to}}` (spec, Bookings).
    pub(crate) fn last_changes(&self) -> Option<&Map<String, Value>> {
        self.last_modification()?.get("changes")?.as_object()
    }

    /// When the status last changed, if the times show it: the booking has not changed since it was
    /// created, or its last change can only have been to its status.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        let updated = DocumentTime::from_field(self.value(), "updated_at")?.instant;
        let created = self.created().and_then(|it| it.instant);
        let only_moved_by_its_status = match self.status() {
            Status::Processing | Status::Failed | Status::Cancelled | Status::Expired => true,
            Status::Confirmed => self.last_modification().is_none() && self.error_code().is_none(),
            Status::RequiresAction | Status::Other(_) => false,
        };
        updated.filter(|_| only_moved_by_its_status || updated == created)
    }

    /// When the booking expires without an answer: its own deadline, otherwise 20 minutes after it
    /// began to wait (spec, States and transitions). `None` if neither is known, or the deadline
    /// has a form that is not understood.
    pub(crate) fn waits_until(&self) -> Option<Timestamp> {
        if self.status() != Status::RequiresAction {
            return None;
        }
        match self.deadline_value() {
            Some(value) => DocumentTime::read(value)?.instant,
            None => self.since()?.checked_add(LONGEST_WAIT).ok(),
        }
    }

    /// Whether its time to answer is up, whatever its last status says.
    pub(crate) fn is_overdue(&self, now: Timestamp) -> bool {
        self.waits_until().is_some_and(|until| until <= now)
    }

    /// Whether booking again is safe. An unexplained failure may have left a reservation.
    pub(crate) fn retry(&self) -> Retry {
        let explained = self.error_code().and_then(code::entry);
        match self.status() {
            Status::Failed if explained.is_none() => Retry::AfterCheck,
            status => explained
                .or_else(|| code::entry(status.as_str()))
                .map_or(Retry::NotNeeded, |entry| entry.retry),
        }
    }

    /// Whether it stands at the venue, or money may have moved for it: another one for the guest
    /// would be a second one.
    pub(crate) fn may_stand(&self) -> bool {
        self.status().has_not_ended() || self.exit() == Exit::OutcomeUnknown
    }

    /// The exit code of a command that wrote, and wanted this booking confirmed.
    pub(crate) fn exit(&self) -> Exit {
        match self.status() {
            Status::Confirmed => Exit::Done,
            Status::Processing => Exit::Processing,
            Status::RequiresAction => Exit::ActionNeeded,
            Status::Failed => {
                self.error_code().and_then(code::entry).map_or(Exit::Failed, |entry| entry.exit)
            }
            Status::Cancelled | Status::Expired => Exit::Failed,
            // The booking was made, and the word is unknown.
            Status::Other(_) => Exit::OutcomeUnknown,
        }
    }

    /// The exit code of a command that only read, and judges this booking by its status.
    pub(crate) fn exit_of_read(&self) -> Exit {
        if let Status::Other(_) = self.status() { Exit::Network } else { self.exit() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn booking(value: Value) -> Booking {
        Booking::from_document(value.into()).unwrap()
    }

    #[test]
    fn a_booking_decides_the_exit_code_by_its_status_and_error() {
        let unknown = Exit::OutcomeUnknown;
        for (status, error_code, exit) in [
            ("confirmed", None, Exit::Done),
            ("processing", None, Exit::Processing),
            ("requires_action", None, Exit::ActionNeeded),
            ("failed", Some("slot_taken"), Exit::Failed),
            ("failed", Some("a code of tomorrow"), Exit::Failed),
            ("failed", Some("payment_outcome_unknown"), unknown),
            ("failed", Some("payment_replay_failed"), unknown),
            ("expired", None, Exit::Failed),
            ("cancelled", None, Exit::Failed),
            ("on_hold", None, unknown),
        ] {
            let value = json!({"id": "bk_1", "status": status, "error_code": error_code});
            assert_eq!(booking(value).exit(), exit, "{status} {error_code:?}");
        }
    }

    #[test]
    fn status_since_is_shown_only_if_the_times_show_it() {
        const LATER: &str = "2026-12-01T10:05:00Z";
        for (status, updated_at, known) in [
            ("requires_action", "2026-12-01T10:00:00Z", true),
            // A wrong code may have touched it, or a second pause.
            ("requires_action", LATER, false),
            ("confirmed", LATER, true),
            ("expired", LATER, true),
            ("held", LATER, false),
        ] {
            let created_at = "2026-12-01T10:00:00Z";
            let value = json!({"id": "bk_1", "status": status, "created_at": created_at, "updated_at": updated_at});
            assert_eq!(booking(value).since().is_some(), known, "{status} {updated_at}");
        }
        let changed = json!({"id": "bk_1", "status": "confirmed", "updated_at": LATER, "last_modification": {}});
        assert_eq!(booking(changed).since(), None);
    }

    #[test]
    fn pause_ends_at_its_deadline_or_20_minutes_after_it_began() {
        let until = |status: &str, expires_at: Value| {
            let mut value = json!({
                "id": 7, "status": status, "next_action": {"type": "confirm_details"},
                "created_at": "2026-12-01T10:00:00Z", "updated_at": "2026-12-01T10:00:00Z",
            });
            value["expires_at"] = expires_at;
            let until = booking(value).waits_until();
            until.map_or(String::new(), |at| at.to_string())
        };
        for (expires_at, ends) in [
            (Value::Null, "2026-12-01T10:20:00Z"),
            (json!("2026-12-01T10:15:00Z"), "2026-12-01T10:15:00Z"),
            (json!(1_796_149_800), "2026-12-01T18:30:00Z"),
            (json!("in a while"), ""),
        ] {
            assert_eq!(until("requires_action", expires_at.clone()), ends, "{expires_at}");
            assert_eq!(until("expired", expires_at), "");
        }
    }

    #[test]
    fn a_status_is_one_word_in_any_case_and_spelling() {
        for (text, status) in [
            ("CONFIRMED", Status::Confirmed),
            ("Requires Action", Status::RequiresAction),
            ("requires-action", Status::RequiresAction),
            ("requiresAction", Status::RequiresAction),
            ("Canceled", Status::Cancelled),
            ("on_hold", Status::Other("on_hold".to_owned())),
        ] {
            assert_eq!(Status::parse(text), status);
        }
    }

    #[test]
    fn a_document_without_id_or_status_is_no_booking() {
        for value in [
            json!({}),
            json!([]),
            json!({"id": "x"}),
            json!({"status": "confirmed"}),
            json!({"id": "", "status": "x"}),
        ] {
            assert!(Booking::from_document(value.into()).is_none());
        }
    }
}
