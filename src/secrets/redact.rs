//! Redacts known secrets from all output.
//!
//! A service may repeat a key or a code in its answer, and a person may paste one in the wrong
//! place. Either could appear in an error, and from there in a log.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use zeroize::Zeroizing;

use super::spelling::{Respelled, decoded_words};

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

pub(crate) fn register_secret(secret: &str) {
    let secret = secret.trim();
    let mut seen = seen();
    if secret.len() >= SHORTEST && !seen.iter().any(|known| known.as_str() == secret) {
        seen.push(Zeroizing::new(secret.to_owned()));
    }
}

/// Shows a text again that was registered, because it is no secret.
pub(crate) fn reveal(text: &str) {
    seen().retain(|it| it.as_str() != text);
}

/// Registers the strings and numbers of a secret document, such as a payment answer.
///
/// Strings without a digit ("approved") are words, and `approval_id` is public.
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

pub(crate) fn register_if_key(text: &str) {
    let rests = BEGINNINGS.iter().filter_map(|it| text.strip_prefix(it));
    if rests.map(str::len).max() > Some(SHORTEST) {
        register_secret(text);
    }
}

/// Replaces every registered secret in `text`, whichever way it is spelled or encoded.
pub(crate) fn redact(text: &str) -> Cow<'_, str> {
    masked(text, &seen().iter().collect::<Vec<_>>())
}

/// The document with every secret replaced, apart from its id and its status.
pub(crate) fn redact_document<'a>(text: &'a str, value: &Value) -> Cow<'a, str> {
    match redact(text) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(_) => Cow::Owned(redacted_value(value, true).to_string()),
    }
}

fn redacted_value(value: &Value, is_root: bool) -> Value {
    match value {
        Value::Object(object) => {
            let members = object.iter().map(|(name, value)| match name.as_str() {
                "id" | "status" if is_root => (name.clone(), value.clone()),
                _ => (redact(name).into_owned(), redacted_value(value, false)),
            });
            Value::Object(members.collect())
        }
        Value::Array(all) => all.iter().map(|it| redacted_value(it, false)).collect(),
        Value::String(text) => redact(text).into(),
        Value::Number(number) => match redact(&number.to_string()) {
            Cow::Borrowed(_) => value.clone(),
            Cow::Owned(masked) => masked.into(),
        },
        other => other.clone(),
    }
}

fn masked<'a>(text: &'a str, secrets: &[&Zeroizing<String>]) -> Cow<'a, str> {
    let mut places = places_of(text, secrets);
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    places.sort_by_key(|place| place.start);
    let (mut masked, mut end) = (String::with_capacity(text.len()), 0);
    for place in places {
        // One secret may contain another.
        if place.start >= end {
            masked.push_str(&text[end..place.start]);
            masked.push_str(MASK);
        }
        end = end.max(place.end);
    }
    Cow::Owned(masked + &text[end..])
}

/// Where a text holds secrets: plain, in another spelling, or in base64 or hexadecimal.
fn places_of(text: &str, secrets: &[&Zeroizing<String>]) -> Vec<Range<usize>> {
    let find = |text: &str, shortest| {
        let secrets = secrets.iter().filter(move |it| it.len() >= shortest);
        secrets.flat_map(|it| plain(text, it)).collect::<Vec<_>>()
    };
    let mut places = find(text, 0);
    let read = Respelled::read(text);
    let respelled = read.as_ref().map_or(text, |read| &read.text);
    let mut others = if read.is_some() { find(respelled, 0) } else { Vec::new() };
    if secrets.iter().any(|secret| secret.len() >= UNMISTAKABLE) {
        let words = decoded_words(respelled, UNMISTAKABLE);
        let hiding = words.filter(|(_, inner)| !find(inner, UNMISTAKABLE).is_empty());
        others.extend(hiding.map(|(place, _)| place));
    }
    places.extend(
        others.into_iter().map(|it| read.as_ref().map_or(it.clone(), |read| read.origin(&it))),
    );
    places
}

/// Where a secret stands as it is: a short one only as a word of its own.
fn plain<'a>(text: &'a str, secret: &'a str) -> impl Iterator<Item = Range<usize>> {
    let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let places = text.match_indices(secret).map(|(start, secret)| start..start + secret.len());
    places.filter(move |place| {
        let (before, after) = (&text[..place.start], &text[place.end..]);
        let is_part = joins(before.chars().next_back()) || joins(after.chars().next());
        secret.len() >= UNMISTAKABLE || !is_part
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::base64::Engine;
    use ::base64::prelude::BASE64_STANDARD as STANDARD;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_short_secret_is_masked_as_a_word_and_a_long_one_everywhere() {
        for (text, secret, displayed) in [
            ("code 918273 is wrong (918273)", "918273", "code *** is wrong (***)"),
            ("bk_a918273 and 9182730", "918273", "bk_a918273 and 9182730"),
            ("xsk_live_0123456789x", "sk_live_0123456789", "x***x"),
            ("é918273é", "918273", "é918273é"),
            ("", "918273", ""),
        ] {
            assert_eq!(masked_of(text, secret), displayed);
        }
    }

    fn masked_of(text: &str, secret: &str) -> String {
        masked(text, &[&Zeroizing::new(secret.to_owned())]).into_owned()
    }

    /// Whatever a service, a proxy or a log makes of it.
    #[test]
    fn a_secret_is_masked_in_every_spelling_and_encoding() {
        let secret = "sk_live_a\"b/c0815yellow";
        let each = |spell: fn(u8) -> String| secret.bytes().map(spell).collect::<String>();
        let base64 = |text: &str| STANDARD.encode(text);
        for spelled in [
            each(|byte| format!("%{byte:02X}")),
            each(|byte| format!("%{byte:02x}")),
            each(|byte| format!("&#{byte};")),
            each(|byte| format!("&#x{byte:X};")),
            each(|byte| format!("&#{byte}")),
            each(|byte| format!("\\u{byte:04x}")),
            each(|byte| format!("\\u{{{byte:x}}}")),
            each(|byte| format!("\\x{byte:02x}")),
            each(|byte| format!("{}\u{200d}", char::from(byte))),
            each(|byte| format!("{}\u{1b}", char::from(byte))),
            hex::encode(secret),
            hex::encode_upper(secret),
            base64(secret),
            base64(&format!("x:{secret}")),
            base64(secret).replace('=', "%3D"),
            Value::from(secret).to_string(),
            secret.replace('/', "\\/"),
        ] {
            for text in [spelled.clone(), format!("it is a {spelled} é")] {
                let displayed = masked_of(&text, secret);
                assert!(displayed.contains(MASK), "{text}: {displayed}");
                assert!(displayed.len() < text.len() - secret.len() / 2, "{text}: {displayed}");
            }
        }
        let other =
            "100% of &#42; \\ \\u00 %zz \\u{110000} \u{200d} deadbeefdeadbeefdeadbeefdeadbeef";
        assert_eq!(masked_of(other, secret), other);
    }

    #[test]
    fn a_document_keeps_its_id_and_its_form() {
        register_secret("735128");
        let document = json!({"id": "735128", "status": "confirmed", "code": 735_128, "a": [{"735128": "x 735128"}]});
        let text = document.to_string();
        let masked: Value = serde_json::from_str(&redact_document(&text, &document)).unwrap();
        assert_eq!(
            masked,
            json!({"id": "735128", "status": "confirmed", "code": "***", "a": [{"***": "x ***"}]})
        );
    }

    #[test]
    fn keys_and_contents_of_secret_documents_are_concealed() {
        let answer =
            json!({"status": "unremarkable", "number": "4242-7351-9", "approval_id": "apr_73519"});
        register_secrets_in(&answer);
        let wording = "4242-7351-9 unremarkable apr_73519";
        assert_eq!(redact(wording), "*** unremarkable apr_73519");
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
            let masked = masked_of(&format!("{before}{secret}{after}{secret}"), &secret);
            prop_assert!(!masked.contains(&secret) || secret.contains(MASK), "{}", masked);
        }
    }
}
