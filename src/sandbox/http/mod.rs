//! The HTTP surface: the service under `/v1`, the sandbox's own controls under `/sandbox`.

mod availability;
mod bookings;
mod connection;
mod control;
mod endpoints;
mod exchanges;
mod fault_injection;
mod loopback;
mod middleware;
mod openapi;
mod page;
mod parsed_request;
mod pipeline;
mod reply;
mod sessions;
mod venues;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use connection::Connection;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::delivery_worker;
use super::rules::api_error::ApiError;
use super::store::Store;
use crate::platform::http1;

pub(crate) use control::load_into;
pub(crate) use exchanges::{Exchange, ExchangeDocument, ExchangeLog, HarFile};
pub(crate) use parsed_request::BODY_LIMIT;

/// How long running requests may take once the server is told to stop.
const GRACE: Duration = Duration::from_secs(3);
/// How long the head of a request may take, and then its body. Longer than clients keep an unused connection.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) type OnRequest = Box<dyn Fn(&Exchange) + Send + Sync>;

pub(crate) struct Service {
    pub(crate) store: Store,
    /// Whether rate limits and the test allowance count.
    pub(crate) limits: bool,
    pub(crate) delivery_interval: Duration,
    pub(crate) port: u16,
    /// Names that it goes by, besides those of loopback.
    pub(crate) hosts: Vec<String>,
    /// Whether other machines can reach it.
    pub(crate) exposed: bool,
    /// The last requests; `None` if they are not kept.
    pub(crate) exchanges: Option<ExchangeLog>,
    pub(crate) on_request: Option<OnRequest>,
}

impl Service {
    fn shows_requests(&self) -> bool {
        self.exchanges.is_some() || self.on_request.is_some()
    }
}

/// Serves until `shutdown` completes, then gives running requests [`GRACE`] to end.
pub(crate) async fn serve(
    service: Service,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let service = Arc::new(service);
    let (stopping, stopped) = oneshot::channel();
    let stopped_service = Arc::clone(&service);
    let shutdown = async move {
        shutdown.await;
        // Streams end; they would hold up the server otherwise.
        stopped_service.store.changes().stop();
        let _ = stopping.send(());
    };
    let server = http1::serve(
        listener,
        REQUEST_TIMEOUT,
        router(&service),
        Connection::wrap,
        shutdown,
    );
    let grace_period = async {
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = server => {}
        () = service.store.commit_writes() => {}
        () = delivery_worker::run(&service.store, service.delivery_interval) => {}
        () = grace_period => {}
    }
    service.store.fold_in();
    Ok(())
}

fn router(service: &Arc<Service>) -> Router {
    let router = endpoints::ENDPOINTS
        .iter()
        .fold(Router::new(), |router, endpoint| {
            let router = router.route(endpoint.path, pipeline::route(endpoint));
            // Base URLs are often written without the final slash.
            match endpoint.path.strip_suffix('/') {
                Some(bare) => router.route(bare, pipeline::route(endpoint)),
                None => router,
            }
        });
    control::CONTROLS
        .iter()
        .fold(router, |router, control| {
            router.route(control.path, control::route(control))
        })
        .fallback(async || reply::error(&ApiError::PathNotFound))
        .method_not_allowed_fallback(async || reply::error(&ApiError::MethodNotAllowed))
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(service),
            middleware::run,
        ))
        .with_state(Arc::clone(service))
}

#[cfg(test)]
mod tests;
