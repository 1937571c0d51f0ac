//! Sends what changes something, or of which that is not known: once. If the answer to a change of
//! a booking is lost, the booking is read to see whether the change was made. A create is guarded
//! by `create`, which records a run of its attempt for each sending.

use jiff::Timestamp;

use super::written::Written;
use crate::app::in_flight::{InFlight, show_command};
use crate::app::{Api, Effect, Records, Ui, Verdict};
use crate::booking::conclude::read_unless;
use crate::booking::finish::record;
use crate::booking::watch::wait::checked;
use crate::outcome::{Code, Error, Result};
use crate::service::client::{Call, Failure};
use crate::service::documents::booking::{Booking, Status};
use crate::service::time::zone::system_zone;

/// The error (7) for a booking in a state in which it cannot be changed, which is recorded.
pub(crate) fn refused(records: &Records, ui: &Ui, booking: &Booking, what: &str) -> Error {
    record(records, ui, booking);
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

/// Sends a modify or a cancel call; `what` is its noun. If `done` does not find the change in the
/// response, reads the booking. Without a usable one, or if this change is refused and an earlier
/// one may have been made, that shows whether it was made.
pub(crate) async fn change(
    api: &Api,
    ui: &Ui,
    id: &str,
    call: Call,
    what: &'static str,
    written: &mut Written<'_>,
    done: impl Fn(&Booking) -> bool,
) -> Result<Booking> {
    let check = format!("check before trying again: {}", show_command(id));
    let in_flight = InFlight::Sent(format!("the {what} of booking {id}"), check);
    let (wording, error) = match send_about(api, id, &call, written, in_flight).await {
        Verdict::Done(booking) => return read_unless(api, booking, done).await,
        Verdict::Unknown(lost) => (lost.to_string(), api.unknown(lost, &call)),
        Verdict::Rejected(failure) if written.is_in_doubt => {
            (failure.to_string(), failure.into_error(&call))
        }
        verdict => return api.result(verdict, &call),
    };
    match written.read(api).await {
        Ok(booking) if done(&booking) => {
            ui.out.note(&format!("{wording}; the booking shows the change"));
            written.end("done", None);
            Ok(booking)
        }
        _ => Err(error),
    }
}

/// Sends a call about a booking once, and returns the booking of the answer. An answer without a
/// booking, or with another one, proves nothing.
pub(crate) async fn send_about(
    api: &Api,
    id: &str,
    call: &Call,
    written: &mut Written<'_>,
    in_flight: InFlight,
) -> Verdict<Booking> {
    // What was read before the request left is older than its response.
    written.sent_at = Timestamp::now();
    written.end("unknown", None);
    let verdict = match api.exchange(call, Effect::Change(in_flight)).await {
        Verdict::Done(answer) => {
            let status = answer.status;
            let read = api.booking_in(answer.document, written.sent_at, true);
            match read.and_then(|booking| checked(api, booking, id)) {
                Ok(booking) => {
                    api.in_flight.replace(InFlight::known(&booking));
                    Verdict::Done(booking)
                }
                Err(why) => Verdict::Unknown(no_booking(status, why)),
            }
        }
        Verdict::Rejected(failure) => Verdict::Rejected(failure),
        Verdict::NothingSent(error) => Verdict::NothingSent(error),
        Verdict::Unknown(failure) => Verdict::Unknown(failure),
    };
    match &verdict {
        Verdict::Done(_) => written.end("done", None),
        Verdict::Rejected(failure) => written.end("rejected", Some(failure.to_string())),
        Verdict::NothingSent(error) => written.end("unsent", Some(error.message.clone())),
        Verdict::Unknown(failure) => written.end("unknown", Some(failure.to_string())),
    }
    verdict
}

/// The failure where a booking was due, and the answer is something else.
pub(crate) fn no_booking(status: u16, why: Error) -> Failure {
    Failure::NoBooking { status, why: Box::new(why) }
}
