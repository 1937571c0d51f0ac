//! What a service sends, as far as reading shows it, and what is certain of how it wants to be asked.

pub(crate) mod key;
pub(crate) mod reads;
pub(crate) mod report;
pub(crate) mod searches;

use serde_json::{Value, json};

pub(crate) use reads::MOST_CALLS;
pub(crate) use report::{Came, LearnReport};
use report::{Certain, Refused};

use crate::app::Context;
use crate::config::Target;
use crate::json::Document;
use crate::outcome::{Error, Result};
use crate::service::documents::slot::Slot;
use crate::service::mapping::{Adapter, ReadKind, Shape, signing_service};
use crate::webhook::Event;
use reads::{LearnCall, Reads};

const BOOKINGS: u32 = 3;

pub(crate) struct LearnOptions {
    pub(crate) near: Option<String>,
    pub(crate) vertical: String,
    /// Whether the profile is only checked. Then the key is sent in no other way.
    pub(crate) is_check: bool,
    /// Whether a person is asked before the key is sent in another way.
    pub(crate) asks: bool,
}

/// Reads the service, and shows its documents with the recorded ones.
pub(crate) async fn look(
    context: &mut Context,
    options: &LearnOptions,
    recorded: Vec<Came>,
) -> Result<LearnReport> {
    let mut report = LearnReport {
        is_check: options.is_check,
        ..LearnReport::default()
    };
    if let Target::Remote(service) = context.target() {
        report.profile = service.profile.clone();
    }
    let mut reads = Reads::new(context);
    let index = key::index(&mut reads, &mut report, options).await?;
    let mut came = vec![Came::new(ReadKind::Index, index)];
    if let Some(venues) = searches::venues(&mut reads, &mut report, options).await? {
        let slots = searches::slots(&mut reads, &mut report, &venues).await?;
        came.push(Came::new(ReadKind::Venues, venues));
        came.extend(slots.map(|it| Came::new(ReadKind::Slots, it)));
    }
    let journal = reads.context.journal();
    let ids = journal.and_then(|it| it.booking_ids(BOOKINGS));
    let ids = ids.unwrap_or_default().into_iter();
    let bookings = ids.map(|id| (ReadKind::Booking, LearnCall::Booking(id)));
    let sessions = (ReadKind::Sessions, LearnCall::Sessions);
    for (kind, read) in std::iter::once(sessions).chain(bookings) {
        match reads.send(&read).await? {
            Ok(value) => came.push(Came::new(kind, value)),
            Err(rejected) => {
                let (kind, why) = (kind.as_str(), &rejected.error.message);
                report.notes.push(format!("not looked at: {kind}: {why}"));
            }
        }
    }
    report.calls = reads.sent;
    came.extend(recorded);
    if !came.iter().any(|it| it.kind == ReadKind::Booking) {
        let none = "no booking was made there yet: pass a recorded one with --example booking=FILE";
        report.notes.push(none.to_owned());
    }
    let adapter = context.adapter().clone();
    for it in &came {
        report.settings.extend(of_form(&adapter, it));
        report.show(&adapter, it, items(&adapter, it));
    }
    Ok(report)
}

fn of_form(adapter: &Adapter, came: &Came) -> Option<Certain> {
    let mut names = came.headers.iter().map(|(name, _)| name);
    if let Some(service) = names.find_map(|name| signing_service(name)) {
        let is_known = service.eq_ignore_ascii_case(&adapter.dialect.service_name);
        let why = format!("the delivery is signed in `{service}-Signature`");
        return (!is_known).then(|| Certain::new("dialect.service_name", service, why));
    }
    if came.kind != ReadKind::Slots || adapter.local_times {
        return None;
    }
    let slots = adapter.slots(&came.value.clone().into()).ok()?.item.items;
    let is_local = |it: &Slot| it.local().is_some() && it.instant(None).is_none();
    let why = "the times of the slots came without an offset";
    (!slots.is_empty() && slots.iter().all(is_local))
        .then(|| Certain::new("local_times", "true", why))
}

/// What bookctl reads of a document today, in the contract's names; or why it is not read.
fn items(adapter: &Adapter, came: &Came) -> Result<Vec<Value>, String> {
    let document = Document::from(came.value.clone());
    let object = |shape| adapter.object(came.kind, shape, &document).map(|it| it.0);
    let one = match came.kind {
        ReadKind::Venues | ReadKind::Slots | ReadKind::Sessions => {
            let list = adapter.list(came.kind, &document, Some);
            return list.map(|it| it.item.items).map_err(|it| it.why);
        }
        ReadKind::Index => adapter.index(&document),
        ReadKind::Booking => {
            let booking = adapter.booking(document, false);
            booking.map(|it| it.item.value().clone())
        }
        ReadKind::Session => object(Shape::Session),
        ReadKind::Card => object(Shape::Card),
        ReadKind::Error => {
            let said = adapter.refusal(&document);
            let said = said.unwrap_or_else(|| came.value.clone());
            return match said.get("error") {
                Some(Value::String(_) | Value::Object(_)) => Ok(vec![said]),
                _ => Err("nothing in it is named `error`".to_owned()),
            };
        }
        ReadKind::Event => {
            let header = |name: &str| came.header(name).map(str::to_owned);
            let event = Event::read(came.value.to_string().as_bytes(), adapter, header);
            return match event.warning(adapter) {
                Some(warning) => Err(warning),
                None if event.booking.is_none() => Err("no booking was found in it".to_owned()),
                None => Ok(vec![
                    json!({"id": event.id, "type": event.kind, "data": true}),
                ]),
            };
        }
    };
    one.map(|it| vec![it]).map_err(|misread| misread.why)
}

fn with(own: &Adapter, settings: &[Certain]) -> Result<Adapter> {
    let mut adapter = own.clone();
    for Certain { key, value, .. } in settings {
        let set = adapter.set(key, value);
        set.map_err(|why| Error::config(format!("{key} {why}")))?;
    }
    Ok(adapter)
}
