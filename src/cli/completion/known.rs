//! Values that this computer knows: from the journal, this terminal and the configuration.

use jiff::Timestamp;

use super::command_line::CommandLine;
use crate::config::{
    ConfigFile, Environment, Paths, SANDBOX_PROFILE, ServiceNeed, Target, TargetOptions, resolve,
};
use crate::journal::{CompletionIndex, IndexedRow};
use crate::platform::ownership;
use crate::platform::shell::is_plain;
use crate::service::documents::booking::Status;
use crate::service::time::text::human;
use crate::terminal::output::visible;
use crate::terminal::view::joined;

/// A value with its description, as it may be printed.
pub(super) type Candidate = (String, String);

pub(super) struct Known {
    environment: Environment,
    options: TargetOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bookings {
    All,
    Alive,
    Open,
}

impl Bookings {
    /// Whether a booking with this last seen status is included. An unknown status always is.
    fn include(self, status: Option<&str>) -> bool {
        match status.map(Status::parse) {
            Some(Status::Failed | Status::Cancelled | Status::Expired) => self == Bookings::All,
            Some(Status::Confirmed) => self != Bookings::Open,
            Some(Status::RequiresAction | Status::Processing | Status::Other(_)) | None => true,
        }
    }
}

impl Known {
    pub(super) fn new(environment: Environment, line: &CommandLine) -> Self {
        let profiles = line.before().filter_map(|it| it.strip_prefix("--profile="));
        let options = TargetOptions {
            profile: profiles.last().map(str::to_owned),
            no_sandbox: line.before().any(|word| word == "--no-sandbox"),
        };
        Known { environment, options }
    }

    fn service(&self) -> Option<(Paths, Target)> {
        let paths = Paths::find(&self.environment).ok()?;
        let target =
            resolve(ServiceNeed::Sandbox, &self.options, &self.environment, &paths).ok()?;
        Some((paths, target))
    }

    /// The journal of this computer. One that is shared is not asked.
    fn journal(&self) -> Option<CompletionIndex> {
        let (paths, target) = self.service()?;
        if target.journal.is_some() {
            return None;
        }
        ownership::check_database(&paths.journal).ok()?;
        CompletionIndex::open(&paths.journal, target.address())
    }

    fn recent(&self) -> Option<CompletionIndex> {
        let (paths, target) = self.service()?;
        ownership::check_database(&paths.recent).ok()?;
        CompletionIndex::open(&paths.recent, target.address())
    }

    pub(super) fn venues(&self, start: &str) -> Option<Vec<Candidate>> {
        let venues = self.recent()?.venues(start).into_iter().map(|venue| {
            // A row's number says nothing of the venue.
            let id = Some(venue.id).filter(|id| *id != venue.word);
            (venue.word, venue.venue.or(id).unwrap_or_default())
        });
        Some(plain(venues))
    }

    pub(super) fn slots(&self, start: &str) -> Option<Vec<Candidate>> {
        let now = Timestamp::now();
        let mut slots = self.recent()?.slots(start);
        slots.retain(|slot| {
            let time = slot.datetime.as_ref().map(|it| it.parse::<Timestamp>());
            time.is_some_and(|time| time.is_ok_and(|time| time > now))
        });
        let slots = slots.into_iter().map(|slot| {
            let time = slot.datetime.as_deref().map(human);
            (slot.word, joined([time, slot.venue]).unwrap_or_default())
        });
        Some(plain(slots))
    }

    pub(super) fn bookings(&self, start: &str, which: Bookings) -> Option<Vec<Candidate>> {
        let mut made = self.journal()?.bookings(start);
        made.retain(|made| which.include(made.status.as_deref()));
        Some(plain(made.into_iter().map(described)))
    }

    pub(super) fn attempts(&self, start: &str) -> Option<Vec<Candidate>> {
        let made = self.journal()?.open_attempts(start);
        Some(plain(made.into_iter().map(described)))
    }

    /// The profiles of the configuration, each with its origin.
    pub(super) fn profiles(&self) -> Vec<Candidate> {
        let paths = Paths::find(&self.environment).ok();
        let file = paths.and_then(|it| ConfigFile::read(&it.config_file).ok());
        let profiles = file.into_iter().flat_map(|file| file.profiles).map(|(name, profile)| {
            // An invalid address may contain a password, and is not shown.
            let origin = profile.address(&name).map(|address| address.origin());
            (name, origin.unwrap_or_default())
        });
        let sandbox = (SANDBOX_PROFILE.to_owned(), "the sandbox".to_owned());
        plain(profiles.chain([sandbox]))
    }
}

fn described(made: IndexedRow) -> Candidate {
    let when = made.datetime.as_deref().map(human);
    (made.id, joined([made.status, made.guest, made.venue, when]).unwrap_or_default())
}

/// Ids are untrusted: one that a shell would not read as a plain word is left out.
fn plain(found: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
    let plain = found.filter(|(id, _)| !id.starts_with('-') && is_plain(id));
    plain.map(|(id, about)| (id, visible(&about).into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_omits_an_id_that_a_shell_would_interpret() {
        let ids = ["ven_1", "$(reboot)", "a b", "-rf", "a;b", "", "caf\u{e9}", "x\ny", "a:b@c"];
        let found = ids.iter().map(|id| ((*id).to_owned(), String::new()));
        let offered = plain(found);
        let offered: Vec<_> = offered.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(offered, ["ven_1", "a:b@c"]);
    }
}
