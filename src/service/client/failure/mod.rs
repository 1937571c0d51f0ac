//! Every result that is not a 2xx answer with a document, and the error that it becomes.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::call::Call;
use super::refusal::Refusal;
use super::suggest_fix::suggest_fix;
use crate::json::Document;
use crate::outcome::code::{self, exit_for_refusal};
use crate::outcome::{Code, Error, ErrorCode, Exit};
use crate::platform::shell;
use crate::service::time::duration::in_units;

#[derive(Debug)]
pub(crate) enum Failure {
    /// There is no key for this service. Nothing was sent.
    NoKey(String),
    /// The key cannot be read, for this reason. Nothing was sent.
    Key(Error),
    NotSent(String),
    /// The connection could not be established. Nothing was sent.
    NotReached {
        why: String,
        /// What mends it, where that is known.
        hint: Option<String>,
        timed_out: bool,
    },
    /// The connection broke after the request may have been sent.
    NoAnswer(String),
    /// No complete answer within this time.
    TimedOut(Duration),
    /// The answer cannot be used, for this reason, such as its size.
    Unusable(String),
    /// A redirect. `to` is set if it leads to another origin.
    Redirected {
        status: u16,
        to: Option<String>,
    },
    /// What came is not a document, for this reason.
    Unreadable {
        status: u16,
        why: String,
        body: Document,
        request_id: Option<String>,
    },
    /// A 2xx response without the expected booking. The error names what is there.
    NoBooking {
        status: u16,
        why: Box<Error>,
    },
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
            Failure::Unreadable { why, .. } => f.write_str(why),
            Failure::NoBooking { why, .. } => f.write_str(&why.message),
            Failure::Refused(refusal) => f.write_str(&refusal.sentence()),
        }
    }
}

const NOT_THE_SERVICE: &str =
    "check the base URL: the response may not come from the booking service";

impl Failure {
    /// Whether no byte of the request left this computer.
    pub(crate) fn sent_nothing(&self) -> bool {
        use Failure::{Key, NoKey, NotReached, NotSent};
        matches!(self, NoKey(_) | Key(_) | NotSent(_) | NotReached { .. })
    }

    /// Whether something answered, although not with what was asked for.
    pub(crate) fn is_answer(&self) -> bool {
        use Failure::{Redirected, Refused, Unreadable, Unusable};
        matches!(self, Refused(_) | Unusable(_) | Redirected { .. } | Unreadable { .. })
    }

    pub(crate) fn is_certain_refusal(&self) -> bool {
        matches!(self, Failure::Refused(refusal) if refusal.proves_nothing_was_done())
    }

    pub(crate) fn is_open_conflict(&self) -> bool {
        matches!(self, Failure::Refused(refusal) if refusal.is_open_conflict)
    }

    /// Whether the request may have been carried out without a response, unless disproved.
    pub(crate) fn may_have_been_carried_out(&self) -> bool {
        !self.sent_nothing() && !self.is_certain_refusal()
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

    pub(crate) fn code(&self) -> Option<&str> {
        if let Failure::Refused(refusal) = self { refusal.code.as_deref() } else { None }
    }

    /// Whether the call may be sent again once a rate limit is over. A write may only if the
    /// service certainly did nothing.
    pub(crate) fn may_be_waited_out(&self, call: &Call) -> bool {
        self.status() == Some(429) && (self.is_certain_refusal() || !call.is_write())
    }

    pub(crate) fn into_error(self, call: &Call) -> Error {
        let is_open = call.is_write() && self.may_have_been_carried_out();
        let status = self.status();
        let wording = self.to_string();
        let unknown = is_open.then(|| {
            Error::new(Code::OutcomeUnknown, format!("the outcome is unknown: {wording}"))
        });
        let mut error = match self {
            Failure::Key(error) => error,
            Failure::Refused(refusal) => {
                let mut error = unknown.unwrap_or_else(|| refused(&refusal, call, wording));
                error.retry_after = refusal.retry_after;
                error.request_id = refusal.request_id;
                error.body = Some(refusal.body).filter(|body| !is_empty(body));
                error
            }
            Failure::Unreadable { status, why, body, request_id } => {
                let mut error = unknown.unwrap_or_else(|| unreadable(status, why));
                error.request_id = request_id;
                error.body = Some(body).filter(|body| !is_empty(body));
                error
            }
            Failure::NoBooking { why, .. } => {
                let misread = || Error::new(Code::UnexpectedAnswer, wording);
                let mut error = unknown.unwrap_or_else(misread);
                (error.hint, error.body) = (why.hint.clone(), why.body.clone());
                error
            }
            failure => unknown.unwrap_or_else(|| failure.read_error(wording)),
        };
        error.http_status = status;
        error.request = Some(call.name());
        error
    }

    /// The error where nothing can have been changed.
    fn read_error(&self, wording: String) -> Error {
        let of = |code: Code, what: String| Error::new(code, what).hint(code.entry().next);
        let hint = match self {
            Failure::NotSent(_) => {
                return Error::new(Code::Network, format!("cannot send the request: {wording}"));
            }
            Failure::NoAnswer(_) => {
                return of(Code::Network, format!("no complete response: {wording}"));
            }
            Failure::TimedOut(_) => return of(Code::Timeout, wording),
            Failure::NoKey(_) => return of(Code::NoKey, wording),
            Failure::NotReached { hint, .. } => {
                let error = of(Code::Network, wording);
                return match hint {
                    Some(hint) => error.hint(hint),
                    None => error,
                };
            }
            Failure::Unusable(_) => "ask for less, or check the base URL; nothing was changed",
            Failure::Redirected { .. } => {
                "set the base URL to the final address; bookctl never sends a key to another one"
            }
            _ => NOT_THE_SERVICE,
        };
        Error::new(Code::UnexpectedAnswer, wording).hint(hint)
    }
}

fn is_empty(body: &Document) -> bool {
    matches!(body.value(), Value::Null) || body.value().as_str().is_some_and(str::is_empty)
}

/// The error for what is not a document, where nothing can have been changed.
fn unreadable(status: u16, why: String) -> Error {
    if status >= 500 {
        let code = ErrorCode::of_refusal(None, status);
        return Error::with_exit(code, Exit::Service, why)
            .hint("nothing was changed; try again later");
    }
    let hint = match status {
        200..=299 => "to see the whole response, send the request with `bookctl api`",
        _ => NOT_THE_SERVICE,
    };
    Error::new(Code::UnexpectedAnswer, why).hint(hint)
}

fn refused(refusal: &Refusal, call: &Call, wording: String) -> Error {
    let status = refusal.status;
    let exit = exit_for_refusal(refusal.code.as_deref(), status);
    let code = ErrorCode::of_refusal(refusal.code.as_deref(), status);
    let is_described = refusal.code.is_some() || matches!(code, ErrorCode::Known(_));
    let next = suggest_fix(refusal, call).or_else(|| {
        if status >= 500 && refusal.code.is_none() && !call.is_write() {
            return Some("nothing was changed; try again later".to_owned());
        }
        next_step(&code, status, call)
    });
    let own = match &code {
        ErrorCode::Other(own) if refusal.code.is_some() && !wording.contains(own.as_str()) => {
            format!(" ({own})")
        }
        _ => String::new(),
    };
    let mut error = Error::with_exit(code, exit, wording + &own);
    error.hint = next;
    if refusal.instead.is_some() {
        error.hint = Some(NOT_THE_SERVICE.to_owned());
        if !matches!(status, 400..=404 | 409 | 413 | 422 | 429) {
            // A status that the service does not use: something else answered.
            error.exit = Exit::Network;
        }
    } else if !is_described {
        let wording = &error.message;
        error.message = format!("the service rejected the request with {status}: {wording}");
        error.hint.get_or_insert_with(|| {
            format!("nothing was done; {status} is not a documented status: contact the service's support")
        });
    }
    if let Some(after) = refusal.retry_after {
        let seconds = after.as_secs();
        error.message.push_str(&format!("; the limit resets in {}", in_units(seconds)));
        let wait = seconds.max(1);
        error.hint = Some(match status {
            429 => format!("try again then, or wait for it with --max-wait {wait}s"),
            _ => "try again then".to_owned(),
        });
    }
    error.details = refusal.extra_fields(&error.message);
    match &refusal.key_sent {
        Some(sent) => error.hint_before(format!("the key was {sent}")),
        None => error,
    }
}

/// What to do after a refusal. If no code of bookctl's table came, its status counts, and the path
/// tells what was asked for.
fn next_step(code: &ErrorCode, status: u16, call: &Call) -> Option<String> {
    let name = code.to_string();
    let name = code::entry(&name).map_or_else(|| format!("http_{status}"), |_| name);
    let (path, query) = call.path.split_once('?').unwrap_or((&call.path, ""));
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let list = |command: &str| format!("see which there are with `bookctl sandbox {command}`");
    let is_listed = |kind: &str| ["deliveries", "faults", "requests"].contains(&kind);
    let see = |command: &str, id: &str| {
        format!("to see what happened: {}", shell::command(command, id, ""))
    };
    Some(match (&*name, segments.as_slice()) {
        ("http_404" | "http_409", ["sandbox", kind, _, ..]) if is_listed(kind) => list(kind),
        ("http_404" | "http_409", ["sandbox", kind, ..])
            if query.contains("organization=")
                || *kind == "faults"
                || kind.starts_with("organization") =>
        {
            list("organization list")
        }
        ("http_404", ["v1"]) => {
            "check the base URL: no booking service is at this address".to_owned()
        }
        ("http_404", ["v1", "bookings", _, ..]) => {
            "check the id, or search for it with `bookctl bookings TEXT`".to_owned()
        }
        // To show it again would end the same.
        ("http_409", ["v1", "bookings" | "sessions", _]) if !call.is_write() => return None,
        ("http_409", ["v1", "bookings", id, ..]) if !id.contains('%') => see("show", id),
        ("http_409", ["v1", "sessions", id, ..]) if !id.contains('%') => see("session show", id),
        ("http_404" | "http_409", ["v1", "sessions", ..]) => {
            "check the id and the guest; list sessions with `bookctl session list`".to_owned()
        }
        // The code of a session has its own hint.
        ("invalid_code", ["v1", "bookings", ..]) => Code::InvalidOtp.entry().next.to_owned(),
        (name, _) => code::entry(name)?.next.to_owned(),
    })
}

#[cfg(test)]
mod tests;
