//! `bookctl bookings`: the bookings of this machine, from its journal, because the service has no such list.

mod forget;
mod refresh;

use jiff::Timestamp;

use crate::app::Context;
use crate::flows::open_bookings;
use crate::model::booking::Booking;
use crate::outcome::{Exit, Result};
use crate::terminal::view::{BookingList, Listed, LocalBookings};
use refresh::refresh;

/// List bookings made from this computer
///
/// The service has no list of bookings, so this one comes from the journal on this computer: the newest first, each as
/// it was last seen. Guests' data is deleted after 90 days; `retention` in config.toml and `book --retention` change
/// that. `bookctl help privacy` shows what is kept where.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  \
    bookctl bookings --status requires_action --refresh\n  \
    bookctl bookings --jq '.bookings[].id'\n  \
    bookctl bookings --open\n  \
    bookctl show @1\n  \
    bookctl bookings forget bk_01\n  \
    bookctl bookings forget --before 2026-06-01 --yes")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// List only bookings with this status
    #[arg(long, value_name = "STATUS", value_parser = ["requires_action", "processing", "confirmed", "failed", "cancelled", "expired"])]
    status: Option<String>,
    /// Number of bookings to list, the newest first
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    limit: u32,
    /// Update unfinished bookings from the service first
    #[arg(long)]
    refresh: bool,
    /// List the organization's unfinished bookings of the last day instead, from any computer
    #[arg(long, conflicts_with = "refresh")]
    open: bool,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    Forget(forget::Args),
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    if let Some(Action::Forget(args)) = args.action {
        return forget::run(context, args).await;
    }
    if args.open {
        return list_open(context, &args).await;
    }
    if args.refresh {
        refresh(context).await?;
    }
    let ask = args.limit.saturating_add(1);
    let mut kept = context.journal()?.bookings(args.status.as_deref(), ask)?;
    let more = kept.len() > args.limit as usize;
    kept.truncate(args.limit as usize);
    remember(context, kept.iter().map(|kept| kept.booking.id()));
    let list = LocalBookings {
        kept: &kept,
        now: Timestamp::now(),
    };
    let none = "No bookings found.";
    context.out.emit_list(&list, kept.is_empty(), none)?;
    if more {
        context.out.note(&format!(
            "Showing the newest {}. Use --limit to show more.",
            args.limit
        ));
    }
    Ok(Exit::Done)
}

/// Stores the ids, for `@1`.
fn remember<'a>(context: &Context, ids: impl Iterator<Item = &'a str>) {
    let journal = context.journal();
    if let Err(error) = journal.and_then(|mut journal| journal.remember_booking_list(ids)) {
        let why = &error.message;
        context.out.warn(&format!(
            "the rows could not be saved, so @1 and so on are not available: {why}"
        ));
    }
}

async fn list_open(context: &Context, args: &Args) -> Result<Exit> {
    let mut bookings = open_bookings(context).await?;
    if let Some(status) = &args.status {
        bookings.retain(|booking| booking.status().as_str() == status);
    }
    bookings.truncate(args.limit as usize);
    remember(context, bookings.iter().map(Booking::id));
    let list = Listed(BookingList {
        bookings: &bookings,
    });
    let none = "No unfinished bookings in the last day.";
    context.out.emit_list(&list, bookings.is_empty(), none)?;
    Ok(Exit::Done)
}
