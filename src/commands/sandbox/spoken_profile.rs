//! The profile that a sandbox needs which speaks as another service: it says how the key is sent.

use std::path::Path;

use serde_json::Value;

use crate::config::{BaseUrl, ProfileName, edit};
use crate::model::shell;
use crate::outcome::{Error, Result};

/// A profile for such a sandbox.
pub(super) struct SpokenProfile {
    name: String,
    base_url: String,
    /// The keys of the dialect that differ from their defaults, with their values.
    dialect: Vec<(&'static str, String)>,
}

impl SpokenProfile {
    /// Reads what a sandbox at this origin says of how it speaks. `None` if it speaks the contract itself.
    pub(super) fn read(speaks: &Value, origin: &str) -> Option<Self> {
        let text = |field: &str| speaks[field].as_str();
        let own = text("name")?;
        let is_name = ProfileName::parse(own).is_ok();
        let dialect = [("auth_header", "Authorization"), ("auth_scheme", "Bearer")];
        let differs = |(key, default): (&'static str, &str)| {
            let own = text(key).filter(|it| *it != default)?;
            Some((key, own.to_owned()))
        };
        Some(Self {
            name: if is_name { own } else { "double" }.to_owned(),
            base_url: format!("{origin}{}", text("base_path").unwrap_or_default()),
            dialect: dialect.into_iter().filter_map(differs).collect(),
        })
    }

    /// The name of the profile.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The sandbox's base URL.
    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The command that adds it.
    pub(super) fn add(&self) -> String {
        let mut line = format!(
            "bookctl profile add {} --base-url {}",
            self.name,
            shell::word(&self.base_url)
        );
        for (key, value) in &self.dialect {
            let setting = format!("{key}={value}");
            line.push_str(&format!(" --dialect {}", shell::word(&setting)));
        }
        line
    }

    /// The command that learns the rest of how it speaks.
    pub(super) fn learn(&self) -> String {
        format!("bookctl profile learn {}", self.name)
    }

    /// Adds it to a configuration.
    pub(super) fn add_to(&self, config: &Path) -> Result<()> {
        let name = ProfileName::parse(&self.name).map_err(Error::config)?;
        let base_url = BaseUrl::parse(&self.base_url, "the address of the sandbox")?;
        edit(config, |draft| {
            draft.add(&name, &base_url)?;
            for (key, value) in &self.dialect {
                draft.set_in(&self.name, "dialect", key, value)?;
            }
            Ok(())
        })
    }
}
