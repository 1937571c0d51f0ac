//! The listener: receiver, store and forwarder on a thread of their own, so that neither a terminal that stands still
//! nor a sandbox in the same process holds up a delivery.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};

use super::app::App;
use super::event::Names;
use super::forwarder::Forwarder;
use super::line::{Door, Line};
use super::notice::{Notice, Reporter, Sum};
use super::passing::{Gates, Passing};
use super::receiver::{Outlet, Receiver, router};
use super::schedule::Schedule;
use super::slate::Slate;
use super::store::Store;
use crate::outcome::{Error, Result};
use crate::platform::http1;
use crate::secrets::Secret;

/// How long what is under way has to end: Ctrl-C is to be done with in 200 ms.
const GRACE: Duration = Duration::from_millis(100);

/// How a listener listens.
pub(crate) struct Listening {
    pub(crate) secrets: Vec<Secret>,
    pub(crate) names: Names,
    /// The kinds that are shown and forwarded; all of them where none is named.
    pub(crate) kinds: Vec<String>,
    /// Where events are forwarded to, and whether the service is told the app's answer.
    pub(crate) app: Option<(App, Mode)>,
}

/// Who tries again.
pub(crate) enum Mode {
    /// We do.
    Retry(Schedule),
    /// The service does: it is told what the app answers.
    PassThrough,
}

/// A listener under way.
pub(crate) struct Listener {
    reporter: Arc<Reporter>,
    stop: watch::Sender<bool>,
    ended: oneshot::Receiver<()>,
}

impl Listener {
    /// Starts on a socket that is bound already, with what earlier listeners left; what happens is told to the receiver
    /// that is returned.
    pub(crate) fn start(
        listening: Listening,
        socket: std::net::TcpListener,
        store: Store,
        slate: Slate,
        due: Vec<(i64, Timestamp)>,
    ) -> Result<(Self, mpsc::Receiver<Notice>)> {
        let failed = |error: std::io::Error| Error::io("the listener cannot be started", &error);
        socket.set_nonblocking(true).map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let (reporter, notices) = Reporter::new();
        let reporter = Arc::new(reporter);
        let (stop, stopping) = watch::channel(false);
        let (ending, ended) = oneshot::channel();
        let slate = Arc::new(slate);
        let run = run(
            listening,
            socket,
            store,
            slate,
            due,
            reporter.clone(),
            stopping,
        );
        std::thread::Builder::new()
            .name("listener".to_owned())
            .spawn(move || {
                runtime.block_on(run);
                runtime.shutdown_background();
                let _ = ending.send(());
            })
            .map_err(failed)?;
        let listener = Listener {
            reporter,
            stop,
            ended,
        };
        Ok((listener, notices))
    }

    /// Ends it, and says what it has counted.
    pub(crate) async fn stop(self) -> Sum {
        let _ = self.stop.send(true);
        let _ = tokio::time::timeout(2 * GRACE, self.ended).await;
        self.reporter.sum()
    }
}

async fn run(
    listening: Listening,
    socket: std::net::TcpListener,
    store: Store,
    slate: Arc<Slate>,
    due: Vec<(i64, Timestamp)>,
    reporter: Arc<Reporter>,
    stopping: watch::Receiver<bool>,
) {
    let Ok(socket) = TcpListener::from_std(socket) else {
        return;
    };
    let stopped = |mut stopping: watch::Receiver<bool>| async move {
        // A sender that is gone is an end, too.
        let _ = stopping.wait_for(|stop| *stop).await;
    };
    let mut forwarding = None;
    let outlet = match listening.app {
        None => Outlet::Nowhere,
        Some((app, mode)) => {
            let (app, store, reporter) = (Arc::new(app), store.clone(), reporter.clone());
            let (turns, arrivals) = mpsc::unbounded_channel();
            let (outlet, schedule) = match mode {
                Mode::Retry(schedule) => (Outlet::Forwarder(turns), schedule),
                Mode::PassThrough => {
                    let (app, store, reporter) = (app.clone(), store.clone(), reporter.clone());
                    let (slate, gates) = (slate.clone(), Gates::default());
                    let passing = Passing {
                        app,
                        store,
                        reporter,
                        slate,
                        gates,
                    };
                    (Outlet::Passing(Arc::new(passing)), Schedule::default())
                }
            };
            forwarding = Some((
                Forwarder {
                    app,
                    store,
                    schedule,
                    reporter,
                    slate,
                },
                arrivals,
            ));
            outlet
        }
    };
    let receiver = Arc::new(Receiver {
        secrets: listening.secrets,
        names: listening.names,
        kinds: listening.kinds,
        store: store.clone(),
        reporter,
        outlet,
    });
    let server = http1::serve(
        Door(socket),
        router(receiver),
        Line::handle,
        stopped(stopping.clone()),
    );
    let forwarder = async {
        if let Some((forwarder, arrivals)) = forwarding {
            forwarder
                .run(due, arrivals, stopped(stopping.clone()), GRACE)
                .await;
        }
    };
    let patience = async {
        stopped(stopping.clone()).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        _ = async { tokio::join!(server, forwarder) } => {}
        () = patience => {}
    }
}
