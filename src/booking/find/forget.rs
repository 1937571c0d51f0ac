use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::locate;
use crate::app::Context;
use crate::app::in_flight::{InFlight, resume_command};
use crate::booking::confirmation;
use crate::journal::{Forgotten, Journal};
use crate::json::Document;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::documents::id::id;
use crate::service::documents::plural;
use crate::service::time::when::Days;
use crate::service::time::zone::system_zone;
use crate::terminal::output::{DocumentView, Page, Tone, visible};

/// Delete guests' data from this computer
///
/// This does not cancel the booking at the service; use `bookctl cancel` for that. An unresolved request
/// keeps its guest until you resolve it: see `bookctl attempts`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl bookings forget bk_01\n  \
    bookctl bookings forget --before 2026-06-01\n  \
    bookctl bookings forget --before today --yes")]
#[command(group(clap::ArgGroup::new("which").args(["booking", "before"]).required(true)))]
pub(crate) struct Args {
    /// Booking id, @N for a row of the last list of bookings, or @last
    #[arg(value_parser = id)]
    booking: Option<String>,
    /// Forget everything booked before this day
    #[arg(long, value_name = "DATE", value_parser = Days::parse)]
    before: Option<Days>,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(crate) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let forgotten = if let Some(before) = &args.before {
        forget_until(context, last_before(before)?, args.yes).await?
    } else {
        // clap requires one of the two.
        let named = args.booking.as_deref().unwrap_or_default();
        forget_one(context, &locate::locate_booking(context, named)?)?
    };
    // Done even if nothing was deleted, because an earlier rewrite may have been interrupted.
    leave_nothing(context).await?;
    let Forgotten { count, unresolved } = forgotten;
    let document = json!({"forgotten": count, "unresolved": unresolved});
    let page = |_: &Document| {
        let mut page = Page::default();
        page.heading(Tone::Good, "forgotten", count.to_string());
        page
    };
    context.out.emit(&DocumentView(document.into(), page))?;
    if unresolved > 0 {
        context.out.warn(&format!(
            "unresolved requests keep their guests, because a booking may exist ({unresolved}); resolve them, then try again: \
             bookctl attempts"
        ));
    }
    Ok(Exit::Done)
}

/// The last moment before these days. Bookings are dated by this machine's clock.
fn last_before(days: &Days) -> Result<Timestamp> {
    let zone = system_zone();
    let refused = |why: String| Error::usage(format!("--before: {why}"));
    let days = days.resolve(Timestamp::now(), &zone);
    let begin = days.map_err(refused)?.0.to_zoned(zone);
    let begin = begin.map_err(|why| refused(why.to_string()))?.timestamp();
    let before = begin.saturating_sub(SignedDuration::from_nanos(1));
    Ok(before.unwrap_or(Timestamp::MIN))
}

fn forget_one(context: &Context, id: &str) -> Result<Forgotten> {
    let journal = context.journal()?;
    if !journal.made(id)? {
        let shown = visible(id);
        let open = journal.open_attempts()?;
        if open.iter().any(|attempt| attempt.idempotency_key == id) {
            let what =
                format!("attempt {shown} is open: it keeps its guest until its outcome is known");
            return Err(Error::new(Code::Http409, what).hint(resume_command(id)));
        }
        let what = format!("no booking {shown} of this service in the journal");
        let lists = "list bookings with `bookctl bookings`, and unresolved requests with `bookctl attempts`";
        return Err(Error::new(Code::Http404, what).hint(lists));
    }
    let forgotten = journal.forget_booking(id)?;
    if forgotten.count == 0 {
        context.out.note("Its guest was deleted before.");
    }
    Ok(forgotten)
}

async fn forget_until(context: &Context, until: Timestamp, yes: bool) -> Result<Forgotten> {
    let found = context.journal()?.forgettable(until)?;
    if !yes && found.count > 0 {
        confirm(context, found.count).await?;
    }
    context.in_flight.replace(InFlight::other(
        "some guests may be deleted already",
        "run the same command again to delete the others",
    ));
    let _progress = context.out.progress("deleting guests");
    let mut are_some_deleted = false;
    loop {
        let forgotten = context.journal()?.forget_next(until);
        let are_more = forgotten.map_err(|mut error| {
            if are_some_deleted {
                error.message.push_str("; some guests are deleted already");
            }
            error
        })?;
        if !are_more {
            break;
        }
        are_some_deleted = true;
        // An interrupt ends it here.
        tokio::task::yield_now().await;
    }
    Ok(found)
}

async fn confirm(context: &Context, count: u32) -> Result<()> {
    let bookings = plural(count as usize, "booking", "bookings");
    let confirmation = confirmation::Confirmation {
        action: &format!("deleting the guests of {bookings}"),
        question: format!("Delete the guests of {bookings} from this computer?"),
        declined: "Nothing was deleted.",
    };
    confirmation.ask(&context.prompter).await
}

/// Rewrites the journal's file, to remove remains of deleted guests.
///
/// This may take seconds, and so runs on a thread of its own. If Ctrl-C ends it, the file is as it was before.
async fn leave_nothing(context: &Context) -> Result<()> {
    if context.target().journal().is_some() {
        // PostgreSQL removes deleted rows when it vacuums.
        return Ok(());
    }
    context.in_flight.replace(InFlight::other(
        "the guests were deleted, but traces may remain in the journal's file",
        "run the same command again to overwrite them",
    ));
    let _progress = context.out.progress("overwriting deleted data");
    let path = context.paths.journal.clone();
    let rewriting = tokio::task::spawn_blocking(move || Journal::rewrite_file(&path));
    let failed = |_| Err(Error::journal("the journal could not be rewritten"));
    let rewritten = rewriting.await.unwrap_or_else(failed);
    rewritten.map_err(|mut error| {
        let why = &error.message;
        error.message =
            format!("the guests were deleted, but traces may remain in the file: {why}");
        error.hint("run the same command again to overwrite them")
    })
}
