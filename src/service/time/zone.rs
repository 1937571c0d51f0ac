//! Time zones and offsets by name.

use std::path::Path;
use std::sync::OnceLock;

use jiff::tz::{self, Offset, TimeZone};

use super::typed;
use crate::outcome::similar::did_you_mean;

const EXAMPLE: &str = "`Europe/Paris`, `UTC` or `+02:00`";
/// The largest offset on earth. A larger number is the end of a range of times (`19:30-20:00`).
const FURTHEST_WEST: i32 = -12 * 3600;
const FURTHEST_EAST: i32 = 14 * 3600;

const ZONES: &str = "/usr/share/zoneinfo";

/// If a link names it, only that file is read. jiff would first list every zone, which takes longer
/// than the rest of a command. If TZ or TZDIR is set, jiff decides.
pub(crate) fn system_zone() -> TimeZone {
    static SYSTEM: OnceLock<TimeZone> = OnceLock::new();
    let found = || {
        let is_set = |name| std::env::var_os(name).is_some();
        let link = (!is_set("TZ")).then(|| std::fs::read_link("/etc/localtime"))?.ok()?;
        let (_, name) = link.to_str()?.split_once("zoneinfo/")?;
        of_file(name)
    };
    let unnamed = || {
        if names_no_file() { TimeZone::UTC } else { TimeZone::system() }
    };
    SYSTEM.get_or_init(|| found().unwrap_or_else(unnamed)).clone()
}

/// Whether TZ is the path of no regular file, such as an endless pipe.
fn names_no_file() -> bool {
    let Some(name) = std::env::var_os("TZ") else {
        return false;
    };
    let path = match name.to_str() {
        Some(text) => Path::new(text.strip_prefix(':').unwrap_or(text)),
        None => Path::new(&name),
    };
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

pub(crate) fn of_name(name: &str) -> Option<TimeZone> {
    of_file(name).or_else(|| TimeZone::get(name).ok())
}

fn of_file(name: &str) -> Option<TimeZone> {
    let is_part = |part: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+');
        !part.is_empty() && part.chars().all(fits)
    };
    if !name.split('/').all(is_part) || std::env::var_os("TZDIR").is_some() {
        return None;
    }
    let data = std::fs::read(format!("{ZONES}/{name}")).ok()?;
    TimeZone::tzif(name, &data).ok()
}

/// The zone of a name: `local`, an IANA name in any case, `UTC`, or a fixed offset.
pub(crate) fn zone(text: &str) -> Result<TimeZone, String> {
    typed::read(text, "a time zone", EXAMPLE, |name| match name {
        "utc" | "z" => Ok(TimeZone::UTC),
        "local" => {
            (!names_no_file()).then(|| TimeZone::try_system().ok()).flatten().ok_or_else(|| {
                "the system's time zone is unknown; use a name, e.g. `Europe/Paris`".to_owned()
            })
        }
        _ if name.starts_with(['+', '-']) => offset(name).map(TimeZone::fixed),
        _ => match TimeZone::get(name) {
            Ok(zone) if !zone.is_unknown() => Ok(zone),
            _ => {
                let known: Vec<_> = tz::db().available().collect();
                let meant =
                    did_you_mean(&name.replace(' ', "_"), known.iter().map(|it| it.as_str()));
                let advice = meant.unwrap_or_else(|| format!("try {EXAMPLE}"));
                Err(format!("unknown time zone; {advice}"))
            }
        },
    })
}

/// Parses a numeric offset: `+01:00`, `+0100`, `+01`.
pub(crate) fn offset(text: &str) -> Result<Offset, String> {
    let (format, whole) = match text.len() {
        3 => ("%z", format!("{text}00")),
        5 => ("%z", text.to_owned()),
        _ => ("%:z", text.to_owned()),
    };
    let offset = jiff::fmt::strtime::parse(format, whole).ok().and_then(|parsed| parsed.offset());
    offset.filter(|offset| (FURTHEST_WEST..=FURTHEST_EAST).contains(&offset.seconds())).ok_or_else(
        || {
            "an offset is two digits of hours and two of minutes between -12:00 and +14:00; \
             try `+02:00` or `-05:00`"
                .to_owned()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_offsets_in_any_spelling() {
        let paris = zone("europe/PARIS").unwrap();
        assert_eq!(paris.iana_name(), Some("Europe/Paris"));
        for (text, seconds) in [(" utc ", 0), ("Z", 0), ("+05:30", 19800), ("-05", -18000)] {
            let offset = zone(text).unwrap().to_fixed_offset().unwrap();
            assert_eq!(offset.seconds(), seconds);
        }
    }

    #[test]
    fn a_near_miss_is_answered_with_the_name_that_was_meant() {
        for (text, meant) in [
            ("Europe/Pari", "'Europe/Paris'"),
            ("paris", "'Europe/Paris'"),
            ("new york", "'America/New_York'"),
            ("Asia/Tokio", "'Asia/Tokyo'"),
        ] {
            let sentence = zone(text).unwrap_err();
            assert!(sentence.contains(meant), "{sentence}");
        }
    }

    #[test]
    fn what_is_no_zone_is_refused_in_one_sentence() {
        for text in "|Mars/Olympus|+25:00|+1|+1:30|+01:60|-20:00|+01:00 x".split('|') {
            let sentence = zone(text).unwrap_err();
            assert!(sentence.contains("a time zone"), "{sentence}");
            assert!(sentence.contains("; try "), "{sentence}");
        }
    }

    #[test]
    fn a_zone_from_its_own_file_is_the_one_that_its_name_means() {
        let winter: jiff::Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        for name in ["Europe/Paris", "Asia/Tokyo", "Etc/GMT+3"] {
            let (read, meant) = (of_name(name).unwrap(), TimeZone::get(name).unwrap());
            assert_eq!(read.iana_name(), meant.iana_name());
            assert_eq!(read.to_offset(winter), meant.to_offset(winter));
        }
        for name in "../../etc/passwd|/etc/localtime|Europe|Europe/||Nowhere/Land".split('|') {
            assert!(of_file(name).is_none(), "{name}");
        }
    }
}
