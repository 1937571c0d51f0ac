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
use crate::service::mapping::{Shape, envelope_fields};

/// Statuses of something in between, of a request that is given up, and of one that is to be
/// repeated: the service may have carried the request out.
pub(crate) const PROVES_NOTHING: [u16; 5] = [407, 408, 423, 425, 499];

/// Who may have sent the key of a booking request, and so what a conflict about that key proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeySender {
    /// This run alone.
    Own,
    /// Each computer that has the row of the batch.
    Row,
    /// Anybody: the caller chose it, or an earlier run or try of the attempt may have booked.
    Others,
}

/// How many values of a body are listed.
const UNSAID_SHOWN: usize = 12;

/// A longer text is not the id of a request.
const LONGEST_ID: usize = 200;

#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// The value of `error_code`, or `error` if that is a known code.
    pub(crate) code: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    /// A text if no document came.
    pub(crate) body: Document,
    /// The body in the contract's shape, where the profile has an expression that reads it.
    translated: Option<Document>,
    pub(crate) shows_the_booking: bool,
    /// Whether it may be about another request with the key, which may still book.
    pub(crate) is_open_conflict: bool,
    pub(crate) instead: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) key_sent: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: u16, headers: &HeaderMap, body: Document) -> Self {
        let in_body = || Some(body.value().get("retry_after_seconds")?.as_f64()?.ceil() as u64);
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
            is_open_conflict: false,
            instead: None,
            request_id: request_id(headers),
            key_sent: None,
        }
    }

    pub(crate) fn translate(&mut self, translated: Value) {
        let translated = Document::from(translated);
        self.code = code_in(&translated);
        self.translated = Some(translated);
    }

    /// What the refusal says, in the contract's shape.
    pub(crate) fn document(&self) -> &Document {
        self.translated.as_ref().unwrap_or(&self.body)
    }

    /// Each of the service's refusals is a document with `error` (spec, Errors); a 5xx proves that
    /// nothing was done only with a documented code. One that shows the booking that was asked for,
    /// or may be about another request with the key, proves nothing.
    pub(crate) fn proves_nothing_was_done(&self) -> bool {
        if self.shows_the_booking || self.is_open_conflict {
            return false;
        }
        let code = self.code.as_deref();
        match self.status {
            500.. => code.is_some_and(code::says_nothing_was_done),
            status if PROVES_NOTHING.contains(&status) => false,
            _ => match self.document().value().get("error") {
                Some(Value::String(_)) => true,
                Some(Value::Object(error)) => {
                    let wording = ["code", "message", "error_code"].map(|field| error.get(field));
                    wording.into_iter().flatten().any(|it| it.is_string() || it.is_number())
                }
                _ => false,
            },
        }
    }

    /// Whether a booking request that got this may be repeated in a moment: all that proves nothing,
    /// but for a rate limit, which is waited out, and for what something else answered.
    pub(crate) fn may_pass(&self) -> bool {
        let is_of_the_service = self.status != 429 && self.instead.is_none();
        is_of_the_service && !self.proves_nothing_was_done()
    }

    /// Notes what a conflict proves under a key that `sender` may have sent. A code that is not
    /// about the request's own key or progress says what else is in conflict.
    pub(crate) fn judge_conflict(&mut self, sender: KeySender) {
        const ABOUT_THE_KEY: [&str; 6] =
            ["idempot", "duplicate", "concurren", "lock", "progress", "pending"];
        let texts = texts(self.document().value(), &["error", "message", "detail"]).map(in_words);
        let texts: Vec<String> = texts.chain(self.code.as_deref().map(in_words)).collect();
        let has =
            |words: &[&str], text: &String| words.iter().any(|it| text.contains(&format!(" {it}")));
        let is_conflict = self.status == 409
            || (400..500).contains(&self.status) && texts.iter().any(|it| has(&["idempot"], it));
        let code = self.code.as_deref().map(in_words);
        let is_of_the_key = |code: &String| has(&ABOUT_THE_KEY, code) || has(&["in use"], code);
        let speaks = || {
            const OF_THE_REQUEST: [&str; 4] = ["idempot", "duplicate", "in progress", "pending"];
            let is_bare = !texts.is_empty() && texts.iter().all(|it| it.trim() == "conflict");
            is_bare || texts.iter().any(|it| has(&OF_THE_REQUEST, it))
        };
        self.is_open_conflict = is_conflict
            && match (sender, &code) {
                (_, Some(code)) if !is_of_the_key(code) => false,
                (KeySender::Own, _) => false,
                (KeySender::Row, code) => code.is_some() || speaks(),
                (KeySender::Others, _) => true,
            };
    }

    /// One sentence on what was refused and why: the service's words, and further fields.
    pub(crate) fn sentence(&self) -> String {
        let known = self.code.as_deref().and_then(code::entry);
        let is_code = |text: &&str| Some(*text) == self.code.as_deref();
        let inner = self.document().value().pointer("/error/detail");
        let texts = texts(self.document().value(), &["message", "error"]);
        let mut texts = texts.chain(inner.and_then(Value::as_str));
        let rejected = || format!("the service rejected the request with {}", self.status);
        let mut sentence = match (texts.find(|text| !is_code(text)), known, &self.code) {
            (Some(own), ..) => own.trim_end_matches('.').to_owned(),
            (None, Some(known), _) => known.meaning.to_owned(),
            (None, None, Some(code)) => format!("{}: {code}", rejected()),
            // A status alone is the service's to explain; a proxy may have responded.
            (None, None, None) => match &self.instead {
                Some(kind) => no_document(self.status, kind),
                None => rejected(),
            },
        };
        sentence.extend(
            self.particulars().into_iter().map(|(label, value)| format!("; {label}: {value}")),
        );
        // The service's message may contain what was sent.
        redact(&sentence).into_owned()
    }

    /// The documented fields of the body that add to the message (spec, Errors, Body shapes).
    fn particulars(&self) -> Vec<(&str, String)> {
        let body = self.document().value();
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

    /// The values of the body that `wording` does not contain, as lines. A booking in the body is left
    /// out: it is not about the refusal, and has a guest.
    pub(crate) fn extra_fields(&self, wording: &str) -> Vec<String> {
        let body = flattened(&self.body);
        let mut beside = Vec::new();
        objects_within(&body, &|it| Shape::Booking.fits(it), &mut beside);
        let status = self.status.to_string();
        let is_new = |text: &str| {
            Some(text) != self.code.as_deref() && text != status && !contains_words(wording, text)
        };
        let mut extra_fields = envelope_fields(&body, &beside);
        extra_fields.retain(|(path, text)| !path.starts_with("open_bookings") && is_new(text));
        let lines = extra_fields.into_iter().take(UNSAID_SHOWN);
        lines.map(|(path, text)| redact(&format!("{path}: {text}")).into_owned()).collect()
    }
}

/// The id that the service, or what stands before it, gave the request.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    let names = ["x-request-id", "request-id", "traceparent", "cf-ray"];
    let id = names.iter().find_map(|name| headers.get(*name)?.to_str().ok())?.trim();
    (!id.is_empty() && id.len() <= LONGEST_ID).then(|| redact(id).into_owned())
}

/// `kind` is empty, or begins with a comma.
pub(crate) fn no_document(status: u16, kind: &str) -> String {
    format!("the response ({status}{kind}) does not come from the booking service")
}

/// The code of a refusal, which older ones have in `error` (spec, Errors).
fn code_in(wording: &Document) -> Option<String> {
    let inner = |field: &str| wording.value().get("error")?.get(field)?.as_str();
    let is_known = |error: &&str| code::entry(error).is_some();
    let code = wording.str("error_code").or_else(|| inner("error_code"));
    let known = || wording.str("error").filter(is_known);
    code.or_else(|| inner("code")).or_else(known).map(str::to_owned)
}

/// A text in small letters, with a blank before each of its words: `keyInUse`, `KEY_IN_USE` and
/// "key in use" are alike.
fn in_words(text: &str) -> String {
    let mut words = String::from(" ");
    let mut before = ' ';
    for letter in text.chars() {
        if letter.is_uppercase() && before.is_lowercase() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase().map(|it| if it.is_alphanumeric() { it } else { ' ' }));
        before = letter;
    }
    words
}

/// Whether `wording` contains a text, not as a part of longer words.
fn contains_words(wording: &str, text: &str) -> bool {
    let text = text.trim_end_matches('.');
    let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    wording.match_indices(text).any(|(at, found)| {
        !joins(wording[..at].chars().next_back())
            && !joins(wording[at + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests;
