//! Deletes the secrets that are stored for a profile.

use crate::app::Startup;
use crate::config::{ConfigFile, SharedJournal, edit, journal_address};
use crate::outcome::Result;
use crate::secrets::{Account, Item, Vault};

/// Deletes a profile's secrets for this origin and for the origin that its key was noted for, and
/// the password of its journal. Returns whether there were any. If a keyring that has the key does
/// not answer, the note of it stays.
pub(crate) async fn forget_secrets(
    setup: &Startup,
    vault: &Vault,
    account: &Account,
) -> Result<bool> {
    let file = ConfigFile::read(&setup.settings.paths.config_file)?;
    let profile = file.profile(&account.profile)?;
    let noted = profile.key_origin.as_ref();
    let mut found = vault.forget(account, noted == Some(&account.origin)).await?;
    if let Some(noted) = noted.filter(|it| **it != account.origin) {
        found |= vault.forget(&Account::new(&account.profile, noted), true).await?;
    }
    if let (true, Some(url)) = (profile.journal_password_stored, &profile.journal) {
        let address = journal_address(url, &account.profile)?;
        let journal = SharedJournal::account(&account.profile, &address);
        found |= vault.forget_one(&journal, Item::JournalPassword, false).await?;
    }
    edit(&setup.settings.paths.config_file, |draft| {
        let notes = ["journal_password_stored", "key_fingerprint", "key_origin"];
        notes.iter().try_for_each(|key| draft.unset(&account.profile, key))
    })?;
    Ok(found)
}
