//! The webhook event document ("Events", 4).

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::id::IdKind;
use super::moment::Moment;
use crate::sandbox::rules::transition::EventKind;

/// An event as it is delivered.
#[derive(Serialize)]
pub(crate) struct EventDocument<'a> {
    id: String,
    object: &'static str,
    r#type: &'static str,
    created_at: Moment,
    data: EventData<'a>,
}

#[derive(Serialize)]
struct EventData<'a> {
    object: &'a RawValue,
}

impl<'a> EventDocument<'a> {
    /// The document of event `number` about a booking, whose summary is JSON already: several events have the same.
    pub(crate) fn of(number: i64, kind: EventKind, summary: &'a RawValue, at: Timestamp) -> Self {
        Self {
            id: IdKind::Event.id(number),
            object: "event",
            r#type: kind.as_str(),
            created_at: Moment(at),
            data: EventData { object: summary },
        }
    }
}
