//! Explains why a signature does not match: undoes the most likely mistakes with secrets and bodies until one of them
//! makes it match.

use serde_json::Value;

use super::signature::Header;
use crate::secrets::Secret;

/// The likely reason why no `v1` matches: a word for scripts, and a sentence. `None` if the signature matches with none of
/// the most likely mistakes.
pub(crate) fn diagnose(
    secrets: &[Secret],
    header: &Header,
    body: &[u8],
) -> Option<(&'static str, String)> {
    if body.is_empty() {
        let message = "the body is empty, but a body was signed";
        return Some(("changed_body", message.to_owned()));
    }
    let mut bodies = vec![([body, b"\n"].concat(), "the line end after it is missing")];
    if let Some(line) = body.strip_suffix(b"\n") {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        bodies.push((line.to_vec(), "a line end was added"));
    }
    if let Ok(document) = serde_json::from_slice::<Value>(body) {
        bodies.push((
            document.to_string().into_bytes(),
            "the JSON was parsed and serialized again; the signed body is the same JSON without spaces",
        ));
    }
    for secret in secrets {
        let secret = secret.expose();
        for (original, what) in &bodies {
            if header.is_signed_with(secret.as_bytes(), original) {
                return Some(("changed_body", format!("the body was changed: {what}")));
            }
        }
        let bare = secret.split_once('_').map_or(secret, |(_, rest)| rest);
        for (key, what) in [
            (format!("{secret}\n"), "with a line end after it"),
            (format!("\"{secret}\""), "in quotes"),
            (bare.to_owned(), "without its prefix"),
        ] {
            if header.is_signed_with(key.as_bytes(), body) {
                let message = format!("the secret differs: the sender signed with it {what}");
                return Some(("wrong_secret", message));
            }
        }
    }
    None
}
