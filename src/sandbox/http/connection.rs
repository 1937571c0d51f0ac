//! Connections that a fault can cut in the middle of a response, and that time out while idle.

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

/// How long a request may take to arrive, from the last response or the start of the connection.
/// Longer than clients keep an unused connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Accepts connections that can be cut.
pub(super) struct CuttableListener(pub(super) TcpListener);

/// A TCP connection with an idle timeout that can be cut.
pub(super) struct Connection {
    stream: TcpStream,
    cut: CutHandle,
    /// Elapses [`IDLE_TIMEOUT`] after the last response.
    idle_timeout: Pin<Box<Sleep>>,
}

/// Cuts a connection from outside.
#[derive(Clone, Default)]
pub(super) struct CutHandle(Arc<Shared>);

#[derive(Default)]
struct Shared {
    cut: Mutex<Cut>,
    /// Whether a request has arrived completely and its response is not written yet.
    awaits_response: AtomicBool,
}

/// Where the connection is cut. Writing beyond that point fails, which closes the connection.
#[derive(Clone, Copy, Default)]
enum Cut {
    #[default]
    Nowhere,
    /// After this many bytes of the next response's body.
    AfterHead(usize),
    /// After this many bytes.
    After(usize),
}

impl CutHandle {
    /// Sends nothing more.
    pub(super) fn cut(&self) {
        *self.lock() = Cut::After(0);
    }

    /// Cuts the next response after this many bytes of its body.
    pub(super) fn cut_body(&self, after: usize) {
        *self.lock() = Cut::AfterHead(after);
    }

    /// Stops the idle timeout until the response is written, however long that takes.
    pub(super) fn request_received(&self) {
        self.0.awaits_response.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Cut> {
        self.0.cut.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cut {
    /// How many of the bytes may be written.
    fn allows(self, bytes: &[u8]) -> usize {
        match self {
            Self::Nowhere => bytes.len(),
            Self::AfterHead(body) => head(bytes).map_or(bytes.len(), |it| it + body),
            Self::After(left) => left,
        }
        .min(bytes.len())
    }

    /// The cut that remains after `written` of the bytes.
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

/// The length of the response's head, with the empty line that ends it.
fn head(bytes: &[u8]) -> Option<usize> {
    let end = b"\r\n\r\n";
    let start = bytes.windows(end.len()).position(|it| it == end)?;
    Some(start + end.len())
}

impl Listener for CuttableListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // Avoids waiting for an acknowledgement. Failure only costs time.
        let _ = stream.set_nodelay(true);
        let connection = Connection {
            stream,
            cut: CutHandle::default(),
            idle_timeout: Box::pin(sleep(IDLE_TIMEOUT)),
        };
        (connection, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connection {
    /// A handle that cuts this connection.
    pub(super) fn handle(&self) -> CutHandle {
        self.cut.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending if self.cut.0.awaits_response.load(Ordering::Relaxed) => Poll::Pending,
            Poll::Pending => {
                ready!(self.idle_timeout.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            read => read,
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let cut = *self.cut.lock();
        let allowed = cut.allows(bytes);
        if allowed == 0 && !bytes.is_empty() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, &bytes[..allowed]))?;
        *self.cut.lock() = cut.after(bytes, written);
        self.cut.0.awaits_response.store(false, Ordering::Relaxed);
        self.idle_timeout
            .as_mut()
            .reset(Instant::now() + IDLE_TIMEOUT);
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
