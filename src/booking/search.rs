use std::time::Duration;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use jiff::tz::TimeZone;
use tokio::time::{Instant, sleep, timeout_at};

use super::arguments::{ExtraFields, Limit, Zone, degrees, near};
use super::book::{offer, walk};
use super::find::pick;
use super::watch::wait;
use crate::app::{Parts, Ui, pages, report_warnings};
use crate::journal::recent::RecentList;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::{SearchLocation, SearchQuery, VenueWish};
use crate::service::documents::{Slot, Venue, contact};
use crate::service::mapping::WriteKind;
use crate::service::time::{When, duration, human, in_units, system_zone};
use crate::terminal::output::DocumentView;
use crate::terminal::view::{slots_page, venues_page};

/// Search venues
///
/// Later commands accept the rows of this list as @1, @2 and so on.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl search dining --near London --at 'tomorrow 19:30' --party 2\n  \
    bookctl search travel --near 35.68,139.76 \\\n    --at '2030-12-01 09:00' --tz Asia/Tokyo\n  \
    bookctl search fitness --near Paris --at 'sat 9am' \\\n    --json --jq '.venues[].venue_id'")]
#[command(group(clap::ArgGroup::new("where").args(["near", "lat"]).required(true)))]
pub(crate) struct Args {
    /// dining, fitness, entertainment or travel
    #[arg(value_parser = PossibleValuesParser::new(walk::VERTICALS))]
    vertical: String,
    /// Search around a city, a district, or LAT,LON
    #[arg(long, value_name = "PLACE", value_parser = near, conflicts_with_all = ["lat", "lon"])]
    near: Option<SearchLocation>,
    /// Search at this latitude, with --lon
    #[arg(long, value_name = "DEGREES", requires = "lon", allow_negative_numbers = true, value_parser = |it: &str| degrees(it, 90.0))]
    lat: Option<f64>,
    /// Search at this longitude, with --lat
    #[arg(long, value_name = "DEGREES", requires = "lat", allow_negative_numbers = true, value_parser = |it: &str| degrees(it, 180.0))]
    lon: Option<f64>,
    /// Choose the time, such as `fri 19:30` [default: now]
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    at: Option<When>,
    #[command(flatten)]
    zone: Zone,
    /// Search for this many people
    #[arg(long, value_name = "N", value_parser = contact::party, allow_negative_numbers = true)]
    party: Option<u32>,
    /// Search only this provider, repeatable
    #[arg(long, value_name = "NAME")]
    provider: Vec<String>,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    extra: ExtraFields,
}

pub(crate) async fn run(parts: &Parts, args: Args) -> Result<Exit> {
    let Parts { api, records, ui, .. } = parts;
    let point = args.lat.zip(args.lon);
    let point = point.map(|(latitude, longitude)| SearchLocation::At { latitude, longitude });
    let place = args.near.or(point);
    let place = place.ok_or_else(|| Error::usage("no place given: pass --near"))?;
    let when = args.at.unwrap_or_else(When::now);
    let (now, own) = (api.facts.now()?, args.zone.tz.is_none());
    let zone = args.zone.tz.unwrap_or_else(system_zone);
    let moment = offer::resolve(&when, now, &zone)?;
    let wish = VenueWish {
        vertical: args.vertical,
        place,
        datetime: api.facts.mapping().wire_time(&moment, None),
        party_size: args.party,
        providers: args.provider,
    };
    let query = SearchQuery::new(WriteKind::Search, &wish, args.extra.body()?);
    let pages = pages::find_venues(api, records, &query, args.limit.get()).await?;
    let venues = &pages.items;
    records.remember_rows(RecentList::Venues, venues.iter().map(Venue::id));
    let list = DocumentView(pages.document, |_| venues_page(venues));
    ui.out.emit_list(&list, venues.is_empty(), "No venues found. Try another place or time.")?;
    // `tomorrow` may be another day there.
    let is_same_day = |venue: &Venue| {
        let there = venue.timezone().and_then(|zone| when.resolve(now, &zone).ok());
        there.is_some_and(|there| there.zoned.date() == moment.zoned.date())
    };
    if own && when.needs_zone() && !when.names_its_date() && !venues.iter().all(is_same_day) {
        let day = moment.zoned.strftime("%a %-d %b %Y, %H:%M (%:z)");
        ui.out.note(&format!("Searched for {day}, this computer's clock."));
    }
    report_warnings::note_envelope(&api.facts, ui, &pages.envelope_fields);
    Ok(Exit::Done)
}

/// List a venue's free slots on a day
///
/// With --wait, looks again until a slot at that time is free; exits with 7 (rejected) if none was.
/// A time without an offset is the venue's local time. Later commands accept the rows of this list:
/// `bookctl book --slot @1`.
///
/// A pipe has 15 columns: slot, time, minutes, seating, price, currency; the card's hold, currency,
/// unit, other terms; the cancellation's fee, currency, unit, deadline, other terms.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl slots @1\n  \
    bookctl slots @1 --at 'tomorrow 19:30' --party 2\n  \
    bookctl slots ven_otp --at 'fri 19:30' --wait=2h -q && \\\n    bookctl book ven_otp --at 'fri 19:30' --name 'Ada Lovelace' --party 2\n  \
    bookctl slots ven_otp --at '2030-12-01 19:30' \\\n    --json --jq '.slots[].availability_id'")]
pub(crate) struct SlotsArgs {
    /// Venue id, @N for a row of the last search, or @last
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    venue: Option<String>,
    /// Choose the day, or the day and time, such as `fri 19:30` [default: now]
    #[arg(long, value_name = "WHEN|DAY", value_parser = slots_at)]
    at: Option<SlotsAt>,
    #[command(flatten)]
    zone: Zone,
    /// Wait until a slot at that time is free [default: 30m]
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "30m", value_parser = duration::lasting, requires = "at")]
    wait: Option<Duration>,
    /// Search for this many people
    #[arg(long, value_name = "N", default_value = "2", value_parser = contact::party, allow_negative_numbers = true)]
    party: u32,
    /// Choose the provider if the venue has several
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    extra: ExtraFields,
}

pub(crate) async fn list_slots(parts: &Parts, args: SlotsArgs) -> Result<Exit> {
    let Parts { api, records, ui, .. } = parts;
    let venue = pick::venue_or_pick(records, ui, args.venue.as_deref()).await?;
    let at = args.at.unwrap_or(SlotsAt { when: When::now(), is_day: true });
    let search = offer::SlotSearch {
        api,
        venue: &venue,
        party_size: args.party,
        provider: args.provider.as_deref(),
        fields: args.extra.body()?,
        limit: args.limit.get(),
    };
    let zone = args.zone.tz.as_ref();
    let offer = match args.wait {
        Some(longest) => wait_for_slot(&search, ui, &at, zone, longest).await?,
        None => search.fetch_around(&at.when, zone).await?,
    };
    offer.remember(records);
    let (slots, reader) = (&offer.slots, offer.reader(&api.facts));
    records.remember_rows(RecentList::Slots, slots.iter().map(Slot::id));
    let list = DocumentView(offer.document.clone(), |_| slots_page(slots, reader));
    let venue = venue.name();
    let none = format!("No slots found at {venue} on that day. Try another day.");
    ui.out.emit_list(&list, slots.is_empty(), &none)?;
    report_warnings::note_envelope(&api.facts, ui, &offer.envelope_fields);
    Ok(Exit::Done)
}

/// What `slots --at` means. A day alone is asked for by its noon, and today by the present.
#[derive(Clone, Debug)]
struct SlotsAt {
    when: When,
    is_day: bool,
}

fn slots_at(text: &str) -> Result<SlotsAt, String> {
    let is_day = |when| SlotsAt { when, is_day: true };
    if text.trim().eq_ignore_ascii_case("today") {
        return Ok(is_day(When::now()));
    }
    match When::parse(text) {
        Ok(when) => Ok(SlotsAt { when, is_day: false }),
        Err(why) => When::parse(&format!("{text} 12:00")).map(is_day).map_err(|_| why),
    }
}

/// The most and the least often that slots are asked for: at most a third of the rate limit (spec,
/// Limits: 60 in 5 minutes).
const MOST_OFTEN: Duration = Duration::from_secs(1);
const LEAST_OFTEN: Duration = Duration::from_secs(15);

/// The slots once one is free at the wanted time or day; else the last look's error (7).
async fn wait_for_slot(
    search: &offer::SlotSearch<'_>,
    ui: &Ui,
    at: &SlotsAt,
    zone: Option<&TimeZone>,
    longest: Duration,
) -> Result<offer::Offer> {
    search.api.wait_for_rate_limits();
    let deadline = Instant::now() + longest;
    let pause = (longest / 20).clamp(MOST_OFTEN, LEAST_OFTEN);
    let how_often = format!("every {} for up to", in_units(pause.as_secs()));
    let progress = ui.out.progress("");
    let mut last = Error::new(Code::Timeout, "the service did not respond in time");
    let mut is_noted = false;
    loop {
        let look = search.fetch_around(&at.when, zone);
        match timeout_at(deadline.max(Instant::now() + MOST_OFTEN), look).await {
            Ok(Ok(offer)) => {
                let is_there =
                    if at.is_day { !offer.slots.is_empty() } else { offer.at_wanted().is_some() };
                if is_there {
                    return Ok(offer);
                }
                last = offer.no_slot("run: bookctl book --slot");
                if last.code != Code::NoSlot {
                    return Err(last);
                }
                let (venue, time) = (offer.venue.name(), human(&offer.wanted.wire()));
                let day = time.split(',').next().filter(|_| at.is_day);
                last.message = match day {
                    Some(day) => format!("{venue} has no slot on {day}"),
                    None => format!("{venue} has no slot at {time}"),
                };
            }
            Ok(Err(error)) if wait::passes(&error) => last = error,
            Ok(Err(error)) => return Err(error),
            Err(_) => {}
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(last);
        }
        let text = format!(
            "{}; looking {how_often} {}",
            last.message,
            in_units(left.as_secs_f64().round() as u64)
        );
        if !is_noted && !ui.out.redraws() {
            ui.out.note(&text);
            is_noted = true;
        }
        progress.say(&text);
        sleep(pause.min(left)).await;
    }
}
