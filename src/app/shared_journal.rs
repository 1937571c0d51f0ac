//! Opens a journal that a team shares: who connects, and with which password.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::app::{Settings, Ui, block_on};
use crate::config::{Environment, Paths, SharedJournal};
use crate::journal::Actor;
use crate::outcome::{Code, Error, Result};
use crate::platform::postgres::Database;
use crate::platform::system::{files, process};
use crate::platform::{private_file, shell};
use crate::secrets::{Item, Secret, Vault, register_secret};

/// The database of a shared journal. Connects to nothing yet. Its password is that of PostgreSQL's
/// tools: `PGPASSWORD`, `PGPASSFILE`, `~/.pgpass`; else the one that `auth login` stored.
pub(crate) fn database(ui: &Ui, settings: &Settings, journal: &SharedJournal) -> Result<Database> {
    let (address, environment) = (&journal.address, &settings.environment);
    let user = address.user.clone().unwrap_or_else(|| maker(environment).user);
    let own = address.password.clone();
    let mut password = own.or_else(|| Environment::text(&environment.pgpassword));
    if password.is_none() {
        password = in_file(ui, settings, journal, &user)?;
    }
    if password.is_none() {
        password = read_stored_password(&settings.paths, journal)?;
    }
    if let Some(password) = &password {
        register_secret(password);
    }
    Database::new(address.clone(), &user, password.as_deref())
        .map_err(|why| Error::caused(Code::Journal, "a thread cannot be started", why))
}

/// Who begins runs here.
pub(crate) fn maker(environment: &Environment) -> Actor {
    let user = Environment::text(&environment.user).or_else(process::user_name);
    let host = process::host_name().or_else(|| Environment::text(&environment.computername));
    let unknown = || "unknown".to_owned();
    Actor { user: user.unwrap_or_else(unknown), host: host.unwrap_or_else(unknown) }
}

/// The password in a file that the user alone can read, as for `psql`.
fn in_file(
    ui: &Ui,
    settings: &Settings,
    journal: &SharedJournal,
    user: &str,
) -> Result<Option<String>> {
    let named = settings.environment.pgpassfile.as_ref().map(PathBuf::from);
    let Some(file) = named.or_else(Paths::pgpass) else {
        return Ok(None);
    };
    if files::is_open_to_others(&file) {
        let file = file.display().to_string();
        ui.out.warn(&format!(
            "the passwords in {file} are not used, because others can read it. To use them: {}",
            files::closing_command(&shell::word(&file))
        ));
        return Ok(None);
    }
    let text = private_file::read(&file);
    let text = text.with_context(|| format!("cannot read {}", file.display()))?;
    Ok(text.and_then(|text| journal.address.password_in(&text, user)))
}

/// The password that `auth login` stored. A thread asks the keyring: opening the journal blocks.
fn read_stored_password(paths: &Paths, journal: &SharedJournal) -> Result<Option<String>> {
    let Some(profile) = &journal.stored_for else {
        return Ok(None);
    };
    let account = SharedJournal::account(profile, &journal.address);
    let vault = Vault::new(paths.secrets.clone());
    let look = move || block_on(vault.find(&account, Item::JournalPassword));
    let found = std::thread::spawn(look).join();
    let found = found.unwrap_or_else(|_| Err(Error::journal("the keyring failed")))?;
    Ok(found.map(|found| Secret::expose(&found.secret).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_has_a_user_name_if_the_environment_has_none() {
        let windows = |name: &str| (name == "COMPUTERNAME").then(|| "DESK-1".into());
        let Actor { user, host } = maker(&Environment::read(windows));
        for name in [user, host] {
            assert!(!name.is_empty() && name != "unknown", "{name}");
        }
    }
}
