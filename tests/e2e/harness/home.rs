//! A blank home, and the binary run in it.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{Output, Running};

/// What a booking takes beside its venue.
pub(crate) const GUEST: [&str; 6] =
    ["--at", "tomorrow 19:30", "--party", "2", "--name", "Ada Lovelace"];

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
        let folder = tempfile::Builder::new().prefix("bookctl-e2e-").tempdir().unwrap();
        Home { folder, variables: Vec::new() }
    }

    /// A home that has booked there in its sandbox, which ended with this exit code; the id.
    pub(crate) fn with_booking(venue: &str, code: i32) -> (Self, String) {
        let home = Home::new();
        let id = home.booked(venue, &[], code);
        (home, id)
    }

    /// A home whose environment names a service and a key for it.
    pub(crate) fn pointing_to(base_url: &str, key: &str) -> Self {
        Home::new().with("BOOKCTL_BASE_URL", base_url).with("BOOKCTL_API_KEY", key)
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

    /// Whether a text is anywhere in the files of `BOOKCTL_HOME` whose names begin so.
    pub(crate) fn files_hold(&self, begin: &str, part: &str) -> bool {
        let files = std::fs::read_dir(self.path()).into_iter().flatten().map(Result::unwrap);
        let mut files = files.filter(|it| it.file_name().to_string_lossy().starts_with(begin));
        let holds = |bytes: &[u8]| bytes.windows(part.len()).any(|it| it == part.as_bytes());
        files.any(|file| holds(&std::fs::read(file.path()).unwrap()))
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

    /// Another program in this home.
    pub(crate) fn program(&self, name: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(name);
        self.enter(&mut command);
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
            .env("BOOKCTL_TEST_PACE", "0.1")
            // As a person types all commands in one shell, whose rows `@1` names.
            .env("BOOKCTL_TEST_SHELL", "one")
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

    /// The list that a command line prints under `--json`.
    #[track_caller]
    pub(crate) fn list(&self, line: &str) -> Vec<Value> {
        let document = self.json(line);
        let mut lists = document.as_object().unwrap().values();
        let list = lists.find_map(Value::as_array);
        list.unwrap_or_else(|| panic!("no list in {document}")).clone()
    }

    /// The error of a command line under `--json`, which ends with this exit code and `code`.
    #[track_caller]
    pub(crate) fn refuses(&self, line: &str, exit: i32, code: &str) -> Value {
        self.run(words(format!("{line} --json"))).refused(exit, code)
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

/// What a command keeps holds nothing of the secrets that its environment gave it. (The sandbox's
/// own file is the service's, and knows its keys.)
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
    text.unwrap_or_else(|| panic!("no {field} in {document}")).to_owned()
}

/// This field of each element of a list.
#[track_caller]
pub(crate) fn each(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list} is no list"));
    list.iter().map(|it| text(it, field)).collect()
}

/// Asserts that a field of a document holds this.
#[track_caller]
pub(crate) fn has(document: &Value, field: &str, part: &str) {
    let found = text(document, field);
    assert!(found.contains(part), "{part:?} is not in {field} of {document}");
}

/// Asserts that a document has these fields, with these values: `holds!(booking, {"status":
/// "confirmed"})`.
macro_rules! holds {
    ($document:expr, {$($fields:tt)*}) => {
        $crate::harness::has_fields(&$document, &serde_json::json!({$($fields)*}))
    };
}
pub(crate) use holds;

#[track_caller]
pub(crate) fn has_fields(document: &Value, fields: &Value) {
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(document[name], *value, "{name} of {document}");
    }
}
