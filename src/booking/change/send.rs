//! Sends what changes a booking: once, written down before it leaves and when its result is known.
//! If the answer is lost, the booking is read to see whether the change was made. A create is guarded
//! by `create`, which records a run of its attempt for each sending.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::app::in_flight::{InFlight, show_command};
use crate::app::{Effect, Parts, Verdict};
use crate::booking::finish::record;
use crate::booking::watch::wait::{checked, read_booking};
use crate::journal::BookingWrite;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::{Call, Failure};
use crate::service::documents::{Booking, Status};
use crate::service::mapping::WriteKind;
use crate::service::time::system_zone;

/// The error (7) for a booking in a state in which it cannot be changed, which is recorded.
pub(crate) fn refused(parts: &Parts, booking: &Booking, what: &str) -> Error {
    record(parts, booking);
    let (id, status) = (booking.id(), booking.status());
    let state = match status {
        Status::Cancelled => "is already cancelled".to_owned(),
        status => format!("has status {status}"),
    };
    Error::new(Code::Http409, format!("booking {id} {state}; {what}"))
        .hint(format!("see `{}`", show_command(id)))
}

/// What happens to a booking that waits if nothing is answered: `It ends by itself at 17:28.`
pub(crate) fn ends_by_itself(booking: &Booking, now: Timestamp) -> Option<String> {
    let until = booking.waits_until().filter(|until| *until > now)?.to_zoned(system_zone());
    Some(format!("It ends by itself at {}.", until.strftime("%H:%M")))
}

/// What is sent to change a booking. That it cannot be written down is no reason to fail.
pub(crate) struct Sender<'a> {
    parts: &'a Parts,
    id: &'a str,
    kind: WriteKind,
    facts: Value,
    sent_at: Timestamp,
    /// Whether the result of the last write before this one is not known.
    pub(crate) is_in_doubt: bool,
}

impl<'a> Sender<'a> {
    /// `facts` are never a code or a payment response.
    pub(crate) fn new(parts: &'a Parts, id: &'a str, kind: WriteKind, facts: Value) -> Self {
        let records = &parts.records;
        let journal = records.has_journal().then(|| records.journal().ok()).flatten();
        let is_in_doubt = journal.is_some_and(|it| it.is_in_doubt(id).unwrap_or_default());
        Sender { parts, id, kind, facts, sent_at: Timestamp::now(), is_in_doubt }
    }

    /// Reads the booking, and records it.
    pub(crate) async fn read(&self) -> Result<Booking> {
        let booking = read_booking(&self.parts.api, self.id).await?;
        self.parts.api.in_flight.replace(InFlight::known(&booking));
        record(self.parts, &booking);
        Ok(booking)
    }

    /// Reads the booking if an earlier write may have been carried out: none is repeated blindly.
    /// Returns it if `done` finds that nothing is left to send.
    pub(crate) async fn found_done(
        &self,
        done: impl Fn(&Booking) -> bool,
    ) -> Result<Option<Booking>> {
        if !self.is_in_doubt {
            return Ok(None);
        }
        let booking = Some(self.read().await?).filter(done);
        if booking.is_some() {
            let note = "Nothing was sent: the booking shows that it was done already.";
            self.parts.ui.out.note(note);
        }
        Ok(booking)
    }

    /// Writes how it ended; before it is sent, that this is unknown.
    pub(crate) fn end(&self, outcome: &str, error: Option<String>) {
        let mut facts = self.facts.clone();
        if let Some(error) = error {
            facts["error"] = error.into();
        }
        let (sent_at, kind) = (self.sent_at, self.kind.as_str().to_owned());
        let write = BookingWrite { sent_at, kind, outcome: outcome.to_owned(), facts };
        let _ = self.parts.records.journal().and_then(|it| it.store_write(self.id, &write));
    }

    /// Sends a modify or a cancel call; `what` is its noun. If `done` does not find the change in
    /// the response, reads the booking. Without a usable one, or if this change is refused and an
    /// earlier one may have been made, that shows whether it was made.
    pub(crate) async fn change(
        &mut self,
        call: Call,
        what: &str,
        done: impl Fn(&Booking) -> bool,
    ) -> Result<Booking> {
        let Parts { api, ui, .. } = self.parts;
        let check = format!("check before trying again: {}", show_command(self.id));
        let in_flight = InFlight::Sent(format!("the {what} of booking {}", self.id), check);
        let (wording, error) = match self.send(&call, in_flight).await {
            Verdict::Done(booking) => return self.read_unless(booking, done).await,
            Verdict::Unknown(lost) => (lost.to_string(), api.unknown(lost, &call)),
            Verdict::Rejected(failure) if self.is_in_doubt => {
                (failure.to_string(), failure.into_error(&call))
            }
            verdict => return api.result(verdict, &call),
        };
        match self.read().await {
            Ok(booking) if done(&booking) => {
                ui.out.note(&format!("{wording}; the booking shows the change"));
                self.end("done", None);
                Ok(booking)
            }
            _ => Err(error),
        }
    }

    /// Sends the call once, and returns the booking of the answer. An answer without a booking, or
    /// with another one, proves nothing.
    pub(crate) async fn send(&mut self, call: &Call, in_flight: InFlight) -> Verdict<Booking> {
        let api = &self.parts.api;
        // What was read before the request left is older than its response.
        self.sent_at = Timestamp::now();
        self.end("unknown", None);
        let verdict = match api.exchange(call, Effect::Change(in_flight)).await {
            Verdict::Done(answer) => {
                let status = answer.status;
                let read = api.booking_in(answer.document, self.sent_at, true);
                match read.and_then(|booking| checked(api, booking, self.id)) {
                    Ok(booking) => {
                        api.in_flight.replace(InFlight::known(&booking));
                        Verdict::Done(booking)
                    }
                    Err(why) => Verdict::Unknown(Failure::no_booking(status, why)),
                }
            }
            Verdict::Rejected(failure) => Verdict::Rejected(failure),
            Verdict::NothingSent(error) => Verdict::NothingSent(error),
            Verdict::Unknown(failure) => Verdict::Unknown(failure),
        };
        match &verdict {
            Verdict::Done(_) => self.end("done", None),
            Verdict::Rejected(failure) => self.end("rejected", Some(failure.to_string())),
            Verdict::NothingSent(error) => self.end("unsent", Some(error.message.clone())),
            Verdict::Unknown(failure) => self.end("unknown", Some(failure.to_string())),
        }
        verdict
    }

    /// Reads the booking once more if the response may be older than the change. If it cannot be
    /// read, what became of the change is unknown (16).
    pub(crate) async fn read_unless(
        &self,
        booking: Booking,
        shows_it: impl Fn(&Booking) -> bool,
    ) -> Result<Booking> {
        if shows_it(&booking) {
            return Ok(booking);
        }
        let id = booking.id();
        read_booking(&self.parts.api, id).await.map_err(|error| {
            if error.exit == Exit::Interrupted {
                return error;
            }
            let what =
                format!("the service accepted the request, but booking {id} does not show it");
            let what = format!("{what}, and cannot be read again: {}", error.message);
            let check = format!("check before trying again: {}", show_command(id));
            Error::new(Code::OutcomeUnknown, what).hint(check).body(booking.document.clone())
        })
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
