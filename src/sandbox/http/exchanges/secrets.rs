//! Keys, tokens, cookies and passwords of an exchange. They are masked wherever they stand: in
//! their header or parameter, and in any other text of the exchange that repeats them.

use serde_json::Value;

use crate::sandbox::rules::access::masked;

/// The parts of a name of a header or a parameter that holds a secret.
const NAMES: [&str; 6] = ["key", "token", "secret", "auth", "cookie", "password"];
/// The words that stand before a secret in its header.
const SCHEMES: [&str; 7] = ["bearer", "basic", "digest", "token", "key", "apikey", "api-key"];
/// A shorter text may stand elsewhere by chance.
const SHORTEST: usize = 6;

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    name != "idempotency-key" && NAMES.iter().any(|part| name.contains(part))
}

/// Each with what stands before it, where it is masked there alone: one that is short.
pub(super) struct Secrets(Vec<(String, String)>);

impl Secrets {
    pub(super) fn find<'a>(
        headers: impl Iterator<Item = (&'a str, &'a str)>,
        target: &str,
        body: &[u8],
    ) -> Self {
        let mut found = Vec::new();
        for (name, value) in headers {
            if is_secret(name) {
                let (_, secret) = after_scheme(value);
                found.push((String::new(), secret.to_owned()));
                // Of a cookie the value alone.
                let values = secret.split(';').filter_map(|part| part.split_once('='));
                found.extend(values.map(|(_, value)| (String::new(), value.trim().to_owned())));
            }
            found.extend(parameters(value));
        }
        found.extend(parameters(target));
        let body = std::str::from_utf8(body).unwrap_or_default();
        found.extend(parameters(body));
        if let Ok(body) = serde_json::from_str(body) {
            members("", &body, &mut found);
        }
        // What looks like a key is masked anyway.
        found.retain(|(before, secret)| {
            let is_long = secret.len() >= SHORTEST || !before.is_empty() && !secret.is_empty();
            is_long && without_keys(secret) == *secret
        });
        for (before, secret) in &mut found {
            if secret.len() >= SHORTEST {
                before.clear();
            }
        }
        // A secret that contains another one is masked as a whole.
        found.sort_by_key(|(_, secret)| std::cmp::Reverse(secret.len()));
        found.dedup();
        Secrets(found)
    }

    pub(super) fn header(&self, name: &str, value: &str) -> String {
        if !is_secret(name) {
            return self.hide(value);
        }
        match after_scheme(value) {
            ("", "") => String::new(),
            (scheme, "") => scheme.to_owned(),
            ("", secret) => masked(secret),
            (scheme, secret) => format!("{scheme} {}", masked(secret)),
        }
    }

    /// A text with all secrets of the request masked, and whatever looks like a key of the sandbox.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for (before, secret) in &self.0 {
            if clean.contains(secret.as_str()) {
                let displayed = Some(masked(secret)).filter(|_| before.is_empty());
                let displayed = displayed.unwrap_or_else(|| format!("{before}…"));
                clean = clean.replace(&format!("{before}{secret}"), &displayed);
            }
        }
        without_keys(&clean)
    }
}

fn after_scheme(value: &str) -> (&str, &str) {
    let value = value.trim();
    let (first, rest) = value.split_once(' ').unwrap_or((value, ""));
    if SCHEMES.iter().any(|it| first.eq_ignore_ascii_case(it)) {
        (first, rest.trim())
    } else {
        ("", value)
    }
}

/// The values of secret parameters of a query or a form, also within a longer text.
fn parameters(text: &str) -> impl Iterator<Item = (String, String)> {
    let pairs = text.split(['?', '&', '#', ' ', ';', '"']).filter_map(|pair| pair.split_once('='));
    pairs
        .filter(|(name, _)| is_secret(name))
        .map(|(name, value)| (format!("{name}="), value.to_owned()))
}

/// The texts that are secret members of a value, which is itself the member of this name, or in a
/// list of that name.
fn members(name: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(name, it)| members(name, it, found)),
        Value::Array(elements) => elements.iter().for_each(|it| members(name, it, found)),
        Value::String(text) if is_secret(name) => {
            let before = [":", ": "].map(|colon| format!("\"{name}\"{colon}\""));
            found.extend(before.map(|before| (before, text.clone())));
        }
        _ => {}
    }
}

fn without_keys(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("sk_") {
        let (before, from) = rest.split_at(at);
        clean.push_str(before);
        let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let (key, after) = from.split_at(from.find(|c| !is_key(c)).unwrap_or(from.len()));
        let is_inside = clean.ends_with(|c: char| c.is_ascii_alphanumeric());
        match key.match_indices('_').nth(1) {
            Some(_) if !is_inside => clean.push_str(&masked(key)),
            _ => clean.push_str(key),
        }
        rest = after;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_masked_wherever_they_stand_and_other_words_are_left() {
        let text = r#"{"key": "sk_live_sandbox", "risk_level_high": "task_a_b sk_ é"}"#;
        let clean = r#"{"key": "sk_live_…dbox", "risk_level_high": "task_a_b sk_ é"}"#;
        assert_eq!(without_keys(text), clean);
    }

    #[test]
    fn each_value_of_secret_header_is_masked_from_its_first_word_on() {
        let secrets = Secrets(vec![(String::new(), "real-key-4711".to_owned())]);
        for (name, value, displayed) in [
            ("authorization", "Bearer  real-key-4711", "Bearer …4711"),
            ("authorization", "real-key-4711 and more", "…more"),
            ("authorization", "Bearer", "Bearer"),
            ("X-Api-Key", "real-key-4711", "…4711"),
            ("cookie", "session=real-key-4711; a=b", "…=b"),
            ("referer", "https://a.example/?k=real-key-4711", "https://a.example/?k=…4711"),
            ("idempotency-key", "order-1", "order-1"),
            ("user-agent", "curl/8", "curl/8"),
        ] {
            let displayed = displayed.replace("…=b", &masked("session=real-key-4711; a=b"));
            assert_eq!(secrets.header(name, value), displayed, "{name}: {value}");
        }
        let body = r#"{"token": ["long-one"], "password": "abc", "note": "abc long-one"}"#;
        let target = "/v1/?api_key=abc&x=abc&access_token=def";
        let secrets = Secrets::find([].into_iter(), target, body.as_bytes());
        let (short, long) = (masked("abc"), masked("long-one"));
        let displayed = format!("/v1/?api_key={short}&x=abc&access_token={}", masked("def"));
        assert_eq!(secrets.hide(target), displayed);
        let displayed = body.replace(": \"abc\"", &format!(": \"{short}\""));
        assert_eq!(secrets.hide(body), displayed.replace("long-one", &long));
    }
}
