//! What holds for the whole process, from before the first secret is read.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGXFSZ;

/// The limit on core dumps that the process was started with.
static CORE_DUMPS: OnceLock<Rlimit> = OnceLock::new();

/// Prepares the process; to be called first.
pub(crate) fn prepare() {
    forbid_core_dumps();
    // A write beyond the limit on a file's size (`ulimit -f`) raises this signal, which ends a process unless it is
    // handled. With any handler the write fails instead, and is reported as every other failure of a disk.
    // Where it cannot be handled the process ends as before.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// A core dump would keep keys on the disk, for anybody who gets hold of the file.
///
/// The hard limit stays, so that [`with_core_dumps`] can allow them again.
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

/// Starts a program of the user's with the limit on core dumps that the user chose: what that program may leave behind
/// is not for us to decide.
pub(crate) fn with_core_dumps<T>(start: impl FnOnce() -> T) -> T {
    if let Some(before) = CORE_DUMPS.get() {
        let _ = setrlimit(Resource::Core, *before);
    }
    let started = start();
    forbid_core_dumps();
    started
}
