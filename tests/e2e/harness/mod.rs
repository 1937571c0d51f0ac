//! What the tests stand on: a blank home, a served sandbox, a terminal, a server that misbehaves on purpose.

pub(crate) mod document;
mod home;
mod http;
mod scripted;
mod served;
mod terminal;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(crate) use home::{GUEST, Home, Output, Running, text};
pub(crate) use scripted::{Reply, Request, Scripted};
pub(crate) use served::Served;
pub(crate) use terminal::{Ended, Key, Terminal};

/// After this, whatever a test waits for is taken to hang.
pub(crate) const HANG: Duration = Duration::from_secs(20);

/// Held while a process is started: the pseudo terminal's descriptors and its start-up pipe are inherited by
/// whatever is started meanwhile, and would then stay open as long as that lives.
pub(crate) fn one_start_at_a_time() -> MutexGuard<'static, ()> {
    static START: Mutex<()> = Mutex::new(());
    START.lock().unwrap_or_else(PoisonError::into_inner)
}
