//! A blank home, and the binary run in it.

use std::ffi::OsStr;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::HANG;

/// What a booking takes beside its venue.
pub(crate) const GUEST: [&str; 6] = [
    "--at",
    "tomorrow 19:30",
    "--party",
    "2",
    "--name",
    "Ada Lovelace",
];

/// The command that books there for the guest.
#[cfg(unix)]
pub(crate) fn for_guest(venue: &str) -> Vec<&str> {
    ["book", venue].into_iter().chain(GUEST).collect()
}

/// A home without anything in it, and an environment without anything but it.
pub(crate) struct Home {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("bookctl-e2e-")
            .tempdir()
            .unwrap();
        Home {
            folder,
            variables: Vec::new(),
        }
    }

    /// A home whose environment names a service and a key for it.
    pub(crate) fn pointing_to(base_url: &str, key: &str) -> Self {
        Home::new()
            .with("BOOKCTL_BASE_URL", base_url)
            .with("BOOKCTL_API_KEY", key)
    }

    /// The same home with a variable more.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same home with this `config.toml`.
    pub(crate) fn configured(self, config: &str) -> Self {
        std::fs::create_dir_all(self.path()).unwrap();
        std::fs::write(self.path().join("config.toml"), config).unwrap();
        self
    }

    /// The same home with this profile, which is used by default; `more` are further lines of it.
    pub(crate) fn with_profile(self, name: &str, base_url: &str, more: &str) -> Self {
        self.configured(&format!(
            "default_profile = '{name}'\n[profiles.{name}]\nbase_url = '{base_url}'\n{more}"
        ))
    }

    /// `BOOKCTL_HOME`; it does not exist until something is kept in it.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("bookctl")
    }

    /// The folder that commands are run in, and `HOME`.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Whether the test set this variable.
    pub(super) fn sets(&self, name: &str) -> bool {
        self.variables.iter().any(|(known, _)| known == name)
    }

    /// The binary in this home, with nothing of the environment of whoever runs the tests.
    pub(crate) fn command<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bookctl"));
        self.enter(&mut command);
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// Gives a command this home's folder and environment.
    pub(crate) fn enter(&self, command: &mut Command) {
        #[cfg(unix)]
        super::pass_on_no_ignored_signal();
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder())
            .env("BOOKCTL_HOME", self.path())
            .env("TZ", "UTC")
            // The keyring of whoever runs the tests is not to be seen, let alone written.
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")
            .envs(self.variables.iter().cloned())
            .current_dir(self.folder());
        if cfg!(windows) {
            // Without these, no program runs there.
            let system = ["SystemRoot", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA"];
            let known = |name| std::env::var_os(name).map(|value| (name, value));
            command.envs(system.into_iter().filter_map(known));
        }
    }

    /// Runs the binary to its end, with nothing on standard input.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Output {
        self.start(arguments).end()
    }

    /// The same for a command that is to end well.
    #[track_caller]
    pub(crate) fn ok<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Output {
        self.run(arguments).exits(0)
    }

    /// Runs the binary with this on standard input.
    pub(crate) fn feed<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: &str,
    ) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped());
        let mut running = Running::start(command);
        let mut stdin = running.child.stdin.take().unwrap();
        // A command may end before it reads: what it says then is what the test is about.
        match stdin.write_all(input.as_bytes()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
        drop(stdin);
        running.end()
    }

    /// Starts the binary; `end` waits for it.
    pub(crate) fn start<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Running {
        Running::start(self.command(arguments))
    }

    /// The document of a command line under `--json` that ends well.
    #[track_caller]
    pub(crate) fn json(&self, line: &str) -> Value {
        self.ok(words(format!("{line} --json"))).json()
    }

    /// The error of a command line under `--json`, which ends with this exit code and `code`.
    #[track_caller]
    pub(crate) fn refuses(&self, line: &str, exit: i32, code: &str) -> Value {
        self.run(words(format!("{line} --json")))
            .refused(exit, code)
    }

    /// `book VENUE` for tomorrow evening as `--json`, with more flags.
    pub(crate) fn book(&self, venue: &str, more: &[&str]) -> Output {
        self.run(["book", venue, "--json"].iter().chain(&GUEST).chain(more))
    }

    /// The id of a booking there, which is to end with this exit code.
    pub(crate) fn booked(&self, venue: &str, more: &[&str], code: i32) -> String {
        let booking = self.book(venue, more).exits(code).json();
        text(&booking, "id")
    }

    /// Makes the next `times` calls of this kind (`POST /v1/bookings`) fail in the sandbox.
    pub(crate) fn fault(&self, call: &str, kind: &str, times: u32) {
        let times = times.to_string();
        let fault = ["--on", call, "--kind", kind, "--times", &times];
        let add = ["sandbox", "faults", "add"];
        self.ok(add.iter().chain(&fault));
    }

    /// Moves the sandbox's clock forward.
    pub(crate) fn advance(&self, duration: &str) {
        self.ok(["sandbox", "clock", "--advance", duration]);
    }

    /// The one-time code that was sent last.
    pub(crate) fn code(&self) -> String {
        let inbox = self.json("sandbox inbox");
        text(&inbox["messages"][0], "code")
    }

    /// A booking as it is now.
    pub(crate) fn booking(&self, id: &str) -> Value {
        self.ok(["show", id, "--json"]).json()
    }
}

/// What a command keeps holds nothing of the secrets that its environment gave it. (The sandbox's own file is the
/// service's, and knows its keys.)
impl Drop for Home {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        for file in ["journal.db", "config.toml"] {
            let file = self.path().join(file);
            if !file.is_file() {
                continue;
            }
            let kept = std::fs::read(&file).unwrap_or_default();
            let kept = String::from_utf8_lossy(&kept);
            for (name, secret) in &self.variables {
                let secret =
                    (name.ends_with("_KEY") || name.ends_with("_SECRET")).then_some(secret);
                let seen = secret.is_some_and(|secret| secret.len() > 8 && kept.contains(secret));
                assert!(!seen, "{name} is in {}", file.display());
            }
        }
    }
}

/// The words of a command line: blanks part them, except between single quotes.
pub(crate) fn words(line: impl AsRef<str>) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in line.as_ref().split('\'').enumerate() {
        if place % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// A field that must be text.
pub(crate) fn text(document: &Value, field: &str) -> String {
    let text = document[field].as_str();
    text.unwrap_or_else(|| panic!("no {field} in {document}"))
        .to_owned()
}

/// This field of each element of a list.
#[track_caller]
pub(crate) fn each(list: &Value, field: &str) -> Vec<String> {
    let list = list
        .as_array()
        .unwrap_or_else(|| panic!("{list} is no list"));
    list.iter().map(|it| text(it, field)).collect()
}

/// Asserts that a field of a document holds this.
#[track_caller]
pub(crate) fn has(document: &Value, field: &str, part: &str) {
    let found = text(document, field);
    assert!(
        found.contains(part),
        "{part:?} is not in {field} of {document}"
    );
}

/// A command under way.
pub(crate) struct Running {
    child: Child,
    line: String,
    /// The secrets that its environment holds: nothing of them may be seen.
    secrets: Vec<String>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let line = format!("{command:?}");
        let secrets = ["BOOKCTL_API_KEY", "BOOKCTL_WEBHOOK_SECRET"];
        let secrets = command
            .get_envs()
            .filter(|(name, _)| secrets.iter().any(|secret| name == secret))
            .filter_map(|(_, value)| Some(value?.to_str()?.to_owned()))
            .filter(|secret| secret.len() > 8)
            .collect();
        let child = command.spawn().unwrap();
        Running {
            child,
            line,
            secrets,
        }
    }

    /// The process's id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal; `-INT` and `-TERM` once the command listens for them: before, they would end it as they end
    /// any program, and how long a start takes is the machine's affair.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let awaited = match signal {
            "-INT" => Some(2),
            "-TERM" => Some(15),
            _ => None,
        };
        let deadline = Instant::now() + HANG;
        while awaited.is_some_and(|number| !catches(&id, number)) {
            assert!(
                Instant::now() < deadline,
                "never listens for {signal}: {}",
                self.line
            );
            std::thread::sleep(Duration::from_millis(2));
        }
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

    /// The same for a command that may take its time.
    pub(crate) fn end_within(self, longest: Duration) -> Output {
        let Running {
            child,
            line,
            secrets,
        } = self;
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

/// Whether a process has a handler for this signal, or has ended and needs none.
fn catches(id: &str, signal: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{id}/status")) else {
        return true;
    };
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim()
    };
    let caught = u64::from_str_radix(field("SigCgt:"), 16).unwrap_or_default();
    field("State:").starts_with('Z') || caught >> (signal - 1) & 1 == 1
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
        assert_eq!(
            error["exit_code"].as_i64(),
            self.code.map(i64::from),
            "{self}"
        );
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
