//! Settings of a profile that the shell can change, and how `config.toml` has them.

use std::io;
use std::path::Path;

use anyhow::Context as _;

use super::base_url::BaseUrl;
use super::edit::ConfigEdit;
use super::file::LIST_KEYS;
use super::target::journal_address;
use crate::outcome::{Error, Result};
use crate::platform::regular_file;
use crate::service::mapping::{Dialect, Mapping, ReadKind, WriteKind};
use crate::service::time::retention::Retention;

/// The settings that stand in the profile itself, and not in a table of it.
const PLAIN: &str =
    "base_url, read_only, ca_file, retention, journal, local_times, auth_query, auth_user";

/// The key of a setting in `config.toml`. Keys of the dialect need no `dialect.` in front.
pub(crate) fn setting(key: &str) -> Result<String, String> {
    let is_name = |name: &str| Dialect::TABLE.iter().any(|it| it.0 == name);
    match key.split_once('.').unwrap_or(("", key)) {
        ("headers", _) => Ok(key.to_owned()),
        ("read", kind) if ReadKind::parse(kind).is_some() => Ok(key.to_owned()),
        ("write", kind) if WriteKind::parse(kind).is_some() => Ok(key.to_owned()),
        ("", name) if PLAIN.split(", ").any(|it| it == name) => Ok(key.to_owned()),
        ("" | "dialect", name) if is_name(name) => Ok(format!("dialect.{name}")),
        _ => Err(format!(
            "a profile has no setting {key}; the settings are {PLAIN}, headers.NAME and those that `bookctl help mapping` lists"
        )),
    }
}

/// A change of a setting, from `KEY=VALUE`.
pub(crate) use crate::service::mapping::Setting as Assignment;

impl Assignment {
    /// Parses `KEY=VALUE`. The value is everything after the first `=`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
        Ok(Assignment { key: setting(key.trim())?, value: value.to_owned() })
    }

    /// Writes the setting into the draft of the file. The error of an invalid value names the key.
    pub(crate) fn set(&self, draft: &mut ConfigEdit, profile: &str) -> Result<()> {
        let Assignment { key, value } = self;
        match key.as_str() {
            "base_url" => return set_address(draft, profile, value),
            "ca_file" => return draft.set(profile, key, whole_path(value.as_ref(), key)?),
            "read_only" | "local_times" => {
                let value: bool =
                    value.parse().map_err(|_| Error::usage(format!("{key} is true or false")))?;
                return draft.set(profile, key, value);
            }
            "retention" => {
                Retention::parse(value)
                    .map_err(|why| Error::usage(format!("{key} cannot be set: {why}")))?;
            }
            "journal" => drop(journal_address(value, profile)?),
            key if key.starts_with("headers.") || key.starts_with("auth_") => {}
            key => Mapping::default()
                .set(key, value)
                .map_err(|why| Error::usage(format!("{key} {why}")).hint(LIST_KEYS))?,
        }
        draft.set(profile, key, value.as_str())
    }
}

/// A key is stored for one origin, so the address can only change within it.
fn set_address(draft: &mut ConfigEdit, profile: &str, text: &str) -> Result<()> {
    let address = BaseUrl::parse(text, "base_url")?;
    let known = draft.before.profile(profile)?;
    if let Some(stored_for) = &known.key_origin
        && *stored_for != address.origin()
    {
        return Err(Error::config(format!(
            "base_url cannot be at {}: the key of profile {profile} is stored for {stored_for}",
            address.origin()
        ))
        .hint("remove the key with `bookctl auth logout` first, or add another profile with `bookctl auth login`"));
    }
    draft.set(profile, "base_url", address.join(""))
}

/// The absolute path of the file, because commands run in any folder. It must be a regular file
/// that can be opened.
fn whole_path(file: &Path, name: &str) -> Result<String> {
    let whole = regular_file::open(file).and_then(|_| {
        let whole = dunce::canonicalize(file)?.into_os_string().into_string();
        whole.map_err(|_| io::Error::other("its path is not UTF-8"))
    });
    Ok(whole.with_context(|| format!("{name} {}", file.display()))?)
}
