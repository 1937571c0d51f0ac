//! Stores the password of a journal that a team shares.

use crate::app::Startup;
use crate::config::{ConfigFile, SharedJournal, edit, journal_address};
use crate::flows::read_stdin;
use crate::outcome::{Error, Exit, Result};
use crate::secrets::{Item, Secret, Storage, Vault};

/// Reads the password from standard input, and stores it for the profile and the address of its journal.
pub(super) async fn store(setup: &Startup, storage: Storage) -> Result<Exit> {
    let file = ConfigFile::read(&setup.paths.config_file)?;
    let name = setup.named_profile().or(file.default_profile.clone());
    let name =
        name.ok_or_else(|| Error::usage("no profile was named").hint("pass --profile NAME"))?;
    let profile = file.profile(&name)?;
    let url = profile.journal.as_deref().ok_or_else(|| {
        Error::config(format!("profile {name} has no shared journal")).hint(format!(
            "name it first: bookctl profile set {name} journal=postgresql://USER@HOST/DATABASE"
        ))
    })?;
    let address = journal_address(url, &name)?;
    let text = Secret::new(read_stdin().await?);
    let password = text.expose().trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(Error::usage("no password on standard input"));
    }
    let account = SharedJournal::account(&name, &address);
    let vault = Vault::new(setup.paths.secrets.clone());
    let password = Secret::new(password.to_owned());
    vault
        .store(&account, Item::JournalPassword, &password, storage)
        .await?;
    edit(&setup.paths.config_file, |draft| {
        draft.set(&name, "journal_password_stored", true)
    })?;
    setup.out.note(&format!(
        "the password of the journal at {address} is stored ({})",
        storage.as_str()
    ));
    Ok(Exit::Done)
}
