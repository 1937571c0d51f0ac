use super::listing::{read, show};
use crate::app::Startup;
use crate::config::{Assignment, Environment, SANDBOX_PROFILE, edit, setting};
use crate::outcome::{Error, Exit, Result};

/// Change settings of a profile
///
/// Settings are base_url, read_only, ca_file, retention, local_times, auth_query, auth_user, `headers.NAME`,
/// `dialect.KEY`, `read.KIND` and `write.KIND`; `bookctl help dialect` lists the keys and kinds. All of them are changed, or none. Comments in the file are kept.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl profile set live read_only=false\n  \
    bookctl profile set live venues_field=data.results otp_field=pin\n  \
    bookctl profile set live 'read.booking=.data | .status |= ascii_downcase'")]
pub(crate) struct SetArgs {
    /// Profile
    name: String,
    /// Setting and its value
    #[arg(required = true, value_name = "KEY=VALUE", value_parser = Assignment::parse)]
    settings: Vec<Assignment>,
}

/// Remove settings of a profile, so that their defaults hold
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl profile unset live read.booking dialect.otp_field")]
pub(crate) struct UnsetArgs {
    /// Profile
    name: String,
    /// Setting
    #[arg(required = true, value_name = "KEY", value_parser = setting)]
    settings: Vec<String>,
}

pub(super) fn set(setup: &Startup, args: &SetArgs) -> Result<Exit> {
    known(setup, &args.name)?;
    let key = Environment::text(setup.environment.api_key.as_ref());
    edit(&setup.paths.config_file, |draft| {
        draft.before.profile(&args.name)?;
        for assignment in &args.settings {
            if key
                .as_ref()
                .is_some_and(|key| assignment.value.contains(key))
            {
                return Err(Error::usage(format!(
                    "{} cannot hold the API key, which config.toml must not contain",
                    assignment.key
                ))
                .hint("store the key with `bookctl auth login`; dialect.auth_header or auth_query says how it is sent"));
            }
            assignment.set(draft, &args.name)?;
        }
        Ok(())
    })?;
    show(setup, &args.name)
}

pub(super) fn unset(setup: &Startup, args: &UnsetArgs) -> Result<Exit> {
    known(setup, &args.name)?;
    edit(&setup.paths.config_file, |draft| {
        draft.before.profile(&args.name)?;
        for key in &args.settings {
            if key == "base_url" {
                return Err(Error::usage("a profile cannot be without its base_url")
                    .hint("change it with `bookctl profile set`, or remove the profile"));
            }
            draft.unset(&args.name, key)?;
        }
        Ok(())
    })?;
    show(setup, &args.name)
}

/// Refuses a profile that is not in the file.
pub(super) fn known(setup: &Startup, name: &str) -> Result<()> {
    if name == SANDBOX_PROFILE {
        return Err(Error::config("the embedded sandbox has no settings")
            .hint("name a profile of config.toml; `bookctl profile list` lists them"));
    }
    read(setup)?.profile(name).map(drop)
}
