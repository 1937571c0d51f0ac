//! The error type that reaches a person: what happened and why, what to do next, and the exit code.

use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use serde_json::{Value, json};

use super::Exit;
use super::code::{Code, CodeKind, Retry, entry};
use crate::json::Document;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// The code of an error that reaches a person: `code` under `--json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    Known(Code),
    /// One that is not in the table: the service's own, or `http_<status>`.
    Other(String),
}

impl ErrorCode {
    /// The code of a refusal: the service's own, else that of its HTTP status.
    pub(crate) fn of_refusal(code: Option<&str>, http_status: u16) -> Self {
        let name = code.map_or_else(|| format!("http_{http_status}"), str::to_owned);
        entry(&name).map_or(ErrorCode::Other(name), |entry| ErrorCode::Known(entry.code))
    }
}

impl From<Code> for ErrorCode {
    fn from(code: Code) -> Self {
        ErrorCode::Known(code)
    }
}

impl PartialEq<Code> for ErrorCode {
    fn eq(&self, code: &Code) -> bool {
        matches!(self, ErrorCode::Known(known) if known == code)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorCode::Known(code) => f.write_str(code.name()),
            ErrorCode::Other(code) => f.write_str(code),
        }
    }
}

/// A failed command, as a person and, under `--json`, a script see it. Boxed to keep results small.
#[derive(Debug)]
pub(crate) struct Error(Box<ErrorReport>);

#[derive(Debug)]
pub(crate) struct ErrorReport {
    /// The service's code, else `http_<status>`, else one of bookctl's own codes.
    pub(crate) code: ErrorCode,
    /// Distinguishes, in one word for scripts, between causes that share this code.
    pub(crate) cause: Option<&'static str>,
    /// What happened and why, in one sentence without a full stop.
    pub(crate) message: String,
    pub(crate) details: Vec<String>,
    /// Every mistake of the input, for scripts, if there are more than the message names.
    pub(crate) problems: Vec<Value>,
    pub(crate) hint: Option<String>,
    pub(crate) exit: Exit,
    pub(crate) http_status: Option<u16>,
    pub(crate) request_id: Option<String>,
    /// `METHOD /path` of the request that failed.
    pub(crate) request: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) failed_of: Option<(usize, usize)>,
    pub(crate) body: Option<Document>,
}

impl Error {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Error::with_exit(code.into(), code.entry().exit, message)
    }

    /// An error with any code of the service, and this exit code.
    pub(crate) fn with_exit(code: ErrorCode, exit: Exit, message: impl Into<String>) -> Self {
        Error(Box::new(ErrorReport {
            code,
            cause: None,
            message: message.into(),
            details: Vec::new(),
            problems: Vec::new(),
            hint: None,
            exit,
            http_status: None,
            request: None,
            request_id: None,
            retry_after: None,
            idempotency_key: None,
            failed_of: None,
            body: None,
        }))
    }

    pub(crate) fn exiting(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// The error for unusable arguments, or for missing input when prompts are not possible (2).
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Error::new(Code::Usage, message)
    }

    /// The error for a name that this computer does not know (6).
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Error::new(Code::NotFound, message)
    }

    /// The error (18) for `failed` parts of `total`, whose results were printed.
    pub(crate) fn partly_failed(failed: usize, total: usize, message: impl Into<String>) -> Self {
        let mut error = Error::new(Code::PartlyFailed, message);
        error.failed_of = Some((failed, total));
        error
    }

    pub(crate) fn config(message: impl Into<String>) -> Self {
        Error::new(Code::Config, message)
    }

    /// The error for an unusable journal (3), without which nothing is sent.
    pub(crate) fn journal(message: impl Into<String>) -> Self {
        Error::new(Code::Journal, message)
    }

    /// What failed, and the innermost cause. An error for the user already stays as it is.
    pub(crate) fn caused(
        code: Code,
        what: impl fmt::Display,
        cause: impl Into<anyhow::Error>,
    ) -> Self {
        unwrap_error(cause.into())
            .unwrap_or_else(|cause| Error::new(code, format!("{what}: {}", reason(cause.as_ref()))))
    }

    /// The error for failed local I/O (1); `what` failed because of `error`.
    pub(crate) fn io(what: impl fmt::Display, error: io::Error) -> Self {
        Error::caused(Code::Io, what, error)
    }

    /// The error for a named file that cannot be read (1), or that is too large or no text (2).
    pub(crate) fn unreadable(name: &str, error: io::Error) -> Self {
        let code = match error.kind() {
            ErrorKind::InvalidData | ErrorKind::FileTooLarge => Code::Usage,
            _ => Code::Io,
        };
        Error::caused(code, format!("cannot read {}", name.escape_debug()), error)
    }

    pub(crate) fn interrupted(exit: Exit) -> Self {
        let word = match exit {
            Exit::Terminated => "terminated",
            Exit::HungUp => "hung up",
            Exit::Quit => "quit",
            _ => "interrupted",
        };
        Error::new(Code::Interrupted, word).exiting(exit)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets what to do first. The hint so far comes after it.
    pub(crate) fn hint_before(mut self, first: String) -> Self {
        self.hint = Some(match self.hint.take() {
            Some(then) => format!("{first}; {then}"),
            None => first,
        });
        self
    }

    pub(crate) fn detail(mut self, line: impl Into<String>) -> Self {
        self.details.push(line.into());
        self
    }

    pub(crate) fn body(mut self, body: Document) -> Self {
        self.body = Some(body);
        self
    }

    pub(crate) fn idempotency_key(mut self, key: &str) -> Self {
        self.idempotency_key = Some(key.to_owned());
        self
    }

    pub(crate) fn retry(&self) -> Retry {
        match (&self.code, self.exit) {
            (_, Exit::OutcomeUnknown) => Retry::AfterCheck,
            // Else it would be an unknown outcome.
            (ErrorCode::Known(code), Exit::Service) if code.entry().kind == CodeKind::Http => {
                Retry::Yes
            }
            (ErrorCode::Known(code), _) => code.entry().retry,
            (ErrorCode::Other(_), exit) => exit.retry(),
        }
    }

    /// The JSON object of the error. Absent fields are left out. The body stays byte for byte.
    pub(crate) fn to_json(&self) -> Document {
        let mut error = json!({
            "code": self.code.to_string(),
            "message": self.message,
            "cause": self.cause,
            "hint": self.hint,
            "exit_code": self.exit.code(),
            "retry": self.retry().word(),
            "failed": self.failed_of.map(|it| it.0),
            "total": self.failed_of.map(|it| it.1),
            "http_status": self.http_status,
            "request": self.request,
            "request_id": self.request_id,
            "retry_after_seconds": self.retry_after.map(|after| after.as_secs()),
            "idempotency_key": self.idempotency_key,
            "problems": Some(&self.problems).filter(|problems| !problems.is_empty()),
        });
        if let Value::Object(fields) = &mut error {
            fields.retain(|_, field| !field.is_null());
        }
        let error = Document::from(error);
        match &self.body {
            Some(body) => error.with("body", body),
            None => error,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The error of a room that names no code: its cause with what failed because of it, as `context`.
impl From<anyhow::Error> for Error {
    fn from(cause: anyhow::Error) -> Self {
        Error::caused(Code::Config, cause.to_string(), cause)
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

/// Returns our own error if `cause` is or holds one, else the cause.
fn unwrap_error(cause: anyhow::Error) -> Result<Error, anyhow::Error> {
    let within = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    if within.is_some_and(|inner| inner.is::<Error>()) {
        return Ok(cause.downcast::<io::Error>()?.downcast::<Error>()?);
    }
    cause.downcast()
}

/// The innermost cause of an error, on one line: "connection refused" rather than "error sending
/// request (…)", without "(os error N)" and without the full stop of Windows.
pub(crate) fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let text = anyhow::Chain::new(error).last().unwrap_or(error).to_string();
    match text.split_once(" (os error") {
        Some((text, _)) => {
            // What stands before may be a path.
            let (what, why) = text.split_at(text.rfind(": ").unwrap_or(0));
            format!("{what}{}", why.trim_end_matches('.').to_lowercase())
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn reason_keeps_the_letters_of_a_path() {
        let error =
            super::io::Error::other("its lock /H cannot be used: Is a directory (os error 21)");
        assert_eq!(super::reason(&error), "its lock /H cannot be used: is a directory");
    }
}
