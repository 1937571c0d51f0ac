pub(crate) mod wait;

use std::time::Duration;

use super::find::{pick, status};
use super::finish;
use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::outcome::{Exit, Result};
use crate::platform::shell;
use crate::service::documents::booking::Status;
use crate::service::documents::id::id;
use crate::service::time::duration::in_units;

/// How long a booking is watched without `--timeout`. A pause expires after 20 minutes.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// Watch a booking until it ends or needs an answer
///
/// Prints the booking each time it changes; with --json, one document per line. Exits as `book` does; with --until, with 0
/// at that status. `--until cancelled` keeps watching a confirmed booking, and exits with 8 if it is still confirmed at the
/// timeout. Ends if the booking needs an answer or has an unknown status (15). Until the timeout, waits out rate limits and
/// a service that fails or cannot be reached.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl watch bk_01\n  \
    bookctl watch bk_01 --until confirmed --until failed --timeout 5m --json")]
pub(crate) struct Args {
    /// Booking id, @N for a row of the last list of bookings, or @last
    #[arg(value_parser = id)]
    booking: Option<String>,
    /// Stop at this status, repeatable
    #[arg(long, value_name = "STATUS", value_parser = status(), ignore_case = true)]
    until: Vec<String>,
}

pub(crate) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let named = args.booking.as_deref();
    let mut named = pick::booking_or_pick(context, named, |_| true, true).await?;
    let id = named.id.clone();
    let known = match named.read.take() {
        Some(Err(error)) if !wait::passes(&error) => return Err(error),
        read => read.and_then(Result::ok),
    };
    let in_flight = |status: Option<&Status>| {
        let watching = InFlight::watching(&id, status, again(&id, &args.until));
        context.in_flight.replace(watching)
    };
    in_flight(None);
    let mut shown: Option<String> = None;
    let progress = context.out.progress("");
    let longest = context.timeout.unwrap_or(LONGEST);
    let watched = wait::until(context, &id, known, longest, |booking, left| {
        // Compares the whole booking, because a new pause has the same status as the one before. What stands around it,
        // such as the number of a request, is new in each answer.
        let text = booking.own_document().text();
        if shown.as_deref() != Some(text) {
            let view = finish::booking_view(context, booking);
            context.out.emit_line(&view)?;
            finish::remember_shown(context, booking);
            shown = Some(text.to_owned());
        }
        let status = booking.status();
        in_flight(Some(&status));
        let left = in_units(left.as_secs());
        progress.say(&format!("{status}; watching for up to {left} more"));
        Ok(is_reached(&status, &args.until) || ends(&status, &args.until))
    });
    let booking = watched.await.map_err(|error| pick::not_found(context, &id, error))?;
    let status = booking.status();
    if is_reached(&status, &args.until) {
        return Ok(Exit::Done);
    }
    if !ends(&status, &args.until) {
        context.out.note(&format!(
            "Stopped watching: the time is over, and the booking has status {status}. To go on: {}",
            again(&id, &args.until)
        ));
    }
    // It can still be cancelled.
    if status == Status::Confirmed && !ends(&status, &args.until) {
        return Ok(Exit::Processing);
    }
    finish::warn_of_unknown_status(context, &booking);
    Ok(booking.exit_of_read())
}

fn is_reached(status: &Status, until: &[String]) -> bool {
    until.iter().any(|until| until == status.as_str())
}

fn again(id: &str, until: &[String]) -> String {
    let until = until.iter().map(|status| format!("--until {status}"));
    let until: Vec<String> = until.collect();
    shell::command("watch", id, &until.join(" "))
}

/// Whether to stop watching. Nothing more comes by itself after a pause, and what follows an unknown status is unknown; a
/// confirmed booking may be cancelled.
fn ends(status: &Status, until: &[String]) -> bool {
    match status {
        Status::Processing => false,
        Status::Confirmed => !until.iter().any(|it| it == "cancelled"),
        _ => true,
    }
}
