//! Limits of a process that evaluates an expression.

use std::io;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

/// What the parent holds while the child runs.
pub(crate) struct Held;

/// Limits a process that was just started. Here it limits itself.
pub(crate) fn limit_child(_: &Child, _: u64) -> io::Result<Held> {
    Ok(Held)
}

/// Limits this process: its memory in bytes, and its time, after which it ends although the parent was killed.
pub(crate) fn limit_oneself(memory: u64, time: Duration) {
    limit(Resource::As, memory);
    limit(Resource::Cpu, time.as_secs());
    limit(Resource::Core, 0);
}

fn limit(resource: Resource, most: u64) {
    // On systems without this limit the other limits apply.
    let _ = setrlimit(
        resource,
        Rlimit {
            current: Some(most),
            maximum: Some(most),
        },
    );
}
