//! How a command ends: the error codes, the exit codes, and the one error that reaches a person.

pub(crate) mod code;
mod error;
mod error_code;
mod exit;

pub(crate) use code::Code;
pub(crate) use error::{Error, Result, reason};
pub(crate) use error_code::ErrorCode;
pub use exit::Exit;
