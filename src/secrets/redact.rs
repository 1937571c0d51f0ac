//! Redacts known secrets from all output.
//!
//! A service may repeat a key or a code in its answer, and a person may paste one in the wrong place. Either could
//! appear in an error, and from there in a log.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use zeroize::Zeroizing;

/// The replacement for a secret.
const MASK: &str = "***";
/// Shorter texts are not redacted: they would occur everywhere.
const SHORTEST: usize = 4;
/// A shorter secret may be a part of another word by chance, and is redacted only as a whole word.
const UNMISTAKABLE: usize = 16;
/// The prefixes of API keys and webhook secrets (spec, Authentication).
const BEGINNINGS: &[&str] = &["sk_live_", "sk_test_", "sk_v3_", "whsec_"];

static SEEN: Mutex<Vec<Zeroizing<String>>> = Mutex::new(Vec::new());

fn seen() -> MutexGuard<'static, Vec<Zeroizing<String>>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a secret to redact from now on.
pub(crate) fn register_secret(secret: &str) {
    let secret = secret.trim();
    let in_json = Value::from(secret).to_string();
    // A JSON document may contain it in an escaped spelling.
    for spelling in [secret, in_json.trim_matches('"')] {
        let mut seen = seen();
        if spelling.len() >= SHORTEST && !seen.iter().any(|known| known.as_str() == spelling) {
            seen.push(Zeroizing::new(spelling.to_owned()));
            // The longest first, because one secret may contain another.
            seen.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }
}

/// Registers the strings and numbers of a secret document, such as a payment answer.
///
/// Strings without a digit ("approved") are words, and `approval_id` is public: it identifies what is answered.
pub(crate) fn register_secrets_in(document: &Value) {
    match document {
        Value::String(text) if text.contains(|c: char| c.is_ascii_digit()) => register_secret(text),
        Value::Number(number) => register_secret(&number.to_string()),
        Value::Array(values) => values.iter().for_each(register_secrets_in),
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| *name != "approval_id")
            .for_each(|(_, value)| register_secrets_in(value)),
        _ => {}
    }
}

/// Registers a text that has the form of an API key or a webhook secret.
pub(crate) fn register_if_key(text: &str) {
    let long_enough = |beginning: &&str| text.len() > beginning.len() + SHORTEST;
    let begins = |beginning: &&&str| text.starts_with(**beginning) && long_enough(beginning);
    if BEGINNINGS.iter().any(|beginning| begins(&beginning)) {
        register_secret(text);
    }
}

/// Replaces every registered secret in `text`.
pub(crate) fn redact(text: &str) -> Cow<'_, str> {
    let seen = seen();
    let mut text = Cow::Borrowed(text);
    for secret in seen.iter() {
        if text.contains(secret.as_str()) {
            text = Cow::Owned(masked(&text, secret));
        }
    }
    text
}

fn masked(text: &str, secret: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(secret) {
        let (before, after) = (&rest[..start], &rest[start + secret.len()..]);
        let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let part_of_a_word = joins(before.chars().next_back()) || joins(after.chars().next());
        out.push_str(before);
        let by_chance = secret.len() < UNMISTAKABLE && part_of_a_word;
        out.push_str(if by_chance { secret } else { MASK });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_short_secret_is_masked_as_a_word_and_a_long_one_everywhere() {
        for (text, secret, shown) in [
            (
                "code 918273 is wrong (918273)",
                "918273",
                "code *** is wrong (***)",
            ),
            ("bk_a918273 and 9182730", "918273", "bk_a918273 and 9182730"),
            ("xsk_live_0123456789x", "sk_live_0123456789", "x***x"),
            ("é918273é", "918273", "é918273é"),
            ("", "918273", ""),
        ] {
            assert_eq!(masked(text, secret), shown);
        }
    }

    #[test]
    fn what_was_concealed_is_not_said_in_json_either() {
        register_secret("quote\"in-it-7351");
        register_secrets_in(
            &json!({"status": "unremarkable", "card": {"number": "4242-7351-9"}, "approval_id": "apr_73519"}),
        );
        let said =
            json!({"a": "quote\"in-it-7351", "b": "4242-7351-9", "c": "unremarkable apr_73519"});
        assert_eq!(
            redact(&said.to_string()),
            r#"{"a":"***","b":"***","c":"unremarkable apr_73519"}"#
        );
    }

    #[test]
    fn what_looks_like_a_key_is_concealed_and_what_only_begins_so_is_not() {
        register_if_key("whsec_seen0815");
        register_if_key("whsec_x");
        assert_eq!(redact("whsec_seen0815, whsec_x"), "***, whsec_x");
    }

    proptest! {
        #[test]
        fn nothing_of_an_unmistakable_secret_is_left(
            before in any::<String>(),
            secret in "[!-~]{16,40}",
            after in any::<String>(),
        ) {
            let masked = masked(&format!("{before}{secret}{after}{secret}"), &secret);
            prop_assert!(!masked.contains(&secret) || secret.contains(MASK), "{}", masked);
        }
    }
}
