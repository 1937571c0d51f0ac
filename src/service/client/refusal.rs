//! A non-2xx answer of the service (spec, Errors): what it says and what it proves.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::named_fields::texts;
use super::rate_limit::{RATE_LIMIT_WINDOW, retry_after};
use crate::json::{Document, plain};
use crate::outcome::code;
use crate::secrets::redact;
use crate::service::mapping::read::objects_within;
use crate::service::mapping::resource::flattened;
use crate::service::mapping::{Shape, around};

/// Statuses of requests that a proxy gave up, or wants to be repeated: the service may have carried them out.
pub(crate) const GIVEN_UP_ON_THE_WAY: [u16; 3] = [408, 425, 499];

/// How many values of a body are listed.
const UNSAID_SHOWN: usize = 12;

#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// The value of `error_code`, or `error` if that is a known code.
    pub(crate) code: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    /// `null` if no document came.
    pub(crate) body: Document,
    /// The body in the contract's shape, where the profile has an expression that reads it.
    translated: Option<Document>,
    pub(crate) shows_the_booking: bool,
    pub(crate) instead: Option<String>,
    /// How a refused key was sent, for a person.
    pub(crate) key_sent: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: u16, headers: &HeaderMap, body: Document) -> Self {
        let in_body = || body.value().get("retry_after_seconds")?.as_u64();
        let seconds = retry_after(headers).or_else(in_body);
        let retry_after =
            seconds.map(|seconds| Duration::from_secs(seconds).min(RATE_LIMIT_WINDOW));
        Refusal {
            status,
            code: code_in(&body),
            retry_after,
            body,
            translated: None,
            shows_the_booking: false,
            instead: None,
            key_sent: None,
        }
    }

    pub(crate) fn translate(&mut self, translated: Value) {
        let translated = Document::from(translated);
        self.code = code_in(&translated);
        self.translated = Some(translated);
    }

    /// What the refusal says, in the contract's shape.
    pub(crate) fn said(&self) -> &Document {
        self.translated.as_ref().unwrap_or(&self.body)
    }

    pub(crate) fn bare(status: u16, headers: &HeaderMap, kind: String) -> Self {
        Refusal { instead: Some(kind), ..Refusal::new(status, headers, Value::Null.into()) }
    }

    /// Each of the service's refusals is a document with `error` (spec, Errors); a 5xx proves that nothing was done only with a
    /// documented code. One that shows the booking that was asked for, or is about the key, proves nothing.
    pub(crate) fn proves_nothing_was_done(&self) -> bool {
        if self.shows_the_booking || self.is_about_the_key() {
            return false;
        }
        let code = self.code.as_deref();
        match self.status {
            500.. => code.is_some_and(code::says_nothing_was_done),
            status if GIVEN_UP_ON_THE_WAY.contains(&status) => false,
            _ => match self.said().value().get("error") {
                Some(Value::String(_)) => true,
                Some(Value::Object(error)) => {
                    let said = ["code", "message", "error_code"].map(|field| error.get(field));
                    let mut said = said.into_iter().flatten();
                    said.any(|it| it.is_string() || it.is_number())
                }
                _ => false,
            },
        }
    }

    /// Whether it is about an earlier request with the key. A documented code says what else it is about.
    fn is_about_the_key(&self) -> bool {
        const UNDER_WAY: &str = "in progress|in flight|still processing|already processing|being processed|being handled";
        const USED: &str = "already|exist|used|outstanding|concurren|executing";
        let has = |text: &str, words: &str| words.split('|').any(|words| text.contains(words));
        if self.code.as_deref().and_then(code::entry).is_some() {
            return false;
        }
        let texts = texts(self.said().value(), &["error", "message", "detail"]);
        texts.chain(self.code.as_deref()).any(|text| {
            let text = text.to_lowercase().replace(['_', '-'], " ");
            let is_used = text.contains("idempoten") && has(&text, USED);
            is_used || text == "duplicate" || has(&text, UNDER_WAY)
        })
    }

    /// One sentence that says what was refused and why: the service's own words, and further fields of the body.
    pub(crate) fn sentence(&self) -> String {
        let known = self.code.as_deref().and_then(code::entry);
        let is_code = |text: &&str| Some(*text) == self.code.as_deref();
        let inner = self.said().value().pointer("/error/detail");
        let texts = texts(self.said().value(), &["message", "error"]);
        let mut texts = texts.chain(inner.and_then(Value::as_str));
        let rejected = || format!("the service rejected the request with {}", self.status);
        let mut sentence = match (texts.find(|text| !is_code(text)), known, &self.code) {
            (Some(own), ..) => own.trim_end_matches('.').to_owned(),
            (None, Some(known), _) => known.meaning.to_owned(),
            (None, None, Some(code)) => format!("{}: {code}", rejected()),
            // What a status alone means is the service's to say, and something else may have answered.
            (None, None, None) => match &self.instead {
                Some(kind) => no_document(self.status, kind),
                None => rejected(),
            },
        };
        for (label, value) in self.particulars() {
            sentence.push_str(&format!("; {label}: {value}"));
        }
        // The service's message may contain what was sent.
        redact(&sentence).into_owned()
    }

    /// The documented fields of the body that add to the message (spec, Errors, Body shapes).
    fn particulars(&self) -> Vec<(&str, String)> {
        let body = self.said().value();
        let mut particulars = Vec::new();
        for (field, label) in [
            ("missing", "missing"),
            ("field", "field"),
            ("detail", "detail"),
            ("required_scope", "scope needed"),
            ("reason", "reason"),
            ("provider", "provider"),
            ("providers_failed", "failed"),
            ("attempts_left", "tries left"),
        ] {
            let text = match body.get(field) {
                None | Some(Value::Null) => continue,
                Some(Value::Array(names)) => names.iter().map(plain).collect::<Vec<_>>().join(", "),
                Some(value) => plain(value),
            };
            particulars.push((label, text));
        }
        if let Some(fields) = body.get("fields").and_then(Value::as_object) {
            particulars.extend(fields.iter().map(|(name, why)| (name.as_str(), plain(why))));
        }
        particulars
    }

    /// The values of the body that `said` does not contain, as lines. A booking in the body is left out: it is not about
    /// the refusal, and has a guest.
    pub(crate) fn unsaid(&self, said: &str) -> Vec<String> {
        let body = flattened(&self.body);
        let mut beside = Vec::new();
        objects_within(&body, &|it| Shape::Booking.fits(it), &mut beside);
        let status = self.status.to_string();
        let is_new = |text: &str| {
            Some(text) != self.code.as_deref() && text != status && !contains_words(said, text)
        };
        let mut unsaid = around(&body, &beside);
        unsaid.retain(|(path, text)| !path.starts_with("open_bookings") && is_new(text));
        let lines = unsaid.into_iter().take(UNSAID_SHOWN);
        let lines = lines.map(|(path, text)| redact(&format!("{path}: {text}")).into_owned());
        lines.collect()
    }
}

pub(crate) fn no_document(status: u16, kind: &str) -> String {
    let kind = match kind {
        "" => String::new(),
        kind => format!(", {kind}"),
    };
    format!("the response ({status}{kind}) does not come from the booking service")
}

/// The code of a refusal. Older ones put it in `error` itself (spec, Errors), which may be an object too.
fn code_in(said: &Document) -> Option<String> {
    let inner = |field: &str| said.value().get("error")?.get(field)?.as_str();
    let is_known = |error: &&str| code::entry(error).is_some();
    let code = said.str("error_code").or_else(|| inner("error_code"));
    let known = || said.str("error").filter(is_known);
    let code = code.or_else(|| inner("code")).or_else(known);
    code.map(str::to_owned)
}

/// Whether `said` contains a text, not as a part of longer words.
fn contains_words(said: &str, text: &str) -> bool {
    let text = text.trim_end_matches('.');
    let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    said.match_indices(text).any(|(at, found)| {
        !joins(said[..at].chars().next_back()) && !joins(said[at + found.len()..].chars().next())
    })
}
