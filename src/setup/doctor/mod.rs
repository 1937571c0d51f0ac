//! `bookctl doctor`: checks everything that a command needs, one line each.

pub(crate) mod service;

use serde::Serialize;

use super::learn::{LearnOptions, Reads};
use crate::app::shared_journal::database;
use crate::app::{Parts, Startup};
use crate::config::{ConfigFile, SANDBOX_PROFILE, ServiceNeed, SharedJournal};
use crate::journal::{Journal, Scope};
use crate::outcome::{Error, Exit, Result};
use crate::platform::shell::word;
use crate::platform::{ownership, private_file};
use crate::secrets::Vault;
use crate::service::documents::plural;
use crate::terminal::output::{Draw, Output, Page, TableCell, Tone};

/// Check the configuration, the connection and the API key
///
/// Prints one line for each check, with a fix for each problem. Exits with 0 if all is well, else
/// with 3 (configuration), 15 (network), 4 (key), or the code that every command would exit with,
/// such as 14.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl doctor\n  \
    bookctl doctor --probe --near Reykjavik\n  \
    bookctl doctor --jq '.checks[] | select(.state != \"ok\")'")]
pub(crate) struct Args {
    /// Read the service's documents and show what is not read
    #[arg(long)]
    probe: bool,
    /// Search here with --probe, where the service has venues
    #[arg(long, value_name = "PLACE", requires = "probe")]
    near: Option<String>,
}

pub(crate) async fn run(setup: Startup, args: Args) -> Result<Exit> {
    if args.probe {
        return probe(setup, args.near).await;
    }
    let vault = Vault::new(setup.settings.paths.secrets.clone());
    let target = match setup.settings.target(ServiceNeed::Profile) {
        Ok(target) => target,
        Err(error) => {
            let fix = broken_configuration(&setup, &error);
            let config = Check::problem("config", error.exit, error.message.clone()).fix(fix);
            let keyring = service::keyring(&vault, true).await;
            let journal = local_journal(&setup);
            return conclude(&setup.ui.out, vec![config, keyring, journal]);
        }
    };
    let config = configuration(&setup, target.profile());
    let journal = match target.journal.as_ref() {
        None => local_journal(&setup),
        Some(shared) => shared_journal(&setup, shared),
    };
    let parts = Parts::with_target(setup, target, false);
    let (keyring, key) = service::credentials(parts.api.facts.target(), &vault).await;
    let mut checks = vec![config, keyring];
    checks.extend(service::examine(&parts.api, &parts.records, &parts.settings, key).await);
    checks.push(journal);
    conclude(&parts.ui.out, checks)
}

/// What the service sends, read as `profile learn --check` reads it. Writes nothing.
async fn probe(setup: Startup, near: Option<String>) -> Result<Exit> {
    let mut parts = Parts::new(setup, ServiceNeed::Profile, false)?;
    let options = LearnOptions { yes: true, check: true, near, vertical: "dining".to_owned() };
    let mut reads = Reads::new(&mut parts, &options, Vec::new());
    reads.look().await?;
    reads.conclude()
}

fn conclude(out: &Output, checks: Vec<Check>) -> Result<Exit> {
    let checks = Checks { checks };
    out.emit(&checks)?;
    Ok(checks.exit())
}

fn configuration(setup: &Startup, profile: Option<&str>) -> Check {
    let file = &setup.settings.paths.config_file;
    let found = if file.exists() {
        file.display().to_string()
    } else {
        format!("no {} yet", file.display())
    };
    let meant = match profile {
        Some(SANDBOX_PROFILE) => "the sandbox".to_owned(),
        Some(name) => format!("profile {name}"),
        None => "BOOKCTL_BASE_URL".to_owned(),
    };
    Check::ok("config", format!("{found}; using {meant}"))
}

/// How to repair a configuration that selects no service.
fn broken_configuration(setup: &Startup, error: &Error) -> String {
    let file = &setup.settings.paths.config_file;
    if ConfigFile::read(file).is_err()
        && ownership::check(file).is_ok()
        && ownership::refuse_writable(file).is_ok()
    {
        let editor = if cfg!(windows) { "notepad" } else { "${EDITOR:-vi}" };
        return format!("{editor} {}", word(&file.display().to_string()));
    }
    error.hint.clone().unwrap_or_else(|| "bookctl profile list".to_owned())
}

fn shared_journal(setup: &Startup, shared: &SharedJournal) -> Check {
    let open = database(&setup.ui, &setup.settings, shared)
        .map(|database| Journal::open_shared(database, Scope::default()));
    examined(open, &format!("{}: ", shared.address))
}

fn local_journal(setup: &Startup) -> Check {
    let path = &setup.settings.paths.journal;
    let folder = path.ancestors().skip(1).find(|it| it.exists());
    if let Some(folder) = folder.filter(|it| private_file::is_read_only(it)) {
        let place = folder.display();
        let detail = format!("{place} is read-only, and bookctl books nothing without a journal");
        return Check::problem("journal", Exit::Config, detail)
            .fix("make it writable, or set BOOKCTL_HOME to a folder that is");
    }
    if !path.exists() {
        return Check::ok("journal", "none yet; the first booking request creates it");
    }
    examined(Journal::open(path, Scope::default()), "")
}

fn examined(journal: Result<Journal>, place: &str) -> Check {
    let attempts = journal.and_then(|journal| {
        journal.takes_changes()?;
        journal.open_attempts()
    });
    match attempts.map(|attempts| attempts.len()) {
        Ok(0) => Check::ok("journal", format!("{place}no unresolved requests")),
        Ok(count) => {
            let attempts = plural(count, "attempt has", "attempts have");
            let detail = format!("{place}{attempts} an unknown outcome: a booking may exist");
            Check::warning("journal", detail).fix("bookctl attempts")
        }
        Err(error) => Check::failed("journal", &error),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum CheckState {
    Ok,
    Warning,
    Problem,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    name: &'static str,
    state: CheckState,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    #[serde(skip)]
    exit: Exit,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Check { name, state: CheckState::Ok, detail: detail.into(), fix: None, exit: Exit::Done }
    }

    fn warning(name: &'static str, detail: impl Into<String>) -> Self {
        Check { state: CheckState::Warning, ..Check::ok(name, detail) }
    }

    fn problem(name: &'static str, exit: Exit, detail: impl Into<String>) -> Self {
        Check { state: CheckState::Problem, exit, ..Check::ok(name, detail) }
    }

    fn failed(name: &'static str, error: &Error) -> Self {
        Check { fix: error.hint.clone(), ..Check::problem(name, error.exit, error.message.clone()) }
    }

    fn fix(self, fix: impl Into<String>) -> Self {
        Check { fix: Some(fix.into()), ..self }
    }
}

#[derive(Serialize)]
struct Checks {
    checks: Vec<Check>,
}

impl Checks {
    /// The exit code of the first problem in this order: configuration, network, key. Later checks
    /// depend on earlier ones.
    fn exit(&self) -> Exit {
        let exits = self.checks.iter().map(|check| check.exit);
        let rank = |exit: &Exit| match exit {
            Exit::Config => 0,
            Exit::Network => 1,
            Exit::Unauthorized => 2,
            Exit::Done => 4,
            _ => 3,
        };
        exits.min_by_key(rank).unwrap_or(Exit::Done)
    }
}

impl Draw for Checks {
    fn draw(&self, page: &mut Page) {
        for check in &self.checks {
            let (tone, label) = match check.state {
                CheckState::Ok => (Tone::Good, "ok"),
                CheckState::Warning => (Tone::Warn, "warning"),
                CheckState::Problem => (Tone::Bad, "problem"),
            };
            let Check { name, detail, .. } = check;
            let fix = check.fix.as_deref().unwrap_or_default();
            let sentence =
                if fix.is_empty() { detail.clone() } else { format!("{detail}; fix: {fix}") };
            // A pipe has a column for each.
            let cells = [
                (TableCell::toned(label, tone), 7),
                (TableCell::from(name.to_string()).in_short(Some(format!("{name}:"))), 0),
                (TableCell::from(detail.as_str()).in_short(Some(sentence)), 0),
                (TableCell::from(fix).in_short(Some(String::new())), 0),
            ];
            page.columns(cells.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_is_most_telling_problems_and_warnings_are_none() {
        let checks = |exits: &[Exit]| {
            let problems = exits.iter().map(|exit| Check::problem("it", *exit, ""));
            Checks { checks: problems.chain([Check::warning("that", "")]).collect() }.exit()
        };
        assert_eq!(checks(&[]), Exit::Done);
        assert_eq!(checks(&[Exit::NotAllowed]), Exit::NotAllowed);
        assert_eq!(checks(&[Exit::Unauthorized, Exit::Network]), Exit::Network);
        assert_eq!(checks(&[Exit::Network, Exit::Config]), Exit::Config);
    }
}
