//! `bookctl bookings`: the bookings that this machine knows, from its journal, because the service has no such list.

pub(crate) mod forget;
pub(crate) mod locate;
pub(crate) mod open_bookings;
pub(crate) mod pick;
pub(crate) mod received;

use jiff::Timestamp;
use serde_json::Value;

use crate::app::Context;
use crate::journal::SearchCriteria;
use crate::journal::recent::RecentList;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::service::documents::booking::Booking;
use crate::service::documents::plural;
use crate::service::time::when::Days;
use crate::service::time::zone::system_zone;
use crate::terminal::output::DocumentView;
use crate::terminal::view::{kept_page, open_page};

/// List and search the bookings that this computer knows
///
/// The service has no list of bookings, so this one comes from the journal on this computer, or from the one that a team
/// shares: bookings that were made there, shown by `show` or `watch` without `--json`, or received by `webhook listen`, the newest first,
/// each as it was last seen. Words are looked for in the guest's name, phone and email, the venue and the booking's id;
/// case and accents make no difference. Guests' data is deleted after 90 days; `retention` in config.toml and `book --retention` change that.
/// `bookctl help privacy` shows what is kept where.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  \
    bookctl bookings lovelace\n  \
    bookctl bookings --guest ada --date fri\n  \
    bookctl bookings --venue creperie --date 2026-11-27..2026-11-30\n  \
    bookctl bookings --status requires_action\n  \
    bookctl bookings --jq '.bookings[].id'\n  \
    bookctl bookings --open\n  \
    bookctl show @1\n  \
    bookctl bookings forget bk_01\n  \
    bookctl bookings forget --before 2026-06-01 --yes")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<BookingsAction>,
    /// Words to look for in the guest, the phone number, the email address, the venue and the id
    #[arg(value_name = "TEXT", value_parser = part)]
    text: Vec<String>,
    /// Search the guest's name
    #[arg(long, value_name = "TEXT", value_parser = part)]
    guest: Option<String>,
    /// Search the guest's phone number
    #[arg(long, value_name = "TEXT", value_parser = part, allow_hyphen_values = true)]
    phone: Option<String>,
    /// Search the guest's email address
    #[arg(long, value_name = "TEXT", value_parser = part)]
    email: Option<String>,
    /// Search the venue's name or id
    #[arg(long, value_name = "TEXT", value_parser = part)]
    venue: Option<String>,
    /// Choose a day or a range: `fri`, `today..tomorrow`
    #[arg(long, value_name = "DAY|DAY..DAY", value_parser = Days::parse)]
    date: Option<Days>,
    /// List only bookings with this status
    #[arg(long, value_name = "STATUS", value_parser = ["requires_action", "processing", "confirmed", "failed", "cancelled", "expired"])]
    status: Option<String>,
    /// List only your own bookings in a shared journal
    #[arg(long)]
    mine: bool,
    /// Show at most this many, or all with 0
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        allow_negative_numbers = true
    )]
    limit: u32,
    /// List the organization's unfinished bookings of the last day
    #[arg(long, conflicts_with_all = ["text", "guest", "phone", "email", "venue", "date", "mine"])]
    open: bool,
}

#[derive(clap::Subcommand, Debug)]
enum BookingsAction {
    Forget(forget::Args),
}

fn part(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("there is nothing to look for".to_owned()),
        part => Ok(part.to_owned()),
    }
}

pub(crate) async fn run(context: &Context, args: Args) -> Result<Exit> {
    if let Some(BookingsAction::Forget(args)) = args.action {
        return forget::run(context, args).await;
    }
    let limit = (args.limit > 0).then_some(args.limit);
    if args.open {
        return list_open(context, args.status, limit).await;
    }
    received::take_in_received(context)?;
    let mut sought = SearchCriteria {
        text: (!args.text.is_empty()).then(|| args.text.join(" ")),
        guest: args.guest,
        phone: args.phone,
        email: args.email,
        venue: args.venue,
        days: None,
        status: args.status,
        mine: args.mine.then(|| context.maker()),
    };
    if let Some(days) = args.date {
        let days = days.resolve(context.now()?, &system_zone());
        sought.days = Some(days.map_err(|why| Error::usage(format!("--date: {why}")))?);
    }
    let found = context.journal()?.find(&sought, limit)?;
    let ids = found.kept.iter().map(|kept| kept.booking.id());
    context.remember_rows(RecentList::Bookings, ids);
    let bookings = Document::array(found.kept.iter().map(|it| it.booking.document()));
    let more = Document::from(Value::from(found.more));
    let document = Document::object(&[("bookings", &bookings), ("more", &more)]);
    let page = |_: &Document| kept_page(&found.kept, Timestamp::now());
    let list = DocumentView(document, page);
    let service = context.named_service();
    let service = service.as_deref().unwrap_or("sandbox");
    let none = format!("No bookings found ({service}).");
    context.out.emit_list(&list, found.kept.is_empty(), &none)?;
    if let Some(open) = pick::open_requests(context).filter(|_| context.out.is_human()) {
        context.out.note(&format!("Not in this list: {open}."));
    }
    if found.more {
        context.out.note(&format!(
            "Showing the newest {}. Use --limit to show more.",
            args.limit
        ));
    }
    let lost = context.journal()?.lost()?;
    if lost > 0 {
        let bookings = plural(lost as usize, "booking", "bookings");
        context.out.note(&format!(
            "Left out {bookings} that the service no longer knows."
        ));
    }
    Ok(Exit::Done)
}

async fn list_open(context: &Context, status: Option<String>, limit: Option<u32>) -> Result<Exit> {
    let mut bookings = open_bookings::open_bookings(context).await?;
    if let Some(status) = status {
        bookings.retain(|booking| booking.status().as_str() == status);
    }
    bookings.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
    let ids = bookings.iter().map(Booking::id);
    context.remember_rows(RecentList::Bookings, ids);
    let known = |booking: Booking| {
        let kept = || context.journal()?.kept(booking.id());
        let known = kept().ok().flatten().map(|kept| kept.booking);
        (booking, known)
    };
    let bookings: Vec<_> = bookings.into_iter().map(known).collect();
    let documents = bookings.iter().map(|(booking, _)| booking.document());
    let document = Document::array(documents).named("bookings");
    let page = |_: &Document| open_page(&bookings);
    let list = DocumentView(document, page);
    let none = "No unfinished bookings in the last day.";
    context.out.emit_list(&list, bookings.is_empty(), none)?;
    Ok(Exit::Done)
}
