//! This process and the programs that it starts.

use std::io;
use std::process::ExitStatus;

use super::access_list;
use crate::outcome::Exit;

/// How a program ends that Ctrl-C has ended: STATUS_CONTROL_C_EXIT.
const CONTROL_C_EXIT: u32 = 0xC000_013A;

/// Prepares the process. Windows writes dumps of a process only where an administrator has asked for them.
pub(crate) fn prepare() {}

/// Starts a program of the user's, with nothing changed.
pub(crate) fn with_core_dumps<T>(start: impl FnOnce() -> T) -> T {
    start()
}

/// The exit code of a program, as a shell of another system would report Ctrl-C.
pub(crate) fn exit_of(status: ExitStatus) -> Exit {
    let code = status.code().map(|code| match code.cast_unsigned() {
        CONTROL_C_EXIT => i32::from(Exit::Interrupted.code()),
        _ => code,
    });
    Exit::of_program(code)
}

/// The console has sent the event to every program in it already.
pub(crate) fn pass_on(_: Exit, _: u32) {}

/// Ctrl-Z is no key that stops a process.
pub(crate) fn suspend() -> io::Result<()> {
    Ok(())
}

/// The name of this machine: Windows tells it in the environment.
pub(crate) fn host_name() -> Option<String> {
    None
}

/// The user, for a process whose environment has no name.
pub(crate) fn user_name() -> Option<String> {
    access_list::user_name().ok()
}

/// What tells the terminals of a user apart: Windows has no sessions of processes as Unix has, so nothing does.
pub(crate) fn terminal() -> String {
    String::new()
}
