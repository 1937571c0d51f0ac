//! The index, and how the key has to be sent for it.

use serde_json::Value;

use super::reads::{Read, Reads, Seen};
use super::{Certain, Looked, OtherWays, with};
use crate::adapter::{Adapter, scalars};
use crate::client::key_sent_as;
use crate::flows::confirmation::Confirmation;
use crate::outcome::{Error, Result};

/// A way to send a key: the settings that say it.
type Way = Vec<(&'static str, String)>;

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

/// How many names of one refusal are looked at.
const MOST_NAMES: usize = 4;

/// Query parameters that services use.
const PARAMETERS: [&str; 3] = ["api_key", "key", "access_token"];

/// Reads the index. After a 401 and a yes, the key is sent in other ways, to the same address alone.
pub(super) async fn index(
    reads: &mut Reads<'_>,
    looked: &mut Looked,
    ways: OtherWays,
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
    let error =
        wants_header(reads, &body, error).detail(format!("the key was sent as {}", shown(&own)));
    // Another way does not help a service that misses another header.
    if ways == OtherWays::Never || !missing_headers(&own, &body).is_empty() {
        return Err(error);
    }
    let tried = usable(&own, possible(challenge.as_deref(), &body));
    let list = tried.iter().map(|(_, adapter)| shown(adapter));
    let list = list.collect::<Vec<_>>().join(", ");
    let out = &reads.context.out;
    out.warn(&format!(
        "{}; the key was sent as {}",
        error.message,
        shown(&own)
    ));
    out.note(&format!("other ways to send it: {list}"));
    if ways == OtherWays::AfterAsking {
        let confirmation = Confirmation {
            action: "sending the key in other ways",
            question: format!(
                "Try {} other ways to send the key, to this address alone?",
                tried.len()
            ),
            declined: "the key was not sent in another way",
        };
        confirmation.ask(&reads.context.prompter).await?;
    }
    for (settings, adapter) in tried {
        reads.context.use_adapter(adapter);
        match reads.send(&Read::Index).await? {
            Seen::Answer(document) => {
                looked.settings.extend(settings);
                return Ok(document);
            }
            // The key is taken, and something else is missing.
            Seen::Refused { body, error, .. } if !missing_headers(&own, &body).is_empty() => {
                let way = shown(reads.context.adapter());
                return Err(
                    wants_header(reads, &body, error).detail(format!("the key was sent as {way}"))
                );
            }
            Seen::Refused { .. } | Seen::Spent => {}
        }
    }
    Err(error.detail(format!("tried as well: {list}")).hint(
        "the service's documentation says how it wants the key; set `auth_header` and `auth_scheme`, `auth_query`, \
         `auth_user` or `headers.NAME` with `bookctl profile set`",
    ))
}

fn shown(adapter: &Adapter) -> String {
    format!("`{}`", key_sent_as(adapter))
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
    let fits = |name: &String| {
        let mut transport = own.transport.clone();
        !name.eq_ignore_ascii_case(&own.dialect.auth_header)
            && transport.add_header(name, "value").is_ok()
    };
    header_names(body).into_iter().filter(fits).collect()
}

/// The ways with their settings and an adapter that uses them; without those that are the profile's own.
fn usable(own: &Adapter, ways: Vec<Way>) -> Vec<(Vec<Certain>, Adapter)> {
    let mut usable: Vec<(Vec<Certain>, Adapter)> = Vec::new();
    for way in ways {
        // What the profile says of the query cannot be taken back by another setting.
        if own.transport.auth_query.is_some() && !way.iter().any(|(key, _)| *key == "auth_query") {
            continue;
        }
        let why = "the service took the key in this way";
        let settings = way
            .into_iter()
            .map(|(key, value)| Certain::new(key, &value, why));
        let settings: Vec<Certain> = settings.collect();
        let Ok(adapter) = with(own, &settings) else {
            continue;
        };
        let way = key_sent_as(&adapter);
        if way != key_sent_as(own) && !usable.iter().any(|(_, it)| key_sent_as(it) == way) {
            usable.push((settings, adapter));
        }
    }
    usable
}

/// The ways in the order in which they are tried. What the challenge and the refusal name comes first.
fn possible(challenge: Option<&str>, body: &Value) -> Vec<Way> {
    let header = |name: &str, scheme: &str| {
        vec![
            ("dialect.auth_header", name.to_owned()),
            ("dialect.auth_scheme", scheme.to_owned()),
        ]
    };
    let parameter = |name: &str| vec![("auth_query", name.to_owned())];
    let mut with_user = header("Authorization", "Basic");
    with_user.push(("auth_user", String::new()));
    let basic = [header("Authorization", "Basic"), with_user];
    let word = challenge.and_then(|it| it.split([' ', ',']).next());
    let word = word.unwrap_or_default();
    let mut ways: Vec<Way> = Vec::new();
    match word.to_lowercase().as_str() {
        "basic" => ways.extend(basic.clone()),
        "" | "bearer" | "digest" | "negotiate" => {}
        _ => ways.push(header("Authorization", word)),
    }
    ways.extend(header_names(body).iter().map(|name| header(name, "")));
    ways.extend(parameter_names(body).iter().map(|name| parameter(name)));
    ways.extend(HEADERS.iter().map(|(name, scheme)| header(name, scheme)));
    ways.extend(basic);
    ways.extend(PARAMETERS.iter().map(|name| parameter(name)));
    ways
}

/// The headers that a refusal names in its sentences, such as `X-Organization-Id`.
fn header_names(body: &Value) -> Vec<String> {
    words_of(body, |word| {
        let parts: Vec<&str> = word.split('-').collect();
        let is_part = |part: &&str| {
            part.starts_with(|c: char| c.is_ascii_uppercase())
                && part.chars().all(|c| c.is_ascii_alphanumeric())
        };
        parts.len() > 1
            && (parts.iter().all(is_part) || word.starts_with("x-"))
            && !["content-type", "idempotency-key", "retry-after"]
                .contains(&word.to_ascii_lowercase().as_str())
    })
}

/// The names of keys that a refusal names where it speaks of the query.
fn parameter_names(body: &Value) -> Vec<String> {
    if !body.to_string().to_lowercase().contains("query") {
        return Vec::new();
    }
    words_of(body, |word| {
        let lower = word.to_ascii_lowercase();
        ["key", "token"].iter().any(|it| lower.ends_with(it))
            && word.contains(|c: char| c == '_' || c.is_ascii_uppercase())
            && !word.contains('-')
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
            let ways = usable(&own, possible(challenge, &body));
            ways.iter()
                .map(|(_, adapter)| key_sent_as(adapter))
                .collect()
        };
        let usual = tried(None, json!({"error": "unauthorized"}));
        assert_eq!(usual[0], "X-Api-Key: ***");
        assert_eq!(usual.len(), HEADERS.len() + 2 + PARAMETERS.len());
        assert_eq!(
            tried(Some("ApiKey realm=\"x\""), json!({}))[0],
            "Authorization: ApiKey ***"
        );
        assert_eq!(
            tried(Some("Basic"), json!({}))[..2],
            [
                "Authorization: Basic ***",
                "Authorization: Basic :***, in base64"
            ]
        );
        assert_eq!(
            tried(
                None,
                json!({"error": "send your key in the header X-Acme-Key"})
            )[0],
            "X-Acme-Key: ***"
        );
        assert_eq!(
            tried(
                None,
                json!({"error": "the query parameter partner_key is missing"})
            )[0],
            "?partner_key=***"
        );
        assert_eq!(tried(Some("Bearer"), json!({})), usual);
    }
}
