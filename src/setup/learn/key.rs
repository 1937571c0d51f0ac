//! The index, and how the key has to be sent for it.

use serde_json::Value;

use super::reads::Reads;
use super::{refusal_body, with};
use crate::outcome::{Error, Result};
use crate::service::client::{Call, key_sent_as};
use crate::service::mapping::{Mapping, Setting, scalars};

/// Ways that services use, the most usual first: the header, and the word before the key; or the
/// parameter of the query.
const WAYS: &str = "X-Api-Key,Authorization,Authorization ApiKey,Authorization Token,Authorization Key,Api-Key,\
    X-Auth-Token,X-Partner-Key,X-Access-Token,Authorization Basic,?api_key,?key,?access_token";

/// Reads the index. After a 401 and a go-ahead, sends the key in other ways to the same address.
pub(crate) async fn index(reads: &mut Reads<'_>) -> Result<Value> {
    let own = reads.mapping().clone();
    let error = match reads.send(Call::get("/v1/")).await? {
        Ok(document) => return Ok(document),
        Err(error) => require_headers(&own, error)?,
    };
    if reads.options.check || error.http_status != Some(401) {
        return Err(error);
    }
    let ways = ways(&own, &error);
    let list = ways.iter().map(|it| format!("`{}`", key_sent_as(&it.1)));
    let list = list.collect::<Vec<_>>().join(", ");
    let out = &reads.parts.ui.out;
    out.warn(&format!("{}; sent as: {}", error.message, key_sent_as(&own)));
    out.note(&format!("other ways to send it: {list}"));
    let count = ways.len();
    let question = format!("Try {count} other ways to send the key, to this address alone?");
    let declined = "the key was not sent in another way";
    reads.confirm("sending the key in other ways", &question, declined).await?;
    for (settings, mapping) in ways {
        reads.parts.api.use_mapping(mapping);
        match reads.send(Call::get("/v1/")).await? {
            Ok(document) => {
                reads.report.settings.extend(settings);
                return Ok(document);
            }
            // The key may be accepted, and something else missing.
            Err(error) => require_headers(&own, error)?,
        };
    }
    Err(error.detail(format!("tried as well: {list}")).hint(
        "the service's documentation shows how to send the key; set `auth_header` and `auth_scheme`, `auth_query`, \
         `auth_user` or `headers.NAME` with `bookctl profile set`",
    ))
}

/// Returns the refusal unless it names a header that neither carries a key nor was sent: then
/// another way to send the key does not help, and only the user knows the header's value.
fn require_headers(own: &Mapping, error: Error) -> Result<Error> {
    let missing = header_names(&error).into_iter().find(|name| {
        let is_of_key = name.eq_ignore_ascii_case(&own.dialect.auth_header);
        !is_of_key && own.transport.clone().add_header(name, "value").is_ok()
    });
    let Some(name) = missing else { return Ok(error) };
    let set = own.set_command(&format!("headers.{name}=VALUE"));
    let what = "its documentation has the value; set it with";
    Err(error.hint(format!("the service asks for the header {name}; {what}: {set}")))
}

/// The ways to send a key that are not the profile's own, each with its settings and a mapping
/// that uses it. What the refusal names comes first.
fn ways(own: &Mapping, error: &Error) -> Vec<(Vec<Setting>, Mapping)> {
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
        let Ok(mapping) = with(own, &settings) else {
            continue;
        };
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
    let texts = scalars(refusal_body(error));
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let words = texts.iter().flat_map(|(_, text)| text.split(is_end));
    words.filter(is_name).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Code;
    use serde_json::json;

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
