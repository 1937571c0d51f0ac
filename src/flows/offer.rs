//! Asks a venue for its slots around a time.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::locate::LocatedVenue;
use super::pages::{DEFAULT_LIMIT, Listing, Pages};
use crate::app::Context;
use crate::client::SlotQuery;
use crate::json::Document;
use crate::model::document_time::DocumentTime;
use crate::model::similar::did_you_mean;
use crate::model::slot::Slot;
use crate::model::time_text::human;
use crate::model::venue::Venue;
use crate::model::when::{Moment, When};
use crate::model::zone::system_zone;
use crate::outcome::{Code, Error, Exit, Result};
use crate::recent::Shown;
use crate::terminal::view::{TermsReader, slot_line};

/// How many venues of earlier searches a mistyped id is compared with.
const REMEMBERED: u32 = 1000;

/// How to read a time that has no offset.
#[derive(Clone, Debug)]
pub(crate) enum ZoneSource {
    /// In a known zone: the venue's, else that of `--tz`.
    Known(TimeZone),
    /// In the venue's zone, which only its slots can show.
    Learned,
}

impl ZoneSource {
    /// The venue's zone if a search returned it, else that of `--tz`.
    pub(crate) fn of(venue: Option<&Venue>, flag: Option<&TimeZone>) -> Self {
        match venue.and_then(Venue::timezone).or_else(|| flag.cloned()) {
            Some(zone) => ZoneSource::Known(zone),
            None => ZoneSource::Learned,
        }
    }
}

/// Tells that `--tz` has no effect, because the venue's own zone is known.
pub(crate) fn note_unused_zone(
    context: &Context,
    venue: Option<&Venue>,
    when: &When,
    flag: Option<&TimeZone>,
) {
    let own = venue.and_then(Venue::timezone);
    if let (Some(own), Some(flag)) = (own, flag)
        && own != *flag
        && when.exact().is_none()
    {
        let own = own
            .iana_name()
            .map_or(String::new(), |name| format!(", {name}"));
        context.out.note(&format!(
            "--tz is not used: the time is in the venue's zone{own}"
        ));
    }
}

impl ZoneSource {
    /// A time as the service wants it, if no slot shows it. `seen` is a zone that a slot shows.
    ///
    /// # Errors
    ///
    /// `usage` (2) if the time is the venue's, and nothing shows the venue's zone.
    pub(crate) fn wire_time(
        &self,
        context: &Context,
        when: &When,
        seen: Option<TimeZone>,
    ) -> Result<String> {
        let adapter = context.adapter();
        let zone = match self {
            ZoneSource::Known(zone) => Some(zone.clone()),
            ZoneSource::Learned => seen,
        };
        if zone.is_none() && when.needs_zone() && !adapter.local_times {
            return Err(unknown_zone("the venue's time zone is unknown"));
        }
        let clock = zone.clone().unwrap_or_else(system_zone);
        let moment = resolve(when, context.now()?, &clock)?;
        Ok(adapter.wire_time_in(&moment, zone.as_ref()))
    }
}

/// The error (2) for a time that is the venue's, if nothing shows the venue's zone.
pub(crate) fn unknown_zone(why: &str) -> Error {
    Error::usage(why).hint(
        "name the zone with --tz, or give the time with an offset, e.g. 2026-12-01T19:30:00+01:00",
    )
}

/// Reads terms for a party of this size.
pub(crate) fn terms_reader(context: &Context, party: u32) -> TermsReader {
    TermsReader {
        certainty: context.certainty(),
        now: context.service_now(),
        party,
    }
}

/// The slots of a venue around a time.
#[derive(Clone)]
pub(crate) struct Offer {
    venue_id: String,
    party_size: u32,
    pub(crate) document: Document,
    pub(crate) slots: Vec<Slot>,
    /// What stands around the slots in the answer, as paths and texts.
    pub(crate) around: Vec<(String, String)>,
    /// The provider of the slots, as the answer names it.
    pub(crate) provider: Option<String>,
    pub(crate) wanted: Moment,
    /// Whether `wanted` is on this computer's clock, because nothing showed the venue's zone.
    pub(crate) is_assumed: bool,
    /// The venue's zone, if it is known: for times without an offset.
    zone: Option<TimeZone>,
}

impl Offer {
    pub(crate) fn at_wanted(&self) -> Option<&Slot> {
        self.slots.iter().find(|slot| self.is_wanted(slot))
    }

    /// The rows of the slots at exactly the requested time. One of several that are alike stands for them.
    pub(crate) fn rows_at_wanted(&self, context: &Context) -> Vec<usize> {
        let rows = self.slots.iter().enumerate();
        let rows = rows.filter(|(_, slot)| self.is_wanted(slot));
        let rows: Vec<usize> = rows.map(|(row, _)| row).collect();
        let reader = self.reader(context);
        let line = |row: &usize| slot_line(&self.slots[*row], reader);
        match rows.first() {
            Some(first) if rows.iter().all(|row| line(row) == line(first)) => vec![*first],
            _ => rows,
        }
    }

    /// Reads the terms of the slots.
    pub(crate) fn reader(&self, context: &Context) -> TermsReader {
        terms_reader(context, self.party_size)
    }

    pub(crate) fn only(&self, rows: &[usize]) -> Offer {
        let slots = rows.iter().filter_map(|row| self.slots.get(*row));
        Offer {
            slots: slots.cloned().collect(),
            ..self.clone()
        }
    }

    /// Up to `count` slots, nearest to the requested time first.
    pub(crate) fn nearest(&self, count: usize) -> Vec<&Slot> {
        let mut slots: Vec<&Slot> = self.slots.iter().collect();
        slots.sort_by_key(|slot| self.distance(slot));
        slots.truncate(count);
        slots
    }

    /// The index of the slot nearest to the requested time.
    pub(crate) fn nearest_row(&self) -> usize {
        let rows = self.slots.iter().enumerate();
        rows.min_by_key(|(_, slot)| self.distance(slot))
            .map_or(0, |(row, _)| row)
    }

    /// Remembers the slots, so that one can be booked by its id alone. With [`Shown::AsList`] they become the rows of
    /// `@N`.
    pub(crate) fn remember(&self, context: &Context, shown: Shown) {
        context.keep_rate_limits();
        context.remember(|recent| {
            let (venue, provider) = (&self.venue_id, self.provider.as_deref());
            recent.remember_slots(venue, provider, self.party_size, &self.slots, shown)
        });
    }

    /// A slot whose time is not understood. The requested time may be its own.
    pub(crate) fn unread(&self) -> Option<&Slot> {
        let is_read = |slot: &&Slot| DocumentTime::read(&slot.datetime_value()).is_none();
        self.slots.iter().find(is_read)
    }

    /// Whether the requested time can be compared with the slots.
    pub(crate) fn is_comparable(&self) -> bool {
        !self.is_assumed || self.slots.iter().all(|slot| slot.local().is_some())
    }

    /// The error (7) if nothing is offered at that time. It lists the nearest slots. Where the time of a slot is not
    /// understood, nobody can say so (15). `how` is how a slot is named by its id.
    pub(crate) fn no_slot(&self, venue: &str, how: &str) -> Error {
        let wanted = human(&self.wanted.wire());
        if let Some(slot) = self.unread() {
            let mut error = Error::new(
                Code::UnexpectedAnswer,
                format!(
                    "cannot find {wanted} among the slots of {venue}: the time {} is not understood; nothing was booked",
                    slot.datetime_value()
                ),
            )
            .hint(format!(
                "to book a slot, {how} ID; to say how the service writes times, set `read.slots` with `bookctl profile set`",
            ));
            error.body = Some(self.document.clone());
            return error;
        }
        if !self.is_comparable() {
            return unknown_zone(
                "neither a search nor a slot shows the venue's time zone; nothing was booked",
            );
        }
        let mut error = Error::new(
            Code::NoSlot,
            format!("{venue} has no slot at {wanted}; nothing was booked"),
        );
        let nearest = self.nearest(5);
        for slot in &nearest {
            error = error.detail(format!("{}  {}", slot.time_text(), slot.id()));
        }
        match nearest.first() {
            Some(slot) => error.hint(format!("to book the nearest one, {how} {}", slot.id())),
            None => error.hint("the venue has no slots on that day: try another day"),
        }
    }

    fn is_wanted(&self, slot: &Slot) -> bool {
        match slot.instant(self.zone.as_ref()) {
            Some(instant) => !self.is_assumed && instant == self.wanted.timestamp(),
            // Both are on the venue's clock, in a zone that is not known.
            None => slot.local() == Some(self.wanted.zoned.datetime()),
        }
    }

    fn distance(&self, slot: &Slot) -> u64 {
        let utc = Some(&TimeZone::UTC);
        let apart = match (slot.instant(self.zone.as_ref()), slot.instant(utc)) {
            (Some(instant), _) => instant.duration_since(self.wanted.timestamp()),
            // Two times on one clock are as far apart as if it were set to UTC.
            (None, Some(local)) => {
                let wanted = self.wanted.zoned.datetime().to_zoned(TimeZone::UTC);
                wanted.map_or(SignedDuration::MAX, |wanted| {
                    local.duration_since(wanted.timestamp())
                })
            }
            (None, None) => SignedDuration::MAX,
        };
        apart.as_secs().unsigned_abs()
    }
}

/// What else is said about the slots that are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct More<'a> {
    /// Fields of the request that have no flag (`-F`).
    pub(crate) fields: Option<&'a Map<String, Value>>,
    pub(crate) limit: usize,
}

impl Default for More<'_> {
    /// To find one slot, more of them are read than a person wants to see.
    fn default() -> Self {
        More {
            fields: None,
            limit: 10 * DEFAULT_LIMIT,
        }
    }
}

/// Asks a venue for its slots on the day of `when`.
///
/// If the venue's zone is unknown, its slots show the offset. The time is then read again on the venue's clock, and
/// another day is asked for if that changes the date. If no slot has an offset, the time stays on this computer's clock.
pub(crate) async fn offered(
    context: &Context,
    venue: &LocatedVenue,
    when: &When,
    zone_source: &ZoneSource,
    party_size: u32,
    provider: Option<&str>,
    more: More<'_>,
) -> Result<Offer> {
    let now = context.now()?;
    let ask = async |moment: Moment| ask(context, venue, moment, party_size, provider, more).await;
    let zone = match (when.exact(), zone_source) {
        (Some(_), _) => TimeZone::UTC,
        (None, ZoneSource::Known(zone)) => zone.clone(),
        (None, ZoneSource::Learned) => {
            let assumed = resolve(when, now, &system_zone())?;
            let offer = ask(assumed.clone()).await?;
            let Some(offset) = offer.slots.iter().find_map(Slot::offset) else {
                return Ok(Offer {
                    is_assumed: when.needs_zone(),
                    ..offer
                });
            };
            if offset == assumed.zoned.offset() {
                return Ok(offer);
            }
            let zone = TimeZone::fixed(offset);
            let wanted = resolve(when, now, &zone)?;
            let day = |datetime: DateTime| datetime.date();
            if offer
                .slots
                .iter()
                .filter_map(Slot::local)
                .any(|local| day(local) == day(wanted.zoned.datetime()))
            {
                return Ok(Offer { wanted, ..offer });
            }
            zone
        }
    };
    ask(resolve(when, now, &zone)?).await
}

/// The moment that `when` means.
///
/// # Errors
///
/// `usage` (2) for a time that a clock change skips or repeats.
pub(crate) fn resolve(when: &When, now: Timestamp, zone: &TimeZone) -> Result<Moment> {
    when.resolve(now, zone)
        .map_err(|error| Error::usage(error.to_string()))
}

async fn ask(
    context: &Context,
    venue: &LocatedVenue,
    wanted: Moment,
    party_size: u32,
    provider: Option<&str>,
    more: More<'_>,
) -> Result<Offer> {
    let More { fields, limit } = more;
    let zone = venue.remembered.as_ref().and_then(Venue::timezone);
    let query = SlotQuery {
        venue_id: venue.id_value(),
        datetime: context.adapter().wire_time_in(&wanted, zone.as_ref()),
        party_size,
        provider: provider.map(str::to_owned),
        fields: fields.cloned().unwrap_or_default(),
        page: None,
    };
    let progress = context
        .out
        .progress(&format!("looking for slots at {}", venue.name()));
    let listing = Listing {
        nouns: "slots",
        limit,
        setting: Some("write.slots"),
        key: |slot: &Slot| slot.id().to_owned(),
        read: &|document| context.adapter().slots(document),
        next: &|name, value| {
            let page = Some((name.to_owned(), value.clone()));
            SlotQuery {
                page,
                ..query.clone()
            }
            .call(context.adapter())
        },
    };
    let first = query.call(context.adapter())?;
    let Pages {
        document,
        items: slots,
        around,
    } = listing
        .read(context, first)
        .await
        .map_err(|error| match error.exit {
            Exit::NotFound => {
                let meant = similar_venue(context, &venue.id);
                let search = "find venues with `bookctl search`, then use the venue's id or @1";
                error.hint(match meant {
                    Some(meant) => format!("{meant} Or {search}"),
                    None => search.to_owned(),
                })
            }
            _ => error,
        })?;
    drop(progress);
    let provider = document
        .str("provider")
        .map(str::to_owned)
        .or(query.provider);
    Ok(Offer {
        venue_id: venue.id.clone(),
        party_size,
        document,
        slots,
        around,
        provider,
        wanted,
        is_assumed: false,
        zone,
    })
}

/// The venue of an earlier search that a mistyped id may stand for.
fn similar_venue(context: &Context, id: &str) -> Option<String> {
    let venues = context.recent().ok()?.recent_venues(REMEMBERED).ok()?;
    did_you_mean(id, venues.iter().map(Venue::id))
}
