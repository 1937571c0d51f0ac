//! The record of what is sent to change a booking: before it leaves, and when its result is known.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::app::in_flight::InFlight;
use crate::app::{Api, Records, Ui};
use crate::booking::finish::record;
use crate::booking::watch::wait::read_booking;
use crate::journal::BookingWrite;
use crate::outcome::Result;
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
    /// Whether the result of the last write before this one is not known.
    pub(crate) is_in_doubt: bool,
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
        let earlier = || records.has_journal().then(|| records.journal().ok())??.writes(id).ok();
        let last = earlier().unwrap_or_default().into_iter().rfind(BookingWrite::may_be_done);
        let is_in_doubt = last.is_some_and(|it| it.outcome == "unknown");
        Written { records, ui, id, kind, facts, sent_at: Timestamp::now(), is_in_doubt }
    }

    /// Reads the booking, and records it.
    pub(crate) async fn read(&self, api: &Api) -> Result<Booking> {
        let booking = read_booking(api, self.id).await?;
        api.in_flight.replace(InFlight::known(&booking));
        record(self.records, self.ui, &booking);
        Ok(booking)
    }

    /// Reads the booking if an earlier write may have been carried out: none is repeated blindly.
    /// Returns it if `done` finds that nothing is left to send.
    pub(crate) async fn found_done(
        &self,
        api: &Api,
        done: impl Fn(&Booking) -> bool,
    ) -> Result<Option<Booking>> {
        if !self.is_in_doubt {
            return Ok(None);
        }
        let booking = self.read(api).await?;
        if !done(&booking) {
            return Ok(None);
        }
        self.ui.out.note("Nothing was sent: the booking shows that nothing is left to do.");
        Ok(Some(booking))
    }

    /// Writes how it ended; before it is sent, that this is unknown.
    pub(crate) fn end(&self, outcome: &str, error: Option<String>) {
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
        let _ = self.records.journal().and_then(|journal| journal.store_write(self.id, &write));
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
