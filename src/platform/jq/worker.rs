//! An expression that a server evaluates many times, on a thread of this process.
//!
//! A thread cannot be ended from outside, so it has no limit on memory: this is for expressions of whoever runs the
//! server. What comes from elsewhere is for the child process.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

use super::evaluate::{compile, run};

/// How long an expression may take for one document.
const LONGEST_RUN: Duration = Duration::from_secs(2);
/// How many documents may wait for an expression.
const QUEUE: usize = 1024;
/// Allows some ten thousand levels of recursion.
const STACK: usize = 256 * 1024 * 1024;
/// After this many evaluations without end, the expression is not tried again: each keeps a thread busy.
const MOST_ABANDONED: u8 = 2;

/// An expression that compiles, with the thread that evaluates it from the first document on.
pub(crate) struct Worker {
    source: String,
    thread: Mutex<Option<SyncSender<Job>>>,
    abandoned: AtomicU8,
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
        compile(source)?;
        Ok(Worker {
            source: source.to_owned(),
            thread: Mutex::new(None),
            abandoned: AtomicU8::new(0),
        })
    }

    /// The one output of the expression for a document. The error says what the expression did, as the predicate of a
    /// sentence.
    pub(crate) async fn apply(&self, document: &Value) -> Result<Value, String> {
        let endless = || format!("did not end within {} s", LONGEST_RUN.as_secs());
        if self.abandoned.load(Ordering::Relaxed) >= MOST_ABANDONED {
            return Err(format!("{} and is not tried again", endless()));
        }
        let (done, outcome) = oneshot::channel();
        let document = document.to_string();
        self.send(Job { document, done })?;
        match tokio::time::timeout(LONGEST_RUN, outcome).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err("failed: its thread has ended".to_owned()),
            Err(_) => {
                self.abandoned.fetch_add(1, Ordering::Relaxed);
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

/// Evaluates documents until nobody can send any more.
fn work(source: &str, jobs: &Receiver<Job>) {
    // The compiled form cannot move to another thread.
    let Ok(filter) = compile(source) else {
        return;
    };
    for job in jobs {
        // Whoever asked may have stopped waiting.
        let _ = job.done.send(only(run(&filter, &job.document)));
    }
}

/// The output, if there is exactly one.
fn only(outputs: Result<String, String>) -> Result<Value, String> {
    let outputs = outputs.map_err(|why| format!("failed: {why}"))?;
    let mut lines = outputs.lines();
    match (lines.next(), lines.count()) {
        (Some(line), 0) => serde_json::from_str(line).map_err(|error| format!("failed: {error}")),
        (None, _) => Err("gives no value".to_owned()),
        (Some(_), more) => Err(format!("gives {} values instead of one", more + 1)),
    }
}

#[cfg(test)]
mod tests {
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
            "nothing_like_it is not known here"
        );
    }

    #[test]
    fn an_expression_without_end_is_given_up_and_another_goes_on() {
        let endless = Worker::new("if . == 1 then last(repeat(1)) else . end").unwrap();
        block_on(async {
            for _ in 0..MOST_ABANDONED {
                let given_up = endless.apply(&json!(1)).await;
                assert_eq!(given_up, Err("did not end within 2 s".to_owned()));
            }
            let refused = endless.apply(&json!(2)).await.unwrap_err();
            assert_eq!(refused, "did not end within 2 s and is not tried again");
            let other = Worker::new(".").unwrap();
            assert_eq!(other.apply(&json!(2)).await, Ok(json!(2)));
        });
    }
}
