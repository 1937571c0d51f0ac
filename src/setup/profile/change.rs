//! What changes the profiles in `config.toml`: `add`, `set`, `unset` and `remove`.

use super::ProfileList;
use crate::app::Startup;
use crate::booking::confirmation::Confirmation;
use crate::config::{
    Assignment, BaseUrl, ConfigEdit, ConfigFile, Environment, SANDBOX_PROFILE, edit, profile_name,
    setting,
};
use crate::outcome::{Error, Exit, Result};
use crate::platform::shell;
use crate::secrets::{Account, Vault};
use crate::setup::forget_secrets::forget_secrets;

/// Add a profile
///
/// To use it, pass --profile NAME, or make it the default with `bookctl profile use NAME`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl profile add staging --base-url https://staging.example.com\n  \
    bookctl profile add audit --base-url https://api.example.com read_only=true\n  \
    bookctl profile add local --base-url http://127.0.0.1:8080 otp_field=pin")]
pub(crate) struct AddArgs {
    /// Name of the profile: ASCII characters without spaces
    #[arg(value_parser = profile_name)]
    name: String,
    /// Use the service at this address
    #[arg(long, value_name = "URL")]
    base_url: String,
    /// Setting and its value, as for `bookctl profile set`
    #[arg(value_name = "KEY=VALUE", value_parser = Assignment::parse)]
    settings: Vec<Assignment>,
}

pub(crate) fn add(setup: &Startup, args: AddArgs) -> Result<String> {
    let name = args.name;
    let base_url = BaseUrl::parse(&args.base_url, "--base-url")?;
    if let Some(note) = base_url.note() {
        setup.ui.out.note(&note);
    }
    edit(&setup.settings.paths.config_file, |draft| {
        if draft.before.profiles.contains_key(&name) {
            let what = format!("profile {name} already exists");
            let show = shell::word(&name);
            return Err(Error::config(what).hint(format!(
                "show it with `bookctl profile show {show}`, or choose another name"
            )));
        }
        draft.set(&name, "base_url", base_url.join(""))?;
        assign(setup, draft, &name, &args.settings)
    })?;
    Ok(name)
}

/// Change settings of a profile
///
/// Settings are base_url, read_only, ca_file, retention, local_times, auth_query, auth_user,
/// `headers.NAME`, `dialect.KEY`, `read.KIND` and `write.KIND`; `bookctl help mapping` lists the
/// keys and kinds. All of them are changed, or none. Comments in the file are kept.
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

pub(crate) fn set(setup: &Startup, args: SetArgs) -> Result<String> {
    known(setup, &args.name)?;
    edit(&setup.settings.paths.config_file, |draft| {
        assign(setup, draft, &args.name, &args.settings)
    })?;
    Ok(args.name)
}

fn assign(
    setup: &Startup,
    draft: &mut ConfigEdit,
    name: &str,
    settings: &[Assignment],
) -> Result<()> {
    let api_key = Environment::text(&setup.settings.environment.api_key);
    for assignment in settings {
        if let Some(api_key) = &api_key
            && assignment.value.contains(api_key)
        {
            return Err(Error::usage(format!(
                "{} cannot hold the API key, which config.toml must not contain",
                assignment.key
            ))
            .hint("store the key with `bookctl auth login`; dialect.auth_header or auth_query sets how it is sent"));
        }
        assignment.set(draft, name)?;
    }
    Ok(())
}

/// Reset settings of a profile to their defaults
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl profile unset live read.booking dialect.otp_field")]
pub(crate) struct UnsetArgs {
    /// Profile
    name: String,
    /// Setting
    #[arg(required = true, value_name = "KEY", value_parser = setting)]
    settings: Vec<String>,
}

pub(crate) fn unset(setup: &Startup, args: UnsetArgs) -> Result<String> {
    known(setup, &args.name)?;
    if args.settings.iter().any(|key| key == "base_url") {
        return Err(Error::usage("a profile cannot be without its base_url")
            .hint("change it with `bookctl profile set`, or remove the profile"));
    }
    edit(&setup.settings.paths.config_file, |draft| {
        args.settings.iter().try_for_each(|key| draft.unset(&args.name, key))
    })?;
    Ok(args.name)
}

pub(crate) fn known(setup: &Startup, name: &str) -> Result<()> {
    if name == SANDBOX_PROFILE {
        return Err(Error::config("the sandbox has no settings")
            .hint("name a profile of config.toml; `bookctl profile list` lists them"));
    }
    ConfigFile::read(&setup.settings.paths.config_file)?.profile(name).map(drop)
}

/// Remove a profile and its stored secrets
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl profile remove staging --yes")]
pub(crate) struct RemoveArgs {
    /// Name of the profile
    name: String,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(crate) async fn remove(setup: &Startup, args: RemoveArgs) -> Result<Exit> {
    let name = &args.name;
    if name == SANDBOX_PROFILE {
        return Err(Error::config("the sandbox cannot be removed")
            .hint("delete its bookings with `bookctl sandbox reset`"));
    }
    let file = ConfigFile::read(&setup.settings.paths.config_file)?;
    let profile = file.profile(name)?;
    // If the address is invalid, only the noted origin can have a stored key.
    let origin = match profile.address(name) {
        Ok(address) => address.origin(),
        Err(_) => profile.key_origin.clone().unwrap_or_default(),
    };
    if !args.yes {
        let question = format!("Remove profile {name}?");
        let declined = "nothing was removed";
        Confirmation::new("removing a profile", question, declined).ask(&setup.ui.prompter).await?;
    }
    let vault = Vault::new(setup.settings.paths.secrets.clone());
    if let Err(error) = forget_secrets(setup, &vault, &Account::new(name, origin)).await {
        let why = &error.message;
        let warning = format!("the stored key of profile {name} was not removed: {why}");
        setup.ui.out.warn(&warning);
    }
    edit(&setup.settings.paths.config_file, |draft| draft.remove(name))?;
    setup.ui.emit(&ProfileList::read(setup)?)
}
