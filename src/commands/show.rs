mod timeline;

use crate::app::Context;
use crate::flows::{finish, pick, wait};
use crate::json::Document;
use crate::model::booking::Booking;
use crate::model::id::id;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::DocumentView;
use crate::terminal::view::bookings_page;

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

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    if args.timeline {
        return timeline::run(context, &args.bookings, args.exit_status).await;
    }
    if let [] | [_] = args.bookings.as_slice() {
        let named = args.bookings.first().map(String::as_str);
        let mut named = pick::booking_or_pick(context, named, |_| true, true).await?;
        let (booking, exit) = read(context, &mut named, args.exit_status).await?;
        context.out.emit(&finish::card(context, &booking))?;
        finish::remember_shown(context, &booking);
        return Ok(exit);
    }
    let named = args.bookings.iter();
    let named = named.map(|named| pick::located(context, named));
    let named: Vec<pick::NamedBooking> = named.collect::<Result<_>>()?;
    let mut bookings = Vec::new();
    let mut exit = Exit::Done;
    for mut named in named {
        let its = match read(context, &mut named, args.exit_status).await {
            Ok((booking, its)) => {
                bookings.push(booking);
                its
            }
            // A person sees the other bookings anyway. A script gets all of them or none.
            Err(mut error) if context.out.is_human() && is_about_one(&error) => {
                error.hint = None;
                context.out.report(&error);
                error.exit
            }
            Err(error) => return Err(error),
        };
        // The first booking that is not confirmed decides.
        if exit == Exit::Done {
            exit = its;
        }
    }
    let documents = Document::array(bookings.iter().map(Booking::document));
    let page = |_: &Document| bookings_page(&bookings);
    context.out.emit(&DocumentView(documents, page))?;
    for booking in &bookings {
        finish::remember_shown(context, booking);
    }
    Ok(exit)
}

/// Whether the other bookings can still be read after this error.
fn is_about_one(error: &Error) -> bool {
    matches!(
        error.exit,
        Exit::NotFound | Exit::Refused | Exit::Invalid | Exit::Service
    )
}

/// Reads a booking, and what the command exits with: that of its status if it is judged by that. It must be the requested
/// one then; else it may be the same under another id, and is shown with a warning.
async fn read(
    context: &Context,
    named: &mut pick::NamedBooking,
    is_judged: bool,
) -> Result<(Booking, Exit)> {
    let (booking, is_it) = named.answered(context).await?;
    if is_it && is_judged {
        finish::warn_of_unknown_status(context, &booking);
        let exit = booking.exit_of_read();
        return Ok((booking, exit));
    }
    if is_it {
        return Ok((booking, Exit::Done));
    }
    let error = wait::another(&booking, &named.id);
    if is_judged {
        return Err(error);
    }
    context.out.warn(&error.message);
    Ok((booking, error.exit))
}
