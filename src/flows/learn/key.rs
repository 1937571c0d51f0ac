//! The index, and how the key has to be sent for it.

use serde_json::Value;

use super::reads::{Read, Reads, Seen};
use super::{OtherWays, Survey};
use crate::adapter::learn::{Certainty, Finding};
use crate::flows::confirmation::Confirmation;
use crate::outcome::Result;

/// Ways to send a key that services use, the most usual first: the header, and the word before the key.
const WAYS: [(&str, &str); 9] = [
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

/// Reads the index. After a 401 and a yes, the key is sent in other ways, to the same address alone.
pub(super) async fn index(
    reads: &mut Reads<'_>,
    survey: &mut Survey,
    ways: OtherWays,
) -> Result<Value> {
    let (challenge, error) = match reads.send(&Read::Index).await? {
        Seen::Answer(document) => return Ok(document),
        Seen::Refused {
            status: 401,
            challenge,
            error,
            ..
        } => (challenge, error),
        Seen::Refused { error, .. } => return Err(error),
        Seen::Spent => return Ok(Value::Null),
    };
    let own = reads.context.adapter().clone();
    let sent = match own.dialect.auth_scheme.as_str() {
        "" => format!("{}: ***", own.dialect.auth_header),
        scheme => format!("{}: {scheme} ***", own.dialect.auth_header),
    };
    let error = error.detail(format!("the key was sent as `{sent}`"));
    if ways == OtherWays::Never {
        return Err(error);
    }
    if ways == OtherWays::AfterAsking {
        reads
            .context
            .out
            .warn(&format!("{}; the key was sent as `{sent}`", error.message));
        let confirmation = Confirmation {
            action: "sending the key in other ways",
            question: format!(
                "Try {} other ways to send the key, to this address alone?",
                WAYS.len()
            ),
            declined: "the key was not sent in another way",
        };
        confirmation.ask(&reads.context.prompter).await?;
    }
    for (header, scheme) in tried(challenge.as_deref()) {
        let mut adapter = own.clone();
        if adapter.dialect.rename("auth_header", &header).is_err()
            || adapter.dialect.rename("auth_scheme", &scheme).is_err()
        {
            continue;
        }
        reads.context.use_adapter(adapter);
        if let Seen::Answer(document) = reads.send(&Read::Index).await? {
            for (key, value) in [("auth_header", header), ("auth_scheme", scheme)] {
                let why = "the service took the key in this way";
                survey.findings.push(Finding::new(
                    Certainty::Certain,
                    format!("dialect.{key}"),
                    value,
                    why,
                ));
            }
            return Ok(document);
        }
    }
    Err(error.hint(
        "the service's documentation says how it wants the key; set `auth_header` and `auth_scheme` with `bookctl \
         profile set`, or give its OpenAPI document with --openapi",
    ))
}

/// The ways in the order in which they are tried. The word of a challenge comes first.
fn tried(challenge: Option<&str>) -> Vec<(String, String)> {
    let word = challenge
        .and_then(|it| it.split([' ', ',']).next())
        .unwrap_or_default();
    let is_new = !word.is_empty()
        && !["basic", "bearer", "digest", "negotiate"].contains(&word.to_lowercase().as_str());
    let first = is_new.then(|| ("Authorization".to_owned(), word.to_owned()));
    let usual = WAYS
        .iter()
        .map(|(header, scheme)| ((*header).to_owned(), (*scheme).to_owned()));
    let mut ways: Vec<(String, String)> = first.into_iter().collect();
    for way in usual {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_challenge_is_tried_first() {
        assert_eq!(
            tried(Some("ApiKey realm=\"x\""))[0],
            ("Authorization".to_owned(), "ApiKey".to_owned())
        );
        assert_eq!(tried(Some("ApiKey"))[..].len(), WAYS.len());
        assert_eq!(tried(Some("Bearer"))[0].0, "X-Api-Key");
        assert_eq!(tried(None).len(), WAYS.len());
    }
}
