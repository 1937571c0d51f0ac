//! `bookctl profile`: the services in `config.toml`.

mod add;
mod learn;
mod listing;
mod remove;
mod set;

use clap::Subcommand;

use crate::app::Startup;
use crate::config::{SANDBOX_PROFILE, edit};
use crate::outcome::{Exit, Result};
use listing::{Profiles, read, show};

/// Manage profiles: the services that bookctl can connect to
///
/// A profile is the address of a service and its settings. `bookctl auth login` stores its API key.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// List profiles
    List,
    /// Show a profile
    #[command(after_help = "Examples:\n  bookctl profile show live --json")]
    Show {
        /// Name of the profile [default: the current one]
        name: Option<String>,
    },
    Add(add::Args),
    /// Make a profile the default; `sandbox` is the embedded sandbox
    #[command(after_help = "Examples:\n  bookctl profile use live\n  bookctl profile use sandbox")]
    Use {
        /// Name of the profile
        name: String,
    },
    Set(set::SetArgs),
    Learn(learn::Args),
    Unset(set::UnsetArgs),
    Remove(remove::Args),
}

pub(super) async fn run(setup: Startup, command: Command) -> Result<Exit> {
    match command {
        Command::List => {
            setup.out.emit(&Profiles(listing::rows(&setup)?))?;
            Ok(Exit::Done)
        }
        Command::Show { name } => {
            let name = name.or_else(|| listing::current(&setup, &read(&setup).ok()?));
            show(&setup, name.as_deref().unwrap_or(SANDBOX_PROFILE))
        }
        Command::Add(args) => add::run(&setup, &args),
        Command::Use { name } => use_profile(&setup, &name),
        Command::Set(args) => set::set(&setup, &args),
        Command::Unset(args) => set::unset(&setup, &args),
        Command::Learn(args) => learn::run(setup, args).await,
        Command::Remove(args) => remove::run(&setup, args).await,
    }
}

fn use_profile(setup: &Startup, name: &str) -> Result<Exit> {
    edit(&setup.paths.config_file, |draft| {
        if name != SANDBOX_PROFILE {
            draft.before.profile(name)?;
        }
        draft.set_default(name);
        Ok(())
    })?;
    for (variable, value) in [
        ("BOOKCTL_PROFILE", &setup.environment.profile),
        ("BOOKCTL_BASE_URL", &setup.environment.base_url),
    ] {
        if value.is_some() {
            setup.out.warn(&format!(
                "{variable} is set and overrides the default profile"
            ));
        }
    }
    show(setup, name)
}
