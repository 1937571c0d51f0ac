//! `bookctl profile`: the services in `config.toml`.

mod change;
mod learn;
mod view;

use clap::Subcommand;

use crate::app::Startup;
use crate::config::{ConfigFile, SANDBOX_PROFILE, edit};
use crate::outcome::{Exit, Result};
use view::{ProfileList, ProfileView};

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
    Add(change::AddArgs),
    /// Make a profile the default; `sandbox` is the embedded sandbox
    #[command(after_help = "Examples:\n  bookctl profile use live\n  bookctl profile use sandbox")]
    Use {
        /// Name of the profile
        name: String,
    },
    Set(change::SetArgs),
    Learn(learn::Args),
    Unset(change::UnsetArgs),
    Remove(change::RemoveArgs),
}

pub(super) async fn run(setup: Startup, command: Command) -> Result<Exit> {
    let shown = match command {
        Command::List => {
            setup.out.emit(&ProfileList::of(&setup)?)?;
            return Ok(Exit::Done);
        }
        Command::Show { name } => name,
        Command::Use { name } => Some(use_profile(&setup, name)?),
        Command::Add(args) => Some(change::add(&setup, args)?),
        Command::Set(args) => Some(change::set(&setup, args)?),
        Command::Unset(args) => Some(change::unset(&setup, args)?),
        Command::Learn(args) => return learn::run(setup, args).await,
        Command::Remove(args) => return change::remove(&setup, args).await,
    };
    let file = ConfigFile::read(&setup.paths.config_file)?;
    let name = shown.or_else(|| view::current(&setup, &file));
    let name = name.as_deref().unwrap_or(SANDBOX_PROFILE);
    setup.out.emit(&ProfileView::of(&setup, &file, name)?)?;
    Ok(Exit::Done)
}

fn use_profile(setup: &Startup, name: String) -> Result<String> {
    edit(&setup.paths.config_file, |draft| {
        if name != SANDBOX_PROFILE {
            draft.before.profile(&name)?;
        }
        draft.set_default(&name);
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
    Ok(name)
}
