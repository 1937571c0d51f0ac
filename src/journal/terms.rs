//! The terms that a booking was made with, which the service may not repeat.

use serde_json::Value;

use super::Journal;
use crate::outcome::Result;
use crate::platform::sql::values;
use crate::secrets::redact_document;

/// Terms as they are stored: a service may repeat a key.
pub(super) fn stored(terms: &Value) -> String {
    redact_document(&terms.to_string(), terms).into_owned()
}

impl Journal {
    /// The terms that are kept with a booking.
    pub(crate) fn terms(&self, id: &str) -> Result<Option<Value>> {
        let query = "SELECT terms FROM bookings WHERE origin = ?1 AND id = ?2";
        let text: Option<String> = self.read(|statements| {
            let row = statements.first(query, values![&self.scope.origin, id])?;
            row.map_or(Ok(None), |mut row| row.take(0))
        })?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }
}
