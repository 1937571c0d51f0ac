//! A venue as a search returned it (spec, Venue), parsed leniently.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::zone;

/// A venue of a search.
#[derive(Clone, Debug)]
pub(crate) struct Venue(Value);

impl Venue {
    /// A venue from its value. Returns `None` if `venue_id` is missing.
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        value
            .get("venue_id")
            .and_then(Value::as_str)
            .is_some_and(|id| !id.is_empty())
            .then_some(Venue(value))
    }

    /// The document's value.
    pub(crate) fn value(&self) -> &Value {
        &self.0
    }

    /// A string field of the document.
    pub(crate) fn str(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Value::as_str)
    }

    /// Its `venue_id`.
    pub(crate) fn id(&self) -> &str {
        self.str("venue_id").unwrap_or_default()
    }

    /// Its name, otherwise its id.
    pub(crate) fn name(&self) -> &str {
        self.str("name").unwrap_or_else(|| self.id())
    }

    /// Its time zone, if it is known.
    pub(crate) fn timezone(&self) -> Option<TimeZone> {
        zone::of_name(self.str("timezone")?)
    }

    /// The providers that serve it. There are several if the venue has no mapping of its own.
    pub(crate) fn providers(&self) -> Vec<&str> {
        match self.0.get("providers").and_then(Value::as_array) {
            Some(several) => several.iter().filter_map(Value::as_str).collect(),
            None => self.str("provider").into_iter().collect(),
        }
    }
}
