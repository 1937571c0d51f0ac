//! The listener: receiver and forwarder on a thread of their own, so that neither a blocked terminal nor a sandbox in the
//! same process delays a delivery.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::SignedDuration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};

use super::app::App;
use super::event::Names;
use super::forwarder::Forwarder;
use super::listener_event::{ListenerEvent, Reporter, Totals};
use super::receiver::{REQUEST_TIMEOUT, Receiver, router};
use super::schedule::Schedule;
use super::store::Store;
use crate::outcome::{Error, Result};
use crate::platform::http1;
use crate::secrets::Secret;

/// How long requests in flight have to finish: Ctrl-C ends the process within 200 ms.
const GRACE: Duration = Duration::from_millis(100);

pub(crate) struct Listening {
    pub(crate) secrets: Vec<Secret>,
    pub(crate) names: Names,
    /// The kinds of events that are shown and forwarded; empty for all.
    pub(crate) kinds: Vec<String>,
    /// Where to forward events, and when to retry.
    pub(crate) app: Option<(App, Schedule)>,
    pub(crate) shows_contents: bool,
    /// The service's clock minus this computer's: a sandbox's clock can be moved.
    pub(crate) clock: watch::Receiver<SignedDuration>,
}

pub(crate) struct Listener {
    reporter: Arc<Reporter>,
    stop: watch::Sender<bool>,
    ended: oneshot::Receiver<()>,
}

impl Listener {
    /// Starts a listener on a bound socket. Returns the listener and the receiver of its events.
    ///
    /// # Errors
    /// `io` if the thread or its runtime cannot be started.
    pub(crate) fn start(
        listening: Listening,
        socket: std::net::TcpListener,
        store: Store,
    ) -> Result<(Self, mpsc::Receiver<ListenerEvent>)> {
        let failed = |error: std::io::Error| Error::io("cannot start the listener", error);
        socket.set_nonblocking(true).map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let (reporter, events) = Reporter::new();
        let reporter = Arc::new(reporter);
        let (stop, stopped) = watch::channel(false);
        let (ending, ended) = oneshot::channel();
        let server = Server {
            listening,
            socket,
            store,
            reporter: reporter.clone(),
        };
        std::thread::Builder::new()
            .name("listener".to_owned())
            .spawn(move || {
                runtime.block_on(server.run(stopped));
                runtime.shutdown_background();
                let _ = ending.send(());
            })
            .map_err(failed)?;
        let listener = Listener {
            reporter,
            stop,
            ended,
        };
        Ok((listener, events))
    }

    pub(crate) async fn stop(self) -> Totals {
        let _ = self.stop.send(true);
        let _ = tokio::time::timeout(2 * GRACE, self.ended).await;
        self.reporter.totals()
    }
}

/// What the thread runs.
struct Server {
    listening: Listening,
    socket: std::net::TcpListener,
    store: Store,
    reporter: Arc<Reporter>,
}

impl Server {
    async fn run(self, stop: watch::Receiver<bool>) {
        let Ok(socket) = TcpListener::from_std(self.socket) else {
            return;
        };
        let stopped = |mut stop: watch::Receiver<bool>| async move {
            // A dropped sender stops the listener, too.
            let _ = stop.wait_for(|stop| *stop).await;
        };
        let shows_contents = self.listening.shows_contents;
        let forwarder = self.listening.app.map(|(app, schedule)| {
            Arc::new(Forwarder {
                app: Arc::new(app.showing_requests(shows_contents)),
                clock: self.listening.clock,
                store: self.store.clone(),
                schedule,
                reporter: self.reporter.clone(),
                arrived: Arc::default(),
            })
        });
        let receiver = Arc::new(Receiver {
            secrets: self.listening.secrets,
            names: self.listening.names,
            reading: tokio::sync::Mutex::default(),
            kinds: self.listening.kinds,
            store: self.store,
            reporter: self.reporter,
            forwarder: forwarder.as_ref().map(|it| it.arrived.clone()),
            shows_deliveries: shows_contents,
            given_warnings: Mutex::default(),
        });
        let server = http1::serve(
            socket,
            REQUEST_TIMEOUT,
            router(receiver),
            |stream| (stream, ()),
            stopped(stop.clone()),
        );
        let forwarder = async {
            if let Some(forwarder) = forwarder {
                forwarder.run(stopped(stop.clone()), GRACE).await;
            }
        };
        let grace = async {
            stopped(stop.clone()).await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            _ = async { tokio::join!(server, forwarder) } => {}
            () = grace => {}
        }
    }
}
