//! A booking as the service sent it (spec, Booking), parsed leniently.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::json::Document;
use crate::outcome::Exit;
use crate::outcome::code::{self, Retry};

/// How long a booking waits for an answer by default (spec, Limits, 5).
const LONGEST_WAIT: SignedDuration = SignedDuration::from_mins(20);

/// A booking's status (spec, States and transitions).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    RequiresAction,
    Processing,
    Confirmed,
    Failed,
    Cancelled,
    Expired,
    /// A status that the specification does not define.
    Other(String),
}

impl Status {
    /// The status with this name.
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "requires_action" => Status::RequiresAction,
            "processing" => Status::Processing,
            "confirmed" => Status::Confirmed,
            "failed" => Status::Failed,
            "cancelled" => Status::Cancelled,
            "expired" => Status::Expired,
            other => Status::Other(other.to_owned()),
        }
    }

    /// The name of the status in documents.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Status::RequiresAction => "requires_action",
            Status::Processing => "processing",
            Status::Confirmed => "confirmed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
            Status::Expired => "expired",
            Status::Other(text) => text,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One booking.
#[derive(Clone, Debug)]
pub(crate) struct Booking {
    document: Document,
}

impl Booking {
    /// A booking from its document. Returns `None` if the `id` or `status` is missing.
    pub(crate) fn from_document(document: Document) -> Option<Self> {
        let is_booking =
            document.str("id").is_some_and(|id| !id.is_empty()) && document.str("status").is_some();
        is_booking.then_some(Booking { document })
    }

    /// The document.
    pub(crate) fn document(&self) -> &Document {
        &self.document
    }

    /// The document's value.
    pub(crate) fn value(&self) -> &Value {
        self.document.value()
    }

    /// Its id, which is never empty.
    pub(crate) fn id(&self) -> &str {
        self.document.str("id").unwrap_or_default()
    }

    /// Its status.
    pub(crate) fn status(&self) -> Status {
        Status::parse(self.document.str("status").unwrap_or_default())
    }

    /// Why it failed, if the service says so.
    pub(crate) fn error_code(&self) -> Option<&str> {
        self.document.str("error_code")
    }

    /// A string field of the document.
    pub(crate) fn str(&self, field: &str) -> Option<&str> {
        self.document.str(field)
    }

    /// What the booking waits for, if anything (spec, Booking: next_action).
    pub(crate) fn next_action(&self) -> Option<&Value> {
        self.value()
            .get("next_action")
            .filter(|action| action.is_object())
    }

    /// The deadline of the pause: the action's own, otherwise the booking's.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        let own = self
            .next_action()
            .and_then(|action| action.get("expires_at"));
        let text = own
            .and_then(Value::as_str)
            .or_else(|| self.str("expires_at"))?;
        text.parse().ok()
    }

    /// When the status last changed, if the times reveal it: either the booking has not changed since it was created,
    /// or its last change can only have been that of the status.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        let time = |field: &str| self.str(field)?.parse().ok();
        let (created, updated) = (time("created_at"), time("updated_at"));
        let only_moved_by_its_status = match self.status() {
            Status::Processing | Status::Failed | Status::Cancelled | Status::Expired => true,
            Status::Confirmed => {
                self.value().get("last_modification").is_none() && self.error_code().is_none()
            }
            Status::RequiresAction | Status::Other(_) => false,
        };
        updated.filter(|_| only_moved_by_its_status || updated == created)
    }

    /// When the booking expires without an answer: its own deadline, otherwise 20 minutes after it began to wait
    /// (spec, States and transitions). `None` if neither is known.
    pub(crate) fn waits_until(&self) -> Option<Timestamp> {
        if self.status() != Status::RequiresAction {
            return None;
        }
        self.deadline()
            .or_else(|| self.since()?.checked_add(LONGEST_WAIT).ok())
    }

    /// Whether booking again is safe. An unexplained failure may have left a reservation at the venue.
    pub(crate) fn retry(&self) -> Retry {
        let explained = self.error_code().and_then(code::entry);
        match self.status() {
            Status::Failed if explained.is_none() => Retry::CheckFirst,
            status => explained
                .or_else(|| code::entry(status.as_str()))
                .map_or(Retry::NotNeeded, |entry| entry.retry),
        }
    }

    /// The exit code of a command that wanted this booking confirmed.
    pub(crate) fn exit(&self) -> Exit {
        match self.status() {
            Status::Confirmed => Exit::Done,
            Status::Processing => Exit::Processing,
            Status::RequiresAction => Exit::ActionNeeded,
            Status::Failed => self
                .error_code()
                .and_then(code::entry)
                .map_or(Exit::Failed, |entry| entry.exit),
            Status::Cancelled | Status::Expired => Exit::Failed,
            // An unknown status counts as not final.
            Status::Other(_) => Exit::Processing,
        }
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
        for (status, error_code, exit) in [
            ("confirmed", None, Exit::Done),
            ("processing", None, Exit::Processing),
            ("requires_action", None, Exit::ActionNeeded),
            ("failed", Some("slot_taken"), Exit::Failed),
            ("failed", Some("a code of tomorrow"), Exit::Failed),
            (
                "failed",
                Some("payment_outcome_unknown"),
                Exit::OutcomeUnknown,
            ),
            (
                "failed",
                Some("payment_replay_failed"),
                Exit::OutcomeUnknown,
            ),
            ("expired", None, Exit::Failed),
            ("cancelled", None, Exit::Failed),
        ] {
            let value = json!({"id": "bk_1", "status": status, "error_code": error_code});
            assert_eq!(booking(value).exit(), exit, "{status} {error_code:?}");
        }
    }

    #[test]
    fn since_when_a_status_stands_is_only_said_where_the_times_tell_it() {
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
            assert_eq!(
                booking(value).since().is_some(),
                known,
                "{status} {updated_at}"
            );
        }
        let changed = json!({"id": "bk_1", "status": "confirmed", "updated_at": LATER, "last_modification": {}});
        assert_eq!(booking(changed).since(), None);
    }

    #[test]
    fn a_pause_without_a_deadline_of_its_own_ends_20_minutes_after_it_began() {
        let mut value = json!({
            "id": "bk_1", "status": "requires_action", "next_action": {"type": "confirm_details"},
            "created_at": "2026-12-01T10:00:00Z", "updated_at": "2026-12-01T10:00:00Z",
        });
        let until = |value: &Value| {
            booking(value.clone())
                .waits_until()
                .map(|at| at.to_string())
        };
        assert_eq!(until(&value).as_deref(), Some("2026-12-01T10:20:00Z"));
        value["expires_at"] = json!("2026-12-01T10:15:00Z");
        assert_eq!(until(&value).as_deref(), Some("2026-12-01T10:15:00Z"));
        value["status"] = json!("expired");
        assert_eq!(until(&value), None);
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
