//! The booking service itself, offline: seeded venues, rules, store and HTTP endpoints.
//!
//! It is written from the specification alone and shares no code with the client, so that the same
//! mistake on both sides cannot go unnoticed.

/// An enum of words, in one table with what belongs to each: first its name on the wire.
macro_rules! word_table {
    ($(#[$attribute:meta])* $name:ident of $texts:literal, $($value:ident $row:expr,)*) => {
        $(#[$attribute])*
        #[serde(rename_all = "snake_case")]
        pub(crate) enum $name {
            $($value),*
        }

        impl $name {
            pub(crate) const TABLE: &[(Self, [&str; $texts])] = &[$((Self::$value, $row)),*];

            pub(crate) const fn name(self) -> &'static str {
                Self::TABLE[self as usize].1[0]
            }
        }
    };
}

mod delivery_worker;
mod http;
mod rules;
pub(crate) mod seed;
mod store;
mod wire;

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::outcome;
use crate::platform::sql::SqlResult;

use http::report::judge;
pub(crate) use http::report::{Format, Report};
pub(crate) use http::{BODY_LIMIT, Exchange, HarFile, OnRequest, open_own};
use http::{ExchangeLog, Judge};
pub(crate) use rules::access::LIVE_KEY;
use rules::organization::Organization;
pub(crate) use store::{set_aside, unusable};

#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The file, which is created with mode 0600. Without one the state is in memory, spills to an
    /// unnamed temporary file, and ends with the process.
    pub(crate) database: Option<PathBuf>,
    /// Whether rate limits and the test allowance apply.
    pub(crate) limits: bool,
    pub(crate) delivery_interval: Duration,
    /// Names that the server goes by, besides those of loopback.
    pub(crate) hosts: Vec<String>,
    /// Whether the last requests are kept, for `/sandbox/requests`.
    pub(crate) keeps_requests: bool,
    /// Whether what they show is counted, for `/sandbox/report`.
    pub(crate) keeps_report: bool,
}

impl Options {
    /// The service's own behaviour, with a delivery worker that ticks every second.
    pub(crate) const fn new(database: Option<PathBuf>) -> Self {
        Self {
            database,
            limits: true,
            delivery_interval: Duration::from_secs(1),
            hosts: Vec::new(),
            keeps_requests: true,
            keeps_report: true,
        }
    }
}

pub(crate) struct Sandbox {
    store: store::Store,
    options: Options,
}

impl Sandbox {
    /// Opens the sandbox's database, creating it if necessary. Several processes may do so at once.
    pub(crate) fn open(options: Options) -> SqlResult<Self> {
        let store = store::Store::open(options.database.as_deref())?;
        Ok(Self { store, options })
    }

    pub(crate) fn now(&self) -> outcome::Result<Timestamp> {
        self.store.now(None).map_err(|error| unusable(self.options.database.as_deref(), error))
    }

    /// Adds a document's venues and bookings to [`LIVE_KEY`]'s organization, before the sandbox is
    /// served. The error is the body with which `POST /sandbox/fixtures` refuses it.
    pub(crate) async fn load(&self, fixtures: Value) -> Result<(), Value> {
        let main = Some(Organization::MAIN.to_owned());
        let load = move |tx: &store::Tx<'_>| http::load_into(tx, Organization::MAIN, &fixtures);
        let load = self.store.write(main, load);
        tokio::select! {
            loaded = load => loaded.map(drop).map_err(|error| error.answer().1),
            () = self.store.commit_writes() => Ok(()),
        }
    }

    /// The secret that signs the deliveries of [`LIVE_KEY`]'s organization.
    pub(crate) fn webhook_secret(&self) -> outcome::Result<String> {
        let main = self.store.look(|tx| tx.organization(Organization::MAIN));
        main.map(|it| it.map(|it| it.webhook_secret).unwrap_or_default())
            .map_err(|error| unusable(self.options.database.as_deref(), error))
    }

    /// Serves until `shutdown` completes. Running requests then have 3 seconds to end.
    pub(crate) async fn serve(
        self,
        listener: TcpListener,
        on_request: Option<OnRequest>,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let judge = self.options.keeps_report.then_some(judge as Judge);
        let exchanges = self.options.keeps_requests.then(|| ExchangeLog::new(judge));
        let service = http::SandboxService {
            store: self.store,
            options: self.options,
            address: listener.local_addr()?,
            exchanges,
            on_request,
        };
        http::serve(service, listener, shutdown).await
    }
}
