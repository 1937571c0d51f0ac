//! The journal and what this terminal saw, each opened when it is first used.

use std::cell::RefMut;

use super::Context;
use crate::app::shared_journal;
use crate::client::Client;
use crate::config::{SharedJournal, Target};
use crate::journal::{Journal, Maker};
use crate::model::venue::Venue;
use crate::outcome::{Error, Result};
use crate::platform::postgres::Database;
use crate::recent::{Recent, RecentList};
use crate::sandbox::LIVE_KEY;
use crate::secrets::Secret;

impl Context {
    /// The journal, opened on first use.
    pub(crate) fn journal(&self) -> Result<RefMut<'_, Journal>> {
        let mut journal = self.journal.borrow_mut();
        if journal.is_none() {
            let (origin, profile) = (
                self.target.address(),
                self.target.profile().map(str::to_owned),
            );
            let opened = match self.target.journal() {
                None => Journal::open(&self.paths.journal, origin, profile)?,
                Some(shared) => Journal::open_shared(self.database(shared)?, origin, profile),
            };
            let mut opened = opened.of_account(self.account()).by(self.maker());
            opened.keep_for(self.target.retention());
            *journal = Some(opened);
        }
        let skew = self.client.get().and_then(Client::skew);
        if let (Some(journal), Some(skew)) = (journal.as_mut(), skew) {
            journal.know_skew(skew);
        }
        RefMut::filter_map(journal, Option::as_mut)
            .map_err(|_| Error::journal("the journal is not open"))
    }

    /// The fingerprint of the API key.
    fn account(&self) -> String {
        let embedded = || match self.target {
            Target::Embedded { .. } => Secret::new(LIVE_KEY.to_owned()).fingerprint(),
            // Nothing is sent without a key.
            Target::Remote(_) => String::new(),
        };
        self.target.account().unwrap_or_else(embedded)
    }

    /// Begins to connect to a shared journal that a booking is going to need. An error is left to its first use.
    pub(crate) fn connect_ahead(&self) {
        if self.target.journal().is_some()
            && let Ok(mut journal) = self.journal()
        {
            journal.connect_ahead();
        }
    }

    /// Whether there is a journal. A read makes none.
    pub(crate) fn has_journal(&self) -> bool {
        self.target.journal().is_some() || self.paths.journal.exists()
    }

    pub(crate) fn shared_journal(&self) -> Result<Option<Database>> {
        let shared = self.target.journal();
        shared.map(|shared| self.database(shared)).transpose()
    }

    fn database(&self, shared: &SharedJournal) -> Result<Database> {
        shared_journal::database(&self.out, &self.environment, &self.paths, shared)
    }

    pub(crate) fn maker(&self) -> Maker {
        shared_journal::maker(&self.environment)
    }

    /// What this terminal saw, opened on first use.
    pub(crate) fn recent(&self) -> Result<RefMut<'_, Recent>> {
        let mut recent = self.recent.borrow_mut();
        if recent.is_none() {
            *recent = Some(Recent::open(&self.paths.recent, self.target.address())?);
        }
        RefMut::filter_map(recent, Option::as_mut)
            .map_err(|_| Error::config("the recent rows are not open"))
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
        let stored = self.recent().and_then(|recent| store(&recent));
        if let Err(error) = stored {
            let why = &error.message;
            self.out
                .warn(&format!("@1 and so on are not available: {why}"));
        }
    }

    /// A venue from an earlier search.
    pub(crate) fn known_venue(&self, id: &str) -> Option<Venue> {
        self.recent().ok()?.venue(id).ok().flatten()
    }

    /// The path of the journal, whether or not it can be used.
    pub(crate) fn journal_file(&self) -> &std::path::Path {
        &self.paths.journal
    }
}
