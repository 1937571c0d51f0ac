//! Windows.

mod access_list;
pub(crate) mod files;
pub(crate) mod process;
pub(crate) mod streams;
pub(crate) mod tty;
