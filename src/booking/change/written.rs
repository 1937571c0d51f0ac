//! The record of what is sent to change a booking: before it leaves, and when its result is known.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::app::{Records, Ui};
use crate::journal::BookingWrite;
use crate::service::documents::booking::Booking;
use crate::service::mapping::WriteKind;

/// Like the record of a booking, it is no reason to fail.
pub(crate) struct Written<'a> {
    records: &'a Records,
    ui: &'a Ui,
    id: &'a str,
    kind: WriteKind,
    facts: Value,
    pub(super) sent_at: Timestamp,
}

impl<'a> Written<'a> {
    /// `facts` are never a code or a payment response.
    pub(crate) fn new(
        records: &'a Records,
        ui: &'a Ui,
        id: &'a str,
        kind: WriteKind,
        facts: Value,
    ) -> Self {
        Written { records, ui, id, kind, facts, sent_at: Timestamp::now() }
    }

    /// Writes how it ended; before it is sent, that this is unknown.
    pub(crate) fn end(&self, outcome: &str, error: Option<String>) {
        let records = self.records;
        if !records.has_journal() && !self.ui.out.is_human() {
            return;
        }
        let mut facts = self.facts.clone();
        if let Some(error) = error {
            facts["error"] = error.into();
        }
        let write = BookingWrite {
            sent_at: self.sent_at,
            kind: self.kind.as_str().to_owned(),
            outcome: outcome.to_owned(),
            facts,
        };
        let _ = records.journal().and_then(|journal| journal.store_write(self.id, &write));
    }
}

/// What is worth knowing of a pause once it is answered: the amount, its reference, the deadline.
pub(crate) fn pause_facts(booking: &Booking) -> Value {
    let own = |name: &str| booking.next_action()?.get(name).cloned();
    let facts = [
        ("amount", own("amount")),
        ("currency", own("currency")),
        ("reference", own("psp_request")),
        ("expires_at", booking.deadline_value().cloned()),
    ];
    let facts = facts.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?)));
    let facts: Map<String, Value> = facts.collect();
    json!({ "pause": facts })
}
