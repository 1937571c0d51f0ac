//! Standard output and standard error: a reader that is slow, or has gone.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::windows::io::AsHandle;
use std::sync::mpsc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::outcome::Exit;
use crate::platform::signals;

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How often a pipe is checked for a reader.
const ASKED_EVERY: Duration = Duration::from_millis(250);

/// Completes when the reader closes standard output, as in `| select -First 1`. Never completes if
/// it is not a pipe.
///
/// Windows reports no closed pipe. A write of no bytes changes nothing, and fails then.
pub(crate) async fn reader_gone() {
    let stdout = io::stdout();
    let pipe = stdout.as_handle().try_clone_to_owned().map(File::from);
    let is_pipe =
        |file: &File| !stdout.is_terminal() && !file.metadata().is_ok_and(|it| it.is_file());
    if let Some(mut pipe) = pipe.ok().filter(is_pipe) {
        let (gone, reported) = oneshot::channel::<()>();
        // Its own thread, because a write waits where another one does.
        let ask = move || {
            while !gone.is_closed() {
                if pipe.write(&[]).is_err() {
                    let _ = gone.send(());
                    return;
                }
                std::thread::sleep(ASKED_EVERY);
            }
        };
        if std::thread::Builder::new().spawn(ask).is_ok() && reported.await.is_ok() {
            return;
        }
    }
    std::future::pending().await
}

/// Writes a text to standard output. Returns a signal that arrived while the reader took nothing.
pub(crate) fn write(text: &str) -> io::Result<Option<Exit>> {
    write_to(io::stdout(), text)
}

/// Writes a text to standard error, unless a signal arrives while the reader takes nothing.
pub(crate) fn write_stderr(text: &str) -> io::Result<Option<Exit>> {
    write_to(io::stderr(), text)
}

/// A write to a full pipe cannot be ended, so it is left to a thread, which ends with the process.
fn write_to(
    mut stream: impl Write + IsTerminal + Send + 'static,
    text: &str,
) -> io::Result<Option<Exit>> {
    if stream.is_terminal() {
        stream.write_all(text.as_bytes())?;
        return stream.flush().map(|()| None);
    }
    let (sender, written) = mpsc::channel();
    let text = text.to_owned();
    let write = move || {
        drop(sender.send(stream.write_all(text.as_bytes()).and_then(|()| stream.flush())));
    };
    std::thread::Builder::new().spawn(write)?;
    loop {
        match written.recv_timeout(POLL_INTERVAL) {
            Ok(written) => return written.map(|()| None),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the thread that writes has ended"));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        signals::watch();
        if let Some(signal) = signals::caught() {
            return Ok(Some(signal));
        }
    }
}
