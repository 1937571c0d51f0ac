//! Converting a local time in a zone to an instant.

use std::fmt;
use std::time::Duration;

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use crate::model::input_tokens::Problem;
use crate::model::moment::Moment;

/// Why a valid local time is not exactly one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResolveError {
    /// The clock skips it, from `from` to `to`.
    Skipped {
        local: DateTime,
        zone: String,
        from: DateTime,
        to: DateTime,
        /// The last whole minute before the gap, RFC 3339.
        before: String,
        /// The first instant after the gap, RFC 3339.
        after: String,
    },
    /// The clock shows it twice.
    Repeated {
        local: DateTime,
        zone: String,
        /// RFC 3339.
        earlier: String,
        /// RFC 3339.
        later: String,
    },
    /// The date is not on the weekday that was written with it.
    OtherWeekday { date: Date, written: Weekday },
    /// Later than the year 9999.
    TooFar,
}

/// The instant at which the clock of `zone` shows `local`.
pub(super) fn at(local: DateTime, zone: &TimeZone) -> Result<Moment, ResolveError> {
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => instant(local, offset, zone),
        AmbiguousOffset::Fold { before, after } => Err(ResolveError::Repeated {
            local,
            zone: name(zone),
            earlier: instant(local, before, zone)?.wire(),
            later: instant(local, after, zone)?.wire(),
        }),
        AmbiguousOffset::Gap { before, after } => Err(skipped(local, before, after, zone)?),
    }
}

/// Whether `zone`'s clock has yet to show `local`, or to skip it.
///
/// This compares local times, whatever clock changes lie in between. Only a time that is shown twice can still come
/// although the clock has already shown a later one.
pub(super) fn is_to_come(local: DateTime, now: Timestamp, zone: &TimeZone) -> bool {
    let again = match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Fold { after, .. } => after.to_timestamp(local).is_ok_and(|t| t > now),
        _ => false,
    };
    again || zone.to_datetime(now) < local
}

/// The instant `length` after `now`, in whole seconds.
pub(super) fn after(
    now: Timestamp,
    length: Duration,
    zone: &TimeZone,
) -> Result<Moment, ResolveError> {
    now.checked_add(length)
        .and_then(|then| {
            then.checked_sub(SignedDuration::from_nanos(then.subsec_nanosecond().into()))
        })
        .map(|then| Moment::new(then.to_zoned(zone.clone())))
        .map_err(|_| ResolveError::TooFar)
}

fn instant(local: DateTime, offset: Offset, zone: &TimeZone) -> Result<Moment, ResolveError> {
    offset
        .to_timestamp(local)
        .map(|timestamp| Moment::new(timestamp.to_zoned(zone.clone())))
        .map_err(|_| ResolveError::TooFar)
}

fn skipped(
    local: DateTime,
    before: Offset,
    after: Offset,
    zone: &TimeZone,
) -> Result<ResolveError, ResolveError> {
    // The later offset places a skipped time before the change.
    let ahead = after
        .to_timestamp(local)
        .map_err(|_| ResolveError::TooFar)?;
    let change = zone
        .following(ahead)
        .next()
        .map_or(ahead, |change| change.timestamp());
    let minute_before = change
        .checked_sub(SignedDuration::from_secs(60))
        .map_err(|_| ResolveError::TooFar)?;
    let moment = |timestamp: Timestamp| Moment::new(timestamp.to_zoned(zone.clone())).wire();
    Ok(ResolveError::Skipped {
        local,
        zone: name(zone),
        from: before.to_datetime(change),
        to: after.to_datetime(change),
        before: moment(minute_before),
        after: moment(change),
    })
}

fn name(zone: &TimeZone) -> String {
    zone.iana_name().unwrap_or("this zone").to_owned()
}

impl From<&ResolveError> for Problem {
    fn from(error: &ResolveError) -> Problem {
        match error {
            ResolveError::Skipped {
                local,
                zone,
                from,
                to,
                before,
                after,
            } => Problem::new(
                format!(
                    "{} does not exist in {zone}, where the clock goes from {} to {}",
                    minutes(*local),
                    minutes(*from),
                    minutes(*to),
                ),
                format!("a time outside the gap; the nearest are `{before}` and `{after}`"),
            ),
            ResolveError::Repeated {
                local,
                zone,
                earlier,
                later,
            } => Problem::new(
                format!(
                    "{} happens twice in {zone}, where the clock goes back",
                    minutes(*local)
                ),
                format!("an offset: `{earlier}` or `{later}`"),
            ),
            ResolveError::OtherWeekday { date, written } => Problem::new(
                format!("{date} is a {:?}, not a {written:?}", date.weekday()),
                format!("only the date, e.g. `{date} 19:30`"),
            ),
            ResolveError::TooFar => {
                Problem::new("it is after the year 9999", "e.g. `in 3 days 19:30`")
            }
        }
    }
}

/// A local time for people. Seconds are shown only if there are any.
fn minutes(local: DateTime) -> String {
    local
        .strftime(if local.second() == 0 {
            "%F %H:%M"
        } else {
            "%F %T"
        })
        .to_string()
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Problem::from(self).fmt(f)
    }
}

impl std::error::Error for ResolveError {}
