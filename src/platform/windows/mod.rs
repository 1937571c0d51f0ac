//! Windows.

mod access_list;
pub(crate) mod files;
pub(crate) mod process;
pub(crate) mod stdout;
pub(crate) mod tty;
