//! The slots of a venue around a time, and the one at that time.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use serde_json::{Map, Value};

use super::locate::Located;
use crate::adapter::list;
use crate::app::Context;
use crate::client::SlotQuery;
use crate::journal::Shown;
use crate::json::Document;
use crate::model::slot::Slot;
use crate::model::venue::Venue;
use crate::model::when::{Moment, When};
use crate::model::zone::system_zone;
use crate::outcome::{Code, Error, Exit, Result};

/// Whose clock a time without an offset is read from.
#[derive(Clone, Debug)]
pub(crate) enum Zoning {
    /// A zone that is known: the venue's, else `--tz`.
    Known(TimeZone),
    /// The venue's, which only its slots can show.
    Learned,
}

impl Zoning {
    /// The venue's zone where a search told it, else `--tz`.
    pub(crate) fn of(venue: Option<&Venue>, flag: Option<&TimeZone>) -> Self {
        match venue.and_then(Venue::timezone).or_else(|| flag.cloned()) {
            Some(zone) => Zoning::Known(zone),
            None => Zoning::Learned,
        }
    }
}

impl Zoning {
    /// The zone where no slot will be asked for: the known one, else the system's.
    pub(crate) fn or_system(self) -> TimeZone {
        match self {
            Zoning::Known(zone) => zone,
            Zoning::Learned => system_zone(),
        }
    }
}

/// What a venue offers around a time.
pub(crate) struct Offer {
    venue_id: String,
    party_size: u32,
    pub(crate) document: Document,
    pub(crate) slots: Vec<Slot>,
    /// The provider that offers them, as the answer says.
    pub(crate) provider: Option<String>,
    /// The time that was asked for.
    pub(crate) wanted: Moment,
}

impl Offer {
    /// The slot at exactly the time that was asked for.
    pub(crate) fn at_wanted(&self) -> Option<&Slot> {
        self.slots
            .iter()
            .find(|slot| slot.instant() == Some(self.wanted.timestamp()))
    }

    /// The slots nearest to the time that was asked for, nearest first.
    pub(crate) fn nearest(&self, count: usize) -> Vec<&Slot> {
        let mut slots: Vec<&Slot> = self.slots.iter().collect();
        slots.sort_by_key(|slot| self.distance(slot));
        slots.truncate(count);
        slots
    }

    /// The row of the slot nearest to the time that was asked for.
    pub(crate) fn nearest_row(&self) -> usize {
        let rows = self.slots.iter().enumerate();
        rows.min_by_key(|(_, slot)| self.distance(slot))
            .map_or(0, |(row, _)| row)
    }

    /// Remembers the slots, so that an id alone is enough to book one; `shown` makes them the rows of `@N`.
    pub(crate) fn remember(&self, context: &Context, shown: Shown) {
        let remembered = context.journal().and_then(|mut journal| {
            let (venue, provider) = (&self.venue_id, self.provider.as_deref());
            journal.remember_slots(venue, provider, self.party_size, &self.slots, shown)
        });
        if let Err(error) = remembered {
            let why = &error.message;
            context.out.warn(&format!(
                "the slots could not be saved, so @1 and so on are not available: {why}"
            ));
        }
    }

    fn distance(&self, slot: &Slot) -> u64 {
        let instant = slot.instant().unwrap_or(Timestamp::MAX);
        instant
            .duration_since(self.wanted.timestamp())
            .as_secs()
            .unsigned_abs()
    }
}

/// Asks a venue for its slots on the day of `when`.
///
/// Where nothing told the venue's zone, its slots do: they carry the venue's own offset. The time is then
/// read again on the venue's clock, and asked for again where that is another day.
pub(crate) async fn offered(
    context: &Context,
    venue: &Located,
    when: &When,
    zoning: &Zoning,
    party_size: u32,
    provider: Option<&str>,
    fields: &Map<String, Value>,
) -> Result<Offer> {
    let now = context.now()?;
    let ask =
        async |moment: Moment| ask(context, venue, moment, party_size, provider, fields).await;
    let zone = match (when.exact(), zoning) {
        (Some(_), _) => TimeZone::UTC,
        (None, Zoning::Known(zone)) => zone.clone(),
        (None, Zoning::Learned) => {
            let assumed = resolve(when, now, &system_zone())?;
            let offer = ask(assumed.clone()).await?;
            let Some(offset) = offer.slots.iter().find_map(offset_of) else {
                return Ok(offer);
            };
            if offset == assumed.zoned().offset() {
                return Ok(offer);
            }
            let zone = TimeZone::fixed(offset);
            let wanted = resolve(when, now, &zone)?;
            let day = |datetime: DateTime| datetime.date();
            if offer
                .slots
                .iter()
                .filter_map(Slot::local)
                .any(|local| day(local) == day(wanted.zoned().datetime()))
            {
                return Ok(Offer { wanted, ..offer });
            }
            zone
        }
    };
    ask(resolve(when, now, &zone)?).await
}

/// The moment that was meant; a time that a clock change skips or repeats is refused.
pub(crate) fn resolve(when: &When, now: Timestamp, zone: &TimeZone) -> Result<Moment> {
    when.resolve(now, zone)
        .map_err(|error| Error::usage(error.to_string()))
}

async fn ask(
    context: &Context,
    venue: &Located,
    wanted: Moment,
    party_size: u32,
    provider: Option<&str>,
    fields: &Map<String, Value>,
) -> Result<Offer> {
    let dialect = context.dialect();
    let query = SlotQuery {
        venue_id: venue.id.clone(),
        datetime: wanted.wire(),
        party_size,
        provider: provider.map(str::to_owned),
        fields: fields.clone(),
    };
    let progress = context
        .out
        .progress(&format!("looking for slots at {}", venue.name()));
    let answer = context
        .read(query.call(&dialect)?)
        .await
        .map_err(|error| match error.exit {
            Exit::NotFound => {
                error.hint("find venues with `bookctl search`, then use the venue's id or @1")
            }
            _ => error,
        })?;
    drop(progress);
    let slots = list(answer.document.value(), &dialect.slots_field)
        .ok_or_else(|| not_a_list("slots", &dialect.slots_field))?
        .iter()
        .filter_map(|slot| Slot::from_value(slot.clone()))
        .collect::<Vec<_>>();
    let provider = answer
        .document
        .str("provider")
        .map(str::to_owned)
        .or(query.provider);
    Ok(Offer {
        venue_id: venue.id.clone(),
        party_size,
        document: answer.document,
        slots,
        provider,
        wanted,
    })
}

/// The offset of the clock that a slot's own time is written in.
fn offset_of(slot: &Slot) -> Option<Offset> {
    let (local, instant) = (slot.local()?, slot.instant()?);
    let wall = local.to_zoned(TimeZone::UTC).ok()?.timestamp();
    Offset::from_seconds(i32::try_from(wall.duration_since(instant).as_secs()).ok()?).ok()
}

/// An answer whose list is not where the dialect says.
pub(crate) fn not_a_list(noun: &str, field: &str) -> Error {
    Error::new(Code::Network, format!("the response has no list of {noun}"))
        .hint(format!("bookctl looked for the list in `{field}` and in `data`; set another field name in the profile's dialect"))
}
