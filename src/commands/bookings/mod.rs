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

/// List what this machine booked, and forget its guests
///
/// Each booking is shown as it was last seen, the newest first; the service has no such list, so this is the
/// journal's. Guests' data is kept for 90 days after a create, unless `retention` in config.toml or `book
/// --retention` says otherwise; `bookctl help privacy` tells what is kept where.
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
    /// With this status alone
    #[arg(long, value_name = "STATUS", value_parser = ["requires_action", "processing", "confirmed", "failed", "cancelled", "expired"])]
    status: Option<String>,
    /// How many, the newest first
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    limit: u32,
    /// Read those that are not finished anew first
    #[arg(long)]
    refresh: bool,
    /// The organization's unfinished ones of the last day instead, whoever made them, as the service lists them
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
    context.out.emit(&LocalBookings {
        kept: &kept,
        now: Timestamp::now(),
    })?;
    if context.out.is_human() && kept.is_empty() {
        context.out.note("no booking of this machine fits");
    }
    if more {
        context.out.note(&format!(
            "the newest {} are shown; --limit shows more",
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
        context
            .out
            .warn(&format!("the rows are not remembered: {why}"));
    }
}

async fn list_open(context: &Context, args: &Args) -> Result<Exit> {
    let mut bookings = open_bookings(context).await?;
    if let Some(status) = &args.status {
        bookings.retain(|booking| booking.status().as_str() == status);
    }
    bookings.truncate(args.limit as usize);
    remember(context, bookings.iter().map(Booking::id));
    context.out.emit(&Listed(BookingList {
        bookings: &bookings,
    }))?;
    if context.out.is_human() && bookings.is_empty() {
        context.out.note("no booking of the last day is unfinished");
    }
    Ok(Exit::Done)
}
