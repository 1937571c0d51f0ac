//! Changing a booking, once: a change whose answer got lost is looked for, never repeated.

use super::guarded::send_guarded;
use super::wait::{look_up, read_booking};
use crate::app::Context;
use crate::app::in_flight::{Situation, show_command};
use crate::client::{Call, Failure};
use crate::model::booking::Booking;
use crate::outcome::Result;

/// Whether an answer is about the booking that was to be changed. A service may know it by another id as well; then it
/// shows that id under this one, too. The answer to another request proves nothing.
async fn is_of(context: &Context, id: &str, answered: &Booking) -> bool {
    if answered.id() == id {
        return true;
    }
    let shown = look_up(context, id).await;
    shown.is_ok_and(|shown| shown.id() == answered.id())
}

/// Sends a modify or a cancel. Where no proper answer came, the booking is read: if it shows what was
/// asked, as `done` judges, the change was made; else its outcome stays open (16). `what` is its noun.
pub(crate) async fn change(
    context: &Context,
    id: &str,
    call: Call,
    what: &'static str,
    done: impl Fn(&Booking) -> bool,
) -> Result<Booking> {
    let in_flight = || Situation::Changing {
        id: id.to_owned(),
        what,
    };
    let doing = format!("sending the {what}");
    let failure = match send_guarded(context, &call, in_flight, &doing).await? {
        Ok(answer) => match Booking::from_document(answer.document) {
            Some(booking) if is_of(context, id, &booking).await => {
                context.situation.replace(Situation::known(&booking));
                return Ok(booking);
            }
            _ => Failure::Unreadable {
                status: answer.status,
                kind: "not a booking".to_owned(),
            },
        },
        Err(failure) => failure,
    };
    let open = failure.leaves_a_write_open();
    let mut error = failure.into_error(&call);
    if !open {
        context.situation.replace(Situation::Nothing);
        return Err(error);
    }
    error.hint = Some(format!("check before trying again: {}", show_command(id)));
    match read_booking(context, id).await {
        Ok(booking) if done(&booking) => {
            context.out.note(&format!(
                "{}; but the booking shows that it was done",
                error.message
            ));
            Ok(booking)
        }
        _ => Err(error),
    }
}
