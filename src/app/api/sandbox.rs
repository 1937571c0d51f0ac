//! The sandbox, the service's clock, which it moves, and whether the service is a sandbox at all.

use std::cell::{OnceCell, RefCell};
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{Api, Embedded};
use crate::config::Target;
use crate::outcome::{Error, Result};
use crate::platform::ownership;
use crate::sandbox::{self, Sandbox};
use crate::service::client::{Answer, Call, Client};

/// How often the sandbox sends deliveries: a listener shows them within a second.
const EMBEDDED_DELIVERIES: Duration = Duration::from_millis(200);

impl Api {
    fn embedded(&self) -> Result<&Embedded> {
        if let Some(embedded) = self.embedded.get() {
            return Ok(embedded);
        }
        let Target::Embedded { database, .. } = &*self.target else {
            let why = "the profile does not point to the sandbox";
            return Err(Error::config(why));
        };
        ownership::refuse_others(database)?;
        let options = sandbox::Options {
            delivery_interval: EMBEDDED_DELIVERIES,
            limits: self.settings.sandbox_limits,
            // They would be those of this command alone.
            keeps_requests: false,
            ..sandbox::Options::new(Some(database.clone()))
        };
        let sandbox = self.open_sandbox(options)?;
        let mut skew = sandbox.now()?.duration_since(Timestamp::now());
        // Two readings of the same clock differ by the time between them.
        if skew.abs() < SignedDuration::from_secs(1) {
            skew = SignedDuration::ZERO;
        }
        Ok(self.embedded.get_or_init(|| Embedded {
            waiting: RefCell::new(Some(sandbox)),
            base: OnceCell::new(),
            skew,
        }))
    }

    /// Opens the sandbox. The default file holds nothing that must last: one of another version is
    /// set aside, and a new one begins.
    pub(crate) fn open_sandbox(&self, options: sandbox::Options) -> Result<Sandbox> {
        let default = &self.settings.paths.sandbox;
        match Sandbox::open(options.clone()) {
            Err(why) if why.is_other_version() && options.database.as_ref() == Some(default) => {
                let failed =
                    |error| Error::io(format!("cannot rename {}", default.display()), error);
                if let Some(aside) = sandbox::set_aside(default).map_err(failed)? {
                    let aside = aside.display();
                    self.ui.out.note(&format!(
                        "the sandbox is of another version of bookctl: it begins anew, and the old one is kept as {aside}"
                    ));
                }
                Ok(Sandbox::open(options)?)
            }
            opened => Ok(opened?),
        }
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
        let known = self.embedded()?.skew;
        // Another command may have moved the clock. `Date` is in whole seconds.
        let is_moved =
            |seen: &SignedDuration| seen.saturating_sub(known).abs() > SignedDuration::from_secs(2);
        let seen = client.and_then(|it| it.skew.get()).filter(is_moved);
        let now = Timestamp::now().saturating_add(seen.unwrap_or(known));
        Ok(now.unwrap_or(Timestamp::MAX))
    }

    /// The same, for what is only shown: this machine's clock if the service's cannot be read.
    pub(crate) fn service_now(&self) -> Timestamp {
        self.now().unwrap_or_else(|_| Timestamp::now())
    }

    /// A clock for an open prompt: another command may move the sandbox's clock meanwhile.
    pub(crate) fn live_clock(&self) -> impl Fn() -> Timestamp {
        let watched = match &*self.target {
            Target::Embedded { database, .. } => {
                Sandbox::open(sandbox::Options::new(Some(database.clone()))).ok()
            }
            Target::Remote(_) => None,
        };
        move || {
            let moved = watched.as_ref().and_then(|sandbox| sandbox.now().ok());
            moved.unwrap_or_else(|| self.service_now())
        }
    }

    /// Refuses a service whose index says that it is a sandbox, if `--no-sandbox` was given.
    pub(crate) async fn refuse_sandbox(&self) -> Result<()> {
        if !self.settings.options.no_sandbox {
            return Ok(());
        }
        let index = self.read(Call::get("/v1/")).await?;
        if index.document.value().get("sandbox") == Some(&Value::Bool(true)) {
            return Err(Error::config("the service is a sandbox, and --no-sandbox is set")
                .hint("point the profile or BOOKCTL_BASE_URL to the real service"));
        }
        Ok(())
    }

    /// Sends a call to the sandbox's controls. Fails if the profile's service is no sandbox.
    pub(crate) async fn control(&self, mut call: Call) -> Result<Answer> {
        // The index would say so too, but it needs a key, and a sandbox's controls do not.
        if self.is_sandbox_by(Call::get("/sandbox/clock")).await == Some(false) {
            let refused = Error::config("the profile is not for a sandbox; nothing was changed");
            return Err(refused.hint(
                "use --profile sandbox, or set BOOKCTL_BASE_URL to the address of a sandbox server",
            ));
        }
        call.is_control = true;
        self.read(call).await
    }

    /// Whether the service is a sandbox. Of one that is not on this machine only the index is read.
    pub(crate) async fn is_sandbox(&self) -> bool {
        let service = self.target.service();
        let is_elsewhere = service.is_some_and(|service| !service.base_url.is_loopback());
        if is_elsewhere && !self.has_key() {
            return false;
        }
        let index = is_elsewhere.then_some("/v1/");
        let call = Call::get(index.unwrap_or("/sandbox/clock"));
        self.is_sandbox_by(call).await == Some(true)
    }

    /// Whether the answer to this call is a sandbox's; `None` without one. Asked once, so that no
    /// command takes it for both.
    async fn is_sandbox_by(&self, call: Call) -> Option<bool> {
        if self.target.service().is_none() {
            return Some(true);
        }
        let client = self.client().ok()?;
        let is_new = !self.is_sandbox.initialized();
        let _progress = is_new.then(|| self.requesting("waiting for the service"));
        let ask = async || match client.send(&call).await {
            Ok(answer) => {
                let says = answer.document.value().get("sandbox");
                Some(answer.document.str("now").is_some() || says == Some(&Value::Bool(true)))
            }
            Err(failure) => failure.is_answer().then_some(false),
        };
        *self.is_sandbox.get_or_init(ask).await
    }
}
