//! A slot as the service offered it (spec, Availability slot), parsed leniently.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};
use serde_json::Value;

use super::id::{id_in, token};
use crate::service::time::document_time::{DocumentTime, time_text};

#[derive(Clone, Debug)]
pub(crate) struct Slot {
    id: String,
    pub(crate) value: Value,
}

impl Slot {
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let id = id_in(value.get("availability_id")?)?;
        token(value.get("datetime")?)?;
        Some(Slot { id, value })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Its `availability_id` as the service wrote it, a number or a text: so it is sent back.
    pub(crate) fn id_value(&self) -> Value {
        self.value["availability_id"].clone()
    }

    /// Its time exactly as it was offered, a text or a number: so it is sent back.
    pub(crate) fn datetime_value(&self) -> Value {
        self.value["datetime"].clone()
    }

    pub(crate) fn time(&self) -> Option<DocumentTime> {
        DocumentTime::from_field(&self.value, "datetime")
    }

    pub(crate) fn time_text(&self) -> String {
        time_text(&self.datetime_value())
    }

    /// The time as an instant. Without an offset it needs the venue's zone.
    pub(crate) fn instant(&self, zone: Option<&TimeZone>) -> Option<Timestamp> {
        self.time()?.instant_in(zone)
    }

    pub(crate) fn offset(&self) -> Option<Offset> {
        self.time()?.offset()
    }

    /// The offset of a venue's clock on a day, if its slots of that day show one: not where the
    /// clock changes between them.
    pub(crate) fn offset_on(slots: &[Slot], day: Date) -> Option<Offset> {
        let is_then = |slot: &&Slot| slot.local().is_some_and(|local| local.date() == day);
        let mut offsets = slots.iter().filter(is_then).filter_map(Slot::offset);
        let first = offsets.next()?;
        offsets.all(|it| it == first).then_some(first)
    }

    /// The local time at the venue, if the slot has one. A number since 1970 has none.
    pub(crate) fn local(&self) -> Option<DateTime> {
        self.time()?.local
    }
}
