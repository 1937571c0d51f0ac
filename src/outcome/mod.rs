//! How a command ends: the error codes, the exit codes, and the one error that reaches a person.

pub(crate) mod code;
mod error;
mod exit;
pub(crate) mod similar;
pub(crate) mod word;

pub(crate) use code::Code;
pub(crate) use error::{Error, ErrorCode, Result, reason};
pub use exit::Exit;
