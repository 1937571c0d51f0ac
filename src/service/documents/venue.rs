//! A venue as a search returned it (spec, Venue), parsed leniently.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::id::id_in;
use crate::service::time::zone;

#[derive(Clone, Debug)]
pub(crate) struct Venue {
    id: String,
    pub(crate) value: Value,
}

impl Venue {
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let id = id_in(value.get("venue_id")?)?;
        Some(Venue { id, value })
    }

    pub(crate) fn str(&self, field: &str) -> Option<&str> {
        self.value.get(field).and_then(Value::as_str)
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Its `venue_id` as the service wrote it, a number or a text: so it is sent back.
    pub(crate) fn id_value(&self) -> Value {
        self.value["venue_id"].clone()
    }

    pub(crate) fn name(&self) -> &str {
        self.str("name").unwrap_or_else(|| self.id())
    }

    pub(crate) fn timezone(&self) -> Option<TimeZone> {
        zone::of_name(self.str("timezone")?)
    }

    pub(crate) fn phone(&self) -> Option<&str> {
        ["phone", "phone_number", "telephone"].into_iter().find_map(|name| self.str(name))
    }

    /// The providers that serve it. There are several if the venue has no mapping of its own.
    pub(crate) fn providers(&self) -> Vec<&str> {
        match self.value.get("providers").and_then(Value::as_array) {
            Some(several) => several.iter().filter_map(Value::as_str).collect(),
            None => self.str("provider").into_iter().collect(),
        }
    }
}
