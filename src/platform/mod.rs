//! What differs by system, and engines that several rooms use. `unix/` and `windows/` offer the
//! same functions, as `system`.

pub(crate) mod crypto;
pub(crate) mod hidden;
pub(crate) mod http1;
pub(crate) mod http_client;
pub(crate) mod input;
pub(crate) mod jq;
pub(crate) mod key;
pub(crate) mod lock_wait;
pub(crate) mod ownership;
pub(crate) mod pace;
pub(crate) mod postgres;
pub(crate) mod private_file;
pub(crate) mod regular_file;
pub(crate) mod shell;
pub(crate) mod signals;
pub(crate) mod sql;
pub(crate) mod sqlite;

#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
pub(crate) mod system;
