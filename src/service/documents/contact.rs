//! What a person types for an email address, a phone number and a party size.

/// Parses an email address. Refuses only certain slips: the service decides.
pub(crate) fn email(text: &str) -> Result<String, String> {
    let is_address = text.rsplit_once('@').is_some_and(|(name, domain)| {
        !name.is_empty()
            && !text.contains(char::is_whitespace)
            && domain.split('.').count() > 1
            && domain.split('.').all(|label| !label.is_empty())
    });
    let refuse = || "that is not an email address; write it as ada@example.com".to_owned();
    is_address.then(|| text.to_owned()).ok_or_else(refuse)
}

/// Parses a phone number: up to 15 digits (E.164), separators, country code after a `+`.
pub(crate) fn phone(text: &str) -> Result<String, String> {
    let number = text.strip_prefix('+').unwrap_or(text);
    let digits = number.chars().filter(char::is_ascii_digit).count();
    let usual = |c: char| c.is_ascii_digit() || " -.()/\u{a0}".contains(c);
    let is_number = (5..=15).contains(&digits) && number.chars().all(usual);
    let refuse = || "that is not a phone number; write it as +44 20 7946 0018".to_owned();
    is_number.then(|| text.to_owned()).ok_or_else(refuse)
}

/// Parses a party size. The service decides which is too large.
pub(crate) fn party(text: &str) -> Result<u32, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("a party size cannot be empty; use a whole number from 1".to_owned());
    }
    let unusable =
        || format!("`{}` is not a party size; use a whole number from 1", text.escape_debug());
    text.parse().ok().filter(|party| *party > 0).ok_or_else(unusable)
}

#[cfg(test)]
mod tests {
    use super::{email, party, phone};

    #[test]
    fn only_what_is_certainly_no_address_or_number_is_refused() {
        let addresses = "ada@example.com|a+b@x.co.uk|änne@bücher.example";
        let no_addresses = "notmail|@example.com|ada@|ada@x|ada@x.|a b@x.y|+44 20 7946 0018";
        let numbers = "+44 20 7946 0018|020 7946 0018|+1 (212) 555-0100|030/123456";
        let no_numbers = "ada@x|notmail|12|+|1234567890123456|++44 20 7946 0018";
        let is = |parse: fn(&str) -> Result<String, String>, texts: &str, good: bool| {
            texts.split('|').for_each(|text| assert_eq!(parse(text).is_ok(), good, "{text}"));
        };
        is(email, addresses, true);
        is(email, no_addresses, false);
        is(phone, numbers, true);
        is(phone, no_numbers, false);
    }

    #[test]
    fn a_party_is_a_whole_number_from_one() {
        assert_eq!(party(" 2 "), Ok(2));
        for text in ["0", "two", "-1", "1.5", "", "99999999999"] {
            assert!(party(text).is_err(), "{text}");
        }
        let empty = party(" ").unwrap_err();
        assert!(empty.contains("cannot be empty"), "{empty}");
        assert!(!empty.contains('`'), "{empty}");
    }
}
