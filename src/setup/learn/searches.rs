//! The two searches: what a refusal names is sent, until an answer comes.

use jiff::{Timestamp, ToSpan};
use serde_json::{Map, Value};

use super::reads::{LearnCall, Reads, Reply, body};
use super::{LearnReport, Refused, with};
use crate::outcome::{Error, Result};
use crate::service::client::{Draft, SearchLocation, SlotQuery, VenueQuery, named};
use crate::service::mapping::{NextPage, WriteKind, next_page};

const PLACES: [&str; 3] = ["New York", "London", "Paris"];

const NO_VENUE: &str =
    "no venue was found to look at; name a place that the service knows with --near";

async fn ask(
    reads: &mut Reads<'_>,
    draft: &mut Draft,
    read: impl Fn(&Draft) -> LearnCall,
) -> Result<Reply> {
    let own = reads.parts.api.facts.mapping().clone();
    let reply = loop {
        reads.parts.api.use_mapping(with(&own, draft.setting(false).as_slice())?);
        match reads.send(&read(draft)).await? {
            Reply::Nothing(error)
                if matches!(error.http_status, Some(400 | 404 | 409 | 422))
                    && !draft.has_expression
                    && draft.take(&named(body(&error))) => {}
            reply => break reply,
        }
    };
    reads.parts.api.use_mapping(own);
    Ok(reply)
}

impl LearnReport {
    /// A search that was rejected, with the setting whose holes only the user can fill.
    fn refuse(&mut self, draft: &Draft, error: &Error) {
        let why = format!("{}: {}", draft.kind.as_str(), error.message);
        if error.http_status.is_none() {
            return self.notes.push(why);
        }
        self.leave_open(draft, why);
    }

    fn leave_open(&mut self, draft: &Draft, mut why: String) {
        let names = draft.open();
        if let Some(names) = &names {
            why.push_str(&format!("; only you know the value of {names}"));
        }
        let setting = names.and_then(|_| draft.setting(true)).map(|it| it.to_string());
        self.refused.push(Refused { why, setting });
    }
}

/// Searches venues at the named place, or at the first one that has any.
pub(crate) async fn venues(reads: &mut Reads<'_>) -> Result<Option<Value>> {
    let own = reads.parts.api.facts.mapping().clone();
    let mut draft = Draft::new(&own, WriteKind::Search);
    let options = reads.options;
    let near = options.near.as_deref();
    let (mut answer, mut failed) = (None, None);
    let query = |place: &str, page| {
        LearnCall::Venues(VenueQuery {
            page,
            vertical: options.vertical.clone(),
            place: SearchLocation::Near(place.to_owned()),
            datetime: evening(1, own.local_times),
            party_size: Some(2),
            providers: Vec::new(),
            fields: Map::new(),
        })
    };
    for place in near.map_or(PLACES.to_vec(), |near| vec![near]) {
        match ask(reads, &mut draft, |_| query(place, None)).await? {
            Reply::Sample(document) => {
                let list = own.venues(&document.clone().into());
                let is_empty = list.is_ok_and(|list| list.item.items.is_empty());
                let next = next_page(&document, None);
                answer = Some(document);
                // What was learned is tried with the second page too.
                if let Some(NextPage::Field { name, value }) = next
                    && draft.setting(false).is_some()
                {
                    let page = |_: &Draft| query(place, Some((name.clone(), value.clone())));
                    if let Reply::Nothing(error) = ask(reads, &mut draft.clone(), page).await? {
                        let why = &error.message;
                        reads.report.notes.push(format!(
                            "the second page is refused: {why}; say in write.search where .cursor goes"
                        ));
                    }
                }
                if !is_empty {
                    break;
                }
            }
            Reply::Nothing(error) => failed = Some(error),
        }
    }
    let report = &mut reads.report;
    match (&answer, failed) {
        (Some(_), _) if draft.open().is_some() => report.leave_open(&draft, "search".to_owned()),
        (Some(_), _) if draft.is_certain() => report.settings.extend(draft.setting(false)),
        // A refusal that names no field may be of the place, which says nothing against the profile.
        (None, Some(error)) if near.is_none() && named(body(&error)).is_empty() => {
            report.notes.extend([error.message.clone(), NO_VENUE.to_owned()]);
        }
        (None, Some(error)) => report.refuse(&draft, &error),
        _ => {}
    }
    Ok(answer)
}

/// Searches slots of the first venue that was found.
pub(crate) async fn slots(reads: &mut Reads<'_>, found: &Value) -> Result<Option<Value>> {
    let own = reads.parts.api.facts.mapping().clone();
    let venues = own.venues(&found.clone().into());
    let venue = venues.as_ref().map(|venues| venues.item.items.first());
    let Ok(Some(venue)) = venue else {
        let unread = "slots were not asked for: they need a venue that can be read";
        reads.report.notes.push(venue.map_or(unread, |_| NO_VENUE).to_owned());
        return Ok(None);
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
        Reply::Sample(document) => document,
        Reply::Nothing(error) => {
            reads.report.refuse(&draft, &error);
            return Ok(None);
        }
    };
    let setting = draft.setting(false);
    // What was filled in is certain where it makes a difference: another day has other slots.
    let is_tested = setting.is_none() || {
        let other = ask(reads, &mut draft, query(2)).await?;
        matches!(other, Reply::Sample(other) if other != document)
    };
    if is_tested && draft.is_certain() {
        reads.report.settings.extend(setting);
        return Ok(Some(document));
    }
    let why = "slots: another day is answered alike, or two fields have one value, so correct the fields before you use them";
    let setting = setting.map(|it| it.to_string());
    reads.report.refused.push(Refused { why: why.to_owned(), setting });
    Ok(None)
}

fn evening(days: i64, is_local: bool) -> String {
    let day = Timestamp::now().checked_add((24 * days).hours());
    let day = day.unwrap_or(Timestamp::MAX).strftime("%FT19:00:00");
    format!("{day}{}", if is_local { "" } else { "+00:00" })
}
