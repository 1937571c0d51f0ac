//! Linux and macOS.

pub(crate) mod files;
mod key_decoder;
pub(crate) mod process;
pub(crate) mod streams;
pub(crate) mod tty;
