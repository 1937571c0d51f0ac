//! `config.toml`: the profiles, and which of them is used when none is named.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::api::Dialect;
use crate::error::{Error, Result, reason};

/// The whole file. Keys that nobody knows are refused: a typo must not silently mean the default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigFile {
    /// The profile that is used when neither a flag nor the environment names one.
    pub(super) default_profile: Option<String>,
    #[serde(default)]
    pub(super) profiles: BTreeMap<String, Profile>,
}

/// One service that bookctl can talk to. Secrets are never kept here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Profile {
    pub(super) base_url: String,
    /// Refuse every call that would change something.
    #[serde(default)]
    pub(super) read_only: bool,
    /// PEM file with the authorities that sign the service's certificate.
    pub(super) ca_file: Option<PathBuf>,
    #[serde(default)]
    pub(super) dialect: Dialect,
}

impl ConfigFile {
    /// Reads the file; one that is not there is an empty one.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => {
                return Err(Error::config(format!(
                    "cannot read {}: {}",
                    path.display(),
                    reason(&error)
                )));
            }
        };
        toml::from_str(&text).map_err(|error| {
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
