//! `bookctl doctor`: checks everything that a command needs, one line each.

mod check;
mod service;

use crate::app::shared_journal::database;
use crate::app::{Context, Startup};
use crate::config::{ConfigFile, SANDBOX_PROFILE, SharedJournal};
use crate::flows::learn::{LearnOptions, look};
use crate::journal::{Journal, Scope};
use crate::model::plural;
use crate::model::shell::word;
use crate::outcome::{Error, Exit, Result};
use crate::platform::{ownership, private_file};
use crate::secrets::Vault;
use crate::terminal::output::Output;
use check::{Check, Checks};

/// Check the configuration, the connection and the API key
///
/// Prints one line for each check, with a fix if there is a problem. The exit code is 0 if there is no problem.
/// Otherwise it is 3 for the configuration, 15 for the network or 4 for the key, in this order; where the service refuses
/// for another reason or fails, it is the code that every command ends with there, such as 14.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl doctor\n  \
    bookctl doctor --probe --near Reykjavik\n  \
    bookctl doctor --jq '.checks[] | select(.state != \"ok\")'")]
pub(crate) struct Args {
    /// Read the service's own documents, and show what is not read of them
    #[arg(long)]
    probe: bool,
    /// A place where the service has venues, for --probe
    #[arg(long, value_name = "PLACE", requires = "probe")]
    near: Option<String>,
}

pub(super) async fn run(setup: Startup, args: Args) -> Result<Exit> {
    if args.probe {
        return probe(setup, args.near).await;
    }
    let vault = Vault::new(setup.paths.secrets.clone());
    let target = match setup.target() {
        Ok(target) => target,
        Err(error) => {
            let fix = broken_configuration(&setup, &error);
            let config = Check::problem("config", error.exit, error.message.clone()).fix(fix);
            let keyring = service::keyring(&vault, true).await;
            let journal = local_journal(&setup);
            return conclude(&setup.out, vec![config, keyring, journal]);
        }
    };
    let config = configuration(&setup, target.profile());
    let journal = match target.journal() {
        None => local_journal(&setup),
        Some(shared) => shared_journal(&setup, shared),
    };
    let context = Context::with_target(setup, target);
    // A slow keyring does not delay the network check.
    let ((keyring, key), reached) = tokio::join!(
        service::credentials(context.target(), &vault),
        service::reach(&context)
    );
    let mut checks = vec![config, keyring];
    checks.extend(service::examine(&context, reached, key).await);
    checks.push(journal);
    conclude(&context.out, checks)
}

/// What the service sends, read as `profile learn --check` reads it. Writes nothing.
async fn probe(setup: Startup, near: Option<String>) -> Result<Exit> {
    let mut context = Context::new(setup)?;
    let options = LearnOptions {
        near,
        vertical: "dining".to_owned(),
        is_check: true,
        asks: false,
    };
    let report = {
        let _progress = context.out.progress("reading");
        look(&mut context, &options, Vec::new()).await?
    };
    context.out.emit(&report)?;
    Ok(report.exit())
}

fn conclude(out: &Output, checks: Vec<Check>) -> Result<Exit> {
    let checks = Checks { checks };
    out.emit(&checks)?;
    Ok(checks.exit())
}

fn configuration(setup: &Startup, profile: Option<&str>) -> Check {
    let file = &setup.paths.config_file;
    let found = if file.exists() {
        file.display().to_string()
    } else {
        format!("no {} yet", file.display())
    };
    let meant = match profile {
        Some(SANDBOX_PROFILE) => "the embedded sandbox".to_owned(),
        Some(name) => format!("profile {name}"),
        None => "BOOKCTL_BASE_URL".to_owned(),
    };
    Check::ok("config", format!("{found}; using {meant}"))
}

/// How to repair a configuration that selects no service.
fn broken_configuration(setup: &Startup, error: &Error) -> String {
    let file = &setup.paths.config_file;
    match ConfigFile::read(file) {
        Err(error) if ownership::check(file).is_err() => error.hint.clone().unwrap_or_default(),
        Err(_) => {
            let editor = if cfg!(windows) {
                "notepad"
            } else {
                "${EDITOR:-vi}"
            };
            format!("{editor} {}", word(&file.display().to_string()))
        }
        Ok(file) => {
            let named = setup.named_profile().or(file.default_profile.clone());
            let is_known = named.is_none_or(|name| file.profile(&name).is_ok());
            let hint = error.hint.clone().filter(|_| is_known);
            hint.unwrap_or_else(|| "bookctl profile list".to_owned())
        }
    }
}

fn shared_journal(setup: &Startup, shared: &SharedJournal) -> Check {
    let open = database(&setup.out, &setup.environment, &setup.paths, shared)
        .map(|database| Journal::open_shared(database, Scope::default()))
        .and_then(|journal| journal.takes_changes().map(|()| journal));
    examined(open, &format!("{}: ", shared.address))
}

/// Checks the journal of this machine, without creating one.
fn local_journal(setup: &Startup) -> Check {
    let path = &setup.paths.journal;
    if let Some(place) = private_file::read_only_place(path) {
        let detail = format!(
            "{} is read-only, and bookctl books nothing without a journal",
            place.display()
        );
        return Check::problem("journal", Exit::Config, detail)
            .fix("make it writable, or set BOOKCTL_HOME to a folder that is");
    }
    if !path.exists() {
        return Check::ok("journal", "none yet; the first booking request creates it");
    }
    examined(Journal::open(path, Scope::default()), "")
}

fn examined(journal: Result<Journal>, place: &str) -> Check {
    let attempts = journal.and_then(|journal| journal.open_attempts());
    match attempts.map(|attempts| attempts.len()) {
        Ok(0) => Check::ok("journal", format!("{place}no open attempts")),
        Ok(count) => {
            let attempts = plural(count, "attempt has", "attempts have");
            let detail = format!("{place}{attempts} an unknown outcome: a booking may exist");
            Check::warning("journal", detail).fix("bookctl attempts")
        }
        Err(error) => Check::failed("journal", &error),
    }
}
