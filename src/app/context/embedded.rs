//! The sandbox, and the service's clock, which it moves.

use std::cell::{OnceCell, RefCell};
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{Context, Embedded, sandbox_error};
use crate::config::Target;
use crate::outcome::{Error, Result};
use crate::platform::ownership;
use crate::sandbox::{self, Sandbox, StoreLocation};
use crate::service::client::Client;

/// How often the sandbox sends deliveries while a command runs: a listener in another terminal shows them
/// within a second.
const EMBEDDED_DELIVERIES: Duration = Duration::from_millis(200);

impl Context {
    fn embedded(&self) -> Result<&Embedded> {
        if let Some(embedded) = self.embedded.get() {
            return Ok(embedded);
        }
        let Target::Embedded { database, .. } = &self.target else {
            let why = "the profile does not point to the sandbox";
            return Err(Error::config(why));
        };
        ownership::refuse_others(database)?;
        let options = sandbox::Options {
            delivery_interval: EMBEDDED_DELIVERIES,
            limits: self.sandbox_limits,
            // They would be those of this command alone.
            keeps_requests: false,
            ..sandbox::Options::new(StoreLocation::File(database.clone()))
        };
        let sandbox = Sandbox::open(options).map_err(|error| sandbox_error(&error))?;
        let now = sandbox.now().map_err(|error| sandbox_error(&error))?;
        let mut offset = now.duration_since(Timestamp::now());
        // Two readings of the same clock differ by the time between them.
        if offset.abs() < SignedDuration::from_secs(1) {
            offset = SignedDuration::ZERO;
        }
        Ok(self.embedded.get_or_init(|| Embedded {
            waiting: RefCell::new(Some(sandbox)),
            base: OnceCell::new(),
            offset,
        }))
    }

    /// Serves the sandbox on a port of its own until the command ends, once. Returns its base URL.
    pub(super) fn serve_embedded(&self) -> Result<String> {
        let failed = |error: std::io::Error| Error::io("cannot start the sandbox", error);
        let embedded = self.embedded()?;
        if let Some(base) = embedded.base.get() {
            return Ok(base.clone());
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let base = format!("http://{}", listener.local_addr().map_err(failed)?);
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        if let Some(sandbox) = embedded.waiting.borrow_mut().take() {
            tokio::spawn(sandbox.serve(listener, None, std::future::pending()));
        }
        Ok(embedded.base.get_or_init(|| base).clone())
    }

    /// The current time by the service's clock. The sandbox has a clock of its own.
    pub(crate) fn now(&self) -> Result<Timestamp> {
        let client = self.client.get();
        if self.target.service().is_some() {
            return Ok(client.map_or_else(Timestamp::now, Client::service_now));
        }
        let offset = self.embedded()?.offset;
        // Another command may have moved the clock since this one began. `Date` has a resolution of one second, so a
        // smaller difference means nothing.
        let is_moved = |seen: &SignedDuration| {
            seen.saturating_sub(offset).abs() > SignedDuration::from_secs(2)
        };
        let seen = client.and_then(|it| it.skew.get()).filter(is_moved);
        let now = Timestamp::now().saturating_add(seen.unwrap_or(offset));
        Ok(now.unwrap_or(Timestamp::MAX))
    }

    /// The same, for what is only shown: this machine's clock if the service's cannot be read.
    pub(crate) fn service_now(&self) -> Timestamp {
        self.now().unwrap_or_else(|_| Timestamp::now())
    }

    /// A clock for the time that a prompt is open. Another command may move an sandbox's clock in the
    /// meantime.
    pub(crate) fn live_clock(&self) -> impl Fn() -> Timestamp {
        let watched = match &self.target {
            Target::Embedded { database, .. } => {
                Sandbox::open(sandbox::Options::new(StoreLocation::File(database.clone()))).ok()
            }
            Target::Remote(_) => None,
        };
        move || {
            let moved = watched.as_ref().and_then(|sandbox| sandbox.now().ok());
            moved.unwrap_or_else(|| self.service_now())
        }
    }
}
