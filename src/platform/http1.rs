//! An HTTP server that speaks HTTP/1 only.
//!
//! `axum::serve` also speaks HTTP/2 if any crate of the build enables that, and our HTTP client
//! does. Our time limits apply to a connection, which does not work with HTTP/2, where one
//! connection carries many requests.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The most connections that are open at once; others wait. A process may usually open 1,024 files,
/// and SQLite needs some.
const MOST_CONNECTIONS: usize = 512;

/// Serves until `shutdown` completes, then waits for the requests that are in progress. A connection
/// on which no whole head of a request has come within `head_timeout`, since it was made or since
/// the last response, is closed. How long a body may take is the matter of `answer`.
pub(crate) async fn serve<R: Future<Output = Response> + Send + 'static>(
    mut listener: TcpListener,
    head_timeout: Duration,
    answer: impl Fn(Request) -> R + Clone + Send + 'static,
    shutdown: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut shutdown = pin!(shutdown);
    loop {
        let accept = async {
            let place = Arc::clone(&room).acquire_owned().await;
            // Unlike the listener's own method, waits while the process has too many open files.
            (place, Listener::accept(&mut listener).await.0)
        };
        let (place, stream) = tokio::select! {
            accepted = accept => accepted,
            () = &mut shutdown => break,
        };
        // Without it responses may wait for an acknowledgement. Failure only costs time.
        let _ = stream.set_nodelay(true);
        let answer = answer.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let answering = answer(request.map(Body::new));
            async move { Ok::<_, Infallible>(answering.await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(head_timeout)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _place = place;
            // The client hung up, was cut off, or did not send HTTP/1: the connection is over.
            let _ = connection.await;
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;
    use hyper::StatusCode;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    #[tokio::test]
    async fn silent_or_stopped_connection_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let timeout = Duration::from_millis(50);
        let never = std::future::pending();
        let answer = async |_| StatusCode::NOT_FOUND.into_response();
        let server = serve(listener, timeout, answer, never);
        let clients = async {
            for (sent, answer) in [
                ("", ""),
                ("GET / HTTP/1.1\r\nHost: x\r\n", ""),
                // After a response, too.
                ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404"),
            ] {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(sent.as_bytes()).await.unwrap();
                let mut received = String::new();
                stream.read_to_string(&mut received).await.unwrap();
                assert!(received.starts_with(answer), "{sent}: {received}");
            }
        };
        tokio::select! {
            () = server => panic!("the server ended"),
            () = clients => {}
        }
    }
}
