use super::field::Extra;
use super::timing::At;
use crate::app::Context;
use crate::flows::{Zoning, locate_venue, offered};
use crate::journal::Shown;
use crate::model::party;
use crate::outcome::{Exit, Result};
use crate::terminal::view::SlotList;

/// List the bookable slots of a venue on a day
///
/// A time without an offset is the venue's local time. Later commands can refer to the rows as @1, @2 and so on, as in
/// `bookctl book --slot @1`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl slots @1 --at 'tomorrow 19:30' --party 2\n  \
    bookctl slots ven_otp --at '2026-12-01 19:30' --json --jq '.slots[].availability_id'")]
pub(crate) struct Args {
    /// Venue id, or @N for a row of the last search
    venue: String,
    #[command(flatten)]
    when: At,
    /// Party size
    #[arg(long, value_name = "N", default_value = "2", value_parser = party::parse, allow_negative_numbers = true)]
    party: u32,
    /// Provider, if the venue has several
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    #[command(flatten)]
    extra: Extra,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let venue = locate_venue(context, &args.venue)?;
    let zoning = Zoning::of(venue.remembered.as_ref(), args.when.zone.tz.as_ref());
    let offer = offered(
        context,
        &venue,
        &args.when.at,
        &zoning,
        args.party,
        args.provider.as_deref(),
        &args.extra.body()?,
    )
    .await?;
    offer.remember(context, Shown::AsList);
    context.out.emit(&SlotList {
        document: &offer.document,
        slots: &offer.slots,
    })?;
    if context.out.is_human() && offer.slots.is_empty() {
        context.out.note(&format!(
            "No slots found at {} on that day. Try another day.",
            venue.name()
        ));
    }
    Ok(Exit::Done)
}
