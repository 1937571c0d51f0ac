//! Everything that is not a 2xx answer with a document, and how it becomes the error that a person sees.

use std::fmt;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::client::Call;
use crate::catalog::{self, exit_for_refusal};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::document::{Document, plain};

/// The longest `Retry-After` that is believed: the service's window is five minutes.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(300);

/// What to do where there is no key.
const NO_KEY_HINT: &str = "set BOOKCTL_API_KEY, or store a key with `bookctl auth login`";

/// Why there is no answer to work with.
#[derive(Debug)]
pub(crate) enum Failure {
    /// There is no key for this service: nothing was sent.
    NoKey(String),
    /// The key is not to be had, for this reason: nothing was sent.
    Key(Error),
    /// The request could not be made.
    NotSent(String),
    /// No connection came about: nothing was sent.
    NotReached(String),
    /// The connection broke after the request may have been sent.
    NoAnswer(String),
    /// No whole answer within this time.
    TimedOut(Duration),
    /// An answer that is none of the service's documents.
    Unreadable { status: u16, kind: String },
    /// A non-2xx answer with a document (spec, Errors).
    Refused(Box<Refusal>),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Key(error) => f.write_str(&error.message),
            Failure::NoKey(base) => write!(f, "there is no API key for {base}"),
            Failure::NotSent(why) | Failure::NotReached(why) | Failure::NoAnswer(why) => {
                f.write_str(why)
            }
            Failure::TimedOut(after) => {
                write!(f, "nothing answered within {} s", after.as_secs_f32())
            }
            Failure::Unreadable { status, kind } if kind.is_empty() => {
                write!(
                    f,
                    "the answer ({status}) is not one of the service's documents"
                )
            }
            Failure::Unreadable { status, kind } => {
                write!(
                    f,
                    "the answer ({status}, {kind}) is not one of the service's documents"
                )
            }
            Failure::Refused(refusal) => f.write_str(&refusal.sentence()),
        }
    }
}

/// A refusal as the service worded it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// `error_code`, else a code that stands in `error` itself.
    pub(crate) code: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Document,
}

impl Refusal {
    pub(super) fn new(status: u16, headers: &HeaderMap, body: Document) -> Self {
        // Older refusals put the code in `error` itself (spec, Errors).
        let code = body.str("error_code").or_else(|| {
            body.str("error")
                .filter(|error| catalog::entry(error).is_some())
        });
        let code = code.map(str::to_owned);
        let header = headers
            .get(RETRY_AFTER)
            .and_then(|after| after.to_str().ok()?.trim().parse().ok());
        let seconds = header.or_else(|| {
            body.value()
                .get("retry_after_seconds")
                .and_then(Value::as_u64)
        });
        let retry_after =
            seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST_RETRY_AFTER));
        Refusal {
            status,
            code,
            retry_after,
            body,
        }
    }

    /// What and why, in one sentence: the service's own words, and what else its body says.
    pub(crate) fn sentence(&self) -> String {
        let known = self.code.as_deref().and_then(catalog::entry);
        let own = self.body.str("message").or_else(|| {
            self.body
                .str("error")
                .filter(|error| Some(*error) != self.code.as_deref())
        });
        let mut sentence = match (own, known) {
            (Some(own), _) => own.trim_end_matches('.').to_owned(),
            (None, Some(known)) => known.meaning.to_owned(),
            (None, None) => match &self.code {
                Some(code) => format!("the service refused with {}: {code}", self.status),
                None => format!("the service refused with {}", self.status),
            },
        };
        for (label, value) in self.particulars() {
            sentence.push_str(&format!("; {label}: {value}"));
        }
        sentence
    }

    /// The documented fields of the body that say more (spec, Errors, Body shapes).
    fn particulars(&self) -> Vec<(&str, String)> {
        let body = self.body.value();
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
            match body.get(field) {
                None | Some(Value::Null) => {}
                Some(Value::Array(names)) => {
                    particulars.push((
                        label,
                        names.iter().map(plain).collect::<Vec<_>>().join(", "),
                    ));
                }
                Some(value) => particulars.push((label, plain(value))),
            }
        }
        if let Some(fields) = body.get("fields").and_then(Value::as_object) {
            particulars.extend(fields.iter().map(|(name, why)| (name.as_str(), plain(why))));
        }
        particulars
    }
}

impl Refusal {
    /// The unfinished bookings that come with a booking that was not found (spec, Errors: 404).
    fn open_bookings(&self) -> Vec<String> {
        let open = self
            .body
            .value()
            .get("open_bookings")
            .and_then(Value::as_array);
        let text = |booking: &Value, field: &str| booking.get(field).map(plain).unwrap_or_default();
        let line = |booking| {
            format!(
                "unfinished: {}  {}",
                text(booking, "id"),
                text(booking, "status")
            )
        };
        open.into_iter().flatten().map(line).collect()
    }
}

impl Failure {
    /// Whether a write may have been carried out although no proper answer says so.
    pub(crate) fn leaves_a_write_open(&self) -> bool {
        match self {
            Failure::NoKey(_) | Failure::Key(_) | Failure::NotSent(_) | Failure::NotReached(_) => {
                false
            }
            Failure::NoAnswer(_) | Failure::TimedOut(_) | Failure::Unreadable { .. } => true,
            // A 5xx with a documented code says that nothing was done; without one it says nothing.
            Failure::Refused(refusal) => {
                refusal.status >= 500
                    && !refusal
                        .code
                        .as_deref()
                        .is_some_and(catalog::says_nothing_was_done)
            }
        }
    }

    /// The error for a person, for the call that failed.
    pub(crate) fn into_error(self, call: &Call) -> Error {
        if let Failure::Key(mut error) = self {
            error.request = Some(call.name());
            return error;
        }
        let open = call.is_write() && self.leaves_a_write_open();
        let mut error = match self {
            _ if open => Error::new("outcome_unknown", Exit::OutcomeUnknown, format!("the outcome is unknown: {self}")),
            // `Key` was returned above.
            Failure::NoKey(_) | Failure::Key(_) => {
                Error::new("no_key", Exit::Unauthorized, self.to_string()).hint(NO_KEY_HINT)
            }
            Failure::NotSent(_) => Error::new("network", Exit::Network, format!("the request cannot be sent: {self}")),
            Failure::TimedOut(_) => Error::new("timeout", Exit::Network, self.to_string()),
            Failure::NotReached(_) | Failure::NoAnswer(_) => {
                Error::new("network", Exit::Network, format!("the service cannot be reached: {self}"))
                    .hint("check the base URL and the network; nothing was changed")
            }
            Failure::Unreadable { status: 500.., .. } => Error::new("network", Exit::Service, self.to_string())
                .hint("the service or something before it failed; try again"),
            Failure::Unreadable { .. } => Error::new("network", Exit::Network, self.to_string())
                .hint("something answers at that base URL, but not the booking service: check the address"),
            Failure::Refused(ref refusal) => {
                let exit = exit_for_refusal(refusal.code.as_deref(), refusal.status);
                let code = refusal.code.clone().unwrap_or_else(|| format!("http_{}", refusal.status));
                let mut error = Error::new(&code, exit, refusal.sentence());
                error.hint = catalog::entry(&code).map(|entry| entry.next.to_owned());
                if let Some(after) = refusal.retry_after {
                    let seconds = after.as_secs();
                    error.message.push_str(&format!("; the window resets in {seconds} s"));
                    error.hint = Some(format!("try again then, or let --max-wait {seconds}s wait it out"));
                }
                error.details = refusal.open_bookings();
                error
            }
        };
        match self {
            Failure::Refused(refusal) => {
                error.http_status = Some(refusal.status);
                error.retry_after = refusal.retry_after;
                error.body = Some(refusal.body);
            }
            Failure::Unreadable { status, .. } => error.http_status = Some(status),
            _ => {}
        }
        error.request = Some(call.name());
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(status: u16, body: Value) -> Failure {
        Failure::Refused(Box::new(Refusal::new(
            status,
            &HeaderMap::new(),
            body.into(),
        )))
    }

    fn create() -> Call {
        Call::post("/v1/bookings", json!({}))
    }

    #[test]
    fn a_5xx_on_a_write_leaves_it_open_unless_a_documented_code_says_that_nothing_was_done() {
        let unknown = refused(500, json!({"error": "boom"})).into_error(&create());
        assert_eq!(
            (unknown.exit, unknown.code.as_str()),
            (Exit::OutcomeUnknown, "outcome_unknown")
        );
        let known = refused(
            503,
            json!({"error": "off", "error_code": "vendor_disabled"}),
        )
        .into_error(&create());
        assert_eq!(
            (known.exit, known.code.as_str()),
            (Exit::Service, "vendor_disabled")
        );
    }

    #[test]
    fn a_page_of_html_is_never_an_answer() {
        let page = || Failure::Unreadable {
            status: 200,
            kind: "text/html".into(),
        };
        assert_eq!(page().into_error(&create()).exit, Exit::OutcomeUnknown);
        assert_eq!(page().into_error(&Call::get("/v1/")).exit, Exit::Network);
        assert_eq!(
            page()
                .into_error(&Call::post("/v1/venues/search", json!({})))
                .exit,
            Exit::Network
        );
    }

    #[test]
    fn older_refusals_carry_their_code_in_error_itself() {
        let error = refused(401, json!({"error": "unauthorized"})).into_error(&create());
        assert_eq!(
            (error.code.as_str(), error.exit),
            ("unauthorized", Exit::Unauthorized)
        );
        let error = refused(404, json!({"error": "venue not found"})).into_error(&create());
        assert_eq!(
            (error.code.as_str(), error.exit),
            ("http_404", Exit::NotFound)
        );
    }

    #[test]
    fn the_sentence_names_each_field_of_a_failed_validation() {
        let body =
            json!({"error": "validation failed", "fields": {"datetime": "must be in the future"}});
        assert_eq!(
            refused(400, body).to_string(),
            "validation failed; datetime: must be in the future"
        );
    }

    #[test]
    fn retry_after_is_clamped_to_the_services_own_window() {
        let body = json!({"error": "rate_limited", "retry_after_seconds": 999_999});
        let error = refused(429, body).into_error(&create());
        assert_eq!(error.retry_after, Some(Duration::from_secs(300)));
    }
}
