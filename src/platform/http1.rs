//! An HTTP server that speaks HTTP/1 only.
//!
//! `axum::serve` also speaks HTTP/2 if any crate of the build enables that, and our HTTP client does. Our time limits
//! and faults apply to a connection, which does not work with HTTP/2, where one connection carries many requests.

use std::future::Future;
use std::pin::pin;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::timeout_stream::{TimeoutStream, Timeouts};

/// Serves `router` until `shutdown` completes, then waits for the requests that are in progress.
///
/// `wrap` makes a connection of what was accepted, and the handle that handlers get as [`ConnectInfo`].
pub(crate) async fn serve<S, H>(
    mut listener: TcpListener,
    timeouts: Timeouts,
    router: Router,
    wrap: impl Fn(TimeoutStream) -> (S, H),
    shutdown: impl Future<Output = ()>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Clone + Send + Sync + 'static,
{
    // Each connection holds a receiver until it ends.
    let (stop, stopping) = watch::channel(false);
    let mut shutdown = pin!(shutdown);
    loop {
        let (stream, _) = tokio::select! {
            // Unlike the listener's own method, this one waits where the process has too many open files.
            accepted = Listener::accept(&mut listener) => accepted,
            () = &mut shutdown => break,
        };
        let (stream, handle) = wrap(TimeoutStream::new(stream, timeouts));
        let router = TowerToHyperService::new(router.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(handle.clone()));
            router.call(request)
        });
        let mut stopping = stopping.clone();
        tokio::spawn(async move {
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            let mut connection = pin!(connection);
            let stopped = async {
                // An error means that the server was dropped, which also ends the connection.
                let _ = stopping.wait_for(|stop| *stop).await;
            };
            tokio::select! {
                // The client hung up, was cut off, or did not send HTTP/1. The connection is over either way.
                _ = connection.as_mut() => return,
                () = stopped => connection.as_mut().graceful_shutdown(),
            }
            let _ = connection.await;
        });
    }
    drop((listener, stopping));
    let _ = stop.send(true);
    stop.closed().await;
}
