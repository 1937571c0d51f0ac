//! Learning a service's names by reading: what is sent, and what its answers show.

mod key;
mod reads;
mod slots;
mod venues;

use std::collections::BTreeMap;

use jiff::{Timestamp, ToSpan};
use serde_json::Value;

pub(crate) use reads::MOST_CALLS;

use crate::adapter::learn::{Certainty, Finding, Recorded, of_documents, of_openapi};
use crate::adapter::{Adapter, Expression, Misread, ReadKind, WriteKind};
use crate::app::Context;
use crate::json::Document;
use crate::model::certainty;
use crate::outcome::{Error, Result};
use reads::{Read, Reads, Seen};

/// How many of this machine's own bookings are read.
const BOOKINGS: u32 = 3;

/// What to look for.
pub(crate) struct Lookout {
    /// The place for which venues are searched.
    pub(crate) near: Option<String>,
    pub(crate) vertical: String,
    /// Where the service's OpenAPI document is: a path below its address.
    pub(crate) openapi: Option<String>,
    /// Whether other ways to send the key may be tried: after a yes, or not at all.
    pub(crate) other_ways: OtherWays,
}

/// Whether other ways to send the key may be tried after a 401.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherWays {
    Never,
    AfterAsking,
    Allowed,
}

/// What was seen, and what it shows.
#[derive(Default)]
pub(crate) struct Survey {
    pub(crate) calls: usize,
    pub(crate) documents: Vec<(ReadKind, Value)>,
    pub(crate) findings: Vec<Finding>,
    /// Calls that were refused, or not sent, as sentences.
    pub(crate) refused: Vec<String>,
}

impl Survey {
    fn open(&mut self, why: impl Into<String>) {
        self.findings
            .push(Finding::new(Certainty::Open, "", "", why));
    }
}

/// Reads the service, and takes recorded documents into account.
pub(crate) async fn survey(
    context: &mut Context,
    lookout: &Lookout,
    mut recorded: Recorded,
) -> Result<Survey> {
    let own = context.adapter().clone();
    let mut survey = Survey::default();
    let mut reads = Reads::new(context);
    if let Some(path) = &lookout.openapi {
        openapi(&mut reads, &mut survey, &mut recorded, path).await?;
    }
    let first = recorded
        .findings
        .into_iter()
        .filter(|it| !is_said(&own, it));
    survey.findings.extend(first);
    // What recordings say of the requests and the key is used from the first call on.
    let known = with_findings(&own, &survey.findings)?;
    reads.context.use_adapter(known);
    let index = key::index(&mut reads, &mut survey, lookout.other_ways).await?;
    survey.documents.push((ReadKind::Index, index));
    if let Some(venues) = venues::venues(&mut reads, &mut survey, lookout).await? {
        slots::slots(&mut reads, &mut survey, &venues).await?;
        survey.documents.push((ReadKind::Venues, venues));
    }
    match reads.send(&Read::Sessions).await? {
        Seen::Answer(document) => survey.documents.push((ReadKind::Sessions, document)),
        Seen::Refused { error, .. } => survey
            .refused
            .push(format!("the sessions: {}", error.message)),
        Seen::Spent => survey
            .refused
            .push("the sessions were not read: no call was left".to_owned()),
    }
    if reads.context.certainty() != certainty::Certainty::Contract {
        survey.open(
            "request fields that the service ignores without a word, such as a party size under another name: no answer \
             shows them",
        );
    }
    let has_recorded = recorded
        .documents
        .iter()
        .any(|(kind, _)| *kind == ReadKind::Booking);
    bookings(&mut reads, &mut survey, has_recorded).await?;
    survey.calls = reads.sent;
    survey.documents.extend(recorded.documents);
    reads.context.use_adapter(own.clone());
    of_all_documents(&own, &mut survey);
    settle(&own, &mut survey);
    Ok(survey)
}

/// Reads the service's own OpenAPI document.
async fn openapi(
    reads: &mut Reads<'_>,
    survey: &mut Survey,
    recorded: &mut Recorded,
    path: &str,
) -> Result<()> {
    match reads.send(&Read::Openapi(path.to_owned())).await? {
        Seen::Answer(document) => match of_openapi(&document) {
            Some(more) => {
                recorded.add(more.findings);
                recorded.documents.extend(more.documents);
            }
            None => survey
                .refused
                .push(format!("{path} is no OpenAPI document")),
        },
        Seen::Refused { error, .. } => survey.refused.push(format!("{path}: {}", error.message)),
        Seen::Spent => {}
    }
    Ok(())
}

fn tomorrow_evening(is_local: bool) -> String {
    let tomorrow = Timestamp::now()
        .checked_add(24.hours())
        .unwrap_or(Timestamp::MAX);
    let day = tomorrow.strftime("%F");
    match is_local {
        true => format!("{day}T19:00:00"),
        false => format!("{day}T19:00:00Z"),
    }
}

/// Reads bookings that this machine made; `has_recorded` says whether recordings show one.
async fn bookings(reads: &mut Reads<'_>, survey: &mut Survey, has_recorded: bool) -> Result<()> {
    let ids = reads
        .context
        .journal()
        .and_then(|it| it.booking_ids(BOOKINGS));
    let ids = ids.unwrap_or_default();
    if ids.is_empty() && !has_recorded {
        survey.open("what a booking looks like: this machine has none there yet; give recorded answers with --har or --example");
    }
    for id in ids {
        match reads.send(&Read::Booking(id)).await? {
            Seen::Answer(document) => survey.documents.push((ReadKind::Booking, document)),
            Seen::Refused { error, .. } => {
                survey.refused.push(format!("a booking: {}", error.message))
            }
            Seen::Spent => break,
        }
    }
    Ok(())
}

/// What the documents of each kind show.
fn of_all_documents(own: &Adapter, survey: &mut Survey) {
    let mut by_kind: BTreeMap<ReadKind, Vec<Value>> = BTreeMap::new();
    for (kind, document) in &survey.documents {
        by_kind.entry(*kind).or_default().push(document.clone());
    }
    for (kind, documents) in by_kind {
        let key = format!("read.{}", kind.as_str());
        let expression = own
            .expressions()
            .find(|(name, _)| *name == key)
            .map(|(_, source)| source.to_owned());
        let Some(source) = expression else {
            survey.findings.extend(of_documents(kind, &documents));
            continue;
        };
        // The profile has its own expression: it is right as long as nothing is missing from what it gives.
        let translated: Result<Vec<Value>, String> = Expression::compile(&source).and_then(|it| {
            documents
                .iter()
                .map(|document| it.apply(document))
                .collect()
        });
        match translated {
            Err(why) => survey.findings.push(Finding::new(
                Certainty::ToBeAsked,
                key,
                "",
                format!("the profile's expression {why}"),
            )),
            Ok(translated) => {
                for finding in of_documents(kind, &translated) {
                    let again = of_documents(kind, &documents)
                        .into_iter()
                        .find(|it| it.key == finding.key);
                    survey.findings.push(again.unwrap_or(finding));
                }
            }
        }
    }
}

/// Leaves out what the profile says already, and the same setting from a source that comes later.
fn settle(own: &Adapter, survey: &mut Survey) {
    let mut kept: Vec<Finding> = Vec::new();
    for finding in survey.findings.drain(..) {
        let is_known = !finding.key.is_empty()
            && (is_said(own, &finding)
                || kept
                    .iter()
                    .any(|other| other.key == finding.key && other.is_sure()));
        if !is_known && !kept.contains(&finding) {
            kept.push(finding);
        }
    }
    // Two names that get in each other's way are for a person to choose from.
    let mut adapter = own.clone();
    for finding in kept.iter_mut().filter(|it| it.is_sure()) {
        let Some(key) = finding.key.strip_prefix("dialect.") else {
            continue;
        };
        let before = adapter.dialect.clone();
        let is_usable = adapter.dialect.rename(key, &finding.value).is_ok();
        if !is_usable || adapter.dialect.clash().is_some() {
            adapter.dialect = before;
            finding.certainty = Certainty::ToBeAsked;
        }
    }
    kept.sort_by_key(|it| it.certainty);
    survey.findings = kept;
}

/// Whether the adapter says this already.
fn is_said(own: &Adapter, finding: &Finding) -> bool {
    if finding.key == "local_times" {
        return own.local_times;
    }
    let transport = &own.transport;
    match finding.key.as_str() {
        "auth_query" => return transport.auth_query() == Some(finding.value.as_str()),
        "auth_user" => return transport.auth_user() == Some(finding.value.as_str()),
        _ => {}
    }
    if let Some(key) = finding.key.strip_prefix("dialect.") {
        let names = serde_json::to_value(&own.dialect).unwrap_or_default();
        return names.get(key).and_then(Value::as_str) == Some(finding.value.as_str());
    }
    own.expressions()
        .any(|(key, source)| key == finding.key && source == finding.value)
}

/// The adapter with what is sure of these findings.
pub(crate) fn with_findings(own: &Adapter, findings: &[Finding]) -> Result<Adapter> {
    let mut adapter = own.clone();
    for finding in findings.iter().filter(|it| it.is_sure()) {
        let cannot = |why: String| Error::config(format!("{} {why}", finding.key));
        if finding.key == "local_times" {
            adapter.local_times = true;
        } else if finding.key == "auth_query" {
            adapter
                .transport
                .set_auth_query(&finding.value)
                .map_err(cannot)?;
        } else if finding.key == "auth_user" {
            adapter
                .transport
                .set_auth_user(&finding.value)
                .map_err(cannot)?;
        } else if let Some(key) = finding.key.strip_prefix("dialect.") {
            adapter
                .dialect
                .rename(key, &finding.value)
                .map_err(cannot)?;
        } else if let Some(kind) = finding.key.strip_prefix("read.").and_then(ReadKind::parse) {
            adapter.set_read(kind, Expression::compile(&finding.value).map_err(cannot)?);
        } else if let Some(kind) = finding
            .key
            .strip_prefix("write.")
            .and_then(WriteKind::parse)
        {
            adapter.set_write(kind, Expression::compile(&finding.value).map_err(cannot)?);
        }
    }
    Ok(adapter)
}

/// The documents that an adapter cannot read at all, as sentences.
pub(crate) fn misread(adapter: &Adapter, documents: &[(ReadKind, Value)]) -> Vec<String> {
    let why = |it: Misread| it.why;
    let mut said = Vec::new();
    for (kind, value) in documents {
        let document = Document::from(value.clone());
        let sentence = match kind {
            ReadKind::Venues => adapter.venues(&document).err().map(why),
            ReadKind::Slots => adapter.slots(&document).err().map(why),
            ReadKind::Sessions => adapter.sessions(&document).err().map(why),
            ReadKind::Booking => adapter.booking(document, false).err().map(why),
            _ => None,
        };
        push_once(&mut said, sentence);
    }
    said
}

/// What an adapter still does not find in documents that it can read, as sentences.
pub(crate) fn not_found(adapter: &Adapter, documents: &[(ReadKind, Value)]) -> Vec<String> {
    let mut said = Vec::new();
    for (kind, value) in documents {
        let document = Document::from(value.clone());
        let sentence = match kind {
            ReadKind::Venues => adapter.venues(&document).ok().and_then(|list| {
                let venues = &list.item.items;
                if venues.iter().any(|it| it.str("name").is_none()) {
                    return Some("the venues' names are not found: their ids are shown");
                }
                let has_zones = venues.iter().all(|it| it.timezone().is_some());
                (!has_zones).then_some("the venues' time zones are not found: times need an offset")
            }),
            ReadKind::Booking => adapter.booking(document, false).ok().and_then(|it| {
                let time = it.item.value().get("datetime");
                time.is_none_or(Value::is_null)
                    .then_some("a booking's time is not found")
            }),
            _ => None,
        };
        push_once(&mut said, sentence.map(str::to_owned));
    }
    said
}

fn push_once(said: &mut Vec<String>, sentence: Option<String>) {
    if let Some(sentence) = sentence.filter(|it| !said.contains(it)) {
        said.push(sentence);
    }
}
