//! Programs that the user names as a command line.

use std::ffi::{OsStr, OsString};
use std::os::windows::process::CommandExt;
use std::process::Command;

pub(crate) const USUAL_EDITOR: &str = "notepad";
/// What opens an address in a browser where BROWSER is not set. `start` would read an `&` in it as the next command.
pub(crate) const USUAL_BROWSER: &str = "rundll32 url.dll,FileProtocolHandler";
/// The exit codes of a shell that cannot find or run a program.
pub(crate) const NOT_STARTED: [i32; 2] = [1, 9009];

/// A command line, run by a shell, so that `EDITOR="code --wait"` works, which is a script. `argument` becomes its last
/// word. It is a path or an address, which have no quotation marks.
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
