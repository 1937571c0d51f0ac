//! A venue as a search returned it (spec, Venue), read tolerantly.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::zone;

/// One venue of a search.
#[derive(Clone, Debug)]
pub(crate) struct Venue(Value);

impl Venue {
    /// Takes a value for a venue: it needs a `venue_id`, or it is none.
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        value
            .get("venue_id")
            .and_then(Value::as_str)
            .is_some_and(|id| !id.is_empty())
            .then_some(Venue(value))
    }

    pub(crate) fn value(&self) -> &Value {
        &self.0
    }

    pub(crate) fn str(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Value::as_str)
    }

    pub(crate) fn id(&self) -> &str {
        self.str("venue_id").unwrap_or_default()
    }

    /// Its name, else its id.
    pub(crate) fn name(&self) -> &str {
        self.str("name").unwrap_or_else(|| self.id())
    }

    pub(crate) fn timezone(&self) -> Option<TimeZone> {
        zone::of_name(self.str("timezone")?)
    }

    /// The providers that serve it: one, or several where it has no mapping of its own.
    pub(crate) fn providers(&self) -> Vec<&str> {
        match self.0.get("providers").and_then(Value::as_array) {
            Some(several) => several.iter().filter_map(Value::as_str).collect(),
            None => self.str("provider").into_iter().collect(),
        }
    }
}
