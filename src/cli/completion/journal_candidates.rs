//! Candidates from the journal, from what this terminal saw, and from the configuration.

use clap_complete::CompletionCandidate;
use jiff::Timestamp;

use super::command_line::CommandLine;
use crate::config::{
    ConfigFile, Environment, Paths, SANDBOX_PROFILE, Target, TargetOptions, resolve,
};
use crate::journal::{CompletionIndex, KnownBooking};
use crate::model::booking::Status;
use crate::model::shell::is_plain;
use crate::model::time_text::human;
use crate::platform::ownership;
use crate::recent::RecentIndex;
use crate::terminal::output::visible;

pub(super) struct JournalCandidates {
    environment: Environment,
    options: TargetOptions,
    now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bookings {
    All,
    /// Those that have not ended.
    Alive,
    /// Those that still wait for something.
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

impl JournalCandidates {
    pub(super) fn new(environment: Environment, line: &CommandLine) -> Self {
        let profiles = line.before().filter_map(|it| it.strip_prefix("--profile="));
        JournalCandidates {
            environment,
            options: TargetOptions {
                profile: profiles.last().map(str::to_owned),
                no_sandbox: line.before().any(|word| word == "--no-sandbox"),
                ..TargetOptions::default()
            },
            now: Timestamp::now(),
        }
    }

    /// The files, unless reading the configuration could block, as with a pipe.
    fn paths(&self) -> Option<Paths> {
        let paths = Paths::find(&self.environment).ok()?;
        let readable = paths.config_file.metadata().map_or(true, |it| it.is_file());
        readable.then_some(paths)
    }

    /// The files, and the service.
    fn service(&self) -> Option<(Paths, Target)> {
        let paths = self.paths()?;
        let target = resolve(&self.options, &self.environment, &paths).ok()?;
        Some((paths, target))
    }

    fn index(&self) -> Option<CompletionIndex> {
        let (paths, target) = self.service()?;
        // A completion does not connect to a shared journal, and the file beside it has other bookings.
        if target.journal().is_some() {
            return None;
        }
        ownership::check_database(&paths.journal).ok()?;
        CompletionIndex::open(&paths.journal, target.address())
    }

    fn recent(&self) -> Option<RecentIndex> {
        let (paths, target) = self.service()?;
        ownership::check_database(&paths.recent).ok()?;
        RecentIndex::open(&paths.recent, target.address())
    }

    pub(super) fn venues(&self, prefix: &str) -> Vec<CompletionCandidate> {
        let Some(index) = self.recent() else {
            return Vec::new();
        };
        let venues = index.venues(prefix).into_iter().map(|venue| {
            // A row's number says nothing of the venue.
            let unnamed = if venue.word == venue.id {
                String::new()
            } else {
                venue.id
            };
            (venue.word, venue.name.unwrap_or(unnamed))
        });
        candidates(prefix, venues)
    }

    /// Slots in the future.
    pub(super) fn slots(&self, prefix: &str) -> Vec<CompletionCandidate> {
        let Some(index) = self.recent() else {
            return Vec::new();
        };
        let to_come = index.slots(prefix).into_iter().filter(|slot| {
            let time = slot.datetime.parse::<Timestamp>();
            time.is_ok_and(|time| time > self.now)
        });
        let to_come = to_come.map(|slot| {
            let about = [Some(human(&slot.datetime)), slot.venue_name];
            (slot.word, joined(about))
        });
        candidates(prefix, to_come)
    }

    pub(super) fn bookings(&self, prefix: &str, which: Bookings) -> Vec<CompletionCandidate> {
        let made = self.index().map(|index| index.bookings(prefix));
        let made = made.into_iter().flatten();
        let fitting = made.filter(|made| which.include(made.status.as_deref()));
        candidates(prefix, fitting.map(described))
    }

    pub(super) fn attempts(&self, prefix: &str) -> Vec<CompletionCandidate> {
        let made = self.index().map(|index| index.open_attempts(prefix));
        candidates(prefix, made.into_iter().flatten().map(described))
    }

    /// The profiles of the configuration, each with its origin.
    pub(super) fn profiles(&self, prefix: &str) -> Vec<CompletionCandidate> {
        let paths = self.paths();
        let file = paths.and_then(|it| ConfigFile::read(&it.config_file).ok());
        let profiles = file.into_iter().flat_map(|file| file.profiles);
        let profiles = profiles.map(|(name, profile)| {
            // An invalid address may contain a password, and is not shown.
            let origin = profile.address(&name).map(|address| address.origin());
            (name, origin.unwrap_or_default())
        });
        let sandbox = (
            SANDBOX_PROFILE.to_owned(),
            "the embedded sandbox".to_owned(),
        );
        candidates(prefix, profiles.chain([sandbox]))
    }
}

fn described(made: KnownBooking) -> (String, String) {
    let when = made.datetime.as_deref().map(human);
    (made.id, joined([made.status, made.guest, made.venue, when]))
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    let known: Vec<String> = parts.into_iter().flatten().collect();
    known.join(" · ")
}

/// The candidates with this prefix. Ids are untrusted: an id that a shell would not read as one plain word is left
/// out.
fn candidates(
    prefix: &str,
    found: impl Iterator<Item = (String, String)>,
) -> Vec<CompletionCandidate> {
    let fitting =
        found.filter(|(id, _)| id.starts_with(prefix) && !id.starts_with('-') && is_plain(id));
    let candidate = |(id, about): (String, String)| {
        // Escape it here, because clap would silently remove an escape sequence.
        let about = (!about.is_empty()).then(|| visible(&about).into_owned().into());
        CompletionCandidate::new(id).help(about)
    };
    fitting.map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_a_shell_would_read_as_a_command_or_a_flag_is_not_offered() {
        let ids = [
            "ven_1",
            "$(reboot)",
            "a b",
            "-rf",
            "a;b",
            "",
            "caf\u{e9}",
            "x\ny",
            "a:b@c",
        ];
        let found = ids.iter().map(|id| ((*id).to_owned(), String::new()));
        let offered = candidates("", found);
        let offered: Vec<_> = offered.iter().map(|it| it.get_value()).collect();
        assert_eq!(offered, ["ven_1", "a:b@c"]);
    }

    #[test]
    fn a_verb_is_offered_the_bookings_that_it_can_be_used_on() {
        for (status, all, alive, open) in [
            (Some("failed"), true, false, false),
            (Some("confirmed"), true, true, false),
            (Some("requires_action"), true, true, true),
            (Some("new"), true, true, true),
            (None, true, true, true),
        ] {
            let include = [Bookings::All, Bookings::Alive, Bookings::Open];
            let include = include.map(|it| it.include(status));
            assert_eq!(include, [all, alive, open], "{status:?}");
        }
    }
}
