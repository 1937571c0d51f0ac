use clap::builder::PossibleValuesParser;

use super::arguments::{At, ExtraFields, Limit, Place};
use crate::app::Context;
use crate::client::VenueQuery;
use crate::flows::{offer, understood, venues, walk};
use crate::json::Document;
use crate::model::contact;
use crate::model::venue::Venue;
use crate::model::zone::system_zone;
use crate::outcome::{Error, Exit, Result};
use crate::recent::RecentList;
use crate::terminal::output::DocumentView;
use crate::terminal::view::venues_page;

/// Search venues
///
/// Later commands can refer to the rows of the last list as @1, @2 and so on.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl search dining --near London --at 'tomorrow 19:30' --party 2\n  \
    bookctl search travel --lat 35.68 --lon 139.76 \\\n    --at '2026-12-01 09:00' --tz Asia/Tokyo\n  \
    bookctl search fitness --near Paris --at 'sat 9am' \\\n    --json --jq '.venues[].venue_id'")]
#[command(group(clap::ArgGroup::new("where").args(["near", "lat"]).required(true)))]
pub(crate) struct Args {
    /// dining, fitness, entertainment or travel
    #[arg(value_parser = PossibleValuesParser::new(walk::VERTICALS))]
    vertical: String,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    when: At,
    /// Party size
    #[arg(long, value_name = "N", value_parser = contact::party, allow_negative_numbers = true)]
    party: Option<u32>,
    /// Search only this provider; can be repeated
    #[arg(long, value_name = "P")]
    provider: Vec<String>,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    extra: ExtraFields,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let Some(place) = args.place.location() else {
        return Err(Error::usage(
            "no place given: pass --near, or --lat and --lon",
        ));
    };
    let when = args.when.when();
    let zone = args.when.zone.tz.unwrap_or_else(system_zone);
    let moment = offer::resolve(&when, context.now()?, &zone)?;
    let query = VenueQuery {
        vertical: args.vertical,
        place,
        datetime: context.adapter().wire_time(&moment),
        party_size: args.party,
        providers: args.provider,
        fields: args.extra.body()?,
        page: None,
    };
    let pages = venues::find_venues(context, &query, args.limit.get()).await?;
    let ids = pages.items.iter().map(Venue::id);
    context.remember_rows(RecentList::Venues, ids);
    let page = |_: &Document| venues_page(&pages.items);
    let list = DocumentView(pages.document, page);
    let none = "No venues found. Try another place or time.";
    context.out.emit_list(&list, pages.items.is_empty(), none)?;
    understood::note_around(context, &pages.around);
    Ok(Exit::Done)
}
