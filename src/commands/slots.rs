use super::field::ExtraFields;
use super::timing::At;
use crate::app::Context;
use crate::flows::{ZoneSource, locate_venue, offered};
use crate::journal::Shown;
use crate::model::party;
use crate::outcome::{Exit, Result};
use crate::terminal::view::SlotList;

/// List the bookable slots of a venue on a day
///
/// A time without an offset is read from the venue's own clock. The rows are remembered as @1, @2 and so on, so
/// that `bookctl book --slot @1` needs nothing repeated.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl slots @1 --at 'tomorrow 19:30' --party 2\n  \
    bookctl slots ven_otp --at '2026-12-01 19:30' --json --jq '.slots[].availability_id'")]
pub(crate) struct Args {
    /// Venue: its id, or @N for a row of the last search
    venue: String,
    #[command(flatten)]
    when: At,
    /// Party size
    #[arg(long, value_name = "N", default_value = "2", value_parser = party::parse, allow_negative_numbers = true)]
    party: u32,
    /// Provider, where a venue has several
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    #[command(flatten)]
    extra: ExtraFields,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let venue = locate_venue(context, &args.venue)?;
    let zone_source = ZoneSource::of(venue.remembered.as_ref(), args.when.zone.tz.as_ref());
    let offer = offered(
        context,
        &venue,
        &args.when.at,
        &zone_source,
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
            "{} has nothing on that day: try another one",
            venue.name()
        ));
    }
    Ok(Exit::Done)
}
