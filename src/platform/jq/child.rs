//! Runs a filter in a child process of this program, with limits on memory and time.
//!
//! A filter can recurse without end, use ever more memory, or never return. In a thread it would take down the
//! process, and with it the answer of a call that has already been carried out.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::evaluate::evaluate;
use crate::outcome::Exit;
use crate::platform::input::bounded;
use crate::platform::signals;
use crate::platform::system::limits::{limit_child, limit_oneself};
use crate::platform::system::process::exit_of;

/// The argument that starts the child. No command begins with it.
pub(crate) const ENTRY: &str = "--filter-standard-input";
/// How long a filter may run.
const LONGEST_RUN: Duration = Duration::from_secs(5);
/// How much memory a filter may use, its stack included.
const MOST_MEMORY: u64 = 1024 * 1024 * 1024;
/// Allows some ten thousand levels of recursion.
const STACK: usize = 256 * 1024 * 1024;
/// How often a signal that only the parent received is checked for.
const GLANCE: Duration = Duration::from_millis(20);

/// Why a filter has no result.
pub(crate) enum Trouble {
    /// The filter failed: it does not fit the document, or exceeded a limit.
    Failed(String),
    /// The time limit was reached.
    Endless,
    /// Ctrl-C or SIGTERM.
    Interrupted(Exit),
}

impl std::fmt::Display for Trouble {
    /// What the expression did, as the predicate of a sentence.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Failed(why) => write!(f, "failed: {why}"),
            Trouble::Endless => write!(f, "did not end within {} s", LONGEST_RUN.as_secs()),
            Trouble::Interrupted(_) => f.write_str("was interrupted"),
        }
    }
}

/// The child's entry point. It reads the expression, a zero byte and the document, and writes the outputs, one per line,
/// or the error.
pub(crate) fn filter_standard_input() -> Exit {
    // The time limit is for a parent that was killed.
    limit_oneself(MOST_MEMORY, LONGEST_RUN + Duration::from_secs(1));
    let input = bounded(std::io::stdin().lock(), MOST_MEMORY);
    let Some(input) = input.ok().and_then(|it| String::from_utf8(it).ok()) else {
        return Exit::Unclassified;
    };
    let work = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || {
            let (source, document) = input.split_once('\0').unwrap_or_default();
            match evaluate(source, document) {
                Ok(text) => (Exit::Done, text),
                Err(why) => (Exit::Unclassified, why),
            }
        });
    let (exit, text) = match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => (Exit::Unclassified, "broke".to_owned()),
        Err(error) => (Exit::Unclassified, error.to_string()),
    };
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => exit,
        Err(_) => Exit::Unclassified,
    }
}

/// Runs a filter on a document.
pub(super) fn run(source: &str, document: &str) -> Result<String, Trouble> {
    let failed = |error: std::io::Error| Trouble::Failed(error.to_string());
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .arg(ENTRY)
        .env_clear()
        // Windows loads libraries from there.
        .envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let limited = limit_child(&child, MOST_MEMORY);
    let outcome = match &limited {
        Ok(_) => converse(&mut child, format!("{source}\0{document}")),
        Err(error) => Err(Trouble::Failed(error.to_string())),
    };
    if outcome.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().map_err(failed)?;
    let (text, last_words) = outcome?;
    match status.code() {
        Some(0) => Ok(text),
        // It says itself why it failed. Every other code is of a process that was ended.
        Some(code) if code == i32::from(Exit::Unclassified.code()) => Err(Trouble::Failed(text)),
        _ => Err(killed(exit_of(status), &last_words)),
    }
}

/// Writes the child's input and reads both of its output streams.
fn converse(child: &mut Child, input: String) -> Result<(String, String), Trouble> {
    signals::watch();
    let (sender, receiver) = mpsc::channel();
    if let Some(mut stdin) = child.stdin.take() {
        // A child that exits early reports the reason by its exit code.
        std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    let stderr = child.stderr.take().map(|stream| {
        std::thread::spawn(move || {
            let mut words = Vec::new();
            let _ = stream.take(4096).read_to_end(&mut words);
            String::from_utf8_lossy(&words).into_owned()
        })
    });
    if let Some(mut stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = sender.send(stdout.read_to_string(&mut text).map(|_| text));
        });
    }
    let begun = Instant::now();
    let text = loop {
        match receiver.recv_timeout(GLANCE) {
            Ok(text) => break text.map_err(|error| Trouble::Failed(error.to_string()))?,
            Err(mpsc::RecvTimeoutError::Disconnected) => break String::new(),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if let Some(exit) = signals::caught() {
            return Err(Trouble::Interrupted(exit));
        }
        if begun.elapsed() > LONGEST_RUN {
            return Err(Trouble::Endless);
        }
    };
    let last_words = stderr.and_then(|words| words.join().ok());
    Ok((text, last_words.unwrap_or_default()))
}

/// The reason if the child was ended.
fn killed(exit: Exit, last_words: &str) -> Trouble {
    match exit.code() {
        // Ctrl-C at the terminal also reaches the child.
        130 => Trouble::Interrupted(Exit::Interrupted),
        143 => Trouble::Interrupted(Exit::Terminated),
        129 => Trouble::Interrupted(Exit::HungUp),
        131 => Trouble::Interrupted(Exit::Quit),
        _ if last_words.contains("overflowed its stack") => {
            Trouble::Failed("recurses without end".to_owned())
        }
        _ if last_words.contains("allocation") => Trouble::Failed(format!(
            "needs more than {} MB of memory",
            MOST_MEMORY / 1024 / 1024
        )),
        152 => Trouble::Endless,
        _ => Trouble::Failed("was killed".to_owned()),
    }
}
