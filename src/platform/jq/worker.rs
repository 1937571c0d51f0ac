//! An expression that a server evaluates many times, on a thread of this process.
//!
//! A thread has no limit on memory of its own. How much the process grows is watched instead, between the steps of an
//! expression. One step can still ask for too much, so this is for expressions of whoever runs the server. What comes
//! from elsewhere is for the child process.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

use super::evaluate::{compile_watched, run};
use super::watched;

/// How long an expression may take for one document.
const LONGEST_RUN: Duration = Duration::from_secs(2);
/// How much longer its end is waited for. A single step of jq is not checked.
const GRACE: Duration = Duration::from_secs(2);
/// How many documents may wait for an expression.
const QUEUE: usize = 1024;
/// Allows some ten thousand levels of recursion.
const STACK: usize = 256 * 1024 * 1024;
/// An expression that compiles, with the thread that evaluates it from the first document on.
pub(crate) struct Worker {
    source: String,
    thread: Mutex<Option<SyncSender<Job>>>,
}

struct Job {
    document: String,
    done: oneshot::Sender<Result<Value, String>>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").field(&self.source).finish()
    }
}

impl Worker {
    /// Compiles an expression. The error says why it does not compile.
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        compile_watched(source)?;
        Ok(Worker {
            source: source.to_owned(),
            thread: Mutex::new(None),
        })
    }

    /// The one output of the expression for a document. The error says what the expression did, as the predicate of a
    /// sentence.
    pub(crate) async fn apply(&self, document: &Value) -> Result<Value, String> {
        let (done, outcome) = oneshot::channel();
        let document = document.to_string();
        self.send(Job { document, done })?;
        match tokio::time::timeout(LONGEST_RUN + GRACE, outcome).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err("failed: its thread has ended".to_owned()),
            Err(_) => {
                // The thread is left to itself, and the next document starts another.
                *self.lock() = None;
                Err(endless())
            }
        }
    }

    /// Gives the thread a document, and starts it if it has not been started or has ended.
    fn send(&self, job: Job) -> Result<(), String> {
        let mut thread = self.lock();
        let mut job = job;
        if let Some(running) = &*thread {
            match running.try_send(job) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(_)) => {
                    return Err("failed: too many documents wait for it".to_owned());
                }
                Err(TrySendError::Disconnected(unsent)) => job = unsent,
            }
        }
        let (sender, jobs) = sync_channel(QUEUE);
        let source = self.source.clone();
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || work(&source, &jobs))
            .map_err(|error| format!("failed: {error}"))?;
        let sent = sender.try_send(job);
        *thread = Some(sender);
        sent.map_err(|_| "failed: its thread has ended".to_owned())
    }

    fn lock(&self) -> MutexGuard<'_, Option<SyncSender<Job>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn endless() -> String {
    format!("did not end within {} s", LONGEST_RUN.as_secs())
}

/// Evaluates documents until nobody can send any more.
fn work(source: &str, jobs: &Receiver<Job>) {
    // The compiled form cannot move to another thread.
    let Ok(filter) = compile_watched(source) else {
        return;
    };
    for job in jobs {
        watched::begin(LONGEST_RUN, job.document.len());
        let outcome = only(run(&filter, &job.document));
        // Whoever asked may have stopped waiting.
        let _ = job.done.send(outcome);
    }
}

/// The output, if there is exactly one.
fn only(outputs: Result<String, String>) -> Result<Value, String> {
    // An error that is a text comes in quotes.
    let outputs = outputs.map_err(|why| match why.trim_matches('"') {
        watched::TOO_LONG => endless(),
        it @ (watched::TOO_DEEP | watched::TOO_LARGE) => it.to_owned(),
        _ => format!("failed: {why}"),
    })?;
    let mut lines = outputs.lines();
    match (lines.next(), lines.count()) {
        (Some(line), 0) => serde_json::from_str(line).map_err(|error| format!("failed: {error}")),
        (None, _) => Err("gives no value".to_owned()),
        (Some(_), more) => Err(format!("gives {} values instead of one", more + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::evaluate::compile;
    use super::*;
    use serde_json::json;

    fn apply(source: &str, document: &Value) -> Result<Value, String> {
        block_on(Worker::new(source).unwrap().apply(document))
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(work)
    }

    #[test]
    fn a_document_is_translated_with_its_keys_in_order_and_its_numbers_as_they_are() {
        let document = json!({"b": 9_007_199_254_740_993_i64, "a": 51.5074, "c": [null, true]});
        assert_eq!(apply(".", &document), Ok(document.clone()));
        assert_eq!(apply("{x: .c}", &document), Ok(json!({"x": [null, true]})));
    }

    #[test]
    fn anything_but_one_output_is_an_error_that_says_so() {
        let failed = |source| apply(source, &json!({"a": "text"})).unwrap_err();
        assert_eq!(failed("empty"), "gives no value");
        assert_eq!(failed(".a, .a"), "gives 2 values instead of one");
        assert!(failed(".a.b").starts_with("failed: "));
        assert_eq!(
            Worker::new("nothing_like_it").unwrap_err(),
            "nothing_like_it is not defined"
        );
    }

    #[test]
    fn an_expression_without_end_fails_and_the_next_document_is_translated() {
        for endless in [
            "last(repeat(1))",
            "[range(infinite)]",
            "last(range(0; 1; 0))",
            "def f: f; f",
            "until(false; .)",
            "reduce repeat(1) as $x (0; . + $x)",
            "first(range(1e12) | select(. < 0))",
        ] {
            let worker = Worker::new(&format!("if . == 1 then {endless} else . end")).unwrap();
            block_on(async {
                let failed = worker.apply(&json!(1)).await.unwrap_err();
                // The memory that the test beside this one fills counts too.
                let ends = ["did not end within 2 s", "needs too much memory"];
                assert!(ends.contains(&failed.as_str()), "{endless}: {failed}");
                assert_eq!(worker.apply(&json!(2)).await, Ok(json!(2)), "{endless}");
            });
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_expression_that_fills_the_memory_fails_before_it_is_full() {
        let large = "reduce range(60) as $i (\"0123456789abcdef\"; . + .) | length";
        let worker = Worker::new(&format!("if . == 1 then {large} else . end")).unwrap();
        block_on(async {
            let failed = worker.apply(&json!(1)).await;
            let ends = ["needs too much memory", "did not end within 2 s"];
            assert!(
                failed.as_ref().is_err_and(|it| ends.contains(&it.as_str())),
                "{failed:?}"
            );
            assert_eq!(worker.apply(&json!(2)).await, Ok(json!(2)));
        });
    }

    #[test]
    fn recursion_without_end_fails_before_the_stack_ends() {
        for endless in [
            "def f: 1 + f; f",
            "def f: [f]; f",
            "def f(g): f(g | g) + 1; f(.)",
        ] {
            let failed = apply(endless, &json!(1)).unwrap_err();
            let ends = ["recurses without end", "did not end within 2 s"];
            assert!(ends.contains(&failed.as_str()), "{endless}: {failed}");
        }
        let deep = "def f: if . == 0 then 0 else (. - 1 | f) + 1 end; f";
        assert_eq!(apply(deep, &json!(5_000)), Ok(json!(5_000)));
    }

    #[test]
    fn what_is_watched_gives_what_it_gives_otherwise() {
        let document = json!({"a": [3, 1, 2], "b": {"c": "x-y", "d": null}, "t": 1_795_262_400});
        for expression in [
            "[range(3)], [range(5; 1; -2)], [limit(3; range(10))] | tojson",
            ".a |= sort | .b |= with_entries(select(.value != null)) | del(.t)",
            ".b.c |= (split(\"-\") | map(ascii_upcase) | join(\"_\"))",
            "def last: .[-1]; .a | last |= 9",
            "[paths] | map(length), [.. | numbers]",
            "to_entries | map(.key) | first, last, nth(1)",
            "(.a | first) = 7 | .a[1:] | add",
            ".t | todate, (todate | fromdate)",
            "[.a[] | . as $x | if $x > 1 then $x else empty end] | any(. > 2), length",
            ".b | walk(if type == \"string\" then ascii_upcase else . end)",
            "\"\\(.a | @csv) \\(.b.c | @base64)\"",
            "try error(\"x\") catch ., (.b.c | test(\"x\")), ([.a | recurse] | length)",
            "reduce .a[] as $n (0; . + $n), [foreach .a[] as $n (0; . + $n)]",
            ".a | map_values(. + 1) | getpath([0]), (setpath([0]; 5) | tostring)",
            "label $out | foreach .a[] as $n (0; . + $n; if . > 3 then ., break $out else . end)",
        ] {
            let document = document.to_string();
            let free = compile(expression).and_then(|filter| run(&filter, &document));
            watched::begin(LONGEST_RUN, document.len());
            let watched = compile_watched(expression).and_then(|filter| run(&filter, &document));
            assert_eq!(watched, free, "{expression}");
        }
    }
}
