//! Times as the service writes them.

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::{Serialize, Serializer};

const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// A time that is written as RFC 3339 in UTC, always with milliseconds, so that the texts sort as the
/// times do.
#[derive(Clone, Copy)]
pub(crate) struct Moment(pub(crate) Timestamp);

impl Moment {
    /// The time as it is written.
    pub(crate) fn text(self) -> String {
        PRINTER.timestamp_to_string(&self.0)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn every_moment_is_as_long_as_any_other() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_795_262_400_040, "2026-11-21T12:00:00.040Z"),
        ] {
            let at = jiff::Timestamp::from_millisecond(ms).unwrap();
            assert_eq!(serde_json::json!(Moment(at)), text);
        }
    }
}
