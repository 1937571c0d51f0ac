//! Views of profiles.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::app::Startup;
use crate::config::{ConfigFile, Environment, Profile, SANDBOX_PROFILE};
use crate::json::{Document, plain};
use crate::model::shell;
use crate::outcome::{Exit, Result};
use crate::terminal::output::{Page, TableCell, Tone, View};

/// A profile. The sandbox is one without an address.
pub(super) struct ProfileRow {
    name: String,
    profile: Option<Profile>,
    /// Whether commands use it now, because of a flag, the environment or the file.
    current: bool,
}

impl ProfileRow {
    fn of(setup: &Startup, file: &ConfigFile, name: &str) -> Result<Self> {
        Ok(ProfileRow {
            name: name.to_owned(),
            profile: match name {
                SANDBOX_PROFILE => None,
                name => Some(file.profile(name)?.clone()),
            },
            current: current(setup, file).as_deref() == Some(name),
        })
    }

    fn object(&self) -> Value {
        let mut object = Map::new();
        object.insert("name".into(), json!(self.name));
        object.insert("current".into(), json!(self.current));
        let base_url = self.profile.as_ref().map(|profile| &profile.base_url);
        object.insert("base_url".into(), json!(base_url));
        if let Some(profile) = &self.profile {
            object.insert("read_only".into(), json!(profile.read_only == Some(true)));
            object.insert("ca_file".into(), json!(profile.ca_file));
            if let Some(retention) = profile.retention {
                object.insert("retention".into(), json!(retention.to_string()));
            }
            object.insert("local_times".into(), json!(profile.adapter.local_times));
            let transport = &profile.adapter.transport;
            for (key, name) in [
                ("auth_query", &transport.auth_query),
                ("auth_user", &transport.auth_user),
            ] {
                object.extend(name.iter().map(|name| (key.to_owned(), json!(name))));
            }
            if !transport.headers.is_empty() {
                let headers = transport.headers.iter().cloned();
                let headers: BTreeMap<String, String> = headers.collect();
                object.insert("headers".into(), json!(headers));
            }
            object.insert("dialect".into(), json!(profile.adapter.dialect.own_names()));
            for table in ["read", "write"] {
                object.insert(table.into(), expressions(profile, table));
            }
        }
        Value::Object(object)
    }

    fn address(&self) -> &str {
        match &self.profile {
            Some(profile) => &profile.base_url,
            None => "the embedded sandbox: nothing is really booked",
        }
    }

    fn access(&self) -> &'static str {
        match &self.profile {
            Some(profile) if profile.read_only == Some(true) => "read-only",
            _ => "",
        }
    }
}

/// The expressions of the table `read` or `write`, by their kind.
fn expressions(profile: &Profile, table: &str) -> Value {
    let all = profile.adapter.expressions();
    let own = all.filter_map(|(key, source)| {
        let kind = key.strip_prefix(table)?.strip_prefix('.')?;
        Some((kind.to_owned(), json!(source)))
    });
    Value::Object(own.collect())
}

/// The profile that commands use now. `None` if the environment sets an address without a profile.
pub(super) fn current(setup: &Startup, file: &ConfigFile) -> Option<String> {
    let url = Environment::text(setup.environment.base_url.as_ref());
    let by_default = || match url {
        Some(_) => None,
        None => Some(file.default_profile.as_deref().unwrap_or(SANDBOX_PROFILE)),
    };
    let named = setup.named_profile();
    named.or_else(|| by_default().map(str::to_owned))
}

pub(super) fn read(setup: &Startup) -> Result<ConfigFile> {
    ConfigFile::read(&setup.paths.config_file)
}

pub(super) fn show(setup: &Startup, name: &str) -> Result<Exit> {
    setup
        .out
        .emit(&ProfileRow::of(setup, &read(setup)?, name)?)?;
    Ok(Exit::Done)
}

/// All profiles, the sandbox first.
pub(super) fn rows(setup: &Startup) -> Result<Vec<ProfileRow>> {
    let file = read(setup)?;
    let names = file.profiles.keys().map(String::as_str);
    std::iter::once(SANDBOX_PROFILE)
        .chain(names)
        .map(|name| ProfileRow::of(setup, &file, name))
        .collect()
}

pub(super) struct Profiles(pub(super) Vec<ProfileRow>);

impl View for Profiles {
    fn json(&self) -> Document {
        let rows: Vec<Value> = self.0.iter().map(ProfileRow::object).collect();
        json!({ "profiles": rows }).into()
    }

    fn page(&self) -> Page {
        let rows = self.0.iter().map(|row| {
            let state = if row.current {
                TableCell::toned("current", Tone::Good)
            } else {
                "".into()
            };
            vec![
                row.name.as_str().into(),
                state,
                row.address().into(),
                row.access().into(),
            ]
        });
        let mut page = Page::default();
        let headers = vec!["profile", "state", "address", "access"];
        page.table(headers, rows.collect(), vec![]);
        page
    }
}

impl View for ProfileRow {
    fn json(&self) -> Document {
        self.object().into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let (tone, state) = if self.current {
            (Tone::Good, "current")
        } else {
            (Tone::Dim, "not current")
        };
        page.heading(tone, state, self.name.as_str());
        page.field("address", self.address());
        let Some(profile) = &self.profile else {
            return page;
        };
        if profile.read_only == Some(true) {
            page.field(
                "access",
                "read-only: requests that would change something are refused",
            );
        }
        let ca_file = profile.ca_file.as_ref();
        page.field_if("ca file", ca_file.map(|file| file.display().to_string()));
        page.field_if("retention", profile.retention.map(|it| it.to_string()));
        let transport = &profile.adapter.transport;
        let query = transport.auth_query.as_ref();
        page.field_if("key", query.map(|name| format!("query parameter {name}")));
        let user = transport.auth_user.as_ref();
        page.field_if(
            "key",
            user.map(|user| format!("password of the Basic user {user:?}")),
        );
        for (name, value) in &transport.headers {
            page.field("header", format!("{name}: {value}"));
        }
        for (key, value) in profile.adapter.dialect.own_names() {
            let name = match plain(&value) {
                name if name.is_empty() => "(empty)".to_owned(),
                name => name,
            };
            page.field("dialect", format!("{key} = {name}"));
        }
        if profile.adapter.local_times {
            page.field("times", "without an offset they are the venue's own");
        }
        for (key, source) in profile.adapter.expressions() {
            match key.split_once('.') {
                Some(("read", kind)) => page.field("read", format!("{kind} = {source}")),
                Some((_, kind)) => page.field("write", format!("{kind} = {source}")),
                None => &mut page,
            };
        }
        if !self.current {
            page.next(format!("bookctl profile use {}", shell::word(&self.name)));
        }
        page
    }
}
