use std::time::Duration;

use serde_json::json;

use crate::adapter::{Adapter, Outline, ReadKind};
use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::flows::{
    Offered, Reads, Wait, booking_or_pick, card, not_found, remember_shown, warn_of_unknown_status,
};
use crate::model::booking::{Booking, Status};
use crate::model::duration::in_units;
use crate::model::id::id;
use crate::model::shell;
use crate::outcome::{Exit, Result};

/// How long a booking is watched without `--timeout`. A pause expires after 20 minutes.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// Watch a booking until it ends or needs an action
///
/// Prints the booking each time it changes; with --json, one document per line. Exits as `book` does. With --until it
/// exits with 0 if the booking reaches that status. A confirmed booking can still be cancelled, so --until keeps watching
/// it, and exits with 8 if it is still confirmed at the timeout. A booking that needs an action ends it all the same. So
/// does a status that bookctl does not know (15). Until the timeout, it waits out a service that fails, cannot be reached
/// or limits the rate.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl watch bk_01\n  \
    bookctl watch bk_01 --until confirmed --until failed --timeout 5m --json")]
pub(crate) struct Args {
    /// Booking id, @N for a row of the last list of bookings, or @last
    #[arg(value_parser = id)]
    booking: Option<String>,
    /// Stop at this status; can be repeated
    #[arg(long, value_name = "STATUS", value_parser = ["requires_action", "processing", "confirmed", "failed", "cancelled", "expired"])]
    until: Vec<String>,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let named = args.booking.as_deref();
    let mut named = booking_or_pick(context, named, Offered::All, Reads::ToFind).await?;
    let id = named.id.clone();
    let situation = |status| InFlight::Watching {
        id: id.clone(),
        status,
        command: again(&id, &args.until),
    };
    context.in_flight.replace(situation(None));
    let mut wait = Wait::new(context, &id, context.timeout().unwrap_or(LONGEST));
    let mut shown: Option<String> = None;
    let progress = context.out.progress("");
    loop {
        let read = match named.take_read() {
            Some(read) => read,
            None => wait.read().await,
        };
        let booking = read.map_err(|error| not_found(context, &id, error))?;
        // Compares the whole booking, because a new pause has the same status as the one before. What stands around it,
        // such as the number of a request, is new in each answer.
        let text = booking.own_document().text();
        if shown.as_deref() != Some(text) {
            show(context, &booking)?;
            shown = Some(text.to_owned());
        }
        let status = booking.status();
        context.in_flight.replace(situation(Some(status.clone())));
        if args.until.iter().any(|until| until == status.as_str()) {
            return Ok(Exit::Done);
        }
        let left = wait.left();
        let has_ended = ends(&status, &args.until);
        if left.is_zero() && !has_ended {
            context.out.note(&format!(
                "Stopped watching: the time is over, and the booking is {status}. To go on: {}",
                again(&id, &args.until)
            ));
        }
        if let Status::Other(_) = status {
            context.out.note(&map_status(context.adapter(), &booking));
        }
        if has_ended || left.is_zero() {
            return Ok(match status {
                // The booking has not reached the requested status, but still can.
                Status::Confirmed if !args.until.is_empty() => Exit::Processing,
                _ => {
                    warn_of_unknown_status(context, &booking);
                    booking.exit_of_read()
                }
            });
        }
        progress.say(&format!(
            "{status}; watching for up to {} more",
            in_units(left.as_secs())
        ));
        wait.pause().await;
    }
}

fn again(id: &str, until: &[String]) -> String {
    let until = until.iter().map(|status| format!("--until {status}"));
    let until: Vec<String> = until.collect();
    shell::command("watch", id, &until.join(" "))
}

/// Whether to stop watching. Nothing more comes by itself after a pause; a confirmed booking may be cancelled.
fn ends(status: &Status, until: &[String]) -> bool {
    match status {
        Status::Processing => false,
        Status::Confirmed => until.is_empty(),
        Status::RequiresAction | Status::Failed | Status::Cancelled | Status::Expired => true,
        // Nobody knows what can follow it.
        Status::Other(_) => true,
    }
}

/// How to say what a status means that bookctl does not know.
fn map_status(adapter: &Adapter, booking: &Booking) -> String {
    let word = booking.status().as_str().to_owned();
    let mut own = adapter.expressions().filter(|it| it.0 == "read.booking");
    let place = match own.next() {
        Some((_, own)) => format!("({own})"),
        None => Outline::of(booking.document().value()).place(ReadKind::Booking),
    };
    let words = json!({ &word: "STATUS" });
    let setting = format!("read.booking={place} | .status |= ({words}[.] // .)");
    let set = adapter.set_command(&shell::word(&setting));
    format!(
        "the status `{word}` is not one of the specification's; put the one that it means for STATUS: {set}"
    )
}

fn show(context: &Context, booking: &Booking) -> Result<()> {
    context.out.emit_line(&card(context, booking))?;
    remember_shown(context, booking);
    Ok(())
}
