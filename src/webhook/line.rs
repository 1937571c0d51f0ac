//! Connections that end by themselves where a request does not come in.

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

/// How long a connection may say nothing: longer than clients keep one that is not in use.
const IDLE: Duration = Duration::from_secs(120);
/// How long a request may take to come in, from its first byte: as long as the service waits for an answer.
const ON_ITS_WAY: Duration = Duration::from_secs(10);

/// How the answer begins that asks a client for the body which it announced with `Expect: 100-continue`.
const CONTINUE: &[u8] = b"HTTP/1.1 100 ";

/// Accepts connections of limited patience.
pub(super) struct Door(pub(super) TcpListener);

/// A connection.
pub(super) struct Line {
    stream: TcpStream,
    heard: Heard,
    /// Whether the first byte of a request was read.
    is_begun: bool,
    patience: Pin<Box<Sleep>>,
}

/// Told once a request is in: however long its answer takes, nothing more is awaited until then.
#[derive(Clone, Default)]
pub(super) struct Heard(Arc<AtomicBool>);

impl Heard {
    pub(super) fn hear(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Listener for Door {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // Where it cannot be set, an answer may wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let line = Line {
            stream,
            heard: Heard::default(),
            is_begun: false,
            patience: Box::pin(sleep(IDLE)),
        };
        (line, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Line {
    /// What is told once a request of this connection is in.
    pub(super) fn handle(&self) -> Heard {
        self.heard.clone()
    }

    fn wait(&mut self, patience: Duration) {
        self.patience.as_mut().reset(Instant::now() + patience);
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending if self.heard.0.load(Ordering::Relaxed) => Poll::Pending,
            Poll::Pending => {
                ready!(self.patience.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            read => {
                if !self.is_begun {
                    self.is_begun = true;
                    self.wait(ON_ITS_WAY);
                }
                read
            }
        }
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        if bytes.starts_with(CONTINUE) {
            // The request is still coming in.
            return Poll::Ready(Ok(written));
        }
        self.heard.0.store(false, Ordering::Relaxed);
        self.is_begun = false;
        self.wait(IDLE);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
