//! TCP connections of a server that time out while they wait for a request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// The start of the interim response to `Expect: 100-continue`, after which the request's body follows.
const CONTINUE: &[u8] = b"HTTP/1.1 100 ";

/// How long a connection may wait for a request.
#[derive(Clone, Copy)]
pub(crate) struct Timeouts {
    /// From the start of the connection, or the last response. Clients keep connections in their pool: this must be
    /// longer.
    pub(crate) idle: Duration,
    /// From the first byte of a request to its last. Without it, `idle` covers the request as well.
    pub(crate) request: Option<Duration>,
}

/// A connection whose reads fail with `TimedOut` when a request does not arrive in time.
pub(crate) struct TimeoutStream {
    stream: TcpStream,
    timeouts: Timeouts,
    received: RequestReceived,
    /// Whether the first byte of a request was read.
    is_begun: bool,
    deadline: Pin<Box<Sleep>>,
}

/// A flag that the handler sets once it has read a request; the timeout is suspended until the response is written.
#[derive(Clone, Default)]
pub(crate) struct RequestReceived(Arc<AtomicBool>);

impl RequestReceived {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl TimeoutStream {
    /// A connection that was just accepted.
    pub(crate) fn new(stream: TcpStream, timeouts: Timeouts) -> Self {
        // Without it responses may wait for an acknowledgement. Failure only costs time.
        let _ = stream.set_nodelay(true);
        TimeoutStream {
            stream,
            timeouts,
            received: RequestReceived::default(),
            is_begun: false,
            deadline: Box::pin(sleep(timeouts.idle)),
        }
    }

    /// The flag to set when a request of this connection was read.
    pub(crate) fn handle(&self) -> RequestReceived {
        self.received.clone()
    }

    fn expire_in(&mut self, timeout: Duration) {
        self.deadline.as_mut().reset(Instant::now() + timeout);
    }
}

impl AsyncRead for TimeoutStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending if self.received.0.load(Ordering::Relaxed) => Poll::Pending,
            Poll::Pending => {
                ready!(self.deadline.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            read => {
                if !self.is_begun {
                    self.is_begun = true;
                    if let Some(timeout) = self.timeouts.request {
                        self.expire_in(timeout);
                    }
                }
                read
            }
        }
    }
}

impl AsyncWrite for TimeoutStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        if bytes.starts_with(CONTINUE) {
            // The request is still arriving.
            return Poll::Ready(Ok(written));
        }
        self.received.0.store(false, Ordering::Relaxed);
        self.is_begun = false;
        let idle = self.timeouts.idle;
        self.expire_in(idle);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
