//! `config.toml`: the profiles, and which of them is used when none is named.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::BaseUrl;
use crate::api::Dialect;
use crate::error::{Error, Result, reason};
use crate::private_file;

/// The whole file. Keys that nobody knows are refused: a typo must not silently mean the default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigFile {
    /// The profile that is used when neither a flag nor the environment names one.
    pub(crate) default_profile: Option<String>,
    #[serde(default)]
    pub(crate) profiles: BTreeMap<String, Profile>,
}

/// One service that bookctl can talk to. Secrets are never kept here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    pub(crate) base_url: String,
    /// Refuse every call that would change something.
    #[serde(default)]
    pub(crate) read_only: bool,
    /// PEM file with the authorities that sign the service's certificate.
    pub(crate) ca_file: Option<PathBuf>,
    /// The origin that the stored key was given for, as `auth login` noted it. It explains why a key is not
    /// used; that it is not used rests on the name under which the key is stored.
    pub(crate) key_origin: Option<String>,
    #[serde(default)]
    pub(crate) dialect: Dialect,
}

impl ConfigFile {
    /// Reads the file; one that is not there is an empty one.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        match private_file::read(path) {
            Ok(text) => Self::parse(path, &text.unwrap_or_default()),
            Err(error) => Err(Error::config(format!(
                "cannot read {}: {}",
                path.display(),
                reason(&error)
            ))),
        }
    }

    /// Reads the text of the file at `path`.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| {
            let line = error
                .span()
                .map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            Error::config(format!(
                "{}, line {line}: {}",
                path.display(),
                error.message()
            ))
            .hint("correct that line; `bookctl help environment` says where the file is looked for")
        })
    }

    /// The profile of this name, else an error that names those there are.
    pub(crate) fn profile(&self, name: &str) -> Result<&Profile> {
        self.profiles.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
            let known = if known.is_empty() {
                "none but sandbox".to_owned()
            } else {
                format!("sandbox, {}", known.join(", "))
            };
            Error::config(format!("there is no profile {}", name.escape_debug())).hint(format!(
                "profiles: {known}; add one with `bookctl profile add NAME --base-url URL`"
            ))
        })
    }
}

impl Profile {
    /// The checked address of the profile of this name.
    pub(crate) fn address(&self, name: &str) -> Result<BaseUrl> {
        let source = format!("the base_url of profile {}", name.escape_debug());
        BaseUrl::parse(&self.base_url, &source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ConfigFile> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        ConfigFile::read(&path)
    }

    #[test]
    fn a_missing_file_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = ConfigFile::read(&folder.path().join("config.toml")).unwrap();
        assert!(file.profiles.is_empty());
    }

    #[test]
    fn a_profile_may_rename_an_open_name_and_leaves_the_others() {
        let file = read(
            "[profiles.x]\nbase_url = 'https://b.example'\n[profiles.x.dialect]\notp_field = 'pin'\n",
        );
        let dialect = &file.unwrap().profiles["x"].dialect;
        assert_eq!(dialect.otp_field, "pin");
        assert_eq!(dialect.auth_scheme, "Bearer");
    }

    #[test]
    fn a_key_that_nobody_knows_is_refused_with_its_line() {
        let error =
            read("[profiles.x]\nbase_url = 'https://b.example'\nbase_uri = 'x'\n").unwrap_err();
        assert!(error.message.contains("line 3"), "{}", error.message);
        assert!(error.message.contains("base_uri"), "{}", error.message);
    }
}
