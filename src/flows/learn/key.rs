//! The index, and how the key has to be sent for it.

use serde_json::Value;

use super::reads::{Read, Reads, Seen};
use super::{Certain, LearnOptions, LearnReport, with};
use crate::adapter::{Adapter, scalars};
use crate::client::key_sent_as;
use crate::flows::confirmation::Confirmation;
use crate::outcome::{Error, Result};

/// Ways that services use, the most usual first: the header, and the word before the key.
const HEADERS: [(&str, &str); 9] = [
    ("X-Api-Key", ""),
    ("Authorization", ""),
    ("Authorization", "ApiKey"),
    ("Authorization", "Token"),
    ("Authorization", "Key"),
    ("Api-Key", ""),
    ("X-Auth-Token", ""),
    ("X-Partner-Key", ""),
    ("X-Access-Token", ""),
];
const PARAMETERS: [&str; 3] = ["api_key", "key", "access_token"];

/// How many names of one refusal are looked at.
const MOST_NAMES: usize = 4;

/// Reads the index. After a 401 and a yes, the key is sent in other ways, to the same address alone.
pub(super) async fn index(
    reads: &mut Reads<'_>,
    report: &mut LearnReport,
    options: &LearnOptions,
) -> Result<Value> {
    let (challenge, body, error) = match reads.send(&Read::Index).await? {
        Seen::Answer(document) => return Ok(document),
        Seen::Refused {
            status: 401,
            challenge,
            body,
            error,
        } => (challenge, body, error),
        Seen::Refused { body, error, .. } => return Err(wants_header(reads, &body, error)),
        Seen::Spent => return Ok(Value::Null),
    };
    let own = reads.context.adapter().clone();
    let how = format!("the key was sent as `{}`", key_sent_as(&own));
    let error = wants_header(reads, &body, error);
    // Another way does not help a service that misses another header.
    if options.is_check || !missing_headers(&own, &body).is_empty() {
        return Err(error.detail(how));
    }
    let ways = ways(&own, challenge.as_deref(), &body);
    let list: Vec<String> = ways
        .iter()
        .map(|it| format!("`{}`", key_sent_as(&it.1)))
        .collect();
    let list = list.join(", ");
    let out = &reads.context.out;
    out.warn(&format!("{}; {how}", error.message));
    out.note(&format!("other ways to send it: {list}"));
    if options.asks {
        let count = ways.len();
        let confirmation = Confirmation {
            action: "sending the key in other ways",
            question: format!("Try {count} other ways to send the key, to this address alone?"),
            declined: "the key was not sent in another way",
        };
        confirmation.ask(&reads.context.prompter).await?;
    }
    for (settings, adapter) in ways {
        let how = format!("the key was sent as `{}`", key_sent_as(&adapter));
        reads.context.use_adapter(adapter);
        match reads.send(&Read::Index).await? {
            Seen::Answer(document) => {
                report.settings.extend(settings);
                return Ok(document);
            }
            // The key is taken, and something else is missing.
            Seen::Refused { body, error, .. } if !missing_headers(&own, &body).is_empty() => {
                return Err(wants_header(reads, &body, error).detail(how));
            }
            Seen::Refused { .. } | Seen::Spent => {}
        }
    }
    Err(error.detail(how).detail(format!("tried as well: {list}")).hint(
        "the service's documentation says how it wants the key; set `auth_header` and `auth_scheme`, `auth_query`, \
         `auth_user` or `headers.NAME` with `bookctl profile set`",
    ))
}

/// The error with a hint that names the header that a refusal asks for. Only a person knows its value.
fn wants_header(reads: &Reads<'_>, body: &Value, error: Error) -> Error {
    let own = reads.context.adapter();
    match missing_headers(own, body).first() {
        Some(name) => error.hint(format!(
            "the service asks for the header {name}; its documentation says the value; set it with: {}",
            own.set_command(&format!("headers.{name}=VALUE"))
        )),
        None => error,
    }
}

/// The headers that a refusal names, without those that carry a key and those that were sent.
fn missing_headers(own: &Adapter, body: &Value) -> Vec<String> {
    let mut names = header_names(body);
    names.retain(|name| {
        let mut transport = own.transport.clone();
        !name.eq_ignore_ascii_case(&own.dialect.auth_header)
            && transport.add_header(name, "value").is_ok()
    });
    names
}

/// The ways to send a key that are not the profile's own, each with its settings and an adapter that uses it. What the
/// challenge and the refusal name comes first.
fn ways(own: &Adapter, challenge: Option<&str>, body: &Value) -> Vec<(Vec<Certain>, Adapter)> {
    let header = |name: &str, scheme: &str| {
        vec![
            ("dialect.auth_header", name.to_owned()),
            ("dialect.auth_scheme", scheme.to_owned()),
        ]
    };
    let mut as_user = header("Authorization", "Basic");
    as_user.push(("auth_user", String::new()));
    let basic = [header("Authorization", "Basic"), as_user];
    let mut all = Vec::new();
    let word = challenge.and_then(|it| it.split([' ', ',']).next());
    match word.unwrap_or_default().to_lowercase().as_str() {
        "" | "bearer" | "digest" | "negotiate" => {}
        "basic" => all.extend(basic.clone()),
        _ => all.push(header("Authorization", word.unwrap_or_default())),
    }
    all.extend(header_names(body).iter().map(|name| header(name, "")));
    if body.to_string().to_lowercase().contains("query") {
        let names = words_of(body, |word| {
            let lower = word.to_ascii_lowercase();
            let is_name = word.contains(|c: char| c == '_' || c.is_ascii_uppercase());
            is_name && !word.contains('-') && (lower.ends_with("key") || lower.ends_with("token"))
        });
        all.extend(names.into_iter().map(|name| vec![("auth_query", name)]));
    }
    all.extend(HEADERS.iter().map(|(name, scheme)| header(name, scheme)));
    all.extend(basic);
    all.extend(PARAMETERS.map(|name| vec![("auth_query", name.to_owned())]));

    let mut ways: Vec<(Vec<Certain>, Adapter)> = Vec::new();
    for way in all {
        // What the profile says of the query cannot be taken back by another setting.
        if own.transport.auth_query.is_some() && way[0].0 != "auth_query" {
            continue;
        }
        let why = "the service took the key in this way";
        let settings = way
            .iter()
            .map(|(key, value)| Certain::new(*key, value, why));
        let settings: Vec<Certain> = settings.collect();
        let Ok(adapter) = with(own, &settings) else {
            continue;
        };
        let way = key_sent_as(&adapter);
        if way != key_sent_as(own) && !ways.iter().any(|(_, it)| key_sent_as(it) == way) {
            ways.push((settings, adapter));
        }
    }
    ways
}

/// The headers that a refusal names in its sentences, such as `X-Organization-Id`.
fn header_names(body: &Value) -> Vec<String> {
    words_of(body, |word| {
        let is_part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_uppercase())
                && part.chars().all(|c| c.is_ascii_alphanumeric())
        };
        word.contains('-')
            && (word.split('-').all(is_part) || word.starts_with("x-"))
            && !["content-type", "idempotency-key", "retry-after"]
                .contains(&word.to_ascii_lowercase().as_str())
    })
}

/// The first words of all texts of a document that fit, once each.
fn words_of(body: &Value, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, text) in scalars(body) {
        for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')) {
            let is_new = !found.iter().any(|it| it.eq_ignore_ascii_case(word));
            if word.len() < 40 && is_new && fits(word) && found.len() < MOST_NAMES {
                found.push(word.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_the_challenge_and_the_refusal_name_is_tried_first() {
        let own = Adapter::default();
        let tried = |challenge: Option<&str>, body: Value| -> Vec<String> {
            let ways = ways(&own, challenge, &body);
            ways.iter()
                .map(|(_, adapter)| key_sent_as(adapter))
                .collect()
        };
        let usual = tried(None, json!({"error": "unauthorized"}));
        assert_eq!(usual[0], "X-Api-Key: ***");
        assert_eq!(usual.len(), HEADERS.len() + 2 + PARAMETERS.len());
        assert_eq!(tried(Some("Bearer"), json!({})), usual);
        let header = "send your key in the header X-Acme-Key";
        let parameter = "the query parameter partner_key is missing";
        for (challenge, said, first) in [
            (
                Some("ApiKey realm=\"x\""),
                "",
                &["Authorization: ApiKey ***"][..],
            ),
            (
                Some("Basic"),
                "",
                &[
                    "Authorization: Basic ***",
                    "Authorization: Basic :***, in base64",
                ],
            ),
            (None, header, &["X-Acme-Key: ***"]),
            (None, parameter, &["?partner_key=***"]),
        ] {
            let tried = tried(challenge, json!({"error": said}));
            assert_eq!(tried[..first.len()], *first, "{said}");
        }
    }
}
