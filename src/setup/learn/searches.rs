//! The two searches: what a refusal names is sent, until an answer comes.

use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value};

use super::asked::SearchDraft;
use super::reads::{LearnCall, LearnResponse, Reads, body_of};
use super::{Certain, LearnOptions, LearnReport, Refused, SPENT, with};
use crate::outcome::{Error, Result};
use crate::service::client::{SearchLocation, SlotQuery, VenueQuery, named};
use crate::service::mapping::WriteKind;

const PLACES: [&str; 3] = ["New York", "London", "Paris"];

const NO_VENUE: &str =
    "no venue was found to look at; name a place that the service knows with --near";

/// Sends a search in the form that its refusals ask for. `None`, with a note, where no call is left.
async fn ask(
    reads: &mut Reads<'_>,
    report: &mut LearnReport,
    asked: &mut SearchDraft,
    read: impl Fn(&SearchDraft) -> LearnCall,
) -> Result<Option<Result<Value, Error>>> {
    let own = reads.context.adapter().clone();
    // An expression of the profile writes the whole request: another one is for a person to say.
    let key = asked.key();
    let is_own = own.expressions().any(|(known, _)| known == key);
    let reply = loop {
        match with(&own, &asked.settings()) {
            Ok(adapter) => reads.context.use_adapter(adapter),
            Err(error) => break Some(Err(error)),
        }
        match reads.send(&read(asked)).await? {
            LearnResponse::Answer(document) => break Some(Ok(document)),
            LearnResponse::Spent => {
                let note = format!("the {} was not sent again: {SPENT}", asked.noun());
                report.notes.push(note);
                break None;
            }
            LearnResponse::Refused(error, _)
                if matches!(error.http_status, Some(400 | 404 | 409 | 422))
                    && !is_own
                    && asked.take(&named(body_of(&error))) => {}
            LearnResponse::Refused(error, _) => break Some(Err(error)),
        }
    };
    reads.context.use_adapter(own);
    Ok(reply)
}

/// Searches venues at the named place, or at the first one that has any.
pub(crate) async fn venues(
    reads: &mut Reads<'_>,
    report: &mut LearnReport,
    options: &LearnOptions,
) -> Result<Option<Value>> {
    let own = reads.context.adapter().clone();
    let mut asked = SearchDraft::new(&own, WriteKind::Search);
    let near = options.near.as_deref();
    let (mut answer, mut refused) = (None, None);
    for place in near.map_or(PLACES.to_vec(), |near| vec![near]) {
        let query = |_: &SearchDraft| {
            LearnCall::Venues(VenueQuery {
                page: None,
                vertical: options.vertical.clone(),
                place: SearchLocation::Near(place.to_owned()),
                datetime: evening(1, own.local_times),
                party_size: Some(2),
                providers: Vec::new(),
                fields: Map::new(),
            })
        };
        match ask(reads, report, &mut asked, query).await? {
            Some(Ok(document)) => {
                let list = own.venues(&document.clone().into());
                let is_empty = list.is_ok_and(|list| list.item.items.is_empty());
                answer = Some(document);
                if !is_empty {
                    break;
                }
            }
            Some(Err(error)) => refused = Some((place, error)),
            None => break,
        }
    }
    if answer.is_some() {
        if asked.is_certain() {
            report.settings.extend(asked.settings());
        }
    } else if let Some((place, error)) = refused {
        let refused = asked.refused(&error.message);
        let message = error.message.to_lowercase();
        let is_unknown = message.contains("location") || message.contains(&place.to_lowercase());
        // A place that is not known somewhere says nothing against the profile.
        if is_unknown && near.is_none() {
            report.notes.extend([refused.why, NO_VENUE.to_owned()]);
        } else {
            report.refused.push(refused);
        }
    }
    Ok(answer)
}

/// Searches slots of the first venue that was found.
pub(crate) async fn slots(
    reads: &mut Reads<'_>,
    report: &mut LearnReport,
    found: &Value,
) -> Result<Option<Value>> {
    let own = reads.context.adapter().clone();
    let venues = own.venues(&found.clone().into());
    let venue = match &venues {
        Ok(venues) => venues.item.items.first().ok_or(NO_VENUE),
        Err(_) => Err("slots were not asked for: they need a venue that can be read"),
    };
    let venue = match venue {
        Ok(venue) => venue,
        Err(note) => {
            report.notes.push(note.to_owned());
            return Ok(None);
        }
    };
    let query = |day: i64| {
        move |asked: &SearchDraft| {
            let provider = venue.providers().first().map(|it| (*it).to_owned());
            LearnCall::Slots(SlotQuery {
                page: None,
                venue_id: venue.id_value(),
                datetime: evening(day, own.local_times),
                party_size: 2,
                provider: provider.filter(|_| asked.wants_provider()),
                fields: Map::new(),
            })
        }
    };
    let mut asked = SearchDraft::new(&own, WriteKind::Slots);
    let document = match ask(reads, report, &mut asked, query(1)).await? {
        Some(Ok(document)) => document,
        Some(Err(error)) => {
            report.refused.push(asked.refused(&error.message));
            return Ok(None);
        }
        None => return Ok(None),
    };
    let settings = asked.settings();
    // What was filled in is certain where it makes a difference: another day has other slots.
    let is_tested = settings.is_empty()
        || matches!(ask(reads, report, &mut asked, query(2)).await?, Some(Ok(other)) if other != document);
    if is_tested && asked.is_certain() {
        report.settings.extend(settings);
        return Ok(Some(document));
    }
    report.refused.push(Refused {
        why: "the availability search answers another day alike, or takes one value in two fields, so that its fields \
              are not certain"
            .to_owned(),
        setting: settings.first().map(Certain::assignment),
    });
    Ok(None)
}

fn evening(days: i64, is_local: bool) -> String {
    let day = Timestamp::now().checked_add((24 * days).hours());
    let day = day.unwrap_or(Timestamp::MAX).strftime("%FT19:00:00");
    format!("{day}{}", if is_local { "" } else { "+00:00" })
}
