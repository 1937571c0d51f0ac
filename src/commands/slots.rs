use clap::builder::NonEmptyStringValueParser;

use super::arguments::{At, ExtraFields, Limit};
use crate::app::Context;
use crate::flows::{offer, pick, understood};
use crate::json::Document;
use crate::model::contact;
use crate::model::slot::Slot;
use crate::outcome::{Exit, Result};
use crate::recent::RecentList;
use crate::terminal::output::DocumentView;
use crate::terminal::view::slots_page;

/// List the bookable slots of a venue on a day
///
/// A time without an offset is the venue's local time. Later commands can refer to the rows as @1, @2 and so on, as in
/// `bookctl book --slot @1`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl slots @1\n  \
    bookctl slots @1 --at 'tomorrow 19:30' --party 2\n  \
    bookctl slots ven_otp --at '2026-12-01 19:30' \\\n    --json --jq '.slots[].availability_id'")]
pub(crate) struct Args {
    /// Venue id, @N for a row of the last search, or @last
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    venue: Option<String>,
    #[command(flatten)]
    when: At,
    /// Party size
    #[arg(long, value_name = "N", default_value = "2", value_parser = contact::party, allow_negative_numbers = true)]
    party: u32,
    /// Provider, if the venue has several
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    extra: ExtraFields,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let venue = pick::venue_or_pick(context, args.venue.as_deref()).await?;
    let (remembered, zone) = (venue.remembered.as_ref(), args.when.zone.tz.as_ref());
    let when = args.when.when();
    offer::note_unused_zone(context, remembered, &when, zone);
    let search = offer::SlotSearch {
        context,
        venue: &venue,
        party_size: args.party,
        provider: args.provider.as_deref(),
        fields: args.extra.body()?,
        limit: args.limit.get(),
    };
    let zone = offer::known_zone(remembered, zone);
    let offer = search.around(&when, zone.as_ref()).await?;
    offer.remember(context);
    let ids = offer.slots.iter().map(Slot::id);
    context.remember_rows(RecentList::Slots, ids);
    let page = |_: &Document| slots_page(&offer.slots, offer.reader(context));
    let list = DocumentView(offer.document.clone(), page);
    let none = format!(
        "No slots found at {} on that day. Try another day.",
        venue.name()
    );
    context
        .out
        .emit_list(&list, offer.slots.is_empty(), &none)?;
    understood::note_around(context, &offer.around);
    Ok(Exit::Done)
}
