//! The error type that reaches a person: what happened and why, what to do next, and the exit code.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Code, ErrorCode, Exit};
use crate::json::Document;

/// A result whose error is an [`Error`].
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed command, as it is shown to a person and, under `--json`, to a script.
///
/// Boxed to keep results small.
#[derive(Debug)]
pub(crate) struct Error(Box<ErrorReport>);

/// The content of an [`Error`].
#[derive(Debug)]
pub(crate) struct ErrorReport {
    /// The service's code, else `http_<status>`, else one of bookctl's own codes.
    pub(crate) code: ErrorCode,
    /// Distinguishes, in one word for scripts, between causes that share this code.
    pub(crate) cause: Option<&'static str>,
    /// What happened and why, in one sentence without a full stop.
    pub(crate) message: String,
    /// Further lines for a person.
    pub(crate) details: Vec<String>,
    /// What to do next.
    pub(crate) hint: Option<String>,
    pub(crate) exit: Exit,
    pub(crate) http_status: Option<u16>,
    /// `METHOD /path` of the request that failed.
    pub(crate) request: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) idempotency_key: Option<String>,
    /// The body of the service's answer, unchanged.
    pub(crate) body: Option<Document>,
}

impl Error {
    /// An error with a code of the table, and that code's exit code.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Error::of(code.into(), code.entry().exit, message)
    }

    /// An error with any code of the service, and this exit code.
    pub(crate) fn of(code: ErrorCode, exit: Exit, message: impl Into<String>) -> Self {
        Error(Box::new(ErrorReport {
            code,
            cause: None,
            message: message.into(),
            details: Vec::new(),
            hint: None,
            exit,
            http_status: None,
            request: None,
            retry_after: None,
            idempotency_key: None,
            body: None,
        }))
    }

    /// Replaces the exit code.
    pub(crate) fn exiting(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// The error for unusable arguments, or for missing input when prompts are not possible (2).
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Error::new(Code::Usage, message)
    }

    /// The error for an unusable configuration (3).
    pub(crate) fn config(message: impl Into<String>) -> Self {
        Error::new(Code::Config, message)
    }

    /// The error for an unusable journal (3), without which nothing is sent.
    pub(crate) fn journal(message: impl Into<String>) -> Self {
        Error::new(Code::Journal, message)
    }

    /// The error for an unusable file of received deliveries (3).
    pub(crate) fn webhooks(message: impl Into<String>) -> Self {
        Error::new(Code::Webhooks, message)
    }

    /// The error for failed local I/O (1); `what` failed because of `error`.
    pub(crate) fn io(what: impl std::fmt::Display, error: &std::io::Error) -> Self {
        Error::new(Code::Io, format!("{what}: {}", reason(error)))
    }

    /// The error for Ctrl-C or SIGTERM.
    pub(crate) fn interrupted(exit: Exit) -> Self {
        Error::new(Code::Interrupted, exit_word(exit)).exiting(exit)
    }

    /// Sets the hint: what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a line of details.
    pub(crate) fn detail(mut self, line: impl Into<String>) -> Self {
        self.details.push(line.into());
        self
    }

    /// Sets the idempotency key that the error is about.
    pub(crate) fn idempotency_key(mut self, key: &str) -> Self {
        self.idempotency_key = Some(key.to_owned());
        self
    }

    /// The JSON object that is the last line of stderr under `--json`. Absent fields are left out.
    pub(crate) fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("code".into(), json!(self.code.to_string()));
        object.insert("message".into(), json!(self.message));
        let optional = [
            ("cause", self.cause.map(|cause| json!(cause))),
            ("hint", self.hint.as_ref().map(|hint| json!(hint))),
            ("exit_code", Some(json!(self.exit.code()))),
            ("http_status", self.http_status.map(|status| json!(status))),
            (
                "request",
                self.request.as_ref().map(|request| json!(request)),
            ),
            (
                "retry_after_seconds",
                self.retry_after.map(|after| json!(after.as_secs())),
            ),
            (
                "idempotency_key",
                self.idempotency_key.as_ref().map(|key| json!(key)),
            ),
            ("body", self.body.as_ref().map(|body| body.value().clone())),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                object.insert(key.into(), value);
            }
        }
        json!({ "error": object })
    }
}

impl Deref for Error {
    type Target = ErrorReport;

    fn deref(&self) -> &ErrorReport {
        &self.0
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut ErrorReport {
        &mut self.0
    }
}

fn exit_word(exit: Exit) -> &'static str {
    if exit == Exit::Terminated {
        "terminated"
    } else {
        "interrupted"
    }
}

/// The reason of an I/O error, without "(os error N)".
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((reason, _)) => reason.to_lowercase(),
        None => text,
    }
}
