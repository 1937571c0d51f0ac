//! The HTTP surface: the service under `/v1`, the sandbox's own controls under `/sandbox`.

mod availability;
mod bookings;
mod call;
mod control;
mod door;
mod endpoints;
mod frame;
mod index;
mod line;
mod loopback;
mod mishap;
mod openapi;
mod reply;
mod sessions;
mod slots;
mod venues;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::courier;
use super::rules::refusal::Refusal;
use super::store::Store;
use crate::platform::http1;
use line::{Exchange, Line};

/// How long requests that are under way may take once the server is told to stop.
const GRACE: Duration = Duration::from_secs(3);

/// A request as it is logged. The query is left out: it may name people.
#[derive(Debug)]
pub(crate) struct RequestLog {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) duration: Duration,
}

/// Told of every request once it is answered.
pub(crate) type OnRequest = Box<dyn Fn(RequestLog) + Send + Sync>;

/// What every request is served from.
pub(crate) struct Service {
    pub(crate) store: Store,
    /// Whether rate limits and the test allowance count.
    pub(crate) limits: bool,
    pub(crate) delivery_interval: Duration,
    /// The port that it is reached at.
    pub(crate) port: u16,
    /// Whether others than this machine may reach it.
    pub(crate) exposed: bool,
    pub(crate) on_request: Option<OnRequest>,
}

/// Serves until the shutdown comes, and then ends what is under way.
pub(crate) async fn serve(
    service: Service,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let service = Arc::new(service);
    let (stopping, stopped) = oneshot::channel();
    let shutdown = async move {
        shutdown.await;
        let _ = stopping.send(());
    };
    let server = http1::serve(Exchange(listener), router(&service), Line::handle, shutdown);
    let patience = async {
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = server => {}
        () = service.store.commit_writes() => {}
        () = courier::deliver(&service.store, service.delivery_interval) => {}
        () = patience => {}
    }
    service.store.fold_in();
    Ok(())
}

fn router(service: &Arc<Service>) -> Router {
    let router = endpoints::ENDPOINTS
        .iter()
        .fold(Router::new(), |router, endpoint| {
            let router = router.route(endpoint.path, door::route(endpoint));
            // A base address is as often written without its last slash.
            match endpoint.path.strip_suffix('/') {
                Some(bare) => router.route(bare, door::route(endpoint)),
                None => router,
            }
        });
    control::CONTROLS
        .iter()
        .fold(router, |router, control| {
            router.route(control.path, control::route(control))
        })
        .fallback(async || reply::refuse(&Refusal::PathNotFound))
        .method_not_allowed_fallback(async || reply::refuse(&Refusal::MethodNotAllowed))
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(service),
            frame::frame,
        ))
        .with_state(Arc::clone(service))
}

#[cfg(test)]
mod tests;
