//! Where bookctl keeps its files.

use std::path::{Path, PathBuf};

use directories::{BaseDirs, ProjectDirs};

use super::Environment;
use crate::outcome::{Error, Result};

/// The files of an installation: in the platform's folders, or all in `BOOKCTL_HOME`.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    pub(crate) config_file: PathBuf,
    /// Secrets stored with `--storage file`.
    pub(crate) secrets: PathBuf,
    pub(crate) journal: PathBuf,
    /// What this terminal saw.
    pub(crate) recent: PathBuf,
    /// Webhook deliveries received on this computer.
    pub(crate) webhooks: PathBuf,
    pub(crate) sandbox: PathBuf,
}

impl Paths {
    /// The file in which PostgreSQL's tools look for passwords.
    pub(crate) fn pgpass() -> Option<PathBuf> {
        let folders = BaseDirs::new()?;
        Some(if cfg!(windows) {
            folders.config_dir().join(r"postgresql\pgpass.conf")
        } else {
            folders.home_dir().join(".pgpass")
        })
    }

    /// Finds the files. Fails if the platform has no home folder for the user.
    pub(crate) fn find(environment: &Environment) -> Result<Self> {
        if let Some(home) = &environment.home {
            let home = Path::new(home);
            refuse_relative("BOOKCTL_HOME", home, home)?;
            return Ok(Paths::in_folders(home, home, home));
        }
        let folders = ProjectDirs::from("", "", "bookctl").ok_or_else(|| {
            Error::config("your home folder cannot be found, so bookctl has no place for its files")
                .hint("set BOOKCTL_HOME to a folder")
        })?;
        let data = folders.data_local_dir();
        let state = folders.state_dir().unwrap_or(data);
        let home = BaseDirs::new().map(|it| it.home_dir().to_owned()).unwrap_or_default();
        for folder in [folders.config_dir(), state, data] {
            refuse_relative("HOME", &home, folder)?;
        }
        Ok(Paths::in_folders(folders.config_dir(), state, data))
    }

    fn in_folders(config: &Path, state: &Path, data: &Path) -> Self {
        Paths {
            config_file: config.join("config.toml"),
            secrets: config.join("secrets.toml"),
            journal: state.join("journal.db"),
            recent: state.join("recent.db"),
            webhooks: state.join("webhooks.db"),
            sandbox: data.join("sandbox.db"),
        }
    }
}

/// Refuses a folder that would be another one in each working folder: what was booked from one of
/// them is not known in the next.
fn refuse_relative(variable: &str, value: &Path, folder: &Path) -> Result<()> {
    if folder.is_absolute() {
        return Ok(());
    }
    let tilde = if value.starts_with("~") { ": only a shell expands `~`" } else { "" };
    let value = value.display();
    Err(Error::config(format!("{variable} is {value}, which is not an absolute path{tilde}"))
        .hint(format!("set {variable} to the whole path of a folder, such as /home/ada/bookctl")))
}
