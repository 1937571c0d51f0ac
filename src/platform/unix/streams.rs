//! Standard output and standard error: a reader that is slow, or has gone.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::net::unix::pipe::Sender;

use crate::outcome::Exit;
use crate::platform::signals;

/// The size of a single write. With our own buffer, it is less than a pipe accepts.
const PIECE: usize = 2048;
/// How often signals are checked while a pipe is full.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Completes when the reader closes standard output, as in `| head -1`; never if it is no pipe.
pub(crate) async fn reader_gone() {
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let is_pipe = |file: &File| file.metadata().is_ok_and(|it| it.file_type().is_fifo());
    // `_unchecked` leaves the pipe in blocking mode, which other users of it rely on.
    if let Some(pipe) = stdout.ok().filter(is_pipe)
        && let Ok(pipe) = Sender::from_file_unchecked(pipe)
        && pipe.ready(Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// Writes a text to standard output. Returns a signal that arrived while the reader took nothing.
pub(crate) fn write(text: &str) -> io::Result<Option<Exit>> {
    write_to(io::stdout().lock(), text)
}

/// Writes a text to standard error, unless a signal arrives while the reader takes nothing.
pub(crate) fn write_stderr(text: &str) -> io::Result<Option<Exit>> {
    write_to(io::stderr().lock(), text)
}

/// Writes a text in pieces that fit into a pipe. Returns a signal that arrived meanwhile.
fn write_to(mut stream: impl Write + AsFd, text: &str) -> io::Result<Option<Exit>> {
    for piece in text.as_bytes().chunks(PIECE) {
        if let Some(signal) = interrupted_before_room(&stream) {
            return Ok(Some(signal));
        }
        stream.write_all(piece)?;
    }
    stream.flush().map(|()| None)
}

/// Waits until the stream can be written. Returns a signal if one arrives first.
fn interrupted_before_room(stream: &impl AsFd) -> Option<Exit> {
    let interval = Timespec::try_from(POLL_INTERVAL).ok();
    loop {
        let mut stream = [PollFd::new(stream, PollFlags::OUT)];
        match poll(&mut stream, interval.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            // The stream can be written, or the write will report the error.
            _ => return None,
        }
        signals::watch();
        if let Some(signal) = signals::caught() {
            return Some(signal);
        }
    }
}
