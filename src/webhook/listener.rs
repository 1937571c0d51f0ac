//! The listener: receiver and forwarder on a thread of their own, so that neither a blocked
//! terminal nor a sandbox in the same process delays a delivery.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use super::forwarder::{App, Forwarder, Schedule};
use super::receiver::{Listening, REQUEST_TIMEOUT, Receiver, answer};
use super::reporter::ListenerEvent;
use super::store::Webhooks;
use crate::outcome::{Error, Result};
use crate::platform::http1;

/// How long requests in flight have to finish: Ctrl-C ends the process within 200 ms.
const GRACE: Duration = Duration::from_millis(100);

/// Starts a listener on a bound, non-blocking socket. It receives and forwards until the returned
/// sender says so or is gone, and reports to the returned receiver.
pub(crate) fn start(
    listening: Listening,
    app: Option<(App, Schedule)>,
    socket: std::net::TcpListener,
    store: Webhooks,
) -> Result<(watch::Sender<bool>, mpsc::UnboundedReceiver<ListenerEvent>)> {
    let failed = |error: std::io::Error| Error::io("cannot start the listener", error);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let socket = {
        let _inside = runtime.enter();
        TcpListener::from_std(socket).map_err(failed)?
    };
    let (reporter, events) = mpsc::unbounded_channel();
    let (stop, stopping) = watch::channel(false);
    let forwarder = app.map(|(app, schedule)| {
        Arc::new(Forwarder {
            app,
            store: store.clone(),
            schedule,
            reporter: reporter.clone(),
            arrived: Arc::default(),
        })
    });
    let receiver = Arc::new(Receiver {
        reading: tokio::sync::Mutex::default(),
        store,
        reporter,
        forwarder: forwarder.as_ref().map(|it| it.arrived.clone()),
        listening,
    });
    let stopped = move || {
        let mut stopping = stopping.clone();
        async move {
            let _ = stopping.wait_for(|stop| *stop).await;
        }
    };
    let served = async move {
        let answer = move |request| answer(Arc::clone(&receiver), request);
        let server = http1::serve(socket, REQUEST_TIMEOUT, answer, stopped());
        let forwarding = async {
            if let Some(forwarder) = forwarder {
                forwarder.run(stopped(), GRACE).await;
            }
        };
        let grace = async {
            stopped().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            _ = async { tokio::join!(server, forwarding) } => {}
            () = grace => {}
        }
    };
    std::thread::Builder::new()
        .name("listener".to_owned())
        .spawn(move || {
            runtime.block_on(served);
            runtime.shutdown_background();
        })
        .map_err(failed)?;
    Ok((stop, events))
}

pub(crate) async fn stop(stop: watch::Sender<bool>) {
    let _ = stop.send(true);
    let _ = tokio::time::timeout(2 * GRACE, stop.closed()).await;
}
