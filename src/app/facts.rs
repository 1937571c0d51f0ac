//! What is known of the service without sending anything: its profile, how its documents differ from
//! the contract's, and its clock.

use std::cell::{Cell, OnceCell, RefCell};
use std::net::{Ipv4Addr, TcpListener};
use std::rc::Rc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::app::{Settings, Ui};
use crate::config::{Place, Service, Target};
use crate::outcome::{Error, Result};
use crate::platform::ownership;
use crate::platform::sql::SqlFailure;
use crate::sandbox::{self, Sandbox};
use crate::secrets::{KeySource, Vault};
use crate::service::documents::certainty::Certainty;
use crate::service::mapping::{Dialect, Mapping};
use crate::terminal::output::Output;

/// Who named no service reads it: a note, and after a write a line that `--quiet` does not hide.
pub(super) const UNNAMED_SANDBOX: &str = "sandbox: nothing is really booked";

/// How often the embedded sandbox sends deliveries: a listener in another terminal shows them
/// within a second.
const EMBEDDED_DELIVERIES: Duration = Duration::from_millis(200);

pub(crate) struct Facts {
    pub(super) ui: Rc<Ui>,
    pub(super) settings: Rc<Settings>,
    pub(super) target: Rc<Target>,
    /// How the sandbox speaks.
    pub(super) contract: Mapping,
    /// Whether the last answer said that it comes from a sandbox that speaks the contract.
    pub(super) speaks_contract: Rc<Cell<bool>>,
    /// The service's clock minus ours, as its answers have shown it.
    pub(crate) skew: Rc<Cell<Option<SignedDuration>>>,
    pub(super) embedded: OnceCell<Embedded>,
}

/// The sandbox. It is opened when its clock is read, and served when the first request is sent.
pub(super) struct Embedded {
    /// Until it is served.
    waiting: RefCell<Option<Sandbox>>,
    base: OnceCell<String>,
    /// The sandbox's clock minus ours.
    skew: SignedDuration,
}

impl Facts {
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// How the service's documents differ from the contract's. The sandbox speaks the contract.
    pub(crate) fn mapping(&self) -> &Mapping {
        let service = self.target.service();
        service.map_or(&self.contract, |service| &service.settings.mapping)
    }

    /// The path of the service's base URL, without a slash at its end.
    pub(crate) fn base_path(&self) -> &str {
        let service = self.target.service();
        service.map_or("", |service| service.base_url.path())
    }

    /// How much of the contract is known to hold at the service.
    pub(crate) fn certainty(&self) -> Certainty {
        let is_embedded = self.target.service().is_none();
        if is_embedded || self.speaks_contract.get() {
            Certainty::Contract
        } else {
            Certainty::Specification
        }
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        &self.mapping().dialect
    }

    /// The key in the environment, else the one that is stored for the profile and exactly this
    /// origin.
    pub(super) fn key_source(&self, service: &Service) -> KeySource {
        match (&self.target.key, service.account()) {
            (Some(key), _) => KeySource::Given(key.clone()),
            (None, Some(account)) => KeySource::Stored {
                vault: Vault::new(self.settings.paths.secrets.clone()),
                account,
                noted_origin: service.settings.key_origin.clone(),
            },
            (None, None) => KeySource::Nowhere,
        }
    }

    /// Whether a request would carry a key, as far as that is known without opening a keyring.
    pub(crate) fn has_key(&self) -> bool {
        let service = self.target.service();
        service.is_none_or(|service| self.key_source(service).promises_a_key())
    }

    /// The service that is not the sandbox: its profile and its address.
    pub(crate) fn named_service(&self) -> Option<String> {
        let service = self.target.service()?;
        let address = service.base_url.address();
        Some(match &service.profile {
            Some(profile) => format!("profile {profile}: {address}"),
            None => format!("BOOKCTL_BASE_URL: {address}"),
        })
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.target.service().is_some_and(|service| service.settings.read_only == Some(true))
    }

    /// Refuses a change if the profile is read-only, and names the service before anything is
    /// changed.
    pub(crate) fn before_change(&self) -> Result<()> {
        let Some(service) = self.target.service() else {
            if self.ui.out.quiet
                && matches!(self.target.place, Place::Sandbox { by_default: true, .. })
            {
                Output::trace(UNNAMED_SANDBOX);
            }
            return Ok(());
        };
        if service.settings.read_only == Some(true) {
            let name = service.profile.as_deref().unwrap_or_default();
            let what = format!("profile {name} is read-only; nothing was sent");
            return Err(
                Error::config(what).hint("see the profiles that you have: bookctl profile list")
            );
        }
        if let Some(named) = self.named_service() {
            self.ui.out.note(&named);
        }
        Ok(())
    }

    fn embedded(&self) -> Result<&Embedded> {
        if let Some(embedded) = self.embedded.get() {
            return Ok(embedded);
        }
        let Place::Sandbox { database, .. } = &self.target.place else {
            return Err(Error::config("the profile does not point to the sandbox"));
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
        let database = options.database.clone();
        let opened = match Sandbox::open(options.clone()) {
            Err(SqlFailure::OtherVersion { .. }) if database.as_ref() == Some(default) => {
                let failed =
                    |error| Error::io(format!("cannot rename {}", default.display()), error);
                if let Some(aside) = sandbox::set_aside(default).map_err(failed)? {
                    let aside = aside.display();
                    self.ui.out.note(&format!(
                        "the sandbox is of another version of bookctl: it begins anew, and the old one is kept as {aside}"
                    ));
                }
                Sandbox::open(options)
            }
            opened => opened,
        };
        opened.map_err(|failure| sandbox::unusable(database.as_deref(), failure))
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
        let ahead = |skew| Timestamp::now().saturating_add(skew).unwrap_or(Timestamp::MAX);
        if self.target.service().is_some() {
            return Ok(ahead(self.skew.get().unwrap_or_default()));
        }
        let known = self.embedded()?.skew;
        // Another command may have moved the clock. `Date` is in whole seconds, so a smaller
        // difference means nothing.
        let is_moved =
            |seen: &SignedDuration| seen.saturating_sub(known).abs() > SignedDuration::from_secs(2);
        Ok(ahead(self.skew.get().filter(is_moved).unwrap_or(known)))
    }

    /// A time of this computer by the service's clock, as far as that is known.
    pub(crate) fn by_service(&self, ours: Timestamp) -> Timestamp {
        let skew = self.skew.get().unwrap_or_default();
        ours.saturating_add(skew).unwrap_or(ours)
    }

    /// Whether a time that the service shows is before `since` by more than its clocks may differ.
    /// One that does not show its clock is compared with ours, which may be wrong by hours.
    pub(crate) fn is_before(
        &self,
        shown: Timestamp,
        since: Timestamp,
        clocks: SignedDuration,
    ) -> bool {
        let margin = self.skew.get().map_or(SignedDuration::from_hours(24), |_| clocks);
        since.duration_since(shown) > margin
    }

    /// The time to show: by this computer's clock if the service's cannot be read.
    pub(crate) fn service_now(&self) -> Timestamp {
        self.now().unwrap_or_else(|_| Timestamp::now())
    }

    /// A clock for the time that a prompt is open: another command may move the sandbox's clock in
    /// the meantime.
    pub(crate) fn live_clock(&self) -> impl Fn() -> Timestamp {
        let watched = match &self.target.place {
            Place::Sandbox { database, .. } => {
                Sandbox::open(sandbox::Options::new(Some(database.clone()))).ok()
            }
            Place::Service(_) => None,
        };
        move || {
            let moved = watched.as_ref().and_then(|sandbox| sandbox.now().ok());
            moved.unwrap_or_else(|| self.service_now())
        }
    }
}
