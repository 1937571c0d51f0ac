use jiff::tz::TimeZone;
use serde_json::Value;

use super::field::ExtraFields;
use super::timing::Zone;
use crate::adapter::WriteKind;
use crate::app::Context;
use crate::app::in_flight::show_command;
use crate::client::Changes;
use crate::flows::{
    More, Offered, ZoneSource, booking_or_pick, change, finish_compared, locate_venue, offered,
    preview, read_booking, resolve,
};
use crate::json::plain;
use crate::model::booking::{Booking, Status};
use crate::model::document_time::DocumentTime;
use crate::model::id::id;
use crate::model::party;
use crate::model::when::When;
use crate::outcome::{Code, Error, Exit, Result};

/// Change a confirmed booking: its time, party size or seating
///
/// Anything that you leave out stays as it is. A time without an offset is the venue's local time.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl modify bk_01 --party 4\n  \
    bookctl modify bk_01 --at 'tomorrow 20:30' --seating terrace")]
#[command(group(clap::ArgGroup::new("change").args(["at", "party", "seating", "fields"]).multiple(true).required(true)))]
pub(crate) struct Args {
    /// Booking id, @N for a row of the last list of bookings, or @last
    #[arg(value_parser = id)]
    booking: Option<String>,
    /// New time
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    at: Option<When>,
    #[command(flatten)]
    zone: Zone,
    /// New party size
    #[arg(long, value_name = "N", value_parser = party::parse, allow_negative_numbers = true)]
    party: Option<u32>,
    /// New seating preference
    #[arg(long, value_name = "TEXT")]
    seating: Option<String>,
    #[command(flatten)]
    extra: ExtraFields,
    /// Show the request and send nothing; a time without an offset or --tz is then in this computer's zone
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    if !args.dry_run {
        context.before_change()?;
    }
    let id = &booking_or_pick(context, args.booking.as_deref(), Offered::Alive).await?;
    let datetime = match &args.at {
        Some(when) if args.dry_run => {
            let zone_source = ZoneSource::of(None, args.zone.tz.as_ref());
            let moment = resolve(when, context.now()?, &zone_source.clone().or_system())?;
            Some(zone_source.wire_time(context.adapter(), &moment).into())
        }
        Some(when) => Some(new_time(context, id, when, args.zone.tz.as_ref(), args.party).await?),
        None => None,
    };
    let changes = Changes {
        datetime,
        party_size: args.party,
        seating: args.seating,
    };
    let fields = args.extra.body()?;
    let call = changes.call(id, context.adapter())?.with_fields(&fields)?;
    if args.dry_run {
        return preview(context, call);
    }
    let booking = change(context, id, call, "change", |booking| {
        let has = |(name, value): (&String, &Value)| booking.value().get(name) == Some(value);
        shows(booking, &changes) && fields.iter().all(has)
    })
    .await?;
    let mut asked = changes.body();
    asked.extend(fields);
    finish_compared(context, &booking, WriteKind::Modify, &asked)
}

/// Whether the booking shows the changes.
fn shows(booking: &Booking, changes: &Changes) -> bool {
    let is = |field: &str, wanted: Option<String>| {
        wanted.is_none_or(|wanted| booking.value().get(field).map(plain) == Some(wanted))
    };
    let moved = changes.datetime.as_ref().is_none_or(|wanted| {
        // The service writes the same moment with the venue's offset, or both write the venue's own clock.
        let stands = booking.value().get("datetime").and_then(DocumentTime::read);
        match (stands, DocumentTime::read(wanted)) {
            (Some(stands), Some(wanted)) => match (stands.instant, wanted.instant) {
                (Some(stands), Some(wanted)) => stands == wanted,
                _ => stands.local.is_some() && stands.local == wanted.local,
            },
            _ => false,
        }
    });
    moved
        && is(
            "party_size",
            changes.party_size.map(|party| party.to_string()),
        )
        && is("seating_preference", changes.seating.clone())
}

/// The new time on the venue's clock: the slot's own time if one is offered then.
async fn new_time(
    context: &Context,
    id: &str,
    when: &When,
    zone: Option<&TimeZone>,
    party: Option<u32>,
) -> Result<Value> {
    let adapter = context.adapter();
    // On the venue's own clock, a time with an offset has to be converted.
    if let Some(moment) = when.exact().filter(|_| !adapter.local_times) {
        return Ok(adapter.wire_time(moment).into());
    }
    let booking = read_booking(context, id).await?;
    if booking.status() != Status::Confirmed {
        return Err(Error::new(
            Code::Http409,
            format!(
                "booking {id} is {}; only a confirmed booking can be changed",
                booking.status()
            ),
        )
        .hint(format!("see `{}`", show_command(id))));
    }
    let Some(venue) = booking.venue_id() else {
        let zone = zone.ok_or_else(|| {
            Error::usage("the booking names no venue, so the venue's time zone is unknown").hint(
                "name the zone with --tz, or give the time with an offset, e.g. 2026-12-01T19:30:00+01:00",
            )
        })?;
        let moment = resolve(when, context.now()?, zone)?;
        return Ok(adapter.wire_time_in(&moment, Some(zone)).into());
    };
    let venue = locate_venue(context, &venue)?;
    match ZoneSource::of(venue.remembered.as_ref(), zone) {
        ZoneSource::Known(zone) => {
            let moment = resolve(when, context.now()?, &zone)?;
            Ok(adapter.wire_time_in(&moment, Some(&zone)).into())
        }
        ZoneSource::Learned => {
            let size = booking.value().get("party_size").and_then(Value::as_u64);
            let size = party
                .or(size.and_then(|size| u32::try_from(size).ok()))
                .unwrap_or(1);
            let provider = booking.str("provider");
            let zone_source = ZoneSource::Learned;
            let offer = offered(
                context,
                &venue,
                when,
                &zone_source,
                size,
                provider,
                More::default(),
            )
            .await?;
            if let Some(slot) = offer.at_wanted() {
                return Ok(slot.datetime_value());
            }
            // Without a slot on that day, the booking's own time shows the venue's offset.
            match own_clock(&booking).filter(|_| offer.slots.is_empty()) {
                Some(zone) => {
                    let moment = resolve(when, context.now()?, &zone)?;
                    Ok(adapter.wire_time_in(&moment, Some(&zone)).into())
                }
                None => Ok(adapter.wire_time(&offer.wanted).into()),
            }
        }
    }
}

/// The offset of the booking's own time.
fn own_clock(booking: &Booking) -> Option<TimeZone> {
    let when = When::parse(booking.str("datetime")?).ok()?;
    Some(TimeZone::fixed(when.exact()?.zoned().offset()))
}
