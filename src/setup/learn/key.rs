//! The index, and how the key has to be sent for it.

use serde_json::Value;

use super::reads::{LearnCall, Reads, Rejected};
use super::{Certain, LearnOptions, LearnReport, with};
use crate::booking::confirmation::Confirmation;
use crate::outcome::{Error, Result};
use crate::service::client::key_sent_as;
use crate::service::mapping::{Adapter, scalars};

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

const MOST_NAMES: usize = 4;

/// Reads the index. After a 401 and a yes, the key is sent in other ways, to the same address alone.
pub(crate) async fn index(
    reads: &mut Reads<'_>,
    report: &mut LearnReport,
    options: &LearnOptions,
) -> Result<Value> {
    let own = reads.context.adapter().clone();
    let rejected = match reads.send(&LearnCall::Index).await? {
        Ok(document) => return Ok(document),
        Err(rejected) => rejected,
    };
    let body = rejected.body().clone();
    let Rejected { error, challenge } = rejected;
    // Another way does not help a service that misses another header.
    let is_of_key = error.http_status == Some(401) && missing_header(&own, &body).is_none();
    if options.is_check || !is_of_key {
        return Err(wants_header(&own, error, &body));
    }
    let ways = ways(&own, challenge.as_deref(), &body);
    let list = ways.iter().map(|it| format!("`{}`", key_sent_as(&it.1)));
    let list = list.collect::<Vec<_>>().join(", ");
    let out = &reads.context.out;
    out.warn(&format!(
        "{}; sent as: {}",
        error.message,
        key_sent_as(&own)
    ));
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
        reads.context.use_adapter(adapter);
        match reads.send(&LearnCall::Index).await? {
            Ok(document) => {
                report.settings.extend(settings);
                return Ok(document);
            }
            // The key is taken, and something else is missing.
            Err(rejected) if missing_header(&own, rejected.body()).is_some() => {
                let body = rejected.body().clone();
                return Err(wants_header(&own, rejected.error, &body));
            }
            Err(_) => {}
        }
    }
    Err(error.detail(format!("tried as well: {list}")).hint(
        "the service's documentation shows how to send the key; set `auth_header` and `auth_scheme`, `auth_query`, \
         `auth_user` or `headers.NAME` with `bookctl profile set`",
    ))
}

/// The error with a hint that names the header that a refusal asks for. Only a person knows its value.
fn wants_header(own: &Adapter, error: Error, body: &Value) -> Error {
    let Some(name) = missing_header(own, body) else {
        return error;
    };
    let set = own.set_command(&format!("headers.{name}=VALUE"));
    error.hint(format!(
        "the service asks for the header {name}; its documentation has the value; set it with: {set}"
    ))
}

/// The header that a refusal names, if it neither carries a key nor was sent.
fn missing_header(own: &Adapter, body: &Value) -> Option<String> {
    let mut names = header_names(body).into_iter();
    names.find(|name| {
        let mut transport = own.transport.clone();
        !name.eq_ignore_ascii_case(&own.dialect.auth_header)
            && transport.add_header(name, "value").is_ok()
    })
}

/// The ways to send a key that are not the profile's own, each with its settings and an adapter that uses it. What the
/// challenge and the refusal name comes first.
fn ways(own: &Adapter, challenge: Option<&str>, body: &Value) -> Vec<(Vec<Certain>, Adapter)> {
    let certain =
        |key: &str, value: &str| Certain::new(key, value, "the service took the key in this way");
    let header = |name: &str, scheme: &str| {
        vec![
            certain("dialect.auth_header", name),
            certain("dialect.auth_scheme", scheme),
        ]
    };
    let mut as_user = header("Authorization", "Basic");
    as_user.push(certain("auth_user", ""));
    let basic = [header("Authorization", "Basic"), as_user];
    let mut all = Vec::new();
    let word = challenge.and_then(|it| it.split([' ', ',']).next());
    let word = word.unwrap_or_default();
    match word.to_lowercase().as_str() {
        "" | "bearer" | "digest" | "negotiate" => {}
        "basic" => all.extend(basic.clone()),
        _ => all.push(header("Authorization", word)),
    }
    all.extend(header_names(body).iter().map(|name| header(name, "")));
    all.extend(HEADERS.map(|(name, scheme)| header(name, scheme)));
    all.extend(basic);
    // What the profile says of the query cannot be taken back by another setting.
    if own.transport.auth_query.is_some() {
        all.clear();
    }
    all.extend(PARAMETERS.map(|name| vec![certain("auth_query", name)]));
    let mut ways: Vec<(Vec<Certain>, Adapter)> = Vec::new();
    for settings in all {
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

/// The first headers that a refusal names in its sentences, such as `X-Organization-Id`, once each.
fn header_names(body: &Value) -> Vec<String> {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let is_name = |word: &str| {
        word.len() < 40
            && word.contains('-')
            && (word.split('-').all(is_part) || word.starts_with("x-"))
            && !["content-type", "idempotency-key", "retry-after"]
                .contains(&word.to_ascii_lowercase().as_str())
    };
    let mut found: Vec<String> = Vec::new();
    for (_, text) in scalars(body) {
        for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')) {
            let is_new = !found.iter().any(|it| it.eq_ignore_ascii_case(word));
            if is_new && is_name(word) && found.len() < MOST_NAMES {
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
        let basic = [
            "Authorization: Basic ***",
            "Authorization: Basic :***, in base64",
        ];
        let word = "ApiKey realm=\"x\"";
        for (challenge, said, first) in [
            (Some(word), "", &["Authorization: ApiKey ***"][..]),
            (Some("Basic"), "", &basic),
            (None, header, &["X-Acme-Key: ***"]),
        ] {
            let tried = tried(challenge, json!({"error": said}));
            assert_eq!(tried[..first.len()], *first, "{said}");
        }
    }
}
