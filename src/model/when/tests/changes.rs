//! What the clocks of real zones do to a time.

use super::{NOW, is, resolve};
use crate::model::rows;

/// Half an hour is skipped at Lord Howe, and a whole day was in Samoa.
#[test]
fn a_time_that_a_clock_change_skips_is_refused_with_its_neighbours() {
    for [zone, text, from, to, before, after] in rows(
        "Europe/Paris        | 2027-03-28 02:30     | 2027-03-28 02:00 | 03:00 | 2027-03-28T01:59:00+01:00 | 2027-03-28T03:00:00+02:00
         America/New_York    | 14 mar 2027 2:30am   | 2027-03-14 02:00 | 03:00 | 2027-03-14T01:59:00-05:00 | 2027-03-14T03:00:00-04:00
         Australia/Sydney    | 2027-10-03 02:00     | 2027-10-03 02:00 | 03:00 | 2027-10-03T01:59:00+10:00 | 2027-10-03T03:00:00+11:00
         Australia/Lord_Howe | 2027-10-03 02:15     | 2027-10-03 02:00 | 02:30 | 2027-10-03T01:59:00+10:30 | 2027-10-03T02:30:00+11:00
         Pacific/Apia        | 2011-12-30 12:00     | 2011-12-30 00:00 | 2011-12-31 00:00 | 2011-12-29T23:59:00-10:00 | 2011-12-31T00:00:00+14:00
         Pacific/Apia        | 30 dec 12:00         | 2011-12-30 00:00 | 2011-12-31 00:00 | 2011-12-29T23:59:00-10:00 | 2011-12-31T00:00:00+14:00
         Pacific/Apia        | fri 30 dec 2011, 0:00 | 2011-12-30 00:00 | 2011-12-31 00:00 | 2011-12-29T23:59:00-10:00 | 2011-12-31T00:00:00+14:00",
    ) {
        let error = resolve(text, "2011-12-01T00:00:00Z", zone).unwrap_err();
        let to = if to.len() > 5 { to.to_owned() } else { format!("{} {to}", &from[..10]) };
        let why = format!("does not exist in {zone}, where the clock goes from {from} to {to}");
        let nearest = format!("`{before}` and `{after}`");
        assert!(error.contains(&why) && error.contains(&nearest), "{error}");
    }
}

#[test]
fn a_time_that_a_clock_change_repeats_is_refused_until_an_offset_tells_which() {
    for [zone, text, earlier, later] in rows(
        "Europe/Paris        | 2027-10-31 02:30  | 2027-10-31T02:30:00+02:00 | 2027-10-31T02:30:00+01:00
         America/New_York    | 2026-11-01 1:30am | 2026-11-01T01:30:00-04:00 | 2026-11-01T01:30:00-05:00
         Australia/Sydney    | 2027-04-04 02:00  | 2027-04-04T02:00:00+11:00 | 2027-04-04T02:00:00+10:00
         Australia/Lord_Howe | 2027-04-04 01:45  | 2027-04-04T01:45:00+11:00 | 2027-04-04T01:45:00+10:30",
    ) {
        let error = resolve(text, NOW, zone).unwrap_err();
        assert!(error.contains(&format!("`{earlier}` or `{later}`")), "{error}");
        for reading in [earlier, later] {
            is(reading, NOW, zone, reading);
        }
    }
}

#[test]
fn a_time_beside_a_change_has_the_offset_of_its_side() {
    for [zone, text, now, resolved] in rows(
        "Australia/Lord_Howe | 2027-10-03 02:30 | 2026-11-24T12:00:00Z | 2027-10-03T02:30:00+11:00
         Europe/Paris        | 2027-03-28 03:00 | 2026-11-24T12:00:00Z | 2027-03-28T03:00:00+02:00
         Australia/Lord_Howe | 2027-04-04 01:15 | 2026-11-24T12:00:00Z | 2027-04-04T01:15:00+11:00
         Europe/Paris        | 2027-10-31 03:00 | 2026-11-24T12:00:00Z | 2027-10-31T03:00:00+01:00
         Asia/Tokyo          | 2027-03-28 02:30 | 2026-11-24T12:00:00Z | 2027-03-28T02:30:00+09:00
         UTC                 | 2027-10-31 02:30 | 2026-11-24T12:00:00Z | 2027-10-31T02:30:00+00:00
         Europe/Paris        | sun 20:00        | 2027-03-27T12:00:00Z | 2027-03-28T20:00:00+02:00
         America/New_York    | mon 20:00        | 2026-10-31T23:30:00Z | 2026-11-02T20:00:00-05:00
         Europe/Paris        | 02:30            | 2027-03-28T01:10:00Z | 2027-03-29T02:30:00+02:00
         Europe/Paris        | 02:30            | 2027-10-31T01:30:00Z | 2027-11-01T02:30:00+01:00",
    ) {
        is(text, now, zone, resolved);
    }
}

#[test]
fn the_next_occurrence_of_a_time_is_refused_where_a_change_makes_it_doubtful() {
    let error = resolve("02:30", "2027-03-28T00:30:00Z", "Europe/Paris").unwrap_err();
    assert!(error.contains("does not exist"), "{error}");
    // Before the time is first shown, between its two readings, and although the clock was later.
    for now in [
        "2027-10-30T23:00:00Z",
        "2027-10-31T00:45:00Z",
        "2027-10-31T00:59:00Z",
    ] {
        let error = resolve("sun 02:30", now, "Europe/Paris").unwrap_err();
        assert!(error.contains("happens twice"), "{now}: {error}");
    }
}
