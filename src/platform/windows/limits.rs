//! Limits of a process that evaluates an expression.

use std::io;
use std::os::windows::io::AsRawHandle;
use std::process::Child;
use std::time::Duration;

use win32job::{ExtendedLimitInfo, Job, JobError};

/// The limit on the memory of each process of a job.
const PROCESS_MEMORY: u32 = 0x100;
/// A process that fails ends at once, without a window that asks what to do.
const DIE_ON_UNHANDLED_EXCEPTION: u32 = 0x400;

/// What the parent holds while the child runs: its job. When the parent ends, however it ends, so does the child.
pub(crate) struct Held {
    _job: Job,
}

/// Limits a process that was just started to this memory in bytes. It waits for its input meanwhile.
pub(crate) fn limit_child(child: &Child, memory: u64) -> io::Result<Held> {
    let failed = |error: JobError| io::Error::other(error.to_string());
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    limits.0.BasicLimitInformation.LimitFlags |= PROCESS_MEMORY | DIE_ON_UNHANDLED_EXCEPTION;
    limits.0.ProcessMemoryLimit = usize::try_from(memory).unwrap_or(usize::MAX);
    let job = Job::create_with_limit_info(&mut limits).map_err(failed)?;
    job.assign_process(child.as_raw_handle().cast())
        .map_err(failed)?;
    Ok(Held { _job: job })
}

/// The parent limits this process. See [`limit_child`].
pub(crate) fn limit_oneself(_: u64, _: Duration) {}
