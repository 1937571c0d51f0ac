//! The code of an error: one of the table, or whatever the service sent.

use std::fmt;

use super::code::{Code, CodeKind, entry};

/// The code of an error that reaches a person: `code` under `--json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    Known(Code),
    Unknown(String),
    /// An HTTP status without a code that is not in the table: `http_<status>`.
    Status(u16),
}

impl ErrorCode {
    /// The code of a refusal: the service's own, else that of its HTTP status.
    pub(crate) fn of_refusal(code: Option<&str>, http_status: u16) -> Self {
        let name = code.map_or_else(|| format!("http_{http_status}"), str::to_owned);
        match (entry(&name), code) {
            (Some(entry), _) => ErrorCode::Known(entry.code),
            (None, Some(_)) => ErrorCode::Unknown(name),
            (None, None) => ErrorCode::Status(http_status),
        }
    }

    /// Whether the code stands for an HTTP status without a code of its own.
    pub(crate) fn is_status(&self) -> bool {
        match self {
            ErrorCode::Known(code) => code.entry().kind == CodeKind::Http,
            ErrorCode::Unknown(_) => false,
            ErrorCode::Status(_) => true,
        }
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
            ErrorCode::Unknown(code) => f.write_str(code),
            ErrorCode::Status(status) => write!(f, "http_{status}"),
        }
    }
}
