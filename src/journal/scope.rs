//! Whose rows of the journal are meant, and who writes them.

use crate::model::retention::Retention;

/// The journal as one command sees it.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Keeps apart what belongs to other services.
    pub(super) origin: String,
    pub(super) profile: Option<String>,
    /// How long guests are remembered.
    pub(super) retention: Retention,
    /// Whose attempts and rate limits are meant: the organization's, as far as we can tell it from others.
    pub(super) account: String,
    /// Whether attempts of other accounts are this organization's, too: a person said so.
    pub(super) takes_any_account: bool,
    /// Who begins runs.
    pub(super) maker: Maker,
    /// Whether several machines use the journal.
    pub(super) is_shared: bool,
}

impl Scope {
    /// Distinguishes this process from all others that may claim something.
    pub(super) fn claimer(&self) -> String {
        let Maker { user, host } = &self.maker;
        format!("{user}@{host}/{}", std::process::id())
    }
}

/// A user on a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Maker {
    pub(crate) user: String,
    pub(crate) host: String,
}
