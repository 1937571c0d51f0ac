//! jq expressions, each on a thread of its own, limited in time, memory and recursion.
//!
//! Nothing can end a thread from outside. One that reaches a limit is left to itself until the
//! process ends, which for a command is at once. The growth of the process is known on Linux alone:
//! elsewhere, and where one step asks for more memory than the system has, a greedy or endlessly
//! recursive expression aborts the process. So callers write down what a call did before they
//! evaluate anything on its result.

mod evaluate;

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use evaluate::{compile, evaluate};
use serde::Serialize;

use crate::platform::signals;

/// The longest expression, in bytes.
const LONGEST: usize = 64 * 1024;
const LONGEST_RUN: Duration = Duration::from_secs(5);
/// How much the process may grow meanwhile, in bytes. The stack that is used counts too.
const MOST_MEMORY: usize = 512 * 1024 * 1024;
/// More than [`MOST_MEMORY`], so that recursion without end is noticed before the stack ends, which
/// would abort the process. Only what is used of it takes memory.
const STACK: usize = 2 * MOST_MEMORY;
/// How often the limits and signals are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Expression {
    source: String,
    /// Variables with their `$`, each with its value as JSON.
    #[serde(skip)]
    variables: Vec<(String, String)>,
}

impl Expression {
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        Expression::with_variables(source, Vec::new())
    }

    /// An expression that may use these variables, each with its `$` and its value as JSON.
    pub(crate) fn with_variables(
        source: &str,
        variables: Vec<(String, String)>,
    ) -> Result<Self, String> {
        if source.len() > LONGEST {
            return Err(format!("is longer than {} KB", LONGEST / 1024));
        }
        let expression = Expression { source: source.to_owned(), variables };
        let Expression { source, variables } = expression.clone();
        on_its_thread(move || compile(&source, &variables).map(drop))?;
        Ok(expression)
    }

    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.source.contains(name)
    }

    /// Evaluates the expression on a JSON text. Returns its outputs as JSON, one per line. The error
    /// is the predicate of a sentence: it does not fit the document, or has reached a limit; or a
    /// signal was [`signals::caught`].
    pub(crate) fn run(&self, document: &str) -> Result<String, String> {
        signals::watch();
        let Expression { source, variables } = self.clone();
        let document = document.to_owned();
        on_its_thread(move || {
            evaluate(&source, &variables, &document).map_err(|why| format!("failed: {why}"))
        })
    }
}

fn on_its_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = mpsc::channel();
    let before = memory();
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || sender.send(work()))
        .map_err(|error| error.to_string())?;
    let begun = Instant::now();
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => return Err("broke".to_owned()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if signals::caught().is_some() {
            return Err("was interrupted".to_owned());
        }
        if begun.elapsed() > LONGEST_RUN {
            return Err(format!("did not end within {} s", LONGEST_RUN.as_secs()));
        }
        if let (Some(before), Some(now)) = (before, memory())
            && now.saturating_sub(before) > MOST_MEMORY
        {
            let megabytes = MOST_MEMORY / 1024 / 1024;
            return Err(format!(
                "needs more than {megabytes} MB of memory, or recurses without end"
            ));
        }
    }
}

/// The memory of this process in bytes, where the system tells it as Linux does.
fn memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
