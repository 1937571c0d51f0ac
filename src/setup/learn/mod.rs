//! What a service sends, as far as reading shows it, and what it certainly requires.

pub(crate) mod key;
pub(crate) mod reads;
pub(crate) mod report;

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub(crate) use reads::MOST_CALLS;
pub(crate) use report::{LearnReport, Sample};

use crate::app::Parts;
use crate::json::Document;
use crate::outcome::{Code, Error, Result};
use crate::service::client::{session, show_call};
use crate::service::documents::slot::Slot;
use crate::service::mapping::{Mapping, ReadKind, Setting, WriteKind, signing_service};
use crate::webhook::Event;
use reads::Reads;

const BOOKINGS: u32 = 3;

const PLACES: [&str; 3] = ["New York", "London", "Paris"];

const NO_VENUE: &str =
    "slots need a venue that is read; name a place that the service knows with --near";

#[derive(clap::Args, Debug)]
pub(crate) struct LearnOptions {
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Write nothing and exit with 3 if the service differs
    #[arg(long, conflicts_with_all = ["yes", "out"])]
    pub(crate) check: bool,
    /// Search here, where the service has venues
    #[arg(long, value_name = "PLACE")]
    pub(crate) near: Option<String>,
    /// Search this kind of venue
    #[arg(long, value_name = "KIND", default_value = "dining")]
    pub(crate) vertical: String,
}

/// Reads the service, and shows its documents with the recorded ones.
pub(crate) async fn look(
    parts: &mut Parts,
    options: &LearnOptions,
    recorded: Vec<Sample>,
) -> Result<LearnReport> {
    let report = LearnReport {
        profile: parts.api.facts.mapping().profile.clone(),
        is_check: options.check,
        ..LearnReport::default()
    };
    let mut reads = Reads { parts, options, report, left: BTreeMap::new() };
    let sample = |kind, value| Sample { kind, value, headers: Vec::new() };
    let mut came = vec![sample(ReadKind::Index, key::index(&mut reads).await?)];
    let (vertical, datetime) = (&options.vertical, reads.evening(1));
    let places = options.near.as_deref().map_or(PLACES.to_vec(), |near| vec![near]);
    let body = |place| json!({"vertical": vertical, "datetime": datetime, "location": place, "party_size": 2});
    let bodies = places.into_iter().map(body).collect();
    let found = reads.search(ReadKind::Venues, WriteKind::Search, bodies).await?;
    let venues = found.as_ref().and_then(|it| reads.mapping().venues(&it.clone().into()).ok());
    came.extend(found.map(|it| sample(ReadKind::Venues, it)));
    if let Some(venue) = venues.iter().flat_map(|it| &it.item.items).next() {
        let body = json!({"venue_id": venue.id_value(), "datetime": datetime, "party_size": 2});
        let found = reads.search(ReadKind::Slots, WriteKind::Slots, vec![body]).await?;
        came.extend(found.map(|it| sample(ReadKind::Slots, it)));
    } else {
        reads.report.notes.push(NO_VENUE.to_owned());
    }
    let ids = reads.parts.records.journal().and_then(|it| it.booking_ids(BOOKINGS));
    let mut others = vec![(ReadKind::Sessions, session::list(&[]))];
    others.extend(ids.unwrap_or_default().iter().map(|id| (ReadKind::Booking, show_call(id))));
    for (kind, call) in others {
        match reads.send(call).await? {
            Ok(document) => came.push(sample(kind, document)),
            Err(error) => reads.note_missed(kind, &error),
        }
    }
    // What a person gives is meant, whatever else came of its kind.
    came.retain(|it| recorded.iter().all(|given| given.kind != it.kind));
    came.extend(recorded);
    let (mapping, mut report) = (reads.parts.api.facts.mapping(), reads.report);
    let refused = std::mem::take(&mut report.documents);
    for it in &came {
        report.settings.extend(of_form(mapping, it));
        report.show(mapping, it);
    }
    report.documents.extend(refused);
    Ok(report)
}

/// The setting that the form of a document shows, and the profile does not say yet.
fn of_form(mapping: &Mapping, came: &Sample) -> Option<Setting> {
    let mut names = came.headers.iter().map(|(name, _)| name);
    if let Some(service) = names.find_map(|name| signing_service(name)) {
        let is_known = service.eq_ignore_ascii_case(&mapping.dialect.service_name);
        return (!is_known).then(|| Setting::new("dialect.service_name", service));
    }
    if came.kind != ReadKind::Slots || mapping.local_times {
        return None;
    }
    let slots = mapping.slots(&came.value.clone().into()).ok()?.item.items;
    let is_local = |it: &Slot| it.local().is_some() && it.instant(None).is_none();
    let are_local = !slots.is_empty() && slots.iter().all(is_local);
    are_local.then(|| Setting::new("local_times", "true"))
}

/// What bookctl reads of a document today, in the contract's names; or why it is not read.
fn items(mapping: &Mapping, came: &Sample) -> Result<Vec<Value>> {
    let document = Document::from(came.value.clone());
    let unread = |why: String| Error::new(Code::UnexpectedAnswer, why);
    Ok(vec![match came.kind {
        ReadKind::Venues | ReadKind::Slots | ReadKind::Sessions => {
            return Ok(mapping.list(came.kind, &document, Some)?.item.items);
        }
        ReadKind::Index => mapping.index(&document)?,
        ReadKind::Booking => mapping.booking(document, false)?.item.value().clone(),
        ReadKind::Session | ReadKind::Card => mapping.object(came.kind, &document)?.0,
        ReadKind::Error => {
            let wording = mapping.refusal(&document).unwrap_or_else(|| came.value.clone());
            if !wording["error"].is_string() && !wording["error"].is_object() {
                return Err(unread("nothing in it is named `error`".to_owned()));
            }
            wording
        }
        ReadKind::Event => {
            let header = |wanted: &str| {
                let mut headers = came.headers.iter();
                Some(headers.find(|it| it.0.eq_ignore_ascii_case(wanted))?.1.clone())
            };
            let event = Event::read(came.value.to_string().as_bytes(), mapping, header);
            let unfound = event.booking.is_none().then(|| "no booking was found in it".to_owned());
            let why = event.warning(mapping).or(unfound);
            return why.map_or(Ok(Vec::new()), |why| Err(unread(why)));
        }
    }])
}

fn with(own: &Mapping, settings: &[Setting]) -> Result<Mapping> {
    let mut mapping = own.clone();
    for Setting { key, value } in settings {
        mapping.set(key, value).map_err(|why| Error::config(format!("{key} {why}")))?;
    }
    Ok(mapping)
}

fn refusal_body(error: &Error) -> &Value {
    error.body.as_ref().map_or(&Value::Null, Document::value)
}
