mod timeline;

use crate::app::Context;
use crate::flows::{
    Offered, Reads, booking_or_pick, card, find_booking, locate_booking, read_booking,
    remember_shown, warn_of_unknown_status,
};
use crate::model::booking::Booking;
use crate::model::id::id;
use crate::model::shell;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::view::BookingList;

/// Show a booking's status, reason and next steps
///
/// Without a booking, a terminal offers the bookings that this computer knows. Text that is no id is looked for among
/// them, as `bookctl bookings TEXT` does.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl show bk_01\n  \
    bookctl show @last\n  \
    bookctl show 'Ada Lovelace'\n  \
    bookctl show bk_01 --json --jq .status\n  \
    bookctl show bk_01 --timeline\n  \
    bookctl show bk_01 --exit-status && echo confirmed")]
pub(crate) struct Args {
    /// Booking ids, @N for rows of the last list of bookings, or @last; several print a table, or a JSON array
    #[arg(value_name = "BOOKING", value_parser = id)]
    bookings: Vec<String>,
    /// Exit as `book` does: 0 confirmed, 8 processing, 10 waiting for an action, 11 or 16 failed, 15 a status that bookctl does not know
    #[arg(long)]
    exit_status: bool,
    /// Show what happened to the booking, in order: the request, states, changes, deliveries and answers
    #[arg(long)]
    timeline: bool,
}

/// The exit code of an answer with another booking, like that of any answer that was not expected.
const ANOTHER: Exit = Exit::Network;

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    if args.timeline {
        return timeline::run(context, &args.bookings, args.exit_status).await;
    }
    if let [] | [_] = args.bookings.as_slice() {
        let named = args.bookings.first().map(String::as_str);
        let mut named = booking_or_pick(context, named, Offered::All, Reads::Always).await?;
        // If its status becomes the exit code, it must be the requested booking.
        let (booking, is_it) = match args.exit_status {
            true => (named.booking(context).await?, true),
            false => named.shown(context).await?,
        };
        context.out.emit(&card(context, &booking))?;
        remember_shown(context, &booking);
        return Ok(match (is_it, args.exit_status) {
            (false, _) => ANOTHER,
            (true, true) => {
                warn_of_unknown_status(context, &booking);
                booking.exit_of_read()
            }
            (true, false) => Exit::Done,
        });
    }
    let named = args.bookings.iter();
    let ids: Vec<String> = named
        .map(|named| locate_booking(context, named))
        .collect::<Result<_>>()?;
    let mut bookings = Vec::new();
    let mut failed = None;
    for id in &ids {
        match read(context, id, args.exit_status).await {
            Ok((booking, is_it)) => {
                bookings.push(booking);
                if !is_it {
                    failed = failed.or(Some(ANOTHER));
                }
            }
            // A person sees the other bookings anyway. A script gets all of them or none.
            Err(mut error) if context.out.is_human() && is_about_one(&error) => {
                // One line per error.
                error.hint = None;
                context.out.report(&error);
                failed = failed.or(Some(error.exit));
            }
            Err(error) => return Err(error),
        }
    }
    if bookings.is_empty() && failed == Some(Exit::NotFound) {
        context.out.note(&format!(
            "To look for a text among the bookings that this computer knows, quote it: bookctl show {}",
            shell::word(&args.bookings.join(" "))
        ));
    }
    context.out.emit(&BookingList {
        bookings: &bookings,
    })?;
    for booking in &bookings {
        remember_shown(context, booking);
        if args.exit_status {
            warn_of_unknown_status(context, booking);
        }
    }
    if let Some(exit) = failed {
        return Ok(exit);
    }
    // The first booking that is not confirmed decides.
    let exit = bookings
        .iter()
        .map(Booking::exit_of_read)
        .find(|exit| *exit != Exit::Done);
    Ok(exit.filter(|_| args.exit_status).unwrap_or(Exit::Done))
}

/// Reads one booking, and whether it is the requested one. If its status becomes the exit code, it must be.
async fn read(context: &Context, id: &str, is_judged: bool) -> Result<(Booking, bool)> {
    match is_judged {
        true => read_booking(context, id)
            .await
            .map(|booking| (booking, true)),
        false => find_booking(context, id).await,
    }
}

/// Whether the other bookings can still be read after this error.
fn is_about_one(error: &Error) -> bool {
    matches!(
        error.exit,
        Exit::NotFound | Exit::Refused | Exit::Invalid | Exit::Service
    )
}
