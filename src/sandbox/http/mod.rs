//! The HTTP surface: the service under `/v1`, the sandbox's own controls under `/sandbox`.

mod answer;
mod bookings;
mod control;
mod endpoints;
mod exchanges;
mod faults;
mod loopback;
mod page;
mod receive;
mod reply;
pub(crate) mod report;
mod request;
mod routes;
mod sessions;
mod venues;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::store::Store;
use super::{Options, delivery_worker};
use crate::platform::http1;

pub(crate) use control::load_into;
pub(crate) use exchanges::{Exchange, ExchangeLog, HarFile, Judge, open_own};
pub(crate) use request::BODY_LIMIT;

/// How long running requests may take once the server stops.
const GRACE: Duration = Duration::from_secs(3);
/// How long the head of a request may take. A connection without one gives its place to another.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);

/// Gets each exchange, and what knows the names of organizations.
pub(crate) type OnRequest =
    Box<dyn Fn(&Arc<Exchange>, &dyn Fn(&str) -> Option<String>) + Send + Sync>;

pub(crate) struct SandboxService {
    pub(crate) store: Store,
    pub(crate) options: Options,
    pub(crate) address: SocketAddr,
    pub(crate) exchanges: Option<ExchangeLog>,
    pub(crate) on_request: Option<OnRequest>,
}

/// Serves until `shutdown` completes, then gives running requests [`GRACE`] to end.
pub(crate) async fn serve(
    service: SandboxService,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let service = Arc::new(service);
    let (stopping, stopped) = oneshot::channel();
    let stopped_service = Arc::clone(&service);
    let shutdown = async move {
        shutdown.await;
        // Streams end; they would hold up the server otherwise.
        stopped_service.store.changes.stop();
        let _ = stopping.send(());
    };
    let served = Arc::clone(&service);
    let answer = move |request| receive::receive(Arc::clone(&served), request);
    let server = http1::serve(listener, HEAD_TIMEOUT, answer, shutdown);
    let grace_period = async {
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = server => {}
        () = service.store.commit_writes() => {}
        () = delivery_worker::run(&service.store, service.options.delivery_interval) => {}
        () = grace_period => {}
    }
    service.store.checkpoint(1);
    Ok(())
}

#[cfg(test)]
mod tests;
