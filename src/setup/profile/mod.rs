//! `bookctl profile`: the services in `config.toml`.

pub(crate) mod change;
pub(crate) mod learn;

use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::Startup;
use crate::config::{ConfigFile, Environment, Profile, SANDBOX_PROFILE, edit};
use crate::json::{parsed, plain};
use crate::outcome::{Exit, Result};
use crate::platform::shell;
use crate::secrets::{redact, redact_document};
use crate::terminal::output::{Draw, Page, TableCell, Tone};

/// Manage profiles: the services bookctl can connect to
///
/// A profile is the address of a service and its settings. `bookctl auth login` stores its API key.
#[derive(Subcommand, Debug, Default)]
pub(crate) enum Command {
    /// List profiles
    #[default]
    List,
    /// Show a profile
    #[command(after_help = "Examples:\n  bookctl profile show live --json")]
    Show {
        /// Name of the profile [default: the current one]
        name: Option<String>,
    },
    Add(change::AddArgs),
    /// Make a profile the default, or `sandbox`
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

pub(crate) async fn run(setup: Startup, command: Command) -> Result<Exit> {
    let displayed = match command {
        Command::List => {
            return setup.ui.emit(&ProfileList::read(&setup)?);
        }
        Command::Show { name } => name,
        Command::Use { name } => Some(use_profile(&setup, name)?),
        Command::Add(args) => Some(change::add(&setup, args)?),
        Command::Set(args) => Some(change::set(&setup, args)?),
        Command::Unset(args) => Some(change::unset(&setup, args)?),
        Command::Learn(args) => return learn::run(setup, args).await,
        Command::Remove(args) => return change::remove(&setup, args).await,
    };
    let file = ConfigFile::read(&setup.settings.paths.config_file)?;
    let name = displayed.or_else(|| current(&setup, &file));
    let name = name.as_deref().unwrap_or(SANDBOX_PROFILE);
    setup.ui.emit(&ProfileView::from_config(&setup, &file, name)?)
}

fn use_profile(setup: &Startup, name: String) -> Result<String> {
    edit(&setup.settings.paths.config_file, |draft| {
        if name != SANDBOX_PROFILE {
            draft.before.profile(&name)?;
        }
        draft.set_default(&name);
        Ok(())
    })?;
    for (variable, value) in [
        ("BOOKCTL_PROFILE", &setup.settings.environment.profile),
        ("BOOKCTL_BASE_URL", &setup.settings.environment.base_url),
    ] {
        if value.is_some() {
            setup.ui.out.warn(&format!("{variable} is set and overrides the default profile"));
        }
    }
    Ok(name)
}

#[derive(Serialize)]
struct ProfileView {
    name: String,
    /// Whether commands use it now, because of a flag, the environment or the file.
    current: bool,
    base_url: Option<String>,
    /// `None` for the sandbox.
    #[serde(flatten)]
    settings: Option<Settings>,
}

#[derive(Serialize)]
struct Settings {
    read_only: bool,
    ca_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retention: Option<String>,
    #[serde(flatten)]
    mapping: Value,
}

impl Settings {
    /// What differs from the defaults, as `profile set` takes it.
    fn assignments(&self) -> Vec<String> {
        let document = serde_json::to_value(self).unwrap_or_default();
        let mut found = Vec::new();
        for (key, value) in document.as_object().into_iter().flatten() {
            match value {
                Value::Null | Value::Bool(false) => {}
                Value::Object(table) => {
                    let set = |it: (&String, _)| format!("{key}.{} = {}", it.0, plain(it.1));
                    found.extend(table.iter().map(set));
                }
                value => found.push(format!("{key} = {}", plain(value))),
            }
        }
        found
    }
}

/// The profile that commands use now. `None` if the environment sets an address without a profile.
fn current(setup: &Startup, file: &ConfigFile) -> Option<String> {
    let has_address = Environment::text(&setup.settings.environment.base_url).is_some();
    let by_default = file.default_profile.as_deref().unwrap_or(SANDBOX_PROFILE);
    setup.settings.named_profile().or_else(|| (!has_address).then(|| by_default.to_owned()))
}

impl ProfileView {
    fn from_config(setup: &Startup, file: &ConfigFile, name: &str) -> Result<Self> {
        let profile = match name {
            SANDBOX_PROFILE => None,
            name => Some(file.profile(name)?),
        };
        let settings = |profile: &Profile| {
            let mapping = json!(profile.mapping);
            Settings {
                read_only: profile.read_only == Some(true),
                ca_file: profile.ca_file.clone(),
                retention: profile.retention.map(|it| it.to_string()),
                mapping: parsed(&redact_document(&mapping.to_string(), &mapping))
                    .unwrap_or_default(),
            }
        };
        Ok(ProfileView {
            name: name.to_owned(),
            current: current(setup, file).as_deref() == Some(name),
            base_url: profile.map(|it| redact(&it.base_url).into_owned()),
            settings: profile.map(settings),
        })
    }

    fn address(&self) -> &str {
        self.base_url.as_deref().unwrap_or("the sandbox: nothing is really booked")
    }
}

#[derive(Serialize)]
struct ProfileList {
    profiles: Vec<ProfileView>,
}

impl ProfileList {
    fn read(setup: &Startup) -> Result<Self> {
        let file = ConfigFile::read(&setup.settings.paths.config_file)?;
        let mut profiles = vec![ProfileView::from_config(setup, &file, SANDBOX_PROFILE)?];
        for name in file.profiles.keys() {
            profiles.push(ProfileView::from_config(setup, &file, name)?);
        }
        Ok(ProfileList { profiles })
    }
}

impl Draw for ProfileList {
    fn draw(&self, page: &mut Page) {
        let rows = self.profiles.iter().map(|row| {
            let current = if row.current { "current" } else { "" };
            let is_read_only = row.settings.as_ref().is_some_and(|it| it.read_only);
            vec![
                row.name.as_str().into(),
                TableCell::toned(current, Tone::Good),
                row.address().into(),
                if is_read_only { "read-only" } else { "" }.into(),
            ]
        });
        page.table(vec!["profile", "state", "address", "access"], rows.collect(), vec![]);
    }
}

impl Draw for ProfileView {
    fn draw(&self, page: &mut Page) {
        let (tone, state) =
            if self.current { (Tone::Good, "current") } else { (Tone::Dim, "not current") };
        page.heading(tone, state, self.name.as_str());
        page.field("address", self.address());
        let Some(settings) = &self.settings else {
            return;
        };
        for assignment in settings.assignments() {
            page.field("setting", assignment);
        }
        if !self.current {
            page.next(format!("bookctl profile use {}", shell::word(&self.name)));
        }
    }
}
