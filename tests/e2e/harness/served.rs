//! `bookctl sandbox serve` as a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

use super::home::text;
use super::listening::until;
use super::{Home, http};

/// A served sandbox; it ends with this value, and must not have panicked until then.
pub(crate) struct Served {
    child: Child,
    log: Option<JoinHandle<String>>,
    base_url: String,
    ready: Value,
    /// The home of one that keeps nothing: it goes with it.
    own: Option<Home>,
}

impl Served {
    /// One that keeps nothing.
    pub(crate) fn start() -> Self {
        Self::ephemeral(&[])
    }

    /// One that keeps nothing and meters nothing.
    pub(crate) fn unlimited() -> Self {
        Self::ephemeral(&["--no-limits"])
    }

    fn ephemeral(more: &[&str]) -> Self {
        let home = Home::new();
        let mut served = Self::with(&home, &[&["--ephemeral"], more].concat());
        served.own = Some(home);
        served
    }

    /// One that keeps nothing, and a home that talks to it with the key that may do everything.
    pub(crate) fn with_home() -> (Self, Home) {
        Self::start().beside_home()
    }

    /// The same without limits.
    pub(crate) fn unlimited_with_home() -> (Self, Home) {
        Self::unlimited().beside_home()
    }

    fn beside_home(self) -> (Self, Home) {
        let home = self.home();
        (self, home)
    }

    /// The very sandbox that a home embeds.
    pub(crate) fn from_home(home: &Home) -> Self {
        Self::with(home, &[])
    }

    pub(crate) fn with(home: &Home, more: &[&str]) -> Self {
        Self::at_port("0", home, more)
    }

    /// The same at this port.
    pub(crate) fn at_port(port: &str, home: &Home, more: &[&str]) -> Self {
        let arguments = ["sandbox", "serve", "--port", port, "--json"];
        let mut command = home.command(arguments.iter().chain(more));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            let _ = stderr.read_to_string(&mut log);
            log
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let base_url = text(&ready, "base_url");
        Served { child, log: Some(log), base_url, ready, own: None }
    }

    /// The process's id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The line that said that it is ready.
    pub(crate) fn ready(&self) -> &Value {
        &self.ready
    }

    /// A home that talks to it with the key that may do everything.
    pub(crate) fn home(&self) -> Home {
        self.home_with("sk_live_sandbox")
    }

    pub(crate) fn home_with(&self, key: &str) -> Home {
        Home::pointing_to(&self.base_url, key)
    }

    /// Sends it a request with these headers; the status and the document that came.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, Value) {
        http::send(&self.base_url, method, path, headers, body)
    }

    /// Every booking that the sandbox holds.
    pub(crate) fn bookings(&self) -> Vec<Value> {
        let (status, document) = self.send("GET", "/sandbox/bookings", &[], "");
        assert_eq!(status, 200, "{document}");
        document["bookings"].as_array().unwrap().clone()
    }

    /// Takes it back to where it began.
    pub(crate) fn reset(&self) {
        let (status, document) = self.send("POST", "/sandbox/reset", &[], "");
        assert_eq!(status, 200, "{document}");
    }

    /// Asks for its end, and tells what it wrote to stderr.
    pub(crate) fn log(mut self) -> String {
        self.terminate();
        let log = self.log.take().and_then(|log| log.join().ok());
        log.unwrap_or_default()
    }

    /// Asks for its end as a service manager does; its exit code.
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        if cfg!(unix) {
            let id = self.child.id().to_string();
            let killed = Command::new("kill").args(["-TERM", &id]).status();
            assert!(killed.unwrap().success());
        } else {
            self.child.kill().unwrap();
        }
        until("the sandbox ends", || self.child.try_wait().unwrap().is_some());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let log = self.log.take().and_then(|log| log.join().ok());
        let log = log.unwrap_or_default();
        if !std::thread::panicking() {
            assert!(!log.contains("panicked"), "the sandbox panicked:\n{log}");
        }
    }
}
