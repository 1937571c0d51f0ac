//! A log on stderr that never holds up what writes it.

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use super::{Output, StreamStyle};

const WAITING: usize = 1024;
/// How long entries are gathered for one write: a thread that wakes up for each of them would cost
/// the sender more than the entry.
const GATHERING: Duration = Duration::from_millis(2);
const LOG_END: Duration = Duration::from_millis(500);

/// Writes entries in a thread of its own, so that a slow reader does not hold up the sender. Entries
/// that do not fit are dropped and counted.
pub(crate) struct LogThread<T> {
    entries: SyncSender<LogEntry<T>>,
    missing: Arc<AtomicUsize>,
}

enum LogEntry<T> {
    Written(T),
    /// Tells that everything before it is written.
    End(SyncSender<()>),
}

impl<T: Send + 'static> LogThread<T> {
    pub(crate) fn start(style: StreamStyle, lines: impl Fn(T) -> String + Send + 'static) -> Self {
        let (entries, arriving) = sync_channel(WAITING);
        let missing = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&missing);
        std::thread::spawn(move || {
            while let Ok(first) = arriving.recv() {
                std::thread::sleep(GATHERING);
                let mut text = String::new();
                let mut end = None;
                for entry in iter::once(first).chain(arriving.try_iter().take(WAITING)) {
                    match entry {
                        LogEntry::Written(entry) => text.push_str(&lines(entry)),
                        LogEntry::End(written) => end = Some(written),
                    }
                }
                Output::write_log(&text);
                match counted.swap(0, Ordering::Relaxed) {
                    0 => {}
                    missing => {
                        let what = "missing here, because the log was not read in time";
                        let what = format!("{missing} entries are {what}");
                        Output::write_log(&Output::log_line(style, "warning:", &what));
                    }
                }
                if let Some(written) = end {
                    let _ = written.try_send(());
                }
            }
        });
        Self { entries, missing }
    }

    pub(crate) fn add(&self, entry: T) {
        if self.entries.try_send(LogEntry::Written(entry)).is_err() {
            self.missing.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits a little for the entries that are not written yet. Returns whether all were written.
    pub(crate) fn end(&self) -> bool {
        let (written, end) = sync_channel(1);
        self.entries.try_send(LogEntry::End(written)).is_ok() && end.recv_timeout(LOG_END).is_ok()
    }
}
