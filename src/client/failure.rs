//! Every result that is not a 2xx answer with a document, and the error that it becomes.

use std::fmt;
use std::time::Duration;

use super::call::Call;
use super::named_fields::{name_hint, values_to_correct};
use super::refusal::Refusal;
use crate::model::duration::in_units;
use crate::model::shell;
use crate::outcome::code::{self, exit_for_refusal};
use crate::outcome::{Code, Error, ErrorCode, Exit};

const NO_KEY_HINT: &str = "set BOOKCTL_API_KEY, or store a key with `bookctl auth login`";

const FAILED_READ_HINT: &str = "the service failed, and nothing was changed; try again later";

#[derive(Debug)]
pub(crate) enum Failure {
    /// There is no key for this service. Nothing was sent.
    NoKey(String),
    /// The key cannot be read, for this reason. Nothing was sent.
    Key(Error),
    /// The request could not be built.
    NotSent(String),
    /// The connection could not be established. Nothing was sent.
    NotReached { why: String, timed_out: bool },
    /// The connection broke after the request may have been sent.
    NoAnswer(String),
    /// No complete answer within this time.
    TimedOut(Duration),
    /// The answer cannot be used, for this reason, such as its size.
    Unusable(String),
    /// A redirect. `to` is set if it leads to another origin.
    Redirected { status: u16, to: Option<String> },
    /// An answer that is not one of the service's documents.
    Unreadable { status: u16, kind: String },
    /// A 2xx answer in which the booking that was due is not found. The error says what is there instead.
    NoBooking { status: u16, why: Box<Error> },
    /// A non-2xx answer with a document (spec, Errors).
    Refused(Box<Refusal>),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Key(error) => f.write_str(&error.message),
            Failure::NoKey(base) => write!(f, "no API key for {base}"),
            Failure::NotSent(why) | Failure::NotReached { why, .. } | Failure::NoAnswer(why) => {
                f.write_str(why)
            }
            Failure::TimedOut(after) => {
                write!(f, "no complete response within {} s", after.as_secs_f32())
            }
            Failure::Unusable(why) => write!(f, "cannot use the response: {why}"),
            Failure::Redirected { status, to } => {
                let to = to.as_deref().unwrap_or("another path");
                write!(
                    f,
                    "the response ({status}) redirects to {to}, and bookctl does not follow redirects"
                )
            }
            Failure::Unreadable { status, kind } if kind.is_empty() => {
                write!(
                    f,
                    "the response ({status}) is not a document of the service"
                )
            }
            Failure::Unreadable { status, kind } => {
                write!(
                    f,
                    "the response ({status}, {kind}) is not a document of the service"
                )
            }
            Failure::NoBooking { why, .. } => f.write_str(&why.message),
            Failure::Refused(refusal) => f.write_str(&refusal.sentence()),
        }
    }
}

/// What to do after a refusal. If only the status is known, the path tells what was asked for.
fn next_step(code: &str, path: &str) -> Option<String> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    if let ("http_404" | "http_409", ["sandbox", kind, rest @ ..]) = (code, segments.as_slice())
        && let Some((what, command)) = sought(kind, !rest.is_empty(), query)
    {
        let list = format!("list what there is with `bookctl sandbox {command}`");
        return Some(format!("check the {what}; {list}"));
    }
    Some(match (code, segments.as_slice()) {
        ("http_404", ["v1", "bookings", _, ..]) => {
            "check the id; search the bookings that this computer knows with `bookctl bookings TEXT`".to_owned()
        }
        ("http_404", ["v1", "sessions", ..]) => {
            "check the id and the person; list sessions with `bookctl session list`".to_owned()
        }
        ("http_409", ["v1", "bookings", id, ..]) if !id.contains('%') => {
            format!("to see its status: {}", shell::command("show", id, ""))
        }
        ("http_409", ["v1", "sessions", id, ..]) if !id.contains('%') => {
            format!("to see its state: {}", shell::command("session show", id, ""))
        }
        // The code of a session has its own hint.
        ("invalid_code", ["v1", "bookings", ..]) => code::entry("invalid_otp")?.next.to_owned(),
        ("http_400", segments) => match command_of(segments) {
            Some(command) => format!("correct the request; see `bookctl {command} --help`"),
            None => code::entry(code)?.next.to_owned(),
        },
        _ => code::entry(code)?.next.to_owned(),
    })
}

/// What a call of a sandbox's control did not find, and the command that lists those that there are.
fn sought(kind: &str, has_id: bool, query: &str) -> Option<(&'static str, &'static str)> {
    Some(match (kind, has_id) {
        ("deliveries", true) => ("event id", "deliveries"),
        ("faults", true) => ("id of the fault", "faults"),
        ("requests", true) => ("id of the request", "requests"),
        ("organization" | "organizations" | "faults", _) => ("organization", "organization list"),
        _ if query.contains("organization=") => ("organization", "organization list"),
        _ => return None,
    })
}

/// The command that sends requests to a path.
fn command_of(segments: &[&str]) -> Option<&'static str> {
    Some(match segments {
        ["v1", "venues", "search"] => "search",
        ["v1", "availability", "search"] => "slots",
        ["v1", "bookings"] => "book",
        ["v1", "bookings", _, "continue"] => "continue",
        ["v1", "bookings", _, "modify"] => "modify",
        ["v1", "bookings", _, "cancel"] => "cancel",
        ["v1", "sessions", ..] => "session",
        ["sandbox", "clock"] => "sandbox clock",
        _ => return None,
    })
}

impl Failure {
    /// Whether a write may have been carried out although no answer says so.
    pub(crate) fn leaves_a_write_open(&self) -> bool {
        match self {
            Failure::NoKey(_)
            | Failure::Key(_)
            | Failure::NotSent(_)
            | Failure::NotReached { .. } => false,
            Failure::NoAnswer(_)
            | Failure::TimedOut(_)
            | Failure::Unusable(_)
            | Failure::Redirected { .. }
            | Failure::Unreadable { .. }
            | Failure::NoBooking { .. } => true,
            Failure::Refused(refusal) => !refusal.is_certain(),
        }
    }

    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Failure::Refused(refusal) => Some(refusal.status),
            Failure::Redirected { status, .. }
            | Failure::Unreadable { status, .. }
            | Failure::NoBooking { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether the service refused because of a rate limit, and so did nothing.
    fn is_rate_limit(&self) -> bool {
        matches!(self, Failure::Refused(refusal) if refusal.status == 429 && refusal.is_certain())
    }

    /// Whether the call may be sent again once a rate limit is over. A write may only if the service certainly did nothing.
    pub(crate) fn may_be_waited_out(&self, call: &Call) -> bool {
        self.is_rate_limit() || !call.is_write() && self.status() == Some(429)
    }

    pub(crate) fn into_error(self, call: &Call) -> Error {
        if let Failure::Key(mut error) = self {
            error.request = Some(call.name());
            return error;
        }
        let open = call.is_write() && self.leaves_a_write_open();
        let mut error = match self {
            _ if open => Error::new(Code::OutcomeUnknown, format!("the outcome is unknown: {self}")),
            // `Key` was returned above.
            Failure::NoKey(_) | Failure::Key(_) => {
                Error::new(Code::NoKey, self.to_string()).hint(NO_KEY_HINT)
            }
            Failure::NotSent(_) => Error::new(Code::Network, format!("cannot send the request: {self}")),
            Failure::TimedOut(_) => Error::new(Code::Timeout, self.to_string()),
            Failure::NotReached { .. } => Error::new(Code::Network, self.to_string())
                .hint("check the base URL and the network; nothing was changed"),
            Failure::NoAnswer(_) => Error::new(Code::Network, format!("the service did not answer: {self}"))
                .hint("check the base URL and the network; nothing was changed"),
            Failure::Unusable(_) => Error::new(Code::UnexpectedAnswer, self.to_string())
                .hint("request less, or check the base URL; nothing was changed"),
            Failure::Redirected { .. } => Error::new(Code::UnexpectedAnswer, self.to_string())
                .hint("set the base URL to the final address; bookctl never sends a key to another one"),
            Failure::Unreadable { status: status @ 500.., .. } => Error::of(ErrorCode::of_refusal(None, status), Exit::Service, self.to_string())
                .hint("the service or a proxy failed; try again"),
            Failure::Unreadable { .. } => Error::new(Code::UnexpectedAnswer, self.to_string())
                .hint("check the base URL: the response may not come from the booking service"),
            Failure::NoBooking { .. } => Error::new(Code::UnexpectedAnswer, self.to_string()),
            Failure::Refused(ref refusal) => {
                let mut exit = exit_for_refusal(refusal.code.as_deref(), refusal.status);
                let code = ErrorCode::of_refusal(refusal.code.as_deref(), refusal.status);
                let is_described = !matches!(code, ErrorCode::Status(_));
                if refusal.instead.is_some() && !matches!(refusal.status, 400..=404 | 409 | 413 | 422 | 429) {
                    // Without a document, and with a status that the service does not use: something else answered.
                    exit = Exit::Network;
                }
                // A name that is refused is no failure of the service, and its value is not what is wrong.
                let next = name_hint(refusal, call).or_else(|| values_to_correct(refusal));
                let next = next.filter(|_| refusal.status < 500);
                let is_failed_read = refusal.status >= 500 && refusal.code.is_none() && !call.is_write();
                let next = next.or_else(|| match is_failed_read {
                    true => Some(FAILED_READ_HINT.to_owned()),
                    false => next_step(&code.to_string(), &call.path),
                });
                let mut error = Error::of(code, exit, refusal.sentence());
                error.hint = match &refusal.instead {
                    Some(_) => Some("check the base URL: the response may not come from the booking service".to_owned()),
                    None => next,
                };
                if !is_described && refusal.instead.is_none() {
                    let status = refusal.status;
                    error.message = format!("the service refused with {status}: {}", error.message);
                    error.hint.get_or_insert_with(|| {
                        format!("nothing was done; {status} is not a documented status: contact the service's support")
                    });
                }
                if let Some(after) = refusal.retry_after {
                    let seconds = after.as_secs();
                    error.message.push_str(&format!("; the limit resets in {}", in_units(seconds)));
                    error.hint = Some(match refusal.status {
                        429 => format!("try again then, or wait for it with --max-wait {}s", seconds.max(1)),
                        _ => "try again then".to_owned(),
                    });
                }
                let unsaid = refusal.unsaid(&error.message);
                error.details.extend(unsaid);
                if let Some(sent) = &refusal.key_sent {
                    error.details.extend(sent.lines());
                }
                error
            }
        };
        match self {
            Failure::Refused(refusal) => {
                error.http_status = Some(refusal.status);
                error.retry_after = refusal.retry_after;
                error.body = Some(refusal.body).filter(|body| !body.value().is_null());
            }
            Failure::Unreadable { status, .. } | Failure::Redirected { status, .. } => {
                error.http_status = Some(status)
            }
            Failure::NoBooking { status, why } => {
                error.http_status = Some(status);
                (error.hint, error.body) = (why.hint.clone(), why.body.clone());
            }
            _ => {}
        }
        error.request = Some(call.name());
        error
    }
}

#[cfg(test)]
mod tests {
    mod each_kind;

    use super::super::rate_limit::RATE_LIMIT_WINDOW;
    use super::super::refusal::GIVEN_UP_ON_THE_WAY;
    use super::*;
    use crate::arbitrary;
    use proptest::prelude::*;
    use reqwest::header::{HeaderMap, HeaderValue};
    use serde_json::{Value, json};

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
            (unknown.exit, unknown.code.to_string().as_str()),
            (Exit::OutcomeUnknown, "outcome_unknown")
        );
        let known = refused(
            503,
            json!({"error": "off", "error_code": "vendor_disabled"}),
        )
        .into_error(&create());
        assert_eq!(
            (known.exit, known.code.to_string().as_str()),
            (Exit::Service, "vendor_disabled")
        );
    }

    #[test]
    fn a_4xx_on_a_write_is_certain_only_where_it_carries_one_of_the_services_documents() {
        let certain = |failure: Failure| !failure.leaves_a_write_open();
        for status in [400, 401, 402, 403, 404, 409, 413, 422, 429, 405, 451] {
            assert!(certain(refused(status, json!({"error": "no"}))), "{status}");
            assert!(
                !certain(refused(status, json!({"message": "no"}))),
                "{status}"
            );
            assert!(!certain(refused(status, json!(["error"]))), "{status}");
            let page = Refusal::bare(status, &HeaderMap::new(), "text/html".into());
            assert!(!certain(Failure::Refused(Box::new(page))), "{status}");
        }
        for status in GIVEN_UP_ON_THE_WAY {
            assert!(
                !certain(refused(status, json!({"error": "no"}))),
                "{status}"
            );
        }
        assert!(refused(429, json!({"error": "rate_limited"})).is_rate_limit());
        assert!(!refused(429, json!({})).is_rate_limit());
    }

    #[test]
    fn a_refusal_that_the_specification_does_not_describe_names_its_status_and_is_an_invalid_request()
     {
        for status in [405, 410, 451] {
            let error = refused(status, json!({"error": "no"})).into_error(&Call::get("/v1/"));
            assert_eq!(error.exit, Exit::Invalid, "{status}");
            assert!(error.hint.is_some());
        }
        let error = refused(410, json!({"error": "gone"})).into_error(&Call::get("/v1/"));
        assert_eq!(error.message, "the service refused with 410: gone");
    }

    #[test]
    fn the_hint_of_a_bare_status_leads_on_from_what_was_asked_for() {
        let hint = |status, call: Call| {
            let error = refused(status, json!({"error": "no"})).into_error(&call);
            error.hint.clone()
        };
        let has = |hint: Option<String>, words: &str| hint.is_some_and(|it| it.contains(words));
        assert!(has(
            hint(404, Call::get("/v1/bookings/bk_1")),
            "`bookctl bookings TEXT`"
        ));
        assert!(has(
            hint(404, Call::get("/v1/sessions/card?end_user=u")),
            "`bookctl session list`"
        ));
        for (path, list) in [
            ("deliveries/evt_1", "deliveries"),
            ("deliveries?organization=org_x", "organization list"),
            ("organizations/org_x", "organization list"),
            ("faults/flt_1", "faults"),
            ("requests/req_1", "requests"),
        ] {
            let hint = hint(404, Call::get(format!("/sandbox/{path}")));
            let list = format!("`bookctl sandbox {list}`");
            assert!(has(hint, &list), "{path}");
        }
        assert!(has(hint(404, create()), "`bookctl search`"));
        let cancel = Call::post("/v1/bookings/bk_1/cancel", json!({}));
        assert!(has(hint(409, cancel), "bookctl show bk_1"));
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
            (error.code.to_string().as_str(), error.exit),
            ("unauthorized", Exit::Unauthorized)
        );
        let error = refused(404, json!({"error": "venue not found"})).into_error(&create());
        assert_eq!(
            (error.code.to_string().as_str(), error.exit),
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

    proptest! {
        #[test]
        fn whatever_a_retry_after_says_it_is_believed_up_to_the_services_own_window(
            header in prop_oneof![
                any::<Vec<u8>>(),
                any::<u128>().prop_map(|seconds| seconds.to_string().into_bytes()),
            ],
            seconds in arbitrary::json(),
        ) {
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_bytes(&header) {
                headers.insert(reqwest::header::RETRY_AFTER, value);
            }
            let body = json!({"error": "rate_limited", "retry_after_seconds": seconds});
            let refusal = Refusal::new(429, &headers, body.into());
            prop_assert!(refusal.retry_after.is_none_or(|after| after <= RATE_LIMIT_WINDOW));
        }

        #[test]
        fn whatever_the_body_of_a_refusal_it_is_one_sentence_and_no_success(
            status in 300u16..600,
            fields in prop::collection::hash_map(
                prop::sample::select(vec!["error", "error_code", "message", "fields", "missing", "detail", "open_bookings"]),
                arbitrary::json(),
                0..7,
            ),
        ) {
            let body = Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
            for call in [create(), Call::get("/v1/")] {
                let error = refused(status, body.clone()).into_error(&call);
                prop_assert_ne!(error.exit, Exit::Done);
                prop_assert_eq!(error.http_status, Some(status));
                prop_assert_eq!(error.body.as_ref().map(|it| it.value()), Some(&body));
            }
        }
    }
}
