//! An instant with its offset, and its texts for the wire and for people.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) zoned: Zoned,
    /// Whether it was given with `Z`, and is sent with `Z`.
    zulu: bool,
}

impl Moment {
    /// RFC 3339 has no offsets with seconds, as before the 1970s. Converts those to UTC.
    pub(crate) fn new(zoned: Zoned) -> Self {
        if zoned.offset().seconds() % 60 != 0 {
            return Self::new(zoned.with_time_zone(TimeZone::UTC));
        }
        Self { zoned, zulu: false }
    }

    pub(crate) fn zulu(timestamp: Timestamp) -> Self {
        Self { zoned: timestamp.to_zoned(TimeZone::UTC), zulu: true }
    }

    pub(crate) fn timestamp(&self) -> Timestamp {
        self.zoned.timestamp()
    }

    /// RFC 3339 in whole seconds with the numeric offset (`2026-12-01T19:30:00+01:00`), or with `Z`
    /// if it was given so.
    pub(crate) fn wire(&self) -> String {
        self.zoned.strftime(if self.zulu { "%FT%TZ" } else { "%FT%T%:z" }).to_string()
    }
}

/// A local time: `Tue 1 Dec 2026, 19:30`. Seconds are shown only if there are any.
pub(crate) fn local_text(local: DateTime) -> String {
    let has_seconds = local.second() != 0;
    let clock = if has_seconds { "%T" } else { "%H:%M" };
    let day = local.strftime("%a %-d %b %Y");
    format!("{day}, {}", local.strftime(clock))
}
