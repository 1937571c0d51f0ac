//! Connections that a fault can cut in the middle of a response.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

pub(super) struct Connection {
    stream: TcpStream,
    cut: CutHandle,
}

#[derive(Clone, Default)]
pub(super) struct CutHandle(Arc<Mutex<Cut>>);

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

    fn lock(&self) -> MutexGuard<'_, Cut> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

impl Connection {
    pub(super) fn wrap(stream: TcpStream) -> (Self, CutHandle) {
        let cut = CutHandle::default();
        let handle = cut.clone();
        (Connection { stream, cut }, handle)
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
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
