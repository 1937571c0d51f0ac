//! A booking as the service sent it (spec, Booking), read tolerantly.

use std::fmt;

use jiff::Timestamp;
use serde_json::Value;

use super::document::Document;
use crate::catalog;
use crate::exit::Exit;

/// A booking's status (spec, States and transitions).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    RequiresAction,
    Processing,
    Confirmed,
    Failed,
    Cancelled,
    Expired,
    /// A status that the specification does not name.
    Other(String),
}

impl Status {
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
    /// Takes a document for a booking: it needs an `id` and a `status`, or it is none.
    pub(crate) fn from_document(document: Document) -> Option<Self> {
        let is_booking =
            document.str("id").is_some_and(|id| !id.is_empty()) && document.str("status").is_some();
        is_booking.then_some(Booking { document })
    }

    pub(crate) fn document(&self) -> &Document {
        &self.document
    }

    pub(crate) fn value(&self) -> &Value {
        self.document.value()
    }

    pub(crate) fn id(&self) -> &str {
        self.document.str("id").unwrap_or_default()
    }

    pub(crate) fn status(&self) -> Status {
        Status::parse(self.document.str("status").unwrap_or_default())
    }

    pub(crate) fn error_code(&self) -> Option<&str> {
        self.document.str("error_code")
    }

    pub(crate) fn str(&self, field: &str) -> Option<&str> {
        self.document.str(field)
    }

    pub(crate) fn next_action(&self) -> Option<&Value> {
        self.value()
            .get("next_action")
            .filter(|action| action.is_object())
    }

    /// When the pause ends: the action's own deadline, else the booking's.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        let own = self
            .next_action()
            .and_then(|action| action.get("expires_at"));
        let text = own
            .and_then(Value::as_str)
            .or_else(|| self.str("expires_at"))?;
        text.parse().ok()
    }

    /// How a command that wanted this booking confirmed ends.
    pub(crate) fn exit(&self) -> Exit {
        match self.status() {
            Status::Confirmed => Exit::Done,
            Status::Processing => Exit::Processing,
            Status::RequiresAction => Exit::ActionNeeded,
            Status::Failed => self
                .error_code()
                .and_then(catalog::entry)
                .map_or(Exit::Failed, |entry| entry.exit),
            Status::Cancelled | Status::Expired => Exit::Failed,
            // Not settled as far as anybody knows.
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
