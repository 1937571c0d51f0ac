//! This process and its children: settings made before the first secret, signals, exit codes.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpgrp, getppid, getrlimit, getsid, getuid,
    kill_current_process_group, kill_process, setrlimit, test_kill_process,
};
use rustix::system::uname;
use rustix::termios::tcgetpgrp;
use signal_hook::consts::SIGXFSZ;

use crate::outcome::Exit;

pub(crate) fn prepare() {
    // A core dump would write API keys to the disk.
    let limit = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    let _ = setrlimit(Resource::Core, limit);
    // A write beyond the limit on file sizes (`ulimit -f`) raises SIGXFSZ, which ends a process
    // that does not handle it. With a handler the write fails, and the error is reported.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

pub(crate) fn host_name() -> Option<String> {
    let name = uname().nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

/// The user, for a process whose environment has no name: the number, because names may be in a
/// directory on the network.
pub(crate) fn user_name() -> Option<String> {
    Some(getuid().as_raw().to_string())
}

/// The exit code of a program as a shell reports it: its code, or 128 plus the signal.
pub(crate) fn exit_of(status: ExitStatus) -> Exit {
    Exit::of_program(status.code().or(status.signal().map(|signal| 128 + signal)))
}

/// Passes the signal that `exit` stands for on to a program. Ctrl-C and Ctrl-\ reach all programs
/// in the foreground of a terminal, so a program there has them already; anywhere else the signal
/// was sent to this process alone.
pub(crate) fn pass_on(exit: Exit, process: u32) {
    let foreground = File::open("/dev/tty").ok().and_then(|terminal| tcgetpgrp(terminal).ok());
    let signal = match exit {
        Exit::Terminated => Signal::TERM,
        Exit::HungUp => Signal::HUP,
        // It gets the signals of the keys of a terminal.
        _ if foreground.is_some_and(|it| Some(it.as_raw_pid()) == group()) => return,
        Exit::Quit => Signal::QUIT,
        _ => Signal::INT,
    };
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = kill_process(process, signal);
    }
}

/// Suspends the process group, as Ctrl-Z does, if a shell can continue it. Then returns.
pub(crate) fn suspend() -> io::Result<()> {
    Ok(kill_current_process_group(Signal::TSTP)?)
}

/// The process that started this one, by its number and, on Linux, its start, because numbers are
/// used again. Empty where that process has ended: all that it left behind have the system's first
/// process for a parent.
pub(crate) fn parent() -> String {
    let Some(parent) = getppid().map(Pid::as_raw_pid) else {
        return String::new();
    };
    if parent == 1 && session("1") != session("self") {
        return String::new();
    }
    format!("{parent} {}", stat_field(&parent.to_string(), 22).unwrap_or_default())
}

/// A field of what Linux tells of a process, counted from 1: its group is the 5th, its session the
/// 6th, its start the 22nd.
fn stat_field(process: &str, number: usize) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field, a name in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(number.checked_sub(3)?).map(str::to_owned)
}

/// The session of this process (`self`) or another. In a container it is 0 if it was started
/// outside, which rustix takes for impossible; so on Linux it is not asked.
fn session(process: &str) -> Option<String> {
    if cfg!(target_os = "linux") {
        return stat_field(process, 6);
    }
    let process = process.parse().ok().and_then(Pid::from_raw);
    getsid(process).ok().map(|session| session.as_raw_pid().to_string())
}

/// The process group of this process. For 0, see [`session`].
fn group() -> Option<i32> {
    if cfg!(target_os = "linux") {
        return stat_field("self", 5)?.parse().ok();
    }
    Some(getpgrp().as_raw_pid())
}

/// Whether a process with this number runs on this computer, of any user.
pub(crate) fn is_alive(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_some_and(|it| test_kill_process(it) != Err(Errno::SRCH))
}

/// What tells a user's terminals apart: this process's session, one for each terminal. Empty if
/// unknown, or if the process has no terminal, as a scheduled job.
pub(crate) fn terminal() -> String {
    let at_a_terminal =
        io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal();
    at_a_terminal.then(|| session("self")).flatten().unwrap_or_default()
}

/// The editor where none is named: the one of POSIX, which git takes, too.
pub(crate) const USUAL_EDITOR: &str = "vi";
/// What opens an address in a browser where BROWSER is not set.
pub(crate) const USUAL_BROWSER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
/// The exit codes of a shell that cannot find or run a program.
pub(crate) const NOT_STARTED: [i32; 2] = [126, 127];

/// A command line, run by a shell, as git does it, so that `EDITOR="code --wait"` works. `argument`
/// becomes its last word.
pub(crate) fn command(line: &str, argument: Option<&OsStr>) -> Command {
    let mut command = Command::new("sh");
    match argument {
        Some(argument) => command.args(["-c", &format!("{line} \"$@\""), "sh"]).arg(argument),
        None => command.args(["-c", line]),
    };
    command
}
