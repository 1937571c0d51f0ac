//! Connections that can be cut, for answers that never arrive, or not whole; and that end by
//! themselves where nobody asks anything.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep, sleep};

/// How long a request may be on its way in, from the last answer or the connection's start. Clients
/// keep a connection that is not in use for less.
const PATIENCE: Duration = Duration::from_secs(120);

/// Accepts connections that can be cut.
pub(super) struct Exchange(pub(super) TcpListener);

/// A connection.
pub(super) struct Line {
    stream: TcpStream,
    scissors: Scissors,
    /// Elapses when the patience with the request that is awaited does.
    patience: Pin<Box<Sleep>>,
}

/// What cuts a connection.
#[derive(Clone, Default)]
pub(super) struct Scissors(Arc<Place>);

#[derive(Default)]
struct Place {
    cut: Mutex<Cut>,
    /// Whether a request has come in whole, and waits for its answer.
    is_heard: AtomicBool,
}

/// Where the connection is cut: what would be written from there on is an error, which closes it.
#[derive(Clone, Copy, Default)]
enum Cut {
    #[default]
    Nowhere,
    /// After so many bytes of the body whose head comes next.
    AfterHead(usize),
    /// After so many bytes.
    After(usize),
}

impl Scissors {
    /// Nothing more goes out.
    pub(super) fn cut(&self) {
        *self.place() = Cut::After(0);
    }

    /// The next answer goes out with so many bytes of its body.
    pub(super) fn cut_body(&self, after: usize) {
        *self.place() = Cut::AfterHead(after);
    }

    /// The request is here: however long its answer takes, nothing more is awaited.
    pub(super) fn hear(&self) {
        self.0.is_heard.store(true, Ordering::Relaxed);
    }

    fn place(&self) -> MutexGuard<'_, Cut> {
        self.0.cut.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cut {
    /// How many of the bytes may go out.
    fn allows(self, bytes: &[u8]) -> usize {
        match self {
            Self::Nowhere => bytes.len(),
            Self::AfterHead(body) => head(bytes).map_or(bytes.len(), |it| it + body),
            Self::After(left) => left,
        }
        .min(bytes.len())
    }

    /// Where to cut once that many of the bytes went out.
    fn after(self, bytes: &[u8], written: usize) -> Self {
        match self {
            Self::Nowhere => self,
            Self::AfterHead(body) => match head(bytes) {
                Some(head) if head <= written => Self::After(body - (written - head)),
                _ => self,
            },
            Self::After(left) => Self::After(left - written),
        }
    }
}

/// Where an answer's head ends.
fn head(bytes: &[u8]) -> Option<usize> {
    let end = b"\r\n\r\n";
    let start = bytes.windows(end.len()).position(|it| it == end)?;
    Some(start + end.len())
}

impl Listener for Exchange {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // Without it an answer may wait for an acknowledgement; where it cannot be set, it waits.
        let _ = stream.set_nodelay(true);
        let line = Line {
            stream,
            scissors: Scissors::default(),
            patience: Box::pin(sleep(PATIENCE)),
        };
        (line, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Line {
    /// What cuts this connection.
    pub(super) fn handle(&self) -> Scissors {
        self.scissors.clone()
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending if self.scissors.0.is_heard.load(Ordering::Relaxed) => Poll::Pending,
            Poll::Pending => {
                ready!(self.patience.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            read => read,
        }
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let cut = *self.scissors.place();
        let allowed = cut.allows(bytes);
        if allowed == 0 && !bytes.is_empty() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, &bytes[..allowed]))?;
        *self.scissors.place() = cut.after(bytes, written);
        self.scissors.0.is_heard.store(false, Ordering::Relaxed);
        self.patience.as_mut().reset(Instant::now() + PATIENCE);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nbody";

    #[test]
    fn a_cut_body_leaves_the_head_whole_where_it_leaves_in_two_writes_too() {
        assert_eq!(Cut::Nowhere.allows(ANSWER), ANSWER.len());
        let cut = Cut::AfterHead(2);
        assert_eq!(cut.allows(ANSWER), 21);
        assert_eq!(cut.after(ANSWER, 21).allows(b"dy"), 0);
        let rest = &ANSWER[10..];
        assert_eq!(cut.after(ANSWER, 10).allows(rest), 11);
    }
}
