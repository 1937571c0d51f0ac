//! Settings of a profile that the shell can change: their keys, and how they stand in `config.toml`.

use std::path::PathBuf;

use super::base_url::BaseUrl;
use super::edit::ConfigEdit;
use super::target::journal_address;
use crate::adapter::{Dialect, Expression, ReadKind, WriteKind};
use crate::model::retention::Retention;
use crate::outcome::{Code, Error, Result};
use crate::platform::regular_file;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    BaseUrl,
    ReadOnly,
    CaFile,
    Retention,
    /// The URL of the journal that a team shares.
    Journal,
    LocalTimes,
    AuthQuery,
    /// The user of Basic authentication, with the key as the password.
    AuthUser,
    /// A fixed header: `headers.NAME`.
    Header(String),
    /// An open name: `dialect.KEY`.
    Dialect(&'static str),
    /// An expression: the table `read` or `write`, and the kind of document.
    Expression(&'static str, &'static str),
}

impl Setting {
    /// Parses a key. The keys of the dialect can stand without `dialect.` in front. The error lists the keys.
    pub(crate) fn parse(key: &str) -> Result<Self, String> {
        let plain = match key {
            "base_url" => Some(Setting::BaseUrl),
            "read_only" => Some(Setting::ReadOnly),
            "ca_file" => Some(Setting::CaFile),
            "retention" => Some(Setting::Retention),
            "journal" => Some(Setting::Journal),
            "local_times" => Some(Setting::LocalTimes),
            "auth_query" => Some(Setting::AuthQuery),
            "auth_user" => Some(Setting::AuthUser),
            _ => key
                .strip_prefix("headers.")
                .map(|name| Setting::Header(name.to_owned())),
        };
        if let Some(setting) = plain {
            return Ok(setting);
        }
        let kinds = |names: Vec<&'static str>, kind: &str| {
            let known = names.iter().find(|name| **name == kind).copied();
            known.ok_or_else(|| {
                format!(
                    "{key} is no kind of document; the kinds are {}",
                    names.join(", ")
                )
            })
        };
        if let Some(kind) = key.strip_prefix("read.") {
            let names = ReadKind::TABLE.iter().map(|(_, name, _)| *name).collect();
            return kinds(names, kind).map(|kind| Setting::Expression("read", kind));
        }
        if let Some(kind) = key.strip_prefix("write.") {
            let names = WriteKind::TABLE.iter().map(|(_, name, _)| *name).collect();
            return kinds(names, kind).map(|kind| Setting::Expression("write", kind));
        }
        let name = key.strip_prefix("dialect.").unwrap_or(key);
        let known = Dialect::TABLE.iter().find(|(known, ..)| *known == name);
        known
            .map(|(known, ..)| Setting::Dialect(known))
            .ok_or_else(|| {
                format!(
                    "{key} is no setting of a profile; the settings are base_url, read_only, ca_file, retention, \
                     journal, local_times, auth_query, auth_user, headers.NAME, dialect.KEY, read.KIND and write.KIND, which `bookctl help dialect` lists"
                )
            })
    }

    pub(crate) fn key(&self) -> String {
        match self {
            Setting::BaseUrl => "base_url".to_owned(),
            Setting::ReadOnly => "read_only".to_owned(),
            Setting::CaFile => "ca_file".to_owned(),
            Setting::Retention => "retention".to_owned(),
            Setting::Journal => "journal".to_owned(),
            Setting::LocalTimes => "local_times".to_owned(),
            Setting::AuthQuery => "auth_query".to_owned(),
            Setting::AuthUser => "auth_user".to_owned(),
            Setting::Header(name) => format!("headers.{name}"),
            Setting::Dialect(key) => format!("dialect.{key}"),
            Setting::Expression(table, kind) => format!("{table}.{kind}"),
        }
    }

    /// Writes the setting into the draft of the file.
    ///
    /// # Errors
    /// The value cannot be one of this setting; the error names the key.
    pub(crate) fn set(&self, draft: &mut ConfigEdit, profile: &str, text: &str) -> Result<()> {
        match self {
            Setting::BaseUrl => self.set_address(draft, profile, text),
            Setting::ReadOnly => draft.set(profile, "read_only", self.boolean(text)?),
            Setting::LocalTimes => draft.set(profile, "local_times", self.boolean(text)?),
            Setting::AuthQuery | Setting::AuthUser => draft.set(profile, &self.key(), text),
            Setting::Header(name) => draft.set_in(profile, "headers", name, text),
            Setting::CaFile => draft.set(
                profile,
                "ca_file",
                whole_path(&PathBuf::from(text), "ca_file")?,
            ),
            Setting::Retention => {
                let retention =
                    Retention::parse(text).map_err(|why| self.unusable(&why.to_string()))?;
                draft.set(profile, "retention", retention.to_string())
            }
            Setting::Journal => {
                journal_address(text, profile)?;
                draft.set(profile, "journal", text)
            }
            Setting::Dialect(key) => {
                let mut tried = Dialect::default();
                tried.rename(key, text).map_err(|why| self.wrong(&why))?;
                draft.set_in(profile, "dialect", key, text)
            }
            Setting::Expression(table, kind) => {
                Expression::compile(text).map_err(|why| self.wrong(&why))?;
                draft.set_in(profile, table, kind, text)
            }
        }
    }

    /// Removes the setting, so that its default holds.
    pub(crate) fn unset(&self, draft: &mut ConfigEdit, profile: &str) -> Result<()> {
        match self {
            Setting::BaseUrl => Err(Error::usage("a profile cannot be without its base_url")
                .hint("change it with `bookctl profile set`, or remove the profile")),
            Setting::Dialect(key) => draft.unset_in(profile, "dialect", key),
            Setting::Expression(table, kind) => draft.unset_in(profile, table, kind),
            Setting::Header(name) => draft.unset_in(profile, "headers", name),
            Setting::ReadOnly
            | Setting::CaFile
            | Setting::Retention
            | Setting::Journal
            | Setting::LocalTimes
            | Setting::AuthQuery
            | Setting::AuthUser => draft.unset(profile, &self.key()),
        }
    }

    /// A key is stored for one origin. It would not be used at another, so the address can only change within it.
    fn set_address(&self, draft: &mut ConfigEdit, profile: &str, text: &str) -> Result<()> {
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

    fn boolean(&self, text: &str) -> Result<bool> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.unusable("it is true or false")),
        }
    }

    fn unusable(&self, why: &str) -> Error {
        Error::usage(format!("{} cannot be set: {why}", self.key()))
    }

    /// The same for a reason that is the predicate of a sentence.
    fn wrong(&self, why: &str) -> Error {
        Error::usage(format!("{} {why}", self.key())).hint(
            "list the keys, their defaults and the kinds of expressions with: bookctl help dialect",
        )
    }
}

/// The absolute path of the file, because commands run in any folder. It must be a regular file that can be opened.
pub(crate) fn whole_path(file: &PathBuf, name: &str) -> Result<String> {
    let shown = format!("{name} {}", file.display());
    regular_file::open(file).map_err(|error| Error::caused(Code::Config, shown.clone(), error))?;
    let path = dunce::canonicalize(file)
        .map_err(|error| Error::caused(Code::Config, shown.clone(), error))?;
    path.into_os_string()
        .into_string()
        .map_err(|_| Error::config(format!("{shown}: its path is not UTF-8")))
}

/// A change of a setting, from `KEY=VALUE`.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) setting: Setting,
    pub(crate) value: String,
}

impl Assignment {
    /// Parses `KEY=VALUE`. The value is everything after the first `=`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| "write it as KEY=VALUE".to_owned())?;
        Ok(Assignment {
            setting: Setting::parse(key.trim())?,
            value: value.to_owned(),
        })
    }

    /// The same where only a name of the dialect is meant.
    pub(crate) fn of_dialect(text: &str) -> Result<Self, String> {
        let (key, value) = text
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty())
            .ok_or_else(|| "write it as key=value".to_owned())?;
        let key = key.trim().trim_start_matches("dialect.");
        let mut known = Dialect::TABLE.iter().map(|(known, ..)| *known);
        match known.find(|known| *known == key) {
            Some(key) => Ok(Assignment {
                setting: Setting::Dialect(key),
                value: value.to_owned(),
            }),
            None => {
                let known: Vec<&str> = Dialect::TABLE.iter().map(|(key, ..)| *key).collect();
                Err(format!("the known keys are {}", known.join(", ")))
            }
        }
    }
}
