pub(crate) mod history;

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::find::pick;
use super::watch::wait;
use super::{finish, terms};
use crate::app::{Facts, Parts, Records, Ui};
use crate::journal::KeptBooking;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::service::documents::{Booking, id};
use crate::service::time::{system_zone, to_the_second};
use crate::terminal::output::{DocumentView, Page, TableCell, Tone, View as _};
use crate::terminal::view::bookings_page;

/// Show a booking's status, reason and next steps
///
/// Without BOOKING, a terminal offers the bookings this computer knows. There, text instead of an
/// id searches them: `bookctl show 'Ada Lovelace'`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl show bk_01\n  \
    bookctl show @last\n  \
    bookctl show 'Ada Lovelace'\n  \
    bookctl show bk_01 --json --jq .status\n  \
    bookctl show bk_01 --timeline\n  \
    bookctl show bk_01 --markdown\n  \
    bookctl show bk_01 --exit-status && echo confirmed")]
pub(crate) struct Args {
    /// Booking ids, @N for rows of the last list of bookings, or @last; several print a table, or a
    /// JSON array with an element for each
    #[arg(value_name = "BOOKING", value_parser = id)]
    bookings: Vec<String>,
    /// Exit by the booking's status, as `book` does
    #[arg(long)]
    exit_status: bool,
    /// Show the card, then what happened to the booking
    #[arg(long)]
    timeline: bool,
    /// Print card and timeline as Markdown, for a ticket
    #[arg(long)]
    markdown: bool,
}

pub(crate) async fn run(parts @ Parts { records, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    if args.timeline || args.markdown {
        return show_timeline(parts, &args).await;
    }
    if let [] | [_] = args.bookings.as_slice() {
        let named = args.bookings.first().map(String::as_str);
        let mut named = pick::booking_or_pick(parts, named, |_| true, true).await?;
        let (booking, exit) = match read(parts, &mut named, args.exit_status).await {
            Err(error) if ui.out.is_terminal() => {
                let known = known_here(records, ui, &named.id, error)?;
                finish::remember_shown(parts, &known.0);
                known
            }
            read => read?,
        };
        ui.out.emit(&finish::booking_view(parts, &booking))?;
        return Ok(exit);
    }
    let located = |named: &String| pick::located(records, named);
    let named: Vec<_> = args.bookings.iter().map(located).collect::<Result<_>>()?;
    let mut bookings = Vec::new();
    let mut documents = Vec::new();
    let mut exit = Exit::Done;
    for mut named in named {
        let its = match read(parts, &mut named, args.exit_status).await {
            Ok((booking, its)) => {
                documents.push(booking.document.clone());
                bookings.push(booking);
                its
            }
            Err(mut error) => {
                if !wait::is_about_one(&error) {
                    return Err(error);
                }
                error.hint = None;
                documents.push(Document::object(&[("error", &error.to_json())]));
                if ui.out.is_human() {
                    ui.out.report(&error);
                }
                error.exit
            }
        };
        // The first booking that is not confirmed decides.
        if exit == Exit::Done {
            exit = its;
        }
    }
    let documents = Document::array(documents.iter());
    let page = |_: &Document| {
        let known = bookings.iter().map(|it| terms::filled_in(records, it));
        bookings_page(known, parts.api.facts.service_now())
    };
    ui.out.emit(&DocumentView(documents, page))?;
    Ok(exit)
}

/// What this computer knows of a booking if the service does not respond, with its exit code.
fn known_here(records: &Records, ui: &Ui, id: &str, error: Error) -> Result<(Booking, Exit)> {
    let Some(stored) = wait::passes(&error).then(|| terms::find_recorded(records, id)).flatten()
    else {
        return Err(error);
    };
    let (why, seen) = (&error.message, stored.booking.left_at.map(to_the_second));
    let seen = seen.unwrap_or_default();
    ui.out.warn(&format!("{why}; this is what this computer saw on {seen}"));
    Ok((stored.booking, error.exit))
}

/// Reads a booking and records it, and its exit code if its status counts. Then it must be the
/// requested one; else it may be the same under another id, and is shown with a warning.
async fn read(
    parts: &Parts,
    named: &mut pick::NamedBooking,
    is_judged: bool,
) -> Result<(Booking, Exit)> {
    let booking = named.look_up(parts).await?;
    let (booking, is_it) = parts.api.identified(booking, &named.id);
    let exit = if !is_it {
        let error = wait::wrong_booking_error(&booking, &named.id);
        if is_judged || !parts.ui.out.is_human() {
            return Err(error);
        }
        parts.ui.out.warn(&error.message);
        error.exit
    } else {
        finish::remember_shown(parts, &booking);
        exit_of(&parts.api.facts, &parts.records, &parts.ui, &booking, is_judged)
    };
    Ok((booking, exit))
}

/// The exit code of a recorded booking if its status counts, 16 while its request is unresolved. A
/// script's read opens no journal.
fn exit_of(facts: &Facts, records: &Records, ui: &Ui, booking: &Booking, is_judged: bool) -> Exit {
    if !is_judged {
        return Exit::Done;
    }
    finish::warn_of_unknown_status(facts, ui, booking);
    let recorded = || terms::find_recorded(records, booking.id());
    let is_marked = |it: KeptBooking| it.unresolved_key.is_some();
    match booking.exit_of_read() {
        Exit::Done if ui.out.is_human() && recorded().is_some_and(is_marked) => {
            Exit::OutcomeUnknown
        }
        exit => exit,
    }
}

/// The card of a booking, then what happened to it, in order.
async fn show_timeline(parts: &Parts, args: &Args) -> Result<Exit> {
    let named = &args.bookings;
    if named.len() > 1 {
        return Err(Error::usage("--timeline shows one booking").hint("name one booking"));
    }
    let named = named.first().map(String::as_str);
    let mut named = pick::booking_or_pick(parts, named, |_| true, true).await?;
    let id = &named.id.clone();
    // What this computer knows is worth showing if the service has no response or booking.
    let (booking, failed) = match named.booking(parts).await {
        Ok(booking) => {
            finish::remember_shown(parts, &booking);
            (Some(booking), None)
        }
        Err(error) => (terms::find_recorded(&parts.records, id).map(|it| it.booking), Some(error)),
    };
    let rows = history::timeline(parts, id, booking.as_ref())?;
    let exit = booking
        .as_ref()
        .map(|it| exit_of(&parts.api.facts, &parts.records, &parts.ui, it, args.exit_status));
    let mut exit = exit.unwrap_or(Exit::Done);
    if let Some(error) = failed {
        if booking.is_none() && rows.is_empty() {
            return Err(error);
        }
        parts.ui.out.warn(&format!("{}; this is what this computer knows", error.message));
        exit = error.exit;
    }
    let none = Document::from(Value::Null);
    let documents = Document::from(json!(rows));
    let displayed = booking.as_ref().map_or(&none, |it| &it.document);
    let document = Document::object(&[("booking", displayed), ("timeline", &documents)]);
    let page = |_: &Document| {
        let mut page = match &booking {
            Some(booking) => finish::booking_view(parts, booking).page().without_commands(),
            None => {
                let mut page = Page::default();
                page.heading(Tone::Strong, "unknown", id);
                page
            }
        };
        page.line("");
        add_timeline(&mut page, &rows);
        if args.markdown { page.in_markdown() } else { page }
    };
    parts.ui.out.emit(&DocumentView(document, page))?;
    Ok(exit)
}

pub(crate) fn add_timeline(page: &mut Page, rows: &[history::TimelineRow]) {
    // One clock for all, and the reader's own beside it where it differs.
    let own = system_zone();
    let is_utc = rows.iter().all(|row| own.to_offset(row.at).seconds() == 0);
    let cells = rows.iter().map(|row| {
        let utc = TimeZone::UTC.to_datetime(row.at);
        let there = own.to_datetime(row.at).strftime(" (%H:%M)").to_string();
        let there = Some(there).filter(|_| !is_utc).unwrap_or_default();
        let short = utc.strftime("%-d %b %T").to_string() + &there;
        let time =
            TableCell::from(row.at.strftime("%FT%T+00:00").to_string()).in_short(Some(short));
        // The text says what it is.
        vec![time, TableCell::from(row.kind).in_short(Some(String::new())), row.text.clone()]
    });
    let when = if is_utc { "when (UTC)" } else { "when (UTC, yours)" };
    page.table(vec![when, "what", "what happened"], cells.collect(), vec![]);
}
