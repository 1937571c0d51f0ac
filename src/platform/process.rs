//! Settings of the whole process, made before the first secret is read.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGXFSZ;

/// The limit on core dumps that the process was started with.
static CORE_DUMPS: OnceLock<Rlimit> = OnceLock::new();

/// Prepares the process. Must be called first.
pub(crate) fn prepare() {
    forbid_core_dumps();
    // A write beyond the limit on file sizes (`ulimit -f`) raises SIGXFSZ, which ends a process that does not handle
    // it. With a handler the write fails, and the error is reported. If the handler cannot be set, the process ends
    // as before.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Disables core dumps, which would write API keys to the disk.
///
/// The hard limit stays, so that [`with_core_dumps`] can enable them again.
fn forbid_core_dumps() {
    let before = CORE_DUMPS.get_or_init(|| getrlimit(Resource::Core));
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            ..*before
        },
    );
}

/// Starts a program of the user's with the user's own limit on core dumps, which is not ours to change for others.
pub(crate) fn with_core_dumps<T>(start: impl FnOnce() -> T) -> T {
    if let Some(before) = CORE_DUMPS.get() {
        let _ = setrlimit(Resource::Core, *before);
    }
    let started = start();
    forbid_core_dumps();
    started
}

/// The name of this machine, if the system tells it in a file.
pub(crate) fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The number of the user, for a process whose environment has no name.
pub(crate) fn user_number() -> u32 {
    rustix::process::getuid().as_raw()
}
