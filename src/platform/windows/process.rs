//! This process and the programs that it starts.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::process::CommandExt;
use std::process::{Command, ExitStatus};

use super::access_list;
use crate::outcome::Exit;

/// How a program ends that Ctrl-C has ended: STATUS_CONTROL_C_EXIT.
const CONTROL_C_EXIT: u32 = 0xC000_013A;

/// Prepares the process. Windows writes dumps only if an administrator enabled them.
pub(crate) fn prepare() {}

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

/// The name of this computer: Windows tells it in the environment.
pub(crate) fn host_name() -> Option<String> {
    None
}

pub(crate) fn user_name() -> Option<String> {
    access_list::user_name().ok()
}

/// The parent process. Windows has no safe call for it, so all share their lists.
pub(crate) fn parent() -> String {
    "any".to_owned()
}

/// Whether this process runs. Windows has no safe call for it, so none counts as alive.
pub(crate) fn is_alive(_: u32) -> bool {
    false
}

/// What tells a user's terminals apart: nothing, because Windows has no process sessions.
pub(crate) fn terminal() -> String {
    String::new()
}

pub(crate) const USUAL_EDITOR: &str = "notepad";
/// Opens an address in a browser without BROWSER. `start` would read `&` as a new command.
pub(crate) const USUAL_BROWSER: &str = "rundll32 url.dll,FileProtocolHandler";
pub(crate) const NOT_STARTED: [i32; 2] = [1, 9009];

/// A command line, run by a shell, so that `EDITOR="code --wait"` works, which is a script.
/// `argument` becomes its last word. It is a path or an address, which have no quotation marks.
pub(crate) fn command(line: &str, argument: Option<&OsStr>) -> Command {
    let mut words = OsString::from(line);
    if let Some(argument) = argument {
        words.push(" \"");
        words.push(argument);
        words.push("\"");
    }
    let mut command = Command::new("cmd");
    // With /s, exactly the outer quotation marks are removed.
    command.raw_arg("/d /s /c \"").raw_arg(words).raw_arg("\"");
    command
}
