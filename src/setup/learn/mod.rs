//! What a service sends, as far as reading shows it, and what it certainly requires.

mod reads;
mod report;

use serde_json::Value;

pub(crate) use reads::{MOST_CALLS, Reads};
pub(crate) use report::Sample;

use crate::json::Document;
use crate::outcome::{Code, Error, Result};
use crate::service::client::key_sent_as;
use crate::service::mapping::{Mapping, ReadKind, Setting};
use crate::webhook::Event;

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
            let is_read = wording["error"].is_string() || wording["error"].is_object();
            let unnamed = || unread("nothing in it is named `error`".to_owned());
            return is_read.then(|| vec![wording]).ok_or_else(unnamed);
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

/// Ways that services want their key in, the most usual first: the header, and the word before the
/// key; or the parameter of the query.
const WAYS: &str = "X-Api-Key,Authorization,Authorization ApiKey,Authorization Token,Authorization Key,Api-Key,\
    X-Auth-Token,X-Partner-Key,X-Access-Token,Authorization Basic,?api_key,?key,?access_token";

/// The ways to send a key that are not the profile's own, each with its settings and a mapping
/// that uses it.
fn ways(own: &Mapping) -> Vec<(Vec<Setting>, Mapping)> {
    let ways = WAYS.split(',').filter_map(|way| {
        let (name, scheme) = way.split_once(' ').unwrap_or((way, ""));
        let header = Setting::new("dialect.auth_header", name);
        let settings = match way.strip_prefix('?') {
            Some(name) => vec![Setting::new("auth_query", name)],
            None => vec![header, Setting::new("dialect.auth_scheme", scheme)],
        };
        // What the profile says of the query cannot be taken back by another setting.
        let mapping = with(own, &settings).ok()?;
        (key_sent_as(&mapping) != key_sent_as(own)).then_some((settings, mapping))
    });
    ways.collect()
}

fn with(own: &Mapping, settings: &[Setting]) -> Result<Mapping> {
    let mut mapping = own.clone();
    for Setting { key, value } in settings {
        mapping.set(key, value).map_err(|why| Error::config(format!("{key} {why}")))?;
    }
    Ok(mapping)
}
