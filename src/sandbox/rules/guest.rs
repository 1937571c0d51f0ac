//! Checks of the guest's name ("Codes by condition": `placeholder_customer`, `missing_last_name`).

use super::api_error::ApiError;
use crate::sandbox::seed::Provider;

/// Placeholder names, in lower case with single spaces.
#[rustfmt::skip]
pub(crate) const PLACEHOLDERS: &[&str] = &[
    "test user", "test guest", "test customer", "test test", "test", "testing", "john doe",
    "jane doe", "guest", "guest user", "customer", "customer name", "user", "name", "first last",
    "firstname lastname", "first name last name", "your name", "full name", "anonymous", "unknown",
    "none", "null", "undefined", "n/a", "na", "tbd", "placeholder", "example",
];

/// Rejects a placeholder name, and a name without a last name if the provider needs one.
pub(crate) fn check(name: &str, provider: Provider) -> Result<(), ApiError> {
    if is_placeholder(name) {
        return Err(ApiError::PlaceholderCustomer);
    }
    if provider == Provider::A && !has_last_name(name) {
        return Err(ApiError::MissingLastName);
    }
    Ok(())
}

/// Whether a name is in [`PLACEHOLDERS`], ignoring case and spacing, or has no letter.
fn is_placeholder(name: &str) -> bool {
    let letters = |name: &str| name.split_whitespace().collect::<String>().to_lowercase();
    let name = letters(name);
    !name.chars().any(char::is_alphabetic) || PLACEHOLDERS.iter().any(|it| letters(it) == name)
}

/// Whether a name has two words with a letter each.
fn has_last_name(name: &str) -> bool {
    let is_word = |word: &&str| word.chars().any(char::is_alphabetic);
    name.split_whitespace().filter(is_word).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_one_in_any_case_and_spacing() {
        for name in [
            "Test User",
            "  JOHN   doe ",
            "JohnDoe",
            "N / A",
            "n/a",
            "Guest",
            "123",
            "--",
            "\u{a0}",
        ] {
            assert_eq!(
                check(name, Provider::B),
                Err(ApiError::PlaceholderCustomer),
                "{name}"
            );
        }
    }

    #[test]
    fn a_real_name_that_contains_a_placeholder_is_real() {
        for name in ["Ada Lovelace", "Jane Doerr", "Guest Testman", "李 小龙"] {
            assert_eq!(check(name, Provider::A), Ok(()), "{name}");
        }
    }

    #[test]
    fn provider_a_alone_needs_a_last_name() {
        for name in ["Ada", "Ada -", "Ada 2"] {
            assert_eq!(check(name, Provider::A), Err(ApiError::MissingLastName));
            assert_eq!(check(name, Provider::B), Ok(()));
            assert_eq!(check(name, Provider::C), Ok(()));
        }
    }
}
