//! The two searches: what a refusal names is sent, until an answer comes.

use jiff::civil::DateTime;
use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value};

use super::asked::Asked;
use super::reads::{Read, Reads, Seen};
use super::{Certain, Looked, Lookout, Refused, SPENT, with};
use crate::adapter::WriteKind;
use crate::client::{SearchLocation, SlotQuery, VenueQuery, named};
use crate::model::venue::Venue;
use crate::outcome::{Error, Result};

/// Places that are asked for venues where none was named. The last place where venues were seen follows.
const PLACES: [&str; 3] = ["New York", "London", "Paris"];

const NO_VENUE: &str =
    "no venue was found to look at; name a place that the service knows with --near";

/// How many venues are asked for slots.
const VENUES: usize = 2;

enum Reply {
    Answer(Value),
    Refused(Error),
    Spent,
}

/// Sends a search in the form that its refusals ask for.
async fn ask(
    reads: &mut Reads<'_>,
    asked: &mut Asked,
    read: impl Fn(&Asked) -> Read,
) -> Result<Reply> {
    let own = reads.context.adapter().clone();
    // An expression of the profile writes the whole request: another one is for a person to say.
    let key = asked.key();
    let is_own = own.expressions().any(|(known, _)| known == key);
    let reply = loop {
        match with(&own, &asked.settings()) {
            Ok(adapter) => reads.context.use_adapter(adapter),
            Err(error) => break Reply::Refused(error),
        }
        match reads.send(&read(asked)).await? {
            Seen::Answer(document) => break Reply::Answer(document),
            Seen::Spent => break Reply::Spent,
            Seen::Refused {
                status: 400 | 404 | 409 | 422,
                body,
                ..
            } if !is_own && asked.take(&named(&body)) => {}
            Seen::Refused { error, .. } => break Reply::Refused(error),
        }
    };
    reads.context.use_adapter(own);
    Ok(reply)
}

/// Searches venues at the named place, or at the first one that has any.
pub(super) async fn venues(
    reads: &mut Reads<'_>,
    looked: &mut Looked,
    lookout: &Lookout,
) -> Result<Option<Value>> {
    let own = reads.context.adapter().clone();
    let mut asked = Asked::new(&own, WriteKind::Search);
    let mut places: Vec<String> = lookout.near.iter().cloned().collect();
    if places.is_empty() {
        places.extend(PLACES.map(str::to_owned));
        let seen = reads.context.recent().and_then(|it| it.recent_venues(1));
        let seen = seen.unwrap_or_default();
        places.extend(
            seen.iter()
                .filter_map(|it| it.str("city").map(str::to_owned)),
        );
    }
    let mut answer = None;
    let mut refused = None;
    for place in places {
        let query = |_: &Asked| {
            Read::Venues(VenueQuery {
                page: None,
                vertical: lookout.vertical.clone(),
                place: SearchLocation::Near(place.clone()),
                datetime: evening(1, own.local_times),
                party_size: Some(2),
                providers: Vec::new(),
                fields: Map::new(),
            })
        };
        match ask(reads, &mut asked, query).await? {
            Reply::Answer(document) => {
                let list = own.venues(&document.clone().into());
                let is_empty = list.is_ok_and(|list| list.item.items.is_empty());
                answer = Some(document);
                if !is_empty {
                    break;
                }
            }
            Reply::Refused(error) => {
                let message = error.message.to_lowercase();
                let is_unknown =
                    message.contains("location") || message.contains(&place.to_lowercase());
                refused = Some((is_unknown, format!("the venue search: {}", error.message)));
            }
            Reply::Spent => {
                looked
                    .notes
                    .push(format!("the venue search was not sent again: {SPENT}"));
                break;
            }
        }
    }
    match (&answer, refused) {
        (Some(_), _) if asked.is_certain() => looked.settings.extend(asked.settings()),
        // A place that is not known somewhere says nothing against the profile.
        (None, Some((true, message))) if lookout.near.is_none() => {
            looked.notes.push(message);
            looked.notes.push(NO_VENUE.to_owned());
        }
        (None, Some((_, message))) => looked.refused.push(unfilled(&asked, message)),
        (Some(_) | None, _) => {}
    }
    Ok(answer)
}

pub(super) async fn slots(
    reads: &mut Reads<'_>,
    looked: &mut Looked,
    found: &Value,
) -> Result<Option<Value>> {
    let own = reads.context.adapter().clone();
    let venues = own.venues(&found.clone().into()).map(|it| it.item.items);
    match &venues {
        Ok(list) if list.is_empty() => looked.notes.push(NO_VENUE.to_owned()),
        Ok(_) => {}
        Err(_) => looked
            .notes
            .push("slots were not asked for: they need a venue that can be read".to_owned()),
    }
    let venues = venues.unwrap_or_default();
    let mut asked = Asked::new(&own, WriteKind::Slots);
    let query = |venue: &Venue, day: i64| {
        let (venue, datetime) = (venue.clone(), evening_at(venue, day, own.local_times));
        move |asked: &Asked| {
            let provider = venue.providers().first().map(|it| (*it).to_owned());
            Read::Slots(SlotQuery {
                page: None,
                venue_id: venue.id_value(),
                datetime: datetime.clone(),
                party_size: 2,
                provider: provider.filter(|_| asked.wants_provider()),
                fields: Map::new(),
            })
        }
    };
    for venue in venues.iter().take(VENUES) {
        let document = match ask(reads, &mut asked, query(venue, 1)).await? {
            Reply::Answer(document) => document,
            Reply::Refused(error) => {
                let message = format!("the availability search: {}", error.message);
                looked.refused.push(unfilled(&asked, message));
                return Ok(None);
            }
            Reply::Spent => {
                looked.notes.push(format!(
                    "the availability search was not sent again: {SPENT}"
                ));
                return Ok(None);
            }
        };
        let settings = asked.settings();
        // What is filled in is certain where it makes a difference: another day has other slots.
        let is_tested = settings.is_empty()
            || match ask(reads, &mut asked, query(venue, 2)).await? {
                Reply::Answer(other) => other != document,
                Reply::Refused(_) | Reply::Spent => false,
            };
        if is_tested && asked.is_certain() {
            looked.settings.extend(settings);
            return Ok(Some(document));
        }
        let message = "the availability search answers another day alike, or takes one value in two fields, so that its fields are not certain";
        looked.refused.push(Refused {
            why: message.to_owned(),
            setting: settings.first().map(Certain::assignment),
        });
    }
    Ok(None)
}

fn unfilled(asked: &Asked, message: String) -> Refused {
    let (why, setting) = match asked.unfilled() {
        Some((names, setting)) => (
            format!("{message}; only a person knows the value of {names}"),
            Some(setting),
        ),
        None => (message, None),
    };
    Refused { why, setting }
}

/// Some evening from now.
fn evening(days: i64, is_local: bool) -> String {
    let day = Timestamp::now().checked_add((24 * days).hours());
    let day = day.unwrap_or(Timestamp::MAX).strftime("%FT19:00:00");
    format!("{day}{}", if is_local { "" } else { "Z" })
}

/// The same on the venue's clock where that is known.
fn evening_at(venue: &Venue, days: i64, is_local: bool) -> String {
    let evening = evening(days, is_local);
    let local = evening.trim_end_matches('Z').parse::<DateTime>();
    let zone = venue.timezone().filter(|_| !is_local);
    match zone.and_then(|zone| local.ok()?.to_zoned(zone).ok()) {
        Some(zoned) => zoned.strftime("%FT%T%:z").to_string(),
        None => evening.replace('Z', "+00:00"),
    }
}
