//! The request of a row: with the slot at its time, as `book` does, or as sent before.

use std::collections::HashMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::keys::KeyedRow;
use super::rows::BatchRow;
use crate::app::{Api, Parts, Records};
use crate::booking::book::create::attempt_request;
use crate::booking::book::offer::{fetch_slots, resolve, slot_time, unknown_zone};
use crate::booking::find::locate::LocatedVenue;
use crate::journal::{Attempt, State};
use crate::outcome::{Error, Exit, Result};
use crate::service::client::BookingRequest;
use crate::service::time::{Moment, When, is_same_time};

/// Gives each time without an offset the moment that it means: on the venue's clock, which a search
/// or the venue's slots show, else on that of `zone`. If nothing shows it, the row stays without,
/// and is not sent: its key is made of the moment. `books` is whether a problem of every row counts.
pub(super) async fn set_moments(
    api: &Api,
    records: &Records,
    rows: &mut [BatchRow],
    zone: Option<&TimeZone>,
    books: bool,
) -> Result<()> {
    let mut displayed: HashMap<(String, Date), Option<TimeZone>> = HashMap::new();
    for row in rows {
        row.zone = zone.cloned();
        let wish = row.wish();
        if wish.time().is_some_and(|it| it.instant.is_some()) {
            continue;
        }
        let of_row = |mut error: Error| {
            error.message = format!("row {}: {}", row.number, error.message);
            error
        };
        let text = wish.text("datetime").unwrap_or_default();
        let when = When::parse(&text).map_err(|why| of_row(Error::usage(why)))?;
        let venue = LocatedVenue::of_id(records, wish.venue());
        let known = venue.zone(zone);
        let has_slot = wish.get("availability_id").is_some();
        let is_local = api.facts.mapping().local_times || has_slot && known.is_none();
        let Some(wall) = when.wall().filter(|_| !is_local) else {
            // The service's own times are the venue's, too, and those of its slots may be: what can
            // be one stays as it was copied.
            if wish.time().is_none() || !text.contains('T') {
                let wall = when.wall().map(|it| it.to_string());
                row.body["datetime"] = wall.or_else(|| when.exact().map(Moment::wire)).into();
            }
            continue;
        };
        let day = (venue.id.clone(), wall.date());
        // A batch that is started again after its day sees the slots no more.
        let zone = match known.or_else(|| records.slot_zone(&venue.id, wall.date())) {
            Some(zone) => Some(zone),
            None if displayed.contains_key(&day) => displayed[&day].clone(),
            None => {
                let (party, provider) = (wish.party(), wish.text("provider"));
                let offer = fetch_slots(api, &venue, &when, None, party, provider.as_deref());
                let offer = match offer.await {
                    Err(error)
                        if books && (error.http_status.is_none() || refuses_all(error.exit)) =>
                    {
                        return Err(of_row(error));
                    }
                    offer => offer.ok().filter(|it| !(it.is_assumed && it.slots.is_empty())),
                };
                if let Some(offer) = &offer {
                    offer.remember(records);
                    if offer.is_assumed {
                        return Err(of_row(unknown_zone()));
                    }
                }
                let zone = offer.map(|it| TimeZone::fixed(it.wanted.zoned.offset()));
                displayed.entry(day).or_insert(zone).clone()
            }
        };
        row.body["datetime"] = match zone {
            Some(zone) => resolve(&when, api.facts.now()?, &zone).map_err(of_row)?.wire().into(),
            None => wall.to_string().into(),
        };
    }
    Ok(())
}

/// Whether the next row would get the same error.
pub(super) fn refuses_all(exit: Exit) -> bool {
    use Exit::{Config, Network, NotAllowed, RateLimited, Unauthorized, Unclassified};
    matches!(exit, Config | Unauthorized | NotAllowed | RateLimited | Network | Unclassified)
}

/// The request to send for a row. One that was sent `before` is sent again as it was, whatever the
/// venue offers by then. A row is refused (7) if the venue has no slot at its time.
pub(crate) async fn row_request(
    parts: &Parts,
    keyed: &KeyedRow,
    before: Option<&Attempt>,
) -> Result<BookingRequest> {
    let row = &keyed.row.body;
    let requested = match before {
        Some(attempt) if attempt.state == State::Unresolved && attempt.request.is_intact() => {
            return Ok(attempt_request(attempt).of_row());
        }
        Some(attempt) => as_found(row, attempt.canonical()),
        None => with_slot(&parts.api, &parts.records, &keyed.row).await?,
    };
    Ok(BookingRequest::new(parts.api.facts.mapping(), requested, &Map::new())?.of_row())
}

/// Whether an attempt under this key of a row asks for the row. A key that the row does not name is
/// made of its visit.
pub(crate) fn is_of_row(attempt: &Attempt, keyed: &KeyedRow, key: &str) -> bool {
    let (requested, row) = (attempt.wish(), keyed.row.wish());
    keyed.row.idempotency_key.as_deref() != Some(key)
        || attempt.request.asks_for(&keyed.row.body)
        || is_same_time(requested.time(), row.time())
            && requested.venue() == row.venue()
            && asks_same(attempt, &keyed.row)
}

/// Whether the request of an attempt is the one that a row makes, beside what was found for it.
pub(crate) fn asks_same(attempt: &Attempt, row: &BatchRow) -> bool {
    attempt.request.asks_for(&as_found(&row.body, attempt.canonical()).into())
}

/// A row with what was found for it when it was sent before.
fn as_found(row: &Value, requested: &Value) -> Map<String, Value> {
    let mut found = row.as_object().cloned().unwrap_or_default();
    // The venue and the time are written as the service wrote them. A slot of the row's own stays.
    let fields = match found.contains_key("availability_id") {
        true => &["datetime"][..],
        false => &["venue_id", "datetime", "availability_id"],
    };
    for field in fields.iter().copied() {
        if let Some(value) = requested.get(field) {
            found.insert(field.into(), value.clone());
        }
    }
    if let Some(provider) = requested.get("provider") {
        found.entry("provider").or_insert_with(|| provider.clone());
    }
    found
}

pub(super) async fn with_slot(
    api: &Api,
    records: &Records,
    row: &BatchRow,
) -> Result<Map<String, Value>> {
    let mut requested = row.body.as_object().cloned().unwrap_or_default();
    let wish = row.wish();
    if let Some(id) = wish.text("availability_id") {
        let own = records.known_slot(&id).map(|seen| slot_time(&seen.slot, wish.time()));
        let own = own.transpose().map_err(|error| {
            error.hint(
                "leave out the row's availability_id to book at its time, or correct the time",
            )
        })?;
        if let Some(time) = own.flatten() {
            requested.insert("datetime".into(), time);
        }
        return Ok(requested);
    }
    let venue = LocatedVenue::of_id(records, wish.venue());
    // A number is a time since 1970.
    let instant = wish.time().and_then(|time| time.instant);
    let when = When::parse(&wish.text("datetime").unwrap_or_default());
    let when = when.or_else(|error| instant.map_or(Err(error), |at| When::parse(&at.to_string())));
    let when = when.map_err(Error::usage)?;
    let (party, provider) = (wish.party(), wish.text("provider"));
    let way = "pass --tz ZONE, set the row's availability_id, or search for the venue, which shows its zone";
    let of_row = |error: Error| match error.exit {
        Exit::Usage => error.hint(way),
        _ => error,
    };
    let offer = fetch_slots(api, &venue, &when, row.zone.as_ref(), party, provider.as_deref());
    let offer = offer.await.map_err(of_row)?;
    // With its terms, which the booking itself may not repeat.
    offer.remember(records);
    let has_moment = instant.is_some() || api.facts.mapping().local_times;
    let slot = offer
        .at_wanted()
        .filter(|_| has_moment)
        .ok_or_else(|| of_row(offer.no_slot("set the row's availability_id to")))?;
    if venue.remembered.is_some() {
        requested.insert("venue_id".into(), venue.id_value());
    }
    requested.insert("availability_id".into(), slot.id_value());
    requested.insert("datetime".into(), slot.datetime_value());
    if let (Some(offered), None) = (&offer.provider, provider) {
        requested.insert("provider".into(), offered.as_str().into());
    }
    Ok(requested)
}
