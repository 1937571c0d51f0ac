//! Converting a local time in a zone to an instant.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use crate::model::moment::Moment;

pub(super) const TOO_FAR: &str = "it is after the year 9999; try `in 3 days 19:30`";

/// The instant at which the clock of `zone` shows `local`. A time that a clock change skips or repeats is an error that
/// names the instants that may be meant.
pub(super) fn at(local: DateTime, zone: &TimeZone) -> Result<Moment, String> {
    let name = zone.iana_name().unwrap_or("this zone");
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => instant(local, offset, zone),
        AmbiguousOffset::Fold { before, after } => Err(format!(
            "{} happens twice in {name}, where the clock goes back; use an offset: `{}` or `{}`",
            minutes(local),
            instant(local, before, zone)?.wire(),
            instant(local, after, zone)?.wire(),
        )),
        AmbiguousOffset::Gap { before, after } => {
            // The later offset places a skipped time before the change.
            let ahead = after.to_timestamp(local).map_err(|_| TOO_FAR)?;
            let change = zone.following(ahead).next();
            let change = change.map_or(ahead, |change| change.timestamp());
            let minute_before = change.checked_sub(SignedDuration::from_secs(60));
            let nearest = [minute_before.map_err(|_| TOO_FAR)?, change]
                .map(|at| Moment::new(at.to_zoned(zone.clone())).wire());
            Err(format!(
                "{} does not exist in {name}, where the clock goes from {} to {}; \
                 use a time outside the gap; the nearest are `{}` and `{}`",
                minutes(local),
                minutes(before.to_datetime(change)),
                minutes(after.to_datetime(change)),
                nearest[0],
                nearest[1],
            ))
        }
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
pub(super) fn after(now: Timestamp, length: Duration, zone: &TimeZone) -> Result<Moment, String> {
    now.checked_add(length)
        .and_then(|then| Timestamp::from_second(then.as_second()))
        .map(|then| Moment::new(then.to_zoned(zone.clone())))
        .map_err(|_| TOO_FAR.to_owned())
}

fn instant(local: DateTime, offset: Offset, zone: &TimeZone) -> Result<Moment, String> {
    offset
        .to_timestamp(local)
        .map(|timestamp| Moment::new(timestamp.to_zoned(zone.clone())))
        .map_err(|_| TOO_FAR.to_owned())
}

/// A local time for people. Seconds are shown only if there are any.
fn minutes(local: DateTime) -> String {
    let has_seconds = local.second() != 0;
    let format = if has_seconds { "%F %T" } else { "%F %H:%M" };
    local.strftime(format).to_string()
}
