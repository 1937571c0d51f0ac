//! The words for the status of a booking, the result of a request and the state of a session: the
//! one in JSON and in the journal, the one that a person reads, and the codes that explain it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// A booking's `status` (spec, States and transitions).
    Status,
    /// More about a booking than its status, in a list.
    Listed,
    /// What came of a booking request.
    Request,
    /// A session's `state` (spec, Sessions).
    Session,
}

pub(crate) struct Word {
    pub(crate) kind: WordKind,
    /// In JSON.
    pub(crate) name: &'static str,
    /// On a terminal.
    pub(crate) human: &'static str,
    /// What `explain` shows for it.
    pub(crate) codes: &'static [&'static str],
}

macro_rules! words {
    ($($place:ident = $kind:ident, $name:literal, $human:literal, $codes:expr;)*) => {
        impl Word {
            $(pub(crate) const $place: &Word = &Word {
                kind: WordKind::$kind, name: $name, human: $human, codes: &$codes,
            };)*
            pub(crate) const ALL: &[&Word] = &[$(Word::$place),*];
        }
    };
}

words! {
    REQUIRES_ACTION = Status, "requires_action", "waiting", ["requires_action"];
    PROCESSING = Status, "processing", "processing", ["processing"];
    CONFIRMED = Status, "confirmed", "confirmed", ["confirmed"];
    FAILED = Status, "failed", "failed", ["failed"];
    CANCELLED = Status, "cancelled", "cancelled", ["cancelled"];
    EXPIRED = Status, "expired", "expired", ["expired"];
    OVERDUE = Listed, "requires_action", "overdue", ["expired", "payment_approval_expired"];
    FAILED_CHECK = Listed, "failed", "failed, check", ["payment_outcome_unknown", "payment_replay_failed"];
    UNRESOLVED = Request, "unresolved", "unresolved", ["outcome_unknown"];
    RESOLVED = Request, "resolved", "resolved", [];
    REFUSED = Request, "refused", "refused", [];
    ABANDONED = Request, "abandoned", "abandoned", ["abandoned"];
    PENDING = Session, "pending", "pending", [];
    ACTIVE = Session, "active", "active", [];
    RECONNECT_REQUIRED = Session, "reconnect_required", "reconnect_required", ["reconnect_required"];
}

impl Word {
    /// Those that `--status` and `--until` take.
    pub(crate) fn of_bookings() -> impl Iterator<Item = &'static Word> {
        let is_of_booking = |it: &&Word| matches!(it.kind, WordKind::Status | WordKind::Listed);
        Word::ALL.iter().copied().filter(is_of_booking)
    }
}
