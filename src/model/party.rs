//! Party sizes: whole numbers from 1 (spec, Booking: party_size).

/// Parses a party size. The service decides which is too large.
pub(crate) fn parse(text: &str) -> Result<u32, String> {
    let unusable = || match text.trim() {
        "" => "a party size cannot be empty; use a whole number from 1".to_owned(),
        text => format!(
            "`{}` is not a party size; use a whole number from 1",
            text.escape_debug()
        ),
    };
    match text.trim().parse::<u32>() {
        Ok(0) | Err(_) => Err(unusable()),
        Ok(party) => Ok(party),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_party_is_a_whole_number_from_one() {
        assert_eq!(parse(" 2 "), Ok(2));
        for text in ["0", "two", "-1", "1.5", "", "99999999999"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let empty = parse(" ").unwrap_err();
        assert!(
            empty.contains("cannot be empty") && !empty.contains('`'),
            "{empty}"
        );
    }
}
