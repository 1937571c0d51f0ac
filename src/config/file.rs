//! `config.toml`: the profiles and the default profile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;
use toml::Spanned;

use super::base_url::BaseUrl;
use crate::outcome::{Error, Result};
use crate::platform::{ownership, private_file};
use crate::secrets::{register_if_key, register_secret};
use crate::service::mapping::Mapping;
use crate::service::time::retention::Retention;

/// The name of the sandbox. No profile of the file can have it.
pub(crate) const SANDBOX_PROFILE: &str = "sandbox";

pub(super) const LIST_KEYS: &str =
    "list the keys, their defaults and the kinds of expressions with: bookctl help mapping";

/// The content of the file. Unknown keys are errors: a typo must not mean the default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigFile {
    pub(crate) default_profile: Option<String>,
    /// How long guests' data is kept, unless a profile says otherwise.
    pub(crate) retention: Option<Retention>,
    #[serde(default)]
    pub(crate) profiles: BTreeMap<String, Profile>,
}

/// A service that bookctl can use. It contains no secrets.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    pub(crate) base_url: String,
    /// Refuse every call that would change something. `None` if it is not set.
    pub(crate) read_only: Option<bool>,
    /// PEM file with the authorities that sign the service's certificate.
    pub(crate) ca_file: Option<PathBuf>,
    /// The origin for which `auth login` stored a key: it only explains why a key is not used.
    pub(crate) key_origin: Option<String>,
    /// The fingerprint of that key. It tells organizations apart in a journal that a team shares.
    pub(crate) key_fingerprint: Option<String>,
    pub(crate) retention: Option<Retention>,
    /// The URL of a team's journal, without a password; `None` for this computer's file.
    pub(crate) journal: Option<String>,
    /// Whether `auth login` stored that journal's password.
    #[serde(default)]
    pub(crate) journal_password_stored: bool,
    #[serde(default)]
    pub(crate) local_times: bool,
    // What the mapping is made of, as written.
    auth_query: Option<Spanned<String>>,
    auth_user: Option<Spanned<String>>,
    #[serde(default)]
    headers: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    dialect: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    read: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    write: BTreeMap<String, Spanned<String>>,
    #[serde(skip)]
    pub(crate) mapping: Mapping,
}

impl ConfigFile {
    /// Reads the file. A missing file counts as empty.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        ownership::refuse_writable(path)?;
        let text = private_file::read(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(path, &text.unwrap_or_default())
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Self> {
        // A secret does not belong there. One that somebody wrote there all the same is shown
        // nowhere.
        for value in text.split(['"', '\'']) {
            value.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').for_each(register_if_key);
            register_secret(value.strip_prefix("Bearer ").unwrap_or_default());
        }
        let refuse = |at: Option<usize>, why: &str| {
            let line = at.map_or(1, |at| text[..at].matches('\n').count() + 1);
            Error::config(format!("{}, line {line}: {why}", path.display()))
                .hint("correct that line")
        };
        let mut file: ConfigFile = toml::from_str(text).map_err(|error| {
            let why = error.message().replace("a string", "text in quotes");
            let types =
                why.strip_prefix("invalid type: ").and_then(|it| it.split_once(", expected "));
            let types = types.map(|(is, must)| format!("the value must be {must}, not {is}"));
            refuse(error.span().map(|span| span.start), &types.unwrap_or(why))
        })?;
        if file.profiles.contains_key(SANDBOX_PROFILE) {
            return Err(Error::config(format!(
                "{}: [profiles.sandbox] is not allowed, because `sandbox` is always bookctl's own sandbox",
                path.display()
            ))
            .hint("rename that profile"));
        }
        for (name, profile) in &mut file.profiles {
            profile.mapping = profile.mapping(name).map_err(|(key, at, why)| {
                let (name, key) = (name.escape_debug(), key.escape_debug());
                refuse(Some(at), &format!("profile {name}: {key} {why}")).hint(LIST_KEYS)
            })?;
        }
        Ok(file)
    }

    /// The profile of this name. The error lists the profiles that exist.
    pub(crate) fn profile(&self, name: &str) -> Result<&Profile> {
        self.profiles.get(name).ok_or_else(|| {
            let mut known = vec![SANDBOX_PROFILE];
            known.extend(self.profiles.keys().map(String::as_str));
            let known = known.join(", ");
            let what = if name.is_empty() {
                "the name of the profile is empty".to_owned()
            } else {
                format!("unknown profile {}", name.escape_debug())
            };
            Error::config(what).hint(format!(
                "known profiles: {known}; add one with `bookctl profile add NAME --base-url URL`"
            ))
        })
    }
}

impl Profile {
    /// The error is the key that is refused (`dialect.otp_field`), where it stands in the file in
    /// bytes, and why.
    fn mapping(&self, name: &str) -> Result<Mapping, (String, usize, String)> {
        let mut mapping = Mapping {
            local_times: self.local_times,
            profile: Some(name.to_owned()),
            ..Mapping::default()
        };
        let tables = [
            ("dialect", &self.dialect),
            ("headers", &self.headers),
            ("read", &self.read),
            ("write", &self.write),
        ];
        let in_tables = tables.into_iter().flat_map(|(table, rows)| {
            rows.iter().map(move |(key, value)| (format!("{table}.{key}"), value))
        });
        let own = [("auth_query", &self.auth_query), ("auth_user", &self.auth_user)].into_iter();
        let own = own.filter_map(|(key, value)| Some((key.to_owned(), value.as_ref()?)));
        for (key, value) in in_tables.chain(own) {
            mapping.set(&key, value.get_ref()).map_err(|why| (key, value.span().start, why))?;
        }
        Ok(mapping)
    }

    pub(crate) fn address(&self, name: &str) -> Result<BaseUrl> {
        BaseUrl::parse(&self.base_url, &format!("the base_url of profile {}", name.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbitrary;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<ConfigFile> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        ConfigFile::read(&path)
    }

    #[test]
    fn invalid_setting_is_refused_with_its_line_and_profile() {
        #[rustfmt::skip]
        let cases = [
            ("dialect", "auth_header = 'X Key'", "valid header name"),
            ("dialect", "service_name = 'Ü'", "valid header name"),
            ("dialect", "otp_field = ''", "is empty"),
            ("dialect", "otp_feild = 'pin'", "is not a key of the dialect"),
            ("read", "booking = '.data |'", "is not a jq expression"),
            ("read", "bookings = '.'", "is not a kind of document"),
            ("write", "otp = '$ENV.HOME'", ""),
        ];
        for (table, line, why) in cases {
            let file = format!(
                "[profiles.x]\nbase_url = 'https://b.example'\n[profiles.x.{table}]\n{line}\n"
            );
            let error = read(&file).unwrap_err();
            let key = line.split(' ').next().unwrap();
            assert_eq!(error.exit, crate::outcome::Exit::Config);
            let wording = format!("line 4: profile x: {table}.{key} ");
            assert!(error.message.contains(&wording), "{}", error.message);
            assert!(error.message.contains(why), "{}", error.message);
        }
    }

    #[test]
    fn the_settings_of_a_profile_are_those_of_its_mapping() {
        let whole = "[profiles.x]\nbase_url = 'https://b.example'\nlocal_times = true\n\
                     [profiles.x.read]\nbooking = '.data'\n[profiles.x.write]\notp = '{otpCode: .otp}'\n";
        let file = read(whole).unwrap();
        let mapping = &file.profiles["x"].mapping;
        assert!(mapping.local_times);
        let mapping = serde_json::to_value(mapping).unwrap();
        assert_eq!(mapping["read"]["booking"], ".data");
        assert_eq!(mapping["write"]["otp"], "{otpCode: .otp}");
    }

    proptest! {
        #[test]
        fn any_file_is_read_or_refused_with_its_line(
            text in prop_oneof![
                any::<String>(),
                arbitrary::made_of(&[
                    "default_profile", "[profiles.", "x", "]", "\n", " = ", "'", "\"", "base_url", "https://a.example",
                    "read_only", "true", "[", "ca_file", "\"\"\"", ".dialect", "otp_field", "1979-05-27", "\\u00",
                ]),
            ],
        ) {
            if let Err(error) = ConfigFile::parse(Path::new("config.toml"), &text) {
                prop_assert!(error.message.contains(", line "), "{}", error.message);
            }
        }
    }
}
