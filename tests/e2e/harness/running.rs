//! A command under way, and how it ended.

use std::fmt;
#[cfg(unix)]
use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use super::HANG;
use super::listening::until;

/// A command under way.
pub(crate) struct Running {
    pub(super) child: Child,
    line: String,
    /// The secrets that its environment holds: nothing of them may be seen.
    secrets: Vec<String>,
}

impl Running {
    pub(crate) fn start(command: Command) -> Self {
        Self::with_stderr(command, Stdio::piped())
    }

    pub(crate) fn with_stderr(mut command: Command, stderr: Stdio) -> Self {
        // A test that runs in the background has SIGINT ignored, which its programs would inherit.
        // A handler is not inherited.
        #[cfg(unix)]
        static HANDLED: std::sync::Once = std::sync::Once::new();
        #[cfg(unix)]
        HANDLED.call_once(|| {
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
            let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            if ignored.is_some_and(|mask| mask & 2 != 0) {
                let handled = std::sync::Arc::default();
                signal_hook::flag::register(signal_hook::consts::SIGINT, handled).unwrap();
            }
        });
        command.stdout(Stdio::piped()).stderr(stderr);
        let line = format!("{command:?}");
        let secrets = ["BOOKCTL_API_KEY", "BOOKCTL_WEBHOOK_SECRET"];
        let secrets = command
            .get_envs()
            .filter(|(name, _)| secrets.iter().any(|secret| name == secret))
            .filter_map(|(_, value)| Some(value?.to_str()?.to_owned()))
            .filter(|secret| secret.len() > 8)
            .collect();
        let child = command.spawn().unwrap();
        Running { child, line, secrets }
    }

    /// The process's id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal; `-INT` and `-TERM` once the command listens for them: before, they would end
    /// it as they end any program, and how long a start takes is the machine's affair.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let awaited = match signal {
            "-INT" => Some(2),
            "-TERM" => Some(15),
            _ => None,
        };
        let listens = format!("{} listens for {signal}", self.line);
        until(&listens, || awaited.is_none_or(|number| catches(&id, number)));
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Whether it has ended by now.
    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Kills it on the spot, if it has not ended by itself.
    pub(crate) fn kill(mut self) -> Output {
        // One that has ended cannot be killed any more, which is as good.
        let _ = self.child.kill();
        self.end()
    }

    /// Waits for the end; a command that hangs is killed, and fails the test.
    pub(crate) fn end(self) -> Output {
        self.end_within(HANG)
    }

    /// The same for a command that ends with this exit code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Output {
        self.end().exits(code)
    }

    /// As `end`, for a command that may take its time.
    pub(crate) fn end_within(self, longest: Duration) -> Output {
        let Running { child, line, secrets } = self;
        let id = child.id();
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        let Ok(ended) = receiver.recv_timeout(longest) else {
            let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
            panic!("hangs: {line}");
        };
        let ended = ended.unwrap();
        let output = Output {
            line,
            code: ended.status.code(),
            stdout: String::from_utf8(ended.stdout).unwrap(),
            stderr: String::from_utf8(ended.stderr).unwrap(),
        };
        let seen = |secret: &String| output.stderr.contains(secret);
        assert!(!secrets.iter().any(seen), "a secret on stderr: {output}");
        output
    }
}

/// A pipe that takes nothing more, until its reader reads.
#[cfg(unix)]
pub(crate) fn full_pipe() -> (PipeReader, PipeWriter) {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let (reader, mut writer) = pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(&[b'\n'; 4096]).is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

/// Whether a process has a handler for this signal, or has ended and needs none. The other signals
/// that end it have theirs, too, or are ignored: a handler is installed a moment before it knows
/// what to do, and the next one is installed after that.
fn catches(id: &str, signal: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{id}/status")) else {
        return true;
    };
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim()
    };
    let signals = |name| u64::from_str_radix(field(name), 16).unwrap_or_default();
    let (caught, ignored) = (signals("SigCgt:"), signals("SigIgn:"));
    let has = |set: u64, signal: u32| set >> (signal - 1) & 1 == 1;
    let is_ready = [1, 2, 3, 15].into_iter().all(|it| has(caught | ignored, it));
    field("State:").starts_with('Z') || is_ready && has(caught, signal)
}

/// How a command ended and what it wrote.
pub(crate) struct Output {
    line: String,
    /// `None` where a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// Asserts the exit code; a panic is never among the ways to end.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert!(!self.stderr.contains("panicked"), "{self}");
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// The error object on the last line of stderr, stdout being empty.
    #[track_caller]
    pub(crate) fn error(&self) -> Value {
        assert_eq!(self.stdout, "", "{self}");
        let line = self.stderr.lines().last().unwrap_or_default();
        let object: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}\n{self}"));
        let error = object["error"].clone();
        assert!(error.is_object(), "{self}");
        assert_eq!(error["exit_code"].as_i64(), self.code.map(i64::from), "{self}");
        error
    }

    /// Asserts an error under `--json` with this exit code and `code`; returns it.
    #[track_caller]
    pub(crate) fn refused(self, exit: i32, code: &str) -> Value {
        let output = self.exits(exit);
        let error = output.error();
        assert_eq!(error["code"], code, "{output}");
        error
    }

    /// Asserts that stderr says this.
    #[track_caller]
    pub(crate) fn says(self, part: impl AsRef<str>) -> Self {
        self.tells(part);
        self
    }

    /// The same with this text on standard output.
    #[track_caller]
    pub(crate) fn prints(self, part: impl AsRef<str>) -> Self {
        self.shows(part);
        self
    }

    /// As `says`, of an output that is looked at again.
    #[track_caller]
    pub(crate) fn tells(&self, part: impl AsRef<str>) {
        let part = part.as_ref();
        assert!(self.stderr.contains(part), "{part:?} is not in {self}");
    }

    /// As `prints`, of an output that is looked at again.
    #[track_caller]
    pub(crate) fn shows(&self, part: impl AsRef<str>) {
        let part = part.as_ref();
        assert!(self.stdout.contains(part), "{part:?} is not in {self}");
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}\nexit {:?}\n-- stdout --\n{}\n-- stderr --\n{}",
            self.line, self.code, self.stdout, self.stderr
        )
    }
}
