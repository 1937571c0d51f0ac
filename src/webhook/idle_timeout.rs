//! TCP connections that time out while they wait for a request.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep, sleep};

/// How long a connection may stay idle between requests: longer than clients keep one in their pool.
const IDLE: Duration = Duration::from_secs(120);
/// How long a request may take to arrive, from its first byte: as long as the service waits for an answer.
const REQUEST: Duration = Duration::from_secs(10);

/// The start of the interim response to `Expect: 100-continue`, after which the request's body follows.
const CONTINUE: &[u8] = b"HTTP/1.1 100 ";

/// Accepts connections as [`TimeoutStream`]s.
pub(super) struct TimeoutListener(pub(super) TcpListener);

/// A connection whose reads fail with `TimedOut` when a request does not arrive in time.
pub(super) struct TimeoutStream {
    stream: TcpStream,
    received: RequestReceived,
    /// Whether the first byte of a request was read.
    is_begun: bool,
    deadline: Pin<Box<Sleep>>,
}

/// A flag that the handler sets once it has read a request; the timeout is suspended until the answer is written.
#[derive(Clone, Default)]
pub(super) struct RequestReceived(Arc<AtomicBool>);

impl RequestReceived {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Listener for TimeoutListener {
    type Io = TimeoutStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TimeoutStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // On failure answers are only slower: they may wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let stream = TimeoutStream {
            stream,
            received: RequestReceived::default(),
            is_begun: false,
            deadline: Box::pin(sleep(IDLE)),
        };
        (stream, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl TimeoutStream {
    /// The flag to set when a request of this connection was read.
    pub(super) fn handle(&self) -> RequestReceived {
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
                    self.expire_in(REQUEST);
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
        self.expire_in(IDLE);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
