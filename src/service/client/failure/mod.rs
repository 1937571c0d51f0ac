//! Every result that is not a 2xx answer with a document, and the error that it becomes.

use std::fmt;
use std::time::Duration;

use super::call::Call;
use super::refusal::Refusal;
use super::suggest_fix::suggest_fix;
use crate::json::Document;
use crate::outcome::code::{self, exit_for_refusal};
use crate::outcome::{Code, Error, ErrorCode, Exit};
use crate::platform::http_client::{why_broken, why_unreached};
use crate::platform::shell;
use crate::service::time::duration::in_units;

/// Why no document of the service came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// There is no key, or it cannot be read. Nothing was sent.
    Key,
    NotSent,
    /// The connection could not be established. Nothing was sent.
    NotReached {
        timed_out: bool,
    },
    /// The connection broke after the request may have been sent.
    NoAnswer,
    TimedOut,
    /// What came is no document, leads elsewhere (a redirect), or is too large, without a status then.
    NotRead,
    /// A 2xx response without the expected booking. The error names what is there.
    NoBooking,
}

#[derive(Debug)]
pub(crate) enum Failure {
    /// No document came. The error is that of a call that changed nothing.
    Failed(Cause, Error),
    /// A non-2xx answer with a document (spec, Errors).
    Refused(Box<Refusal>),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Failed(_, error) => f.write_str(&error.message),
            Failure::Refused(refusal) => f.write_str(&refusal.sentence()),
        }
    }
}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        if error.is_connect() {
            let (why, hint) = why_unreached(&error);
            let mut unreached = Error::new(Code::Network, why);
            unreached.hint = hint;
            let timed_out = error.is_timeout();
            return Failure::Failed(Cause::NotReached { timed_out }, unreached);
        }
        let why = why_broken(&error).0;
        if error.is_builder() {
            return Failure::not_sent(why);
        }
        Failure::Failed(Cause::NoAnswer, with_next(Code::Network, why))
    }
}

fn with_next(code: Code, message: impl Into<String>) -> Error {
    Error::new(code, message).hint(code.entry().next)
}

const NOT_THE_SERVICE: &str =
    "check the base URL: the response may not come from the booking service";

impl Failure {
    pub(crate) fn not_sent(why: impl fmt::Display) -> Self {
        let what = format!("cannot send the request: {why}");
        Failure::Failed(Cause::NotSent, Error::new(Code::Network, what))
    }

    pub(crate) fn no_key(base: &str) -> Self {
        Failure::Failed(Cause::Key, with_next(Code::NoKey, format!("no API key for {base}")))
    }

    pub(crate) fn timed_out(after: Duration) -> Self {
        let what = format!("no complete response within {} s", after.as_secs_f32());
        Failure::Failed(Cause::TimedOut, with_next(Code::Timeout, what))
    }

    /// What came is not a document, for this reason.
    pub(crate) fn unreadable(
        status: u16,
        why: String,
        body: Document,
        request_id: Option<String>,
    ) -> Self {
        let hint = match status {
            500.. => "nothing was changed; try again later",
            200..=299 => "to see the whole response, send the request with `bookctl api`",
            _ => NOT_THE_SERVICE,
        };
        let mut error = Error::new(Code::UnexpectedAnswer, why).hint(hint);
        if status >= 500 {
            (error.code, error.exit) = (ErrorCode::of_refusal(None, status), Exit::Service);
        }
        (error.request_id, error.body) = (request_id, shown_body(body));
        Failure::not_read(Some(status), error)
    }

    /// `status` is `None` where the response cannot be used whatever its status is.
    pub(crate) fn not_read(status: Option<u16>, mut error: Error) -> Self {
        error.http_status = status;
        Failure::Failed(Cause::NotRead, error)
    }

    /// The failure where a booking was due, and the answer is something else.
    pub(crate) fn no_booking(status: u16, mut why: Error) -> Self {
        why.http_status = Some(status);
        Failure::Failed(Cause::NoBooking, why)
    }

    /// Whether no byte of the request left this computer.
    pub(crate) fn sent_nothing(&self) -> bool {
        use Cause::{Key, NotReached, NotSent};
        matches!(self, Failure::Failed(Key | NotSent | NotReached { .. }, _))
    }

    /// Whether something answered, although not with what was asked for.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self, Failure::Refused(_) | Failure::Failed(Cause::NotRead, _))
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
            Failure::Failed(_, error) => error.http_status,
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
        let (cause, mut error) = match self {
            Failure::Failed(cause, error) => (Some(cause), error),
            Failure::Refused(refusal) => {
                let mut error = match is_open {
                    true => Error::new(Code::OutcomeUnknown, refusal.sentence()),
                    false => refused(&refusal, call),
                };
                error.http_status = Some(refusal.status);
                error.retry_after = refusal.retry_after;
                error.request_id = refusal.request_id;
                error.body = shown_body(refusal.body);
                (None, error)
            }
        };
        if is_open {
            error.code = Code::OutcomeUnknown.into();
            error.exit = Code::OutcomeUnknown.entry().exit;
            error.message = format!("the outcome is unknown: {}", error.message);
            error.hint = error.hint.take().filter(|_| cause == Some(Cause::NoBooking));
        } else if cause == Some(Cause::NoAnswer) {
            error.message = format!("no complete response: {}", error.message);
        } else if let Some(Cause::NotReached { .. }) = cause {
            error.hint.get_or_insert_with(|| Code::Network.entry().next.to_owned());
        }
        error.request = Some(call.name());
        error
    }
}

fn shown_body(body: Document) -> Option<Document> {
    let is_empty = body.value().is_null() || body.value().as_str().is_some_and(str::is_empty);
    (!is_empty).then_some(body)
}

fn refused(refusal: &Refusal, call: &Call) -> Error {
    let (wording, status) = (refusal.sentence(), refusal.status);
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
