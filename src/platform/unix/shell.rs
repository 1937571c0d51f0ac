//! Programs that the user names as a command line.

use std::ffi::OsStr;
use std::process::Command;

/// The editor where none is named: the one of POSIX, which git takes, too.
pub(crate) const USUAL_EDITOR: &str = "vi";
/// What opens an address in a browser where BROWSER is not set.
pub(crate) const USUAL_BROWSER: &str = match cfg!(target_os = "macos") {
    true => "open",
    false => "xdg-open",
};
/// The exit codes of a shell that cannot find or run a program.
pub(crate) const NOT_STARTED: [i32; 2] = [126, 127];

/// A command line, run by a shell, as git does it, so that `EDITOR="code --wait"` works. `argument` becomes its last word.
pub(crate) fn command(line: &str, argument: Option<&OsStr>) -> Command {
    let mut command = Command::new("sh");
    match argument {
        Some(argument) => command
            .args(["-c", &format!("{line} \"$@\""), "sh"])
            .arg(argument),
        None => command.args(["-c", line]),
    };
    command
}
