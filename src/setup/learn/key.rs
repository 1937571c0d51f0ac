//! The ways in which services want their key.

use super::with;
use crate::outcome::Error;
use crate::service::client::key_sent_as;
use crate::service::mapping::{Mapping, Setting, scalars};

/// Ways that services use, the most usual first: the header, and the word before the key; or the
/// parameter of the query.
const WAYS: &str = "X-Api-Key,Authorization,Authorization ApiKey,Authorization Token,Authorization Key,Api-Key,\
    X-Auth-Token,X-Partner-Key,X-Access-Token,Authorization Basic,?api_key,?key,?access_token";

/// The ways to send a key that are not the profile's own, each with its settings and a mapping
/// that uses it. What the refusal names comes first.
pub(super) fn ways(own: &Mapping, error: &Error) -> Vec<(Vec<Setting>, Mapping)> {
    let mut ways = vec![(Vec::new(), own.clone())];
    for way in header_names(error).into_iter().chain(WAYS.split(',').map(str::to_owned)) {
        let (name, scheme) = way.split_once(' ').unwrap_or((&way, ""));
        let settings = match way.strip_prefix('?') {
            Some(name) => vec![Setting::new("auth_query", name)],
            None => vec![
                Setting::new("dialect.auth_header", name),
                Setting::new("dialect.auth_scheme", scheme),
            ],
        };
        // What the profile says of the query cannot be taken back by another setting.
        let Ok(mapping) = with(own, &settings) else { continue };
        if ways.iter().all(|it| key_sent_as(&it.1) != key_sent_as(&mapping)) {
            ways.push((settings, mapping));
        }
    }
    ways.split_off(1)
}

/// The headers that a refusal names in its sentences, such as `X-Organization-Id`.
fn header_names(error: &Error) -> Vec<String> {
    let is_part = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase());
    let is_name = |word: &&str| {
        word.contains('-') && (word.starts_with("x-") || word.split('-').all(is_part))
    };
    let texts = error.body.as_ref().map(|it| scalars(it.value())).unwrap_or_default();
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let words = texts.iter().flat_map(|(_, text)| text.split(is_end));
    words.filter(is_name).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Code;
    use serde_json::{Value, json};

    #[test]
    fn what_the_refusal_names_is_tried_first() {
        let tried = |body: Value| -> Vec<String> {
            let mut error = Error::new(Code::NoKey, "");
            error.body = Some(body.into());
            let ways = ways(&Mapping::default(), &error);
            ways.iter().map(|(_, way)| key_sent_as(way)).collect()
        };
        let usual = tried(json!({"error": "unauthorized"}));
        assert_eq!(usual[0], "X-Api-Key: ***");
        assert_eq!(usual.len(), WAYS.split(',').count());
        let often = "see Rate-Limit; ".repeat(4);
        let named =
            tried(json!({"error": format!("{often}send your key in the header X-Acme-Key")}));
        assert_eq!(named[1], "X-Acme-Key: ***");
        let named = tried(json!({"error": "send your key in the header X-Acme-Key"}));
        assert_eq!(named[0], "X-Acme-Key: ***");
    }
}
