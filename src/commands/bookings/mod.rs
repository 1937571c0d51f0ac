//! `bookctl bookings`: the bookings that this machine knows, from its journal, because the service has no such list.

mod forget;
mod refresh;

use jiff::Timestamp;

use crate::app::Context;
use crate::flows::{open_bookings, open_requests, take_in_received};
use crate::journal::{KeptBooking, Sought};
use crate::model::booking::Booking;
use crate::model::when::Days;
use crate::model::zone::system_zone;
use crate::outcome::{Error, Exit, Result};
use crate::recent::RecentList;
use crate::terminal::view::{LocalBookings, OpenBookings};
use refresh::refresh;

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
    bookctl bookings --status requires_action --refresh\n  \
    bookctl bookings --jq '.bookings[].id'\n  \
    bookctl bookings --open\n  \
    bookctl show @1\n  \
    bookctl bookings forget bk_01\n  \
    bookctl bookings forget --before 2026-06-01 --yes")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Words to look for in the guest, the phone number, the email address, the venue and the id
    #[arg(value_name = "TEXT", value_parser = part)]
    text: Vec<String>,
    /// Part of the guest's name
    #[arg(long, value_name = "TEXT", value_parser = part)]
    guest: Option<String>,
    /// Part of the guest's phone number; blanks and signs make no difference
    #[arg(long, value_name = "TEXT", value_parser = part, allow_hyphen_values = true)]
    phone: Option<String>,
    /// Part of the guest's email address
    #[arg(long, value_name = "TEXT", value_parser = part)]
    email: Option<String>,
    /// Part of the venue's name or id
    #[arg(long, value_name = "TEXT", value_parser = part)]
    venue: Option<String>,
    /// Day of the booking by the venue's clock, or a range: `fri`, `today..tomorrow`, `2026-11-27`
    #[arg(long, value_name = "DAY|DAY..DAY", value_parser = Days::parse)]
    date: Option<Days>,
    /// List only bookings with this status
    #[arg(long, value_name = "STATUS", value_parser = ["requires_action", "processing", "confirmed", "failed", "cancelled", "expired"])]
    status: Option<String>,
    /// List only bookings that you made on this computer; for a journal that a team shares
    #[arg(long)]
    mine: bool,
    /// Number of bookings to list, the newest first; 0 lists all
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        allow_negative_numbers = true
    )]
    limit: u32,
    /// Update unfinished bookings from the service first
    #[arg(long)]
    refresh: bool,
    /// List the organization's unfinished bookings of the last day instead, from any computer
    #[arg(long, conflicts_with_all = ["refresh", "text", "guest", "phone", "email", "venue", "date", "mine"])]
    open: bool,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    Forget(forget::Args),
}

impl Args {
    fn limit(&self) -> Option<u32> {
        (self.limit > 0).then_some(self.limit)
    }

    fn sought(&self, context: &Context) -> Result<Sought> {
        let days = match &self.date {
            Some(days) => {
                let days = days.resolve(context.now()?, &system_zone());
                Some(days.map_err(|why| Error::usage(format!("--date: {why}")))?)
            }
            None => None,
        };
        Ok(Sought {
            text: (!self.text.is_empty()).then(|| self.text.join(" ")),
            guest: self.guest.clone(),
            phone: self.phone.clone(),
            email: self.email.clone(),
            venue: self.venue.clone(),
            days,
            status: self.status.clone(),
            mine: self.mine.then(|| context.maker()),
        })
    }
}

pub(super) async fn run(context: &Context, mut args: Args) -> Result<Exit> {
    if let Some(Action::Forget(args)) = args.action.take() {
        return forget::run(context, args).await;
    }
    if args.open {
        return list_open(context, &args).await;
    }
    take_in_received(context)?;
    if args.refresh {
        refresh(context, args.limit()).await?;
    }
    let sought = args.sought(context)?;
    let venue = |id: &str| context.known_venue(id);
    let found = context.journal()?.find(&sought, args.limit(), &venue)?;
    let ids = found.kept.iter().map(|kept| kept.booking.id());
    context.remember_rows(RecentList::Bookings, ids);
    let list = LocalBookings {
        kept: &found.kept,
        more: found.more,
        now: Timestamp::now(),
    };
    let none = match context.named_service() {
        Some(service) => format!("No bookings found ({service})."),
        None => "No bookings found (embedded sandbox).".to_owned(),
    };
    context.out.emit_list(&list, found.kept.is_empty(), &none)?;
    if let Some(open) = open_requests(context).filter(|_| context.out.is_human()) {
        context.out.note(&format!("Not in this list: {open}."));
    }
    if context.out.is_human() {
        note_overdue(context, &found.kept);
    }
    if found.more {
        context.out.note(&format!(
            "Showing the newest {}. Use --limit to show more.",
            args.limit
        ));
    }
    match context.journal()?.lost()? {
        0 => {}
        1 => context
            .out
            .note("Left out 1 booking that the service no longer knows."),
        many => context.out.note(&format!(
            "Left out {many} bookings that the service no longer knows."
        )),
    }
    Ok(Exit::Done)
}

/// Tells of bookings that waited for an action when they were last seen, and no longer can.
fn note_overdue(context: &Context, kept: &[KeptBooking]) {
    let deadlines = kept.iter().filter_map(|it| it.booking.waits_until());
    let deadlines: Vec<_> = deadlines.collect();
    if deadlines.is_empty() {
        return;
    }
    let now = context.service_now();
    let (of, them) = match deadlines.iter().filter(|it| **it <= now).count() {
        0 => return,
        1 => ("1 booking".to_owned(), "it"),
        many => (format!("{many} bookings"), "them"),
    };
    context.out.note(&format!(
        "The time to answer {of} has passed. To update {them}: bookctl bookings --refresh"
    ));
}

fn part(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("there is nothing to look for".to_owned()),
        part => Ok(part.to_owned()),
    }
}

async fn list_open(context: &Context, args: &Args) -> Result<Exit> {
    let mut bookings = open_bookings(context).await?;
    if let Some(status) = &args.status {
        bookings.retain(|booking| booking.status().as_str() == status);
    }
    bookings.truncate(args.limit().map_or(usize::MAX, |limit| limit as usize));
    let ids = bookings.iter().map(Booking::id);
    context.remember_rows(RecentList::Bookings, ids);
    let known = |booking: Booking| {
        let kept = context
            .journal()
            .and_then(|journal| journal.kept(booking.id()));
        (booking, kept.ok().flatten().map(|kept| kept.booking))
    };
    let bookings: Vec<_> = bookings.into_iter().map(known).collect();
    let list = OpenBookings {
        bookings: &bookings,
    };
    let none = "No unfinished bookings in the last day.";
    context.out.emit_list(&list, bookings.is_empty(), none)?;
    Ok(Exit::Done)
}
