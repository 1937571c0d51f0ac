//! Views of profiles.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::app::Startup;
use crate::config::{ConfigFile, Environment, Profile, SANDBOX_PROFILE};
use crate::json::plain;
use crate::model::shell;
use crate::outcome::Result;
use crate::terminal::output::{Draw, Page, TableCell, Tone};

#[derive(Serialize)]
pub(super) struct ProfileView {
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
    local_times: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_user: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    dialect: Map<String, Value>,
    read: BTreeMap<String, String>,
    write: BTreeMap<String, String>,
}

impl Settings {
    fn of(profile: &Profile) -> Self {
        let adapter = &profile.adapter;
        let transport = &adapter.transport;
        let expressions = |table: &str| {
            let all = adapter.expressions();
            let own = all.filter_map(|(key, source)| {
                let kind = key.strip_prefix(table)?.strip_prefix('.')?;
                Some((kind.to_owned(), source.to_owned()))
            });
            own.collect()
        };
        Settings {
            read_only: profile.read_only == Some(true),
            ca_file: profile.ca_file.clone(),
            retention: profile.retention.map(|it| it.to_string()),
            local_times: adapter.local_times,
            auth_query: transport.auth_query.clone(),
            auth_user: transport.auth_user.clone(),
            headers: transport.headers.iter().cloned().collect(),
            dialect: adapter.dialect.own_names(),
            read: expressions("read"),
            write: expressions("write"),
        }
    }

    /// What differs from the defaults, as `profile set` takes it.
    fn assignments(&self) -> Vec<(String, String)> {
        let document = serde_json::to_value(self).unwrap_or_default();
        let mut found = Vec::new();
        for (key, value) in document.as_object().into_iter().flatten() {
            match value {
                Value::Null | Value::Bool(false) => {}
                Value::Object(table) => found.extend(
                    table
                        .iter()
                        .map(|(name, value)| (format!("{key}.{name}"), plain(value))),
                ),
                value => found.push((key.clone(), plain(value))),
            }
        }
        found
    }
}

/// The profile that commands use now. `None` if the environment sets an address without a profile.
pub(super) fn current(setup: &Startup, file: &ConfigFile) -> Option<String> {
    let by_default = || match Environment::text(setup.environment.base_url.as_ref()) {
        Some(_) => None,
        None => Some(
            file.default_profile
                .clone()
                .unwrap_or(SANDBOX_PROFILE.to_owned()),
        ),
    };
    setup.named_profile().or_else(by_default)
}

impl ProfileView {
    pub(super) fn of(setup: &Startup, file: &ConfigFile, name: &str) -> Result<Self> {
        let profile = match name {
            SANDBOX_PROFILE => None,
            name => Some(file.profile(name)?),
        };
        Ok(ProfileView {
            name: name.to_owned(),
            current: current(setup, file).as_deref() == Some(name),
            base_url: profile.map(|it| it.base_url.clone()),
            settings: profile.map(Settings::of),
        })
    }

    fn address(&self) -> &str {
        let sandbox = "the embedded sandbox: nothing is really booked";
        self.base_url.as_deref().unwrap_or(sandbox)
    }
}

#[derive(Serialize)]
pub(super) struct ProfileList {
    profiles: Vec<ProfileView>,
}

impl ProfileList {
    /// All profiles, the sandbox first.
    pub(super) fn of(setup: &Startup) -> Result<Self> {
        let file = ConfigFile::read(&setup.paths.config_file)?;
        let mut profiles = vec![ProfileView::of(setup, &file, SANDBOX_PROFILE)?];
        for name in file.profiles.keys() {
            profiles.push(ProfileView::of(setup, &file, name)?);
        }
        Ok(ProfileList { profiles })
    }
}

impl Draw for ProfileList {
    fn page(&self) -> Page {
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
        let mut page = Page::default();
        let headers = vec!["profile", "state", "address", "access"];
        page.table(headers, rows.collect(), vec![]);
        page
    }
}

impl Draw for ProfileView {
    fn page(&self) -> Page {
        let mut page = Page::default();
        let (tone, state) = if self.current {
            (Tone::Good, "current")
        } else {
            (Tone::Dim, "not current")
        };
        page.heading(tone, state, self.name.as_str());
        page.field("address", self.address());
        let Some(settings) = &self.settings else {
            return page;
        };
        for (key, value) in settings.assignments() {
            page.field("setting", format!("{key} = {value}"));
        }
        if !self.current {
            page.next(format!("bookctl profile use {}", shell::word(&self.name)));
        }
        page
    }
}
