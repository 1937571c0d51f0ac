//! Asks a venue for its slots around a time.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use crate::app::pages::{DEFAULT_LIMIT, Listing};
use crate::app::{Api, Facts, Records};
use crate::booking::find::locate::LocatedVenue;
use crate::json::Document;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::SearchQuery;
use crate::service::documents::Slot;
use crate::service::mapping::{Mapping, WriteKind};
use crate::service::time::{DocumentTime, Moment, When, human, is_same_time, system_zone};
use crate::terminal::view::{TermsReader, slot_line};

/// A time as the service wants it, if no slot shows it; `usage` (2) if it needs an offset, or must
/// not have one, and the venue's zone is not known.
pub(crate) fn wire_time(facts: &Facts, when: &When, zone: Option<TimeZone>) -> Result<String> {
    let mapping = facts.mapping();
    if zone.is_none() && when.needs_zone() != mapping.local_times {
        return Err(unknown_zone());
    }
    let clock = zone.clone().unwrap_or_else(system_zone);
    let moment = resolve(when, facts.now()?, &clock)?;
    Ok(mapping.wire_time(&moment, zone.as_ref()))
}

/// The time of a slot that was named beside a time, as it was offered; `None` if it cannot be said
/// whether they are the same. Two instants that differ are refused (2), because the slot would be
/// booked at another time.
pub(crate) fn slot_time(slot: &Slot, beside: Option<DocumentTime>) -> Result<Option<Value>> {
    if is_same_time(beside, slot.time()) {
        return Ok(Some(slot.datetime_value()));
    }
    let is_instant = |time: Option<DocumentTime>| time.is_some_and(|it| it.instant.is_some());
    if !is_instant(beside) || !is_instant(slot.time()) {
        return Ok(None);
    }
    let (id, time) = (slot.id(), slot.time_text());
    let what = format!("slot {id} is at {time}, which is not the time to book; nothing was sent");
    Err(Error::usage(what))
}

/// The moment that `when` means; `usage` (2) for a time that a clock change skips or repeats.
pub(crate) fn resolve(when: &When, now: Timestamp, zone: &TimeZone) -> Result<Moment> {
    when.resolve(now, zone).map_err(Error::usage)
}

/// The error (2) for a time that needs the venue's zone, if nothing shows that zone.
pub(crate) fn unknown_zone() -> Error {
    Error::usage("neither a search nor a slot shows the venue's time zone; nothing was sent")
        .hint("name the venue's zone with --tz, e.g. --tz Europe/Paris")
}

pub(crate) fn terms_reader(facts: &Facts, party: u32) -> TermsReader {
    TermsReader { certainty: facts.certainty(), now: facts.service_now(), party }
}

/// The slots of a venue around a time.
pub(crate) struct Offer {
    pub(crate) venue: LocatedVenue,
    party_size: u32,
    pub(crate) document: Document,
    pub(crate) slots: Vec<Slot>,
    /// What stands around the slots in the answer, as paths and texts.
    pub(crate) envelope_fields: Vec<(String, String)>,
    /// The provider of the slots, as the answer names it.
    pub(crate) provider: Option<String>,
    pub(crate) wanted: Moment,
    /// Whether `wanted` is on this computer's clock, because nothing showed the venue's zone.
    pub(crate) is_assumed: bool,
    /// Whether `wanted` shows the time and the date of the venue's clock. An instant with an offset,
    /// or counted from now, does not; on an assumed clock it does only if a date was given.
    has_clock: bool,
    /// The venue's zone, if it is known: for times without an offset.
    zone: Option<TimeZone>,
}

impl Offer {
    pub(crate) fn at_wanted(&self) -> Option<&Slot> {
        self.slots.iter().find(|slot| self.is_wanted(slot))
    }

    /// The slots at exactly the requested time, of this seating if there are any. One of several
    /// that are alike stands for them.
    pub(crate) fn all_at_wanted(&self, facts: &Facts, seating: Option<&str>) -> Vec<&Slot> {
        let mut slots: Vec<_> = self.slots.iter().filter(|slot| self.is_wanted(slot)).collect();
        let is_its = |slot: &&Slot| seating.is_some_and(|it| slot.value["seating"] == it);
        if slots.iter().any(is_its) {
            slots.retain(is_its);
        }
        let reader = self.reader(facts);
        if let [first, others @ ..] = &*slots {
            let line = slot_line(first, reader);
            if others.iter().all(|slot| slot_line(slot, reader) == line) {
                slots.truncate(1);
            }
        }
        slots
    }

    pub(crate) fn reader(&self, facts: &Facts) -> TermsReader {
        terms_reader(facts, self.party_size)
    }

    /// Remembers the slots, so that one can be booked by its id alone.
    pub(crate) fn remember(&self, records: &Records) {
        records.keep_rate_limits();
        records.remember(|recent| {
            let (venue, provider) = (&self.venue.id, self.provider.as_deref());
            recent.remember_slots(venue, provider, self.party_size, &self.slots)
        });
    }

    pub(crate) fn is_comparable(&self) -> bool {
        let mut slots = self.slots.iter();
        let is_apart = |slot: &Slot| slot.instant(self.zone.as_ref()).is_none();
        match self.is_assumed {
            true => slots.all(|it| self.has_clock && it.local().is_some() && it.offset().is_none()),
            false => self.has_clock || !slots.any(is_apart),
        }
    }

    /// The error (7) if nothing is offered at that time: the nearest slots, and the response for a
    /// script. If a slot's time is not understood, it is not known whether one is offered (15). `how` is how a
    /// slot is named by its id.
    pub(crate) fn no_slot(&self, how: &str) -> Error {
        let (venue, wanted) = (self.venue.name(), human(&self.wanted.wire()));
        let is_unread = |slot: &&Slot| slot.time().is_none();
        if let Some(slot) = self.slots.iter().find(is_unread) {
            let time = slot.datetime_value();
            let what = format!(
                "cannot find {wanted} among the slots of {venue}: the time {time} is not understood; nothing was booked"
            );
            let hint = format!(
                "to book a slot, {how} ID; to say how the service writes times, set `read.slots` with `bookctl profile set`"
            );
            return Error::new(Code::UnexpectedAnswer, what).hint(hint).body(self.document.clone());
        }
        if !self.is_comparable() {
            return unknown_zone();
        }
        let what = format!("{venue} has no slot at {wanted}; nothing was booked");
        let mut error = Error::new(Code::NoSlot, what).body(self.document.clone());
        let mut nearest: Vec<_> = self.slots.iter().collect();
        nearest.sort_by_key(|slot| self.distance(slot));
        for slot in nearest.iter().take(5) {
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
            None => self.has_clock && slot.local() == Some(self.wanted.zoned.datetime()),
        }
    }

    /// How far a slot is from the requested time.
    pub(super) fn distance(&self, slot: &Slot) -> SignedDuration {
        let apart = match (slot.instant(self.zone.as_ref()), slot.local()) {
            (Some(instant), _) => instant.duration_since(self.wanted.timestamp()),
            (None, Some(local)) => local.duration_since(self.wanted.zoned.datetime()),
            (None, None) => SignedDuration::MAX,
        };
        apart.abs()
    }
}

/// Asks a venue for its slots on the day of `when`, to find one of them. `zone` is that of `--tz`.
///
/// If the venue's zone is unknown, its slots show the offset. The time is then read again on the
/// venue's clock, and another day is asked for if that changes the date. If no slot has an offset,
/// or the clock changes on that day, the time stays on this computer's clock.
pub(crate) async fn fetch_slots(
    api: &Api,
    venue: &LocatedVenue,
    when: &When,
    zone: Option<&TimeZone>,
    party_size: u32,
    provider: Option<&str>,
) -> Result<Offer> {
    let search = SlotSearch {
        api,
        venue,
        party_size,
        provider,
        fields: Map::new(),
        // To find one slot, more of them are read than a person wants to see.
        limit: 10 * DEFAULT_LIMIT,
    };
    search.fetch_around(when, zone).await
}

pub(crate) struct SlotSearch<'a> {
    pub(crate) api: &'a Api,
    pub(crate) venue: &'a LocatedVenue,
    pub(crate) party_size: u32,
    pub(crate) provider: Option<&'a str>,
    /// Fields of the request that have no flag (`-F`).
    pub(crate) fields: Map<String, Value>,
    pub(crate) limit: usize,
}

impl SlotSearch<'_> {
    /// The slots around a time, up to the limit of the search.
    pub(crate) async fn fetch_around(&self, when: &When, zone: Option<&TimeZone>) -> Result<Offer> {
        let (now, zone) = (self.api.facts.now()?, self.venue.zone(zone));
        let clock = match (when.exact(), &zone) {
            (Some(_), _) => TimeZone::UTC,
            (None, Some(zone)) => zone.clone(),
            (None, None) => {
                let assumed = resolve(when, now, &system_zone())?;
                let mut offer = self.find_offer(when, assumed.clone(), None).await?;
                let (slots, day) = (&offer.slots, assumed.zoned.date());
                let offset = match slots.iter().filter_map(Slot::local).any(|it| it.date() == day) {
                    true => Slot::offset_on(slots, day),
                    false => slots.iter().find_map(Slot::offset),
                };
                let Some(offset) = offset else {
                    offer.is_assumed = when.needs_zone();
                    // Today may be another day at the venue.
                    offer.has_clock = when.names_its_date();
                    return Ok(offer);
                };
                let zone = TimeZone::fixed(offset);
                let wanted = resolve(when, now, &zone)?;
                let day = wanted.zoned.date();
                let mut days = offer.slots.iter().filter_map(Slot::local);
                if offset == assumed.zoned.offset() || days.any(|local| local.date() == day) {
                    offer.wanted = wanted;
                    return Ok(offer);
                }
                zone
            }
        };
        self.find_offer(when, resolve(when, now, &clock)?, zone).await
    }

    async fn find_offer(
        &self,
        when: &When,
        wanted: Moment,
        zone: Option<TimeZone>,
    ) -> Result<Offer> {
        let (api, venue) = (self.api, self.venue);
        // Sent without its offset, it would be another time.
        if zone.is_none() && when.exact().is_some() && api.facts.mapping().local_times {
            return Err(unknown_zone());
        }
        let body = json!({
            "venue_id": venue.id_value(),
            "datetime": api.facts.mapping().wire_time(&wanted, zone.as_ref()),
            "party_size": self.party_size,
            "provider": self.provider,
        });
        let query = SearchQuery::new(WriteKind::Slots, &body, self.fields.clone());
        let listing = Listing {
            nouns: "slots",
            limit: self.limit,
            key: |slot: &Slot| slot.id().to_owned(),
            read: Mapping::slots,
            next: &|name, value| query.page(api.facts.mapping(), name, value),
        };
        let first = query.call(api.facts.mapping())?;
        let how = "find venues with `bookctl search`, then use the venue's id";
        let pages = listing.read(api, first).await.map_err(|error| match error.exit {
            Exit::NotFound => error.hint(how),
            _ => error,
        })?;
        let named = pages.document.str("provider").map(str::to_owned);
        Ok(Offer {
            venue: venue.clone(),
            party_size: self.party_size,
            document: pages.document,
            slots: pages.items,
            envelope_fields: pages.envelope_fields,
            provider: named.or(self.provider.map(str::to_owned)),
            wanted,
            is_assumed: false,
            has_clock: when.needs_zone(),
            zone,
        })
    }
}
