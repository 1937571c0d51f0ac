//! A command under strace: every system call it makes is seen, and can be made to fail or to be its
//! last.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::{HANG, Home, Output, Running, skipped};

/// Whether processes may be traced here; where not, a test says so and has nothing to prove.
pub(crate) fn strace_is_missing() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    let works = *WORKS.get_or_init(|| {
        let mut tried = Command::new("strace");
        tried.args(["-qq", "-f", "-o", "/dev/null", "true"]);
        tried.stdout(Stdio::null()).stderr(Stdio::null());
        tried.status().is_ok_and(|status| status.success())
    });
    if !works {
        skipped("strace is not there, or may not trace");
    }
    !works
}

/// A system call of a traced run.
#[derive(Clone, Debug)]
pub(crate) struct SystemCall {
    pub(crate) name: String,
    /// The how manieth of its name in its thread, from 1: so strace counts them.
    pub(crate) ordinal: usize,
    /// The whole line, with the paths of descriptors.
    pub(crate) line: String,
}

impl SystemCall {
    /// What strace is told, to do this to the process at this call.
    pub(crate) fn inject(&self, what: &str) -> String {
        format!("{}:{what}:when={}", self.name, self.ordinal)
    }

    pub(crate) fn concerns(&self, part: &str) -> bool {
        self.line.contains(part)
    }
}

/// Runs the binary to its end under strace with these injections, each as `SystemCall::inject`
/// writes it.
pub(crate) fn run_injected<A: AsRef<OsStr>>(
    home: &Home,
    arguments: impl IntoIterator<Item = A>,
    injections: &[String],
) -> Output {
    let mut more = Vec::new();
    for injection in injections {
        more.extend(["-e".to_owned(), format!("inject={injection}")]);
    }
    Running::start(traced(home, arguments, Path::new("/dev/null"), &more)).end()
}

/// Runs the binary to its end; what it did, call by call, and how it ended. `more` are flags of
/// strace.
pub(crate) fn run_traced<A: AsRef<OsStr>>(
    home: &Home,
    arguments: impl IntoIterator<Item = A>,
    more: &[&str],
) -> (Output, Vec<SystemCall>) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let more: Vec<String> = more.iter().map(ToString::to_string).collect();
    let output = Running::start(traced(home, arguments, log.path(), &more)).end();
    let text = String::from_utf8_lossy(&std::fs::read(log.path()).unwrap()).into_owned();
    (output, calls(&text))
}

/// A run that is stopped at a system call, and goes on or dies when a test says so.
pub(crate) struct Stopped {
    running: Running,
    log: tempfile::NamedTempFile,
}

impl Stopped {
    /// Starts it with this injection, which is to send it a SIGSTOP, and waits until it is stopped
    /// or has ended.
    pub(crate) fn start<A: AsRef<OsStr>>(
        home: &Home,
        arguments: impl IntoIterator<Item = A>,
        injection: &str,
    ) -> Self {
        let log = tempfile::NamedTempFile::new().unwrap();
        let more = ["-e".to_owned(), format!("inject={injection}")];
        let running = Running::start(traced(home, arguments, log.path(), &more));
        let mut stopped = Stopped { running, log };
        stopped.wait_for_stops(1);
        stopped
    }

    /// Waits until it was stopped so often; `false` where it ended instead.
    pub(crate) fn wait_for_stops(&mut self, count: usize) -> bool {
        let deadline = Instant::now() + HANG;
        loop {
            let ended = self.running.has_ended();
            let log = std::fs::read(self.log.path()).unwrap();
            let stops = String::from_utf8_lossy(&log).matches("--- stopped by SIGSTOP ---").count();
            if stops >= count || ended {
                return stops >= count;
            }
            assert!(Instant::now() < deadline, "neither stops nor ends");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Lets it go on.
    pub(crate) fn go_on(&self) {
        self.signal("-CONT");
    }

    /// Kills it where it stands.
    pub(crate) fn kill(self) -> Output {
        self.signal("-KILL");
        self.running.end()
    }

    /// Lets it go on to its end.
    pub(crate) fn end(self) -> Output {
        self.go_on();
        self.running.end()
    }

    /// To the traced process, the child of strace; one that has ended needs none.
    fn signal(&self, signal: &str) {
        let strace = self.running.id();
        let children = format!("/proc/{strace}/task/{strace}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        for child in children.split_whitespace() {
            let sent = Command::new("kill").args([signal, child]).status();
            drop(sent);
        }
    }
}

fn traced<A: AsRef<OsStr>>(
    home: &Home,
    arguments: impl IntoIterator<Item = A>,
    log: &Path,
    more: &[String],
) -> Command {
    let mut command = home.program("strace");
    command.args(["-f", "-qq", "-y", "-o"]).arg(log).args(more);
    command.arg(env!("CARGO_BIN_EXE_bookctl")).args(arguments);
    command.stdin(Stdio::null());
    command
}

/// The calls of a log, in their order. `execve`, which strace makes itself, is none of the
/// binary's.
fn calls(log: &str) -> Vec<SystemCall> {
    let mut counts = std::collections::HashMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        // A line begins with the id of the thread.
        let Some((thread, line)) = line.split_once(' ') else {
            continue;
        };
        let line = line.trim_start();
        let Some((name, _)) = line.split_once('(') else {
            continue;
        };
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_name || name == "execve" {
            continue;
        }
        let ordinal = counts.entry((thread, name)).or_insert(0);
        *ordinal += 1;
        calls.push(SystemCall { name: name.to_owned(), ordinal: *ordinal, line: line.to_owned() });
    }
    calls
}
