use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{locate, pick};
use crate::app::in_flight::InFlight;
use crate::app::{Api, Facts, Parts, Records, Settings, Ui};
use crate::booking::confirmation::Confirmation;
use crate::journal::recent::RecentList;
use crate::journal::{Attempt, Forgotten, Journal, KeptBooking, SearchCriteria};
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::service::documents::{Booking, fold, id, plural};
use crate::service::time::{Days, DocumentTime, system_zone};
use crate::terminal::output::{DocumentView, Page, Tone, visible};
use crate::terminal::prompt::Prompter;
use crate::terminal::view::kept_page;

/// Delete guests' data from this computer
///
/// This does not cancel the booking at the service; use `bookctl cancel` for that. An unresolved
/// request keeps its guest until you resolve it: see `bookctl attempts`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl bookings forget bk_01\n  \
    bookctl bookings forget @1 @3\n  \
    bookctl bookings forget --guest 'Ada Lovelace'\n  \
    bookctl bookings forget --before 2026-06-01\n  \
    bookctl bookings forget --before today --yes")]
#[command(group(clap::ArgGroup::new("which").args(["bookings", "guest", "before"]).required(true)))]
pub(crate) struct Args {
    /// Booking ids, @N for rows of the last list of bookings, or @last
    #[arg(value_name = "BOOKING", value_parser = id)]
    bookings: Vec<String>,
    /// Delete the guests with this text in their name
    #[arg(long, value_name = "TEXT", value_parser = pick::part)]
    guest: Option<String>,
    /// Delete the guests of bookings made before this day
    #[arg(long, value_name = "DATE", value_parser = Days::parse)]
    before: Option<Days>,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(crate) async fn run(parts @ Parts { records, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    let forgotten = if let Some(before) = &args.before {
        forget_until(&parts.api, records, ui, last_before(before)?, args.yes).await?
    } else if let Some(guest) = args.guest {
        forget_guest(parts, guest, args.yes).await?
    } else {
        let named = args.bookings.iter();
        let ids = named.map(|named| locate::locate_booking(records, named));
        let ids: Vec<String> = ids.collect::<Result<_>>()?;
        for id in &ids {
            if !records.journal()?.made(id)? {
                let displayed = visible(id);
                let what = format!("this computer knows no booking {displayed} of this service");
                let lists = "to delete a guest by name: bookctl bookings forget --guest TEXT";
                return Err(Error::not_found(what).hint(lists));
            }
        }
        // Scripts have done without a question from the start.
        let asks = ui.prompter.interactive() && !args.yes;
        forget_each(&parts.api.facts, records, ui, &ids, asks).await?
    };
    // Done even if nothing was deleted, because an earlier rewrite may have been interrupted.
    leave_nothing(&parts.api, ui, &parts.settings).await?;
    let Forgotten { count, unresolved } = forgotten;
    let document = json!({"forgotten": count, "unresolved": unresolved});
    let page = |_: &Document| {
        let mut page = Page::default();
        page.heading(Tone::Good, "deleted", guests_of(count as usize));
        page
    };
    ui.out.emit(&DocumentView(document.into(), page))?;
    if unresolved > 0 {
        ui.out.warn(&format!(
            "unresolved requests keep their guests, because a booking may exist ({unresolved}); resolve them, then try again: \
             bookctl attempts"
        ));
    }
    if ui.out.is_terminal() && count > 0 {
        let stored =
            "The service keeps its own copy. Other places with guests' data: bookctl help privacy";
        ui.out.note(stored);
    }
    Ok(Exit::Done)
}

/// The last moment before these days. Bookings are dated by this computer's clock.
fn last_before(days: &Days) -> Result<Timestamp> {
    let zone = system_zone();
    let refused = |why: String| Error::usage(format!("--before: {why}"));
    let begin = days.resolve(Timestamp::now(), &zone).map_err(refused)?.0.to_zoned(zone);
    let begin = begin.map_err(|why| refused(why.to_string()))?.timestamp();
    Ok(begin.saturating_sub(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MIN))
}

async fn forget_guest(parts: &Parts, guest: String, yes: bool) -> Result<Forgotten> {
    let words = fold(&guest);
    let keeps_guest = |attempt: &&Attempt| {
        let name = fold(&attempt.wish().guest().unwrap_or_default());
        words.split_whitespace().all(|word| name.contains(word))
    };
    let journal = parts.records.journal()?;
    let open = journal.open_attempts()?;
    let unresolved = u32::try_from(open.iter().filter(keeps_guest).count()).unwrap_or(u32::MAX);
    let sought = SearchCriteria { guest: Some(guest), ..SearchCriteria::default() };
    let ids = journal.find(&sought, None)?.stored.into_iter();
    let ids: Vec<String> = ids.map(|stored| stored.booking.id().to_owned()).collect();
    if ids.is_empty() && unresolved == 0 {
        pick::note_nothing_found(parts, &sought)?;
    }
    let forgotten =
        forget_each(&parts.api.facts, &parts.records, &parts.ui, &ids, !yes && !ids.is_empty())
            .await?;
    Ok(Forgotten { unresolved, ..forgotten })
}

/// Forgets some bookings; lists them first if it asks.
async fn forget_each(
    facts: &Facts,
    records: &Records,
    ui: &Ui,
    ids: &[String],
    asks: bool,
) -> Result<Forgotten> {
    let journal = records.journal()?;
    if asks {
        let stored = ids.iter().filter_map(|id| journal.load_booking(id).transpose());
        let stored: Vec<KeptBooking> = stored.collect::<Result<_>>()?;
        let now = facts.service_now();
        records.remember_rows(RecentList::Bookings, stored.iter().map(|it| it.booking.id()));
        ui.out.show(&kept_page(&stored, now));
        let at = |booking: &Booking| DocumentTime::from_field(booking.value(), "datetime")?.instant;
        let live = stored.iter().map(|stored| &stored.booking);
        let live = live.filter(|booking| booking.status().has_not_ended());
        let coming = live.filter_map(at).filter(|at| *at > now).count();
        if coming > 0 {
            let bookings = plural(coming, "booking is", "bookings are");
            ui.out.warn(&format!(
                "{bookings} still to come. Deleting the guest here does not cancel anything"
            ));
        }
        confirm(&ui.prompter, ids.len()).await?;
    }
    let mut forgotten = Forgotten::default();
    for id in ids {
        let its = journal.forget_booking(id)?;
        forgotten.count += its.count;
        forgotten.unresolved += its.unresolved;
    }
    if forgotten == Forgotten::default() && !ids.is_empty() {
        ui.out.note("The guest was deleted before.");
    }
    Ok(forgotten)
}

async fn forget_until(
    api: &Api,
    records: &Records,
    ui: &Ui,
    until: Timestamp,
    yes: bool,
) -> Result<Forgotten> {
    let found = records.journal()?.forgettable(until)?;
    if !yes && found.count > 0 {
        confirm(&ui.prompter, found.count as usize).await?;
    }
    api.in_flight.replace(InFlight::Other(
        "some guests may be deleted already".to_owned(),
        "run the same command again to delete the others".to_owned(),
    ));
    let _progress = ui.out.progress("deleting guests");
    while records.journal()?.forget_next(until)? {
        // An interrupt ends it here.
        tokio::task::yield_now().await;
    }
    Ok(found)
}

fn guests_of(count: usize) -> String {
    let guests = if count == 1 { "guest" } else { "guests" };
    format!("the {guests} of {}", plural(count, "booking", "bookings"))
}

async fn confirm(prompter: &Prompter<'_>, count: usize) -> Result<()> {
    let guests = guests_of(count);
    let action = format!("deleting {guests}");
    let question = format!("Delete {guests} from this computer?");
    Confirmation::new(&action, question, "Nothing was deleted.").ask(prompter).await
}

/// Rewrites the journal's file, to remove remains of deleted guests.
///
/// May take seconds, so a thread runs it. After Ctrl-C the file is as before.
async fn leave_nothing(api: &Api, ui: &Ui, settings: &Settings) -> Result<()> {
    if api.facts.target().journal.is_some() {
        // PostgreSQL removes deleted rows when it vacuums.
        return Ok(());
    }
    let traces = "the guests were deleted, but traces may remain in the journal's file";
    let again = "run the same command again to overwrite them";
    api.in_flight.replace(InFlight::Other(traces.to_owned(), again.to_owned()));
    let _progress = ui.out.progress("overwriting deleted data");
    let path = settings.paths.journal.clone();
    let rewriting = tokio::task::spawn_blocking(move || Journal::rewrite_file(&path));
    let failed = |_| Err(Error::journal("the journal could not be rewritten"));
    rewriting.await.unwrap_or_else(failed).map_err(|mut error| {
        error.message = format!("{traces}: {}", error.message);
        error.hint(again)
    })
}
