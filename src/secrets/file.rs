//! `secrets.toml`: secrets in a file, only if the user chose it (`--storage file`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use zeroize::Zeroizing;

use super::secret::Secret;
use super::{Account, Item};
use crate::outcome::{Error, Result};
use crate::platform::system::files;
use crate::platform::{ownership, private_file, shell};

/// The file: 0600, next to `config.toml`.
#[derive(Clone, Debug)]
pub(super) struct SecretsFile(pub(super) PathBuf);

/// Each account with its secrets. [`Secret`] itself does not implement `Serialize`, so that no
/// document can contain one.
type Kept = BTreeMap<String, BTreeMap<Item, Zeroizing<String>>>;

impl SecretsFile {
    pub(super) fn get(&self, account: &Account, item: Item) -> Result<Option<Secret>> {
        if !self.0.exists() {
            return Ok(None);
        }
        ownership::refuse_others(&self.0)?;
        ownership::refuse_writable(&self.0)?;
        let text = private_file::read(&self.0).map_err(|error| self.not_read(error))?;
        refuse_if_others_can_read(&self.0)?;
        let text = Zeroizing::new(text.unwrap_or_default());
        let mut stored = self.parse(&text)?;
        let entry = stored.get_mut(&account.to_string());
        let text = entry.and_then(|entry| entry.remove(&item));
        let Some(text) = text else { return Ok(None) };
        if item == Item::JournalPassword {
            return Ok(Some(Secret::new((*text).clone())));
        }
        let refused = |why| self.not_read(anyhow!("the secret of {account} {why}"));
        Secret::read(&text).map(Some).map_err(refused)
    }

    pub(super) fn set(&self, account: &Account, item: Item, secret: &Secret) -> Result<()> {
        // The target of a link keeps its mode, so refuse to write where others can read it.
        if self.0.is_symlink() {
            refuse_if_others_can_read(&self.0)?;
        }
        self.update(|stored| {
            let entry = stored.entry(account.to_string()).or_default();
            entry.insert(item, Zeroizing::new(secret.expose().to_owned()));
            true
        })
    }

    /// Deletes a secret of an account. Does not create the file.
    pub(super) fn delete(&self, account: &Account, item: Item) -> Result<bool> {
        if !self.0.exists() {
            return Ok(false);
        }
        let mut found = false;
        self.update(|stored| {
            let entry = stored.get_mut(&account.to_string());
            found = entry.is_some_and(|entry| entry.remove(&item).is_some());
            stored.retain(|_, entry| !entry.is_empty());
            found
        })?;
        Ok(found)
    }

    fn update(&self, change: impl FnOnce(&mut Kept) -> bool) -> Result<()> {
        private_file::update(&self.0, |text| {
            let text = Zeroizing::new(text);
            let mut stored = self.parse(&text)?;
            Ok(change(&mut stored).then(|| toml::to_string(&stored).ok()).flatten())
        })
        .map_err(|error| self.not_read(error))
    }

    /// Parses the file. An error names only the line: the parser would quote the content.
    fn parse(&self, text: &str) -> Result<Kept> {
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text[..start].matches('\n').count() + 1;
            self.not_read(anyhow!("line {line} is invalid"))
        })
    }

    fn not_read(&self, error: impl Into<anyhow::Error>) -> Error {
        let what = format!("{} cannot be used", self.0.display());
        let mut error = Error::from(error.into().context(what));
        let usual = "correct the file, or delete it and run `bookctl auth login` again";
        error.hint.get_or_insert(usual.to_owned());
        error
    }
}

fn refuse_if_others_can_read(path: &Path) -> Result<()> {
    if files::is_open_to_others(path) {
        let path = path.display().to_string();
        let command = files::closing_command(&shell::word(&path));
        let what = format!("{path} contains keys, and other users can read it");
        return Err(Error::config(what).hint(format!("run: {command}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file(folder: &tempfile::TempDir) -> SecretsFile {
        SecretsFile(folder.path().join("secrets.toml"))
    }

    #[test]
    fn a_secret_is_found_for_its_own_profile_and_origin_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(&folder);
        let live = Account::new("live", "https://a.example");
        let secret = Secret::new("sk_live_x\"y".to_owned());
        file.set(&live, Item::ApiKey, &secret).unwrap();
        assert_eq!(file.get(&live, Item::ApiKey).unwrap(), Some(secret));
        assert_eq!(file.get(&live, Item::WebhookSecret).unwrap(), None);
        for other in [
            Account::new("live", "https://b.example"),
            Account::new("live", "http://a.example"),
            Account::new("test", "https://a.example"),
        ] {
            assert_eq!(file.get(&other, Item::ApiKey).unwrap(), None, "{other}");
        }
        assert!(file.delete(&live, Item::ApiKey).unwrap());
        assert!(!file.delete(&live, Item::ApiKey).unwrap());
        assert_eq!(fs::read_to_string(&file.0).unwrap(), "");
    }

    #[test]
    fn a_damaged_file_is_refused_without_showing_what_stands_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(&folder);
        let account = Account::new("live", "https://a.example");
        let secret = Secret::new("sk_live_other".to_owned());
        file.set(&account, Item::ApiKey, &secret).unwrap();
        for text in
            ["\nsk_live_seen", "\n[x]\napi_key = [\"sk_live_seen\"]", "\nx = \"sk_live_seen\""]
        {
            fs::write(&file.0, text).unwrap();
            for error in [
                file.get(&account, Item::ApiKey).map(drop).unwrap_err(),
                file.set(&account, Item::ApiKey, &secret).unwrap_err(),
            ] {
                assert!(error.message.contains("line "), "{}", error.message);
                assert!(!error.message.contains("seen"), "{}", error.message);
            }
            assert_eq!(fs::read_to_string(&file.0).unwrap(), text);
        }
    }
}
