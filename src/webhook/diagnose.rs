//! Explains why a signature does not match: undoes the most likely mistakes with secrets and bodies until one of them
//! makes it match.

use serde_json::Value;

use super::signature::Header;
use crate::secrets::Secret;

/// The likely reason why no `v1` matches, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Diagnosis {
    /// The sender signed with a variant of the secret.
    Secret(&'static str),
    /// The body is not the one that was signed.
    Body(&'static str),
}

/// Tries the most likely mistakes; `None` if the signature matches with none of them.
pub(crate) fn diagnose(secrets: &[Secret], header: &Header, body: &[u8]) -> Option<Diagnosis> {
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
                return Some(Diagnosis::Body(what));
            }
        }
        let bare = secret.split_once('_').map_or(secret, |(_, rest)| rest);
        for (key, what) in [
            (format!("{secret}\n"), "the secret and a line end after it"),
            (format!("\"{secret}\""), "the secret in quotes"),
            (bare.to_owned(), "the secret without its prefix"),
        ] {
            if header.is_signed_with(key.as_bytes(), body) {
                return Some(Diagnosis::Secret(what));
            }
        }
    }
    None
}
