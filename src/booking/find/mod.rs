//! `bookctl bookings`: the bookings that this computer knows, from its journal, because the service
//! has no such list.

pub(crate) mod forget;
pub(crate) mod locate;
pub(crate) mod pick;
mod refresh;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::in_flight::resume_command;
use crate::app::{Api, Parts, Records, Ui};
use crate::booking::terms;
use crate::booking::verdict::of_known;
use crate::journal::recent::RecentList;
use crate::journal::{KeptBooking, SearchCriteria};
use crate::json::Document;
use crate::outcome::word::{Word, WordKind};
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::show_call;
use crate::service::documents::Booking;
use crate::service::mapping::scalars;
use crate::service::time::{Days, in_units, system_zone};
use crate::terminal::output::DocumentView;
use crate::terminal::view::{is_listed_as, kept_page, open_page};

/// List and search the bookings this computer knows
///
/// Lists the bookings this computer or your team made, opened or received by `webhook listen`, each
/// as last seen. The service offers no list. A terminal lists the next
/// visits first, a pipe and `--json` the newest bookings. TEXT matches the guest's name, phone and
/// email, the venue and the booking's id; case and accents make no difference. --refresh exits with
/// 11 if a coming booking is no longer as it was booked. Guests' data is deleted after 90 days: see
/// `bookctl help privacy`.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  \
    bookctl bookings lovelace\n  \
    bookctl bookings --guest ada --date fri\n  \
    bookctl bookings --venue creperie --date 2026-11-27..2026-11-30\n  \
    bookctl bookings --status waiting\n  \
    bookctl bookings --jq '.bookings[].id'\n  \
    bookctl bookings --open\n  \
    bookctl bookings --refresh || echo 'call the guests'\n  \
    bookctl show @1\n  \
    bookctl bookings forget --guest 'Ada Lovelace'\n  \
    bookctl bookings forget --before 2026-06-01 --yes")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<BookingsAction>,
    /// Text to find in the guest, phone, email, venue or id
    #[arg(value_name = "TEXT", value_parser = pick::part)]
    text: Vec<String>,
    /// Search the guest's name
    #[arg(long, value_name = "TEXT", value_parser = pick::part)]
    guest: Option<String>,
    /// Search the guest's phone number
    #[arg(long, value_name = "TEXT", value_parser = pick::part, allow_hyphen_values = true)]
    phone: Option<String>,
    /// Search the guest's email address
    #[arg(long, value_name = "TEXT", value_parser = pick::part)]
    email: Option<String>,
    /// Search the venue's name or id
    #[arg(long, value_name = "TEXT", value_parser = pick::part)]
    venue: Option<String>,
    /// Choose a day or a range: `fri`, `today..tomorrow`
    #[arg(long, value_name = "DAY|DAY..DAY", value_parser = Days::parse)]
    date: Option<Days>,
    /// List only bookings with this status
    #[arg(long, value_name = "STATUS", value_parser = status(), ignore_case = true)]
    status: Option<String>,
    /// List only your own bookings in a shared journal
    #[arg(long)]
    mine: bool,
    /// Show at most this many, or all with 0
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true)]
    limit: u32,
    /// List unfinished bookings of the last day, from the service
    #[arg(long, conflicts_with_all = ["text", "guest", "phone", "email", "venue", "date", "mine"])]
    open: bool,
    /// Read every coming booking again, and list those that changed
    #[arg(long, conflicts_with_all = ["text", "guest", "phone", "email", "venue", "date", "mine", "status", "open"])]
    refresh: bool,
}

#[derive(clap::Subcommand, Debug)]
enum BookingsAction {
    Forget(forget::Args),
}

/// A status by its name, or by a word that a list shows.
pub(crate) fn status() -> impl TypedValueParser<Value = String> {
    let names = Word::of_bookings().map(|word| match word.kind {
        WordKind::Listed => PossibleValue::new(word.human).hide(true),
        _ if word.human == word.name => PossibleValue::new(word.name),
        _ => PossibleValue::new(word.name).alias(word.human),
    });
    PossibleValuesParser::new(names).map(|name| {
        let name = name.to_lowercase();
        let status = |it: &&Word| it.kind == WordKind::Status && it.human == name;
        Word::of_bookings().find(status).map_or(name.clone(), |word| word.name.to_owned())
    })
}

/// The status in the journal of what a list shows under a word.
pub(crate) fn recorded_status(word: &str) -> &str {
    Word::of_bookings().find(|it| it.human == word).map_or(word, |it| it.name)
}

pub(crate) async fn run(parts: &Parts, args: Args) -> Result<Exit> {
    let Parts { api, records, ui, .. } = parts;
    if let Some(BookingsAction::Forget(args)) = args.action {
        return forget::run(parts, args).await;
    }
    if args.refresh {
        return refresh::run(parts).await;
    }
    let limit = (args.limit > 0).then_some(args.limit);
    if args.open {
        return list_open(parts, args.status, limit).await;
    }
    pick::take_in_received(parts)?;
    records.expect_known_clock()?;
    let mut sought = SearchCriteria {
        text: (!args.text.is_empty()).then(|| args.text.join(" ")),
        guest: args.guest,
        phone: args.phone,
        email: args.email,
        venue: args.venue,
        status: args.status.as_deref().map(|it| recorded_status(it).to_owned()),
        mine: args.mine.then(|| records.maker()),
        ..SearchCriteria::default()
    };
    let now = api.facts.now()?;
    let relative = args.date.as_ref().filter(|days| days.are_relative());
    if let Some(days) = &args.date {
        let days = days.resolve(now, &system_zone());
        let (first, last) = days.map_err(|why| Error::usage(format!("--date: {why}")))?;
        // Today is another day elsewhere, by one at most.
        let apart = if relative.is_some() { 1.day() } else { 0.days() };
        sought.days = Some((first.saturating_sub(apart), last.saturating_add(apart)));
    }
    let today = || system_zone().to_datetime(api.facts.service_now()).date();
    sought.coming = ui.out.is_terminal().then(today);
    // A word of a list is more than a status: all with that status are looked at.
    let word = args.status.as_deref().filter(|it| recorded_status(it) != *it);
    let mut found =
        records.journal()?.find(&sought, limit.filter(|_| word.is_none() && relative.is_none()))?;
    if word.is_some() || relative.is_some() {
        let at = api.facts.service_now();
        found.stored.retain(|stored| {
            word.is_none_or(|word| is_listed_as(&stored.booking, word, at))
                && relative.is_none_or(|days| is_within(stored, days, now))
        });
        let most = limit.map_or(usize::MAX, |limit| limit as usize);
        found.more = found.stored.len() > most;
        found.stored.truncate(most);
    }
    if let Some(today) = sought.coming {
        found.stored.sort_by_key(|stored| pick::by_visit(stored, today));
    }
    let ids = found.stored.iter().map(|stored| stored.booking.id());
    records.remember_rows(RecentList::Bookings, ids);
    let bookings = Document::array(found.stored.iter().map(|it| &it.booking.document));
    let more = Document::from(Value::from(found.more));
    let marked: Vec<_> = found.stored.iter().filter_map(|it| mark(records, it)).collect();
    let list_of_marked = Document::from(json!(marked));
    let mut members = vec![("bookings", &bookings), ("more", &more)];
    members.extend((!marked.is_empty()).then_some(("marked", &list_of_marked)));
    let document = Document::object(&members);
    let list = DocumentView(document, |_| kept_page(&found.stored, api.facts.service_now()));
    ui.out.emit_long(&list)?;
    if found.stored.is_empty() && ui.out.is_human() {
        pick::note_nothing_found(parts, &sought)?;
    }
    let not_ended = found.stored.iter().filter(|it| it.booking.status().has_not_ended());
    let oldest = not_ended.map(|it| it.age().as_secs() / 60 * 60).max().unwrap_or_default();
    if oldest > 0 && ui.out.is_human() {
        let age = in_units(oldest);
        ui.out.note(&format!(
            "As seen up to {age} ago. To read coming bookings again: bookctl bookings --refresh"
        ));
    }
    for MarkedBooking { id, status, why, idempotency_key: key } in &marked {
        let resume = resume_command(key);
        ui.out.note(&format!("{id} ({status}) is marked: {why}; check it: {resume}"));
    }
    if let Some(open) = pick::open_requests(records).filter(|_| ui.out.is_human()) {
        ui.out.note(&open);
    }
    if found.more {
        let limit = args.limit;
        let note = format!("There are more than {limit}. Use --limit to show more.");
        ui.out.note(&note);
    }
    Ok(Exit::Done)
}

/// A booking that does not resolve the request that was answered with it.
#[derive(Serialize)]
struct MarkedBooking {
    id: String,
    status: String,
    why: String,
    idempotency_key: String,
}

fn mark(records: &Records, stored: &KeptBooking) -> Option<MarkedBooking> {
    let key = stored.unresolved_key.clone()?;
    let why = of_known(records, &stored.wish(), &stored.booking).refusal;
    Some(MarkedBooking {
        id: stored.booking.id().to_owned(),
        status: stored.booking.status().to_string(),
        why: why.unwrap_or_else(|| "its request is not resolved".to_owned()),
        idempotency_key: key,
    })
}

/// Whether the visit is on one of these days, by the venue's clock.
fn is_within(stored: &KeptBooking, days: &Days, now: Timestamp) -> bool {
    let known = stored.fill_in(&stored.booking);
    let Some(time) = known.time.read() else { return false };
    let zone = time.offset().map_or_else(system_zone, TimeZone::fixed);
    let day = time.day_in(Some(&zone));
    let days = days.resolve(now, &zone);
    day.zip(days.ok()).is_some_and(|(day, (first, last))| (first..=last).contains(&day))
}

async fn list_open(parts: &Parts, status: Option<String>, limit: Option<u32>) -> Result<Exit> {
    let mut bookings = open_bookings(&parts.api, &parts.ui).await?;
    if let Some(status) = status {
        let now = parts.api.facts.service_now();
        bookings.retain(|booking| is_listed_as(booking, &status, now));
    }
    bookings.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
    parts.records.remember_rows(RecentList::Bookings, bookings.iter().map(Booking::id));
    let known = |booking: Booking| {
        let stored = terms::find_recorded(&parts.records, booking.id());
        let known =
            stored.map_or_else(|| booking.clone(), |stored| stored.fill_in(&stored.booking));
        (booking, known)
    };
    let bookings: Vec<_> = bookings.into_iter().map(known).collect();
    let documents = bookings.iter().map(|(booking, _)| &booking.document);
    let document = Document::object(&[("bookings", &Document::array(documents))]);
    let list = DocumentView(document, |_| open_page(&bookings, parts.api.facts.service_now()));
    parts.ui.out.emit_list(&list, bookings.is_empty(), "No unfinished bookings in the last day.")
}

const NO_BOOKING: &str = "no-such-booking";

/// The unfinished bookings of the last day, made with any key, as the service sent them.
async fn open_bookings(api: &Api, ui: &Ui) -> Result<Vec<Booking>> {
    let body = match api.read(show_call(NO_BOOKING)).await {
        Err(mut error) if error.http_status == Some(404) => error.body.take(),
        Err(error) => return Err(error),
        Ok(_) => None,
    };
    let mapping = api.facts.mapping();
    let listed = body.as_ref().and_then(|body| mapping.bookings_in(body, "open_bookings"));
    let unread = listed.as_ref().map_or(0, |(_, unread)| *unread);
    let cannot =
        format!("{unread} of the open bookings cannot be read: `id` or `status` is missing");
    let why = match listed {
        Some((bookings, _)) if unread == 0 || !bookings.is_empty() => {
            if unread > 0 {
                ui.out.warn(&cannot);
            }
            return Ok(bookings);
        }
        Some(_) => cannot,
        None => "the response has no list of open bookings".to_owned(),
    };
    let setting = mapping.set_command("read.error=EXPRESSION");
    let mut error = Error::new(Code::UnexpectedAnswer, why)
        .hint(format!("check the base URL; if the service lists them in another shape: {setting}"));
    let values = body.iter().flat_map(|body| scalars(body.value()));
    let values = values.filter(|(path, _)| path.starts_with("open_bookings"));
    error.details = values.map(|(path, text)| format!("{path}: {text}")).collect();
    error.body = body;
    Err(error)
}
