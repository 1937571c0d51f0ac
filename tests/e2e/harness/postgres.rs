//! A PostgreSQL of the tests' own: a cluster in a temporary folder, on a socket and on a port of
//! loopback.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::listening::until;
use super::{Owned, free_port, installed, skipped};

/// A cluster with an empty database. It ends with this value.
pub(crate) struct Postgres {
    folder: TempDir,
    port: u16,
    settings: Vec<String>,
    server: Option<Child>,
}

/// The folder of the newest PostgreSQL's programs.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.map(|version| version.unwrap().path().join("bin"));
    folders.filter(|it| it.join("initdb").exists()).max()
}

/// A program, run as a user whom PostgreSQL does not refuse: it does not run as root.
pub(crate) fn unprivileged(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout != b"0\n" {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]);
    command.arg(program);
    command
}

#[track_caller]
fn done(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

impl Postgres {
    /// `None` where no PostgreSQL is installed.
    #[track_caller]
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs().filter(|_| installed("setpriv")) else {
            skipped("no PostgreSQL is installed");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("bookctl-pg-").tempdir().unwrap();
        let is_root = Command::new("chown").args(["nobody"]).arg(folder.path()).status();
        is_root.unwrap();
        let data = folder.path().join("data");
        done(
            unprivileged(programs.join("initdb"))
                .args(["--no-sync", "-A", "trust", "-U", "owner", "-E", "UTF8"])
                .args(["--locale=C.UTF-8", "-D"])
                .arg(&data),
        );
        let mut cluster =
            Postgres { folder, port: free_port(), settings: Vec::new(), server: None };
        cluster.serve(true);
        cluster.sql("postgres", "CREATE DATABASE bookctl");
        Some(cluster)
    }

    /// The folder of the cluster, and of its socket.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The URL of the database on its socket.
    pub(crate) fn url(&self) -> String {
        let folder = self.folder.path().display();
        format!("postgresql://owner@:{}/bookctl?host={folder}", self.port)
    }

    /// The same on loopback.
    pub(crate) fn loopback(&self) -> String {
        format!("postgresql://owner@127.0.0.1:{}/bookctl", self.port)
    }

    /// From now on, everybody but the owner needs a password on loopback.
    pub(crate) fn ask_for_passwords(&mut self) {
        let rules = "local all all trust\nhost all owner 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        std::fs::write(self.folder().join("data/pg_hba.conf"), rules).unwrap();
        self.kill();
        self.run();
    }

    /// Starts the server, with these settings more from now on.
    pub(crate) fn run_with(&mut self, settings: &[&str]) {
        self.settings.extend(settings.iter().map(|it| (*it).to_owned()));
        self.run();
    }

    /// Starts the server again.
    pub(crate) fn run(&mut self) {
        self.serve(false);
    }

    /// Somebody may have its port meanwhile: a new one takes another, an old one waits.
    fn serve(&mut self, is_new: bool) {
        let mut server = self.spawn();
        until("PostgreSQL starts", || {
            if server.try_wait().unwrap().is_some() {
                if is_new {
                    self.port = free_port();
                }
                server = self.spawn();
            }
            self.answers()
        });
        self.server = Some(server);
    }

    fn spawn(&self) -> Child {
        unprivileged(programs().unwrap().join("postgres"))
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .arg("-k")
            .arg(self.folder.path())
            .args(["-p", &self.port.to_string()])
            .args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
            .args(self.settings.iter().flat_map(|it| ["-c", it.as_str()]))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn answers(&self) -> bool {
        let mut command = Command::new(programs().unwrap().join("psql"));
        let output = self.connect(&mut command, "postgres").args(["-c", "SELECT 1"]).output();
        output.unwrap().status.success()
    }

    fn connect<'a>(&self, command: &'a mut Command, database: &str) -> &'a mut Command {
        command
            .arg("-h")
            .arg(self.folder.path())
            .args(["-p", &self.port.to_string(), "-U", "owner", "-d", database])
            .args(["-v", "ON_ERROR_STOP=1", "-Atq"])
            .stdin(Stdio::null())
    }

    /// Runs a statement, and returns what it shows.
    #[track_caller]
    pub(crate) fn sql(&self, database: &str, statement: &str) -> String {
        let mut command = Command::new(programs().unwrap().join("psql"));
        let output = self.connect(&mut command, database).args(["-c", statement]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{statement}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs statements in a transaction that stays open until it is committed.
    #[track_caller]
    pub(crate) fn begin(&self, database: &str, statements: &str) -> Transaction {
        let mut command = Command::new(programs().unwrap().join("psql"));
        let mut session = self
            .connect(&mut command, database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let begin = format!("BEGIN; {statements};\n\\echo done\n");
        let input = session.stdin.as_mut().unwrap();
        input.write_all(begin.as_bytes()).unwrap();
        let mut lines = BufReader::new(session.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "done"), "{statements}");
        Transaction(Owned(session))
    }

    /// Kills the server on the spot, and everything that it started.
    pub(crate) fn kill(&mut self) {
        let Some(mut server) = self.server.take() else {
            return;
        };
        // An immediate shutdown: its processes end without a checkpoint, as in a crash, and leave
        // nothing behind.
        let id = server.id().to_string();
        let _ = Command::new("kill").args(["-QUIT", &id]).status();
        let _ = server.wait();
    }
}

/// A transaction of psql.
pub(crate) struct Transaction(Owned);

impl Transaction {
    pub(crate) fn commit(mut self) {
        let mut input = self.0.0.stdin.take().unwrap();
        input.write_all(b"COMMIT;\n").unwrap();
        drop(input);
        assert!(self.0.0.wait().unwrap().success());
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}
