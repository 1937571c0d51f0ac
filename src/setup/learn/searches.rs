//! The two searches: what a refusal names is sent, until an answer comes.

use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value};

use super::reads::{LearnCall, Reads, Rejected};
use super::{Certain, LearnOptions, LearnReport, Refused, with};
use crate::outcome::Result;
use crate::service::client::{Draft, SearchLocation, SlotQuery, VenueQuery, named};
use crate::service::mapping::WriteKind;

const PLACES: [&str; 3] = ["New York", "London", "Paris"];

const NO_VENUE: &str =
    "no venue was found to look at; name a place that the service knows with --near";

/// Sends a search in the form that its refusals ask for.
async fn ask(
    reads: &mut Reads<'_>,
    draft: &mut Draft,
    read: impl Fn(&Draft) -> LearnCall,
) -> Result<Result<Value, Rejected>> {
    let own = reads.context.adapter().clone();
    let reply = loop {
        reads.context.use_adapter(with(&own, &settings(draft))?);
        match reads.send(&read(draft)).await? {
            Err(rejected)
                if matches!(rejected.error.http_status, Some(400 | 404 | 409 | 422))
                    && !draft.has_expression
                    && draft.take(&named(rejected.body())) => {}
            reply => break reply,
        }
    };
    reads.context.use_adapter(own);
    Ok(reply)
}

fn noun(draft: &Draft) -> &'static str {
    match draft.kind {
        WriteKind::Search => "the venue search",
        _ => "the availability search",
    }
}

fn settings(draft: &Draft) -> Vec<Certain> {
    let why = format!("{} asks for it", noun(draft));
    let settings = draft.settings(false).into_iter();
    settings
        .map(|(key, value)| Certain::new(key, &value, why.as_str()))
        .collect()
}

impl LearnReport {
    /// A search that was not answered, with the setting that has holes for what only a person knows.
    fn refuse(&mut self, draft: &Draft, rejected: &Rejected) {
        let mut why = format!("{}: {}", noun(draft), rejected.error.message);
        if rejected.error.http_status.is_none() {
            self.notes.push(why);
            return;
        }
        let open = draft.open();
        if let Some(names) = &open {
            why.push_str(&format!("; only you know the value of {names}"));
        }
        let setting = open.and_then(|_| draft.settings(true).pop());
        let setting = setting.map(|(key, value)| format!("{key}={value}"));
        self.refused.push(Refused { why, setting });
    }
}

/// Searches venues at the named place, or at the first one that has any.
pub(crate) async fn venues(
    reads: &mut Reads<'_>,
    report: &mut LearnReport,
    options: &LearnOptions,
) -> Result<Option<Value>> {
    let own = reads.context.adapter().clone();
    let mut draft = Draft::new(&own, WriteKind::Search);
    let near = options.near.as_deref();
    let (mut answer, mut refused) = (None, None);
    for place in near.map_or(PLACES.to_vec(), |near| vec![near]) {
        let query = |_: &Draft| {
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
        match ask(reads, &mut draft, query).await? {
            Ok(document) => {
                let list = own.venues(&document.clone().into());
                let is_empty = list.is_ok_and(|list| list.item.items.is_empty());
                answer = Some(document);
                if !is_empty {
                    break;
                }
            }
            Err(rejected) => refused = Some((place, rejected)),
        }
    }
    if answer.is_some() {
        if draft.is_certain() {
            report.settings.extend(settings(&draft));
        }
    } else if let Some((place, rejected)) = refused {
        let message = rejected.error.message.to_lowercase();
        let is_unknown = message.contains("location") || message.contains(&place.to_lowercase());
        // A place that is not known somewhere says nothing against the profile.
        if is_unknown && near.is_none() {
            let why = format!("{}: {}", noun(&draft), rejected.error.message);
            report.notes.extend([why, NO_VENUE.to_owned()]);
        } else {
            report.refuse(&draft, &rejected);
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
        move |draft: &Draft| {
            let provider = venue.providers().first().map(|it| (*it).to_owned());
            LearnCall::Slots(SlotQuery {
                page: None,
                venue_id: venue.id_value(),
                datetime: evening(day, own.local_times),
                party_size: 2,
                provider: provider.filter(|_| draft.wants_provider()),
                fields: Map::new(),
            })
        }
    };
    let mut draft = Draft::new(&own, WriteKind::Slots);
    let document = match ask(reads, &mut draft, query(1)).await? {
        Ok(document) => document,
        Err(rejected) => {
            report.refuse(&draft, &rejected);
            return Ok(None);
        }
    };
    let settings = settings(&draft);
    // What was filled in is certain where it makes a difference: another day has other slots.
    let is_tested = settings.is_empty()
        || ask(reads, &mut draft, query(2))
            .await?
            .is_ok_and(|other| other != document);
    if is_tested && draft.is_certain() {
        report.settings.extend(settings);
        return Ok(Some(document));
    }
    report.refused.push(Refused {
        why: "the availability search answers another day alike, or takes one value in two fields, so that its fields \
              are not certain; correct the expression before you use it"
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
