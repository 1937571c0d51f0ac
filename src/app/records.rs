//! What is stored on this computer: the journal, what this terminal saw, and received webhooks. Each
//! is opened when it is first used.

use std::cell::{Cell, OnceCell};
use std::path::Path;
use std::rc::Rc;

use jiff::SignedDuration;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::app::{Settings, Ui, shared_journal};
use crate::config::{SharedJournal, Target};
use crate::journal::recent::{Recent, RecentList, RecentSlot};
use crate::journal::{Actor, Journal, Scope};
use crate::outcome::Result;
use crate::platform::postgres::Database;
use crate::sandbox::LIVE_KEY;
use crate::secrets::Secret;
use crate::service::documents::slot::Slot;
use crate::service::documents::venue::Venue;
use crate::webhook::Webhooks;

pub(crate) struct Records {
    pub(super) ui: Rc<Ui>,
    pub(super) settings: Rc<Settings>,
    pub(super) target: Rc<Target>,
    /// Whether the command changes nothing: its `@N` may be a row of another shell's list.
    pub(crate) only_reads: bool,
    /// The service's clock minus ours, as the client sees it.
    pub(super) skew: Rc<Cell<Option<SignedDuration>>>,
    pub(super) journal: OnceCell<Journal>,
    pub(super) recent: Rc<OnceCell<Recent>>,
}

impl Records {
    pub(crate) fn journal(&self) -> Result<&Journal> {
        let journal = match self.journal.get() {
            Some(journal) => journal,
            None => {
                let (scope, path) = (self.scope(), &self.settings.paths.journal);
                let opened = match self.target.journal.as_ref() {
                    None => Journal::open(path, scope)?,
                    Some(shared) => Journal::open_shared(self.database(shared)?, scope),
                };
                self.journal.get_or_init(|| opened)
            }
        };
        if let Some(skew) = self.skew.get() {
            journal.scope.skew.set(skew);
        }
        Ok(journal)
    }

    /// Which rows of the journal are meant, and who writes them.
    fn scope(&self) -> Scope {
        let (recent, path) = (Rc::clone(&self.recent), self.settings.paths.recent.clone());
        let origin = self.target.address();
        let of_venues = origin.clone();
        Scope {
            origin,
            profile: self.target.profile().map(str::to_owned),
            account: self.account(),
            maker: self.maker(),
            retention: self.target.retention.into(),
            venue: Some(Box::new(move |id| {
                opened(&recent, &path, &of_venues).ok()?.venue(id).ok()?
            })),
            ..Scope::default()
        }
    }

    fn account(&self) -> String {
        // Nothing is sent to a service without a key.
        let other = || match self.target.service() {
            None => Secret::new(LIVE_KEY.to_owned()).fingerprint(),
            Some(_) => String::new(),
        };
        self.target.account().unwrap_or_else(other)
    }

    /// Whether the service's times without an offset are the venue's own.
    pub(crate) fn has_local_times(&self) -> bool {
        self.target.service().is_some_and(|service| service.settings.mapping.local_times)
    }

    /// Begins to connect to a shared journal for a booking. Its first use reports an error.
    pub(crate) fn connect_ahead(&self) {
        if self.target.journal.is_some()
            && let Ok(journal) = self.journal()
        {
            journal.connect_ahead();
        }
    }

    /// Whether there is a journal. A read makes none.
    pub(crate) fn has_journal(&self) -> bool {
        self.target.journal.is_some() || self.settings.paths.journal.exists()
    }

    pub(crate) fn database(&self, shared: &SharedJournal) -> Result<Database> {
        shared_journal::database(&self.ui, &self.settings, shared)
    }

    pub(crate) fn maker(&self) -> Actor {
        shared_journal::maker(&self.settings.environment)
    }

    /// Counts with the service's clock as earlier commands saw it, until a response shows it.
    pub(crate) fn expect_known_clock(&self) -> Result<()> {
        if self.target.service().is_some() && self.skew.get().is_none() {
            let windows = self.journal()?.rate_limits()?;
            let newest = windows.iter().max_by_key(|window| window.seen_at);
            self.skew.set(newest.map(|window| window.skew));
        }
        Ok(())
    }

    /// Writes what was observed of rate limits. If the journal cannot be written, it is lost.
    pub(crate) fn keep_rate_limits(&self) {
        let _ = self.journal.get().map(Journal::write_observed);
    }

    pub(crate) fn webhooks(&self) -> Result<Webhooks> {
        Webhooks::open(&self.settings.paths.webhooks, self.target.address())
    }

    /// The received webhooks, if there ever was one.
    pub(crate) fn received(&self) -> Result<Option<Webhooks>> {
        self.settings.paths.webhooks.exists().then(|| self.webhooks()).transpose()
    }

    pub(crate) fn recent(&self) -> Result<&Recent> {
        opened(&self.recent, &self.settings.paths.recent, &self.target.address())
    }

    /// Makes `id` what `@last` stands for. It is no error if that cannot be stored.
    pub(crate) fn remember_last(&self, list: RecentList, id: &str) {
        let _ = self.recent().and_then(|it| it.remember_one(list, id));
    }

    /// Stores the ids of a list that was shown, for `@1`.
    pub(crate) fn remember_rows<'a>(&self, list: RecentList, ids: impl Iterator<Item = &'a str>) {
        self.remember(|recent| recent.remember_list(list, ids));
    }

    /// Stores what was shown, and warns if that fails.
    pub(crate) fn remember(&self, store: impl FnOnce(&Recent) -> Result<()>) {
        let recorded = self.recent().and_then(store);
        if let Err(error) = recorded {
            let why = &error.message;
            self.ui.out.warn(&format!("@1 and so on are not available: {why}"));
        }
    }

    pub(crate) fn known_venue(&self, id: &str) -> Option<Venue> {
        self.recent().ok()?.venue(id).ok().flatten()
    }

    pub(crate) fn known_slot(&self, id: &str) -> Option<RecentSlot> {
        self.recent().ok()?.slot(id).ok().flatten()
    }

    /// The offset of a venue's clock on a day, if its slots of that day were seen and show one.
    pub(crate) fn slot_zone(&self, venue_id: &str, day: Date) -> Option<TimeZone> {
        let slots = self.recent().ok()?.slots_of(venue_id).ok()?;
        Slot::offset_on(&slots, day).map(TimeZone::fixed)
    }
}

fn opened<'a>(recent: &'a OnceCell<Recent>, path: &Path, origin: &str) -> Result<&'a Recent> {
    if let Some(recent) = recent.get() {
        return Ok(recent);
    }
    let opened = Recent::open(path, origin.to_owned())?;
    Ok(recent.get_or_init(|| opened))
}
