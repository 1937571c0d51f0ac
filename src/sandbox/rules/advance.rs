//! Durations by which the sandbox's clock is moved ahead: `21m`, `1h30m`, `2d`, `90s`.

use jiff::SignedDuration;

/// Parses a duration of days (of 24 hours), hours, minutes and seconds, each unit at most once and
/// larger units first. `None` if it is malformed, zero or longer than ten years.
pub(crate) fn parse_advance(text: &str) -> Option<SignedDuration> {
    const LONGEST: i64 = 10 * 366 * 86_400;
    let mut rest = text.trim();
    let mut total: i64 = 0;
    let mut last_unit = i64::MAX;
    while !rest.is_empty() {
        let digits = rest.len()
            - rest
                .trim_start_matches(|it: char| it.is_ascii_digit())
                .len();
        let (number, tail) = rest.split_at(digits);
        let mut chars = tail.chars();
        let unit = match chars.next()? {
            'd' => 86_400,
            'h' => 3_600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        if unit >= last_unit {
            return None;
        }
        last_unit = unit;
        let number: i64 = number.parse().ok()?;
        total = total.checked_add(number.checked_mul(unit)?)?;
        rest = chars.as_str().trim_start();
    }
    (1..=LONGEST)
        .contains(&total)
        .then(|| SignedDuration::from_secs(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friendly_durations_are_read() {
        let seconds = |text| parse_advance(text).map(|it| it.as_secs());
        assert_eq!(seconds("21m"), Some(1_260));
        assert_eq!(seconds("1h30m"), Some(5_400));
        assert_eq!(seconds("2d"), Some(172_800));
        assert_eq!(seconds(" 1d 2h 3m 4s "), Some(93_784));
    }

    #[test]
    fn the_clock_moves_by_ten_years_at_most() {
        let longest = parse_advance("3660d").map(|it| it.as_secs());
        assert_eq!(longest, Some(3_660 * 86_400));
        for text in ["3661d", "3660d1s"] {
            assert_eq!(parse_advance(text), None, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "0s",
            "-5m",
            "5",
            "m",
            "1.5h",
            "5 m",
            "30m1h",
            "1h1h",
            "soon",
            "99999999999999999999d",
            "4000d",
            "1w",
        ] {
            assert_eq!(parse_advance(text), None, "{text}");
        }
    }
}
