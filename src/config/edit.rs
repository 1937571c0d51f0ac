//! Changes to `config.toml`. Comments and order are kept, and concurrent changes are not lost.

use std::path::Path;

use anyhow::Context as _;
use toml_edit::{DocumentMut, Item, Table, value};

use super::file::{ConfigFile, SANDBOX_PROFILE};
use crate::outcome::{Error, Result};
use crate::platform::private_file;

/// Checks the name of a profile: visible ASCII without blanks, and not `sandbox`.
pub(crate) fn profile_name(text: &str) -> Result<String, String> {
    if text == SANDBOX_PROFILE {
        return Err("`sandbox` is always bookctl's own sandbox".to_owned());
    }
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("use ASCII characters without spaces".to_owned());
    }
    Ok(text.to_owned())
}

pub(crate) struct ConfigEdit {
    document: DocumentMut,
    pub(crate) before: ConfigFile,
}

/// Changes the file. A result that is not a valid configuration is not written.
pub(crate) fn edit(path: &Path, change: impl FnOnce(&mut ConfigEdit) -> Result<()>) -> Result<()> {
    let written = private_file::update(path, |text| {
        let before = ConfigFile::parse(path, &text)?;
        let document = text
            .parse()
            .map_err(|_| Error::config(format!("{} is not valid TOML", path.display())))?;
        let mut draft = ConfigEdit { document, before };
        change(&mut draft)?;
        let changed = draft.document.to_string();
        ConfigFile::parse(path, &changed)?;
        Ok((changed != text).then_some(changed))
    });
    Ok(written.with_context(|| format!("cannot write {}", path.display()))?)
}

impl ConfigEdit {
    pub(crate) fn set_default(&mut self, name: &str) {
        assign(self.document.as_table_mut(), "default_profile", name.into());
    }

    /// Sets a key of a profile, such as `dialect.otp_field`. Adds the profile if it is missing.
    pub(crate) fn set(
        &mut self,
        name: &str,
        key: &str,
        to: impl Into<toml_edit::Value>,
    ) -> Result<()> {
        let profile = table(self.profiles()?, name)?;
        match key.split_once('.') {
            Some((inner, key)) => assign(table(profile, inner)?, key, to.into()),
            None => assign(profile, key, to.into()),
        }
        Ok(())
    }

    pub(crate) fn unset(&mut self, name: &str, key: &str) -> Result<()> {
        let profile = self.profiles()?.get_mut(name);
        let Some(profile) = profile.and_then(Item::as_table_like_mut) else {
            return Ok(());
        };
        let Some((inner, key)) = key.split_once('.') else {
            profile.remove(key);
            return Ok(());
        };
        if let Some(found) = profile.get_mut(inner).and_then(Item::as_table_like_mut) {
            found.remove(key);
            if found.is_empty() {
                profile.remove(inner);
            }
        }
        Ok(())
    }

    /// Removes a profile, and the default if it was this profile.
    pub(crate) fn remove(&mut self, name: &str) -> Result<()> {
        self.profiles()?.remove(name);
        if self.before.default_profile.as_deref() == Some(name) {
            self.document.remove("default_profile");
        }
        Ok(())
    }

    fn profiles(&mut self) -> Result<&mut dyn toml_edit::TableLike> {
        table(self.document.as_table_mut(), "profiles")
    }
}

/// The table under `key`. Creates it implicitly (without a `[header]`) if it does not exist.
fn table<'a>(
    parent: &'a mut dyn toml_edit::TableLike,
    key: &str,
) -> Result<&'a mut dyn toml_edit::TableLike> {
    let entry = parent.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let no_table = || format!("{} is not a table in config.toml", key.escape_debug());
    entry.as_table_like_mut().ok_or_else(|| Error::config(no_table()))
}

fn assign(table: &mut dyn toml_edit::TableLike, key: &str, mut to: toml_edit::Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(present) => {
            *to.decor_mut() = present.decor().clone();
            *present = to;
        }
        None => {
            table.insert(key, value(to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, change: impl FnOnce(&mut ConfigEdit) -> Result<()>) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        let outcome = edit(&path, change);
        let text = std::fs::read_to_string(&path).unwrap();
        outcome.map(|()| text)
    }

    #[test]
    fn a_change_keeps_comments_and_order() {
        let before = "# mine\ndefault_profile = 'a' # for now\n\n[profiles.b]\nbase_url = 'https://b.example' # b\n\n\
                      [profiles.a]\nbase_url = 'https://a.example'\n";
        let after = edited(before, |draft| {
            draft.set_default("b");
            draft.set("b", "read_only", true)
        });
        assert_eq!(
            after.unwrap(),
            "# mine\ndefault_profile = \"b\" # for now\n\n[profiles.b]\nbase_url = 'https://b.example' # b\n\
             read_only = true\n\n[profiles.a]\nbase_url = 'https://a.example'\n"
        );
    }

    #[test]
    fn unreadable_configuration_is_not_written() {
        assert!(edited("", |draft| draft.set("a", "read_only", true)).is_err());
    }

    #[test]
    fn profile_name_is_visible_ascii_and_not_sandbox() {
        for bad in ["", "sandbox", "a b", "caf\u{e9}", "a\u{1b}", "\t"] {
            assert!(profile_name(bad).is_err(), "{bad:?}");
        }
        assert!(profile_name("live-eu.1").is_ok());
    }
}
