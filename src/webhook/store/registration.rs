//! The webhook URL that a sandbox had before a listener set its own.

use rusqlite::OptionalExtension;

use super::Store;
use crate::outcome::Result;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registration {
    pub(crate) ours: String,
    pub(crate) previous: Option<String>,
}

impl Registration {
    /// The registration of a new listener at `ours`, where `current` is the organization's URL now and `left` the
    /// registration of a listener that crashed. If that one's URL is still set, the URL from before it is the one to
    /// restore.
    pub(crate) fn new(ours: String, current: Option<String>, left: Option<Registration>) -> Self {
        let previous = match left {
            Some(left) if current.as_deref() == Some(&left.ours) => left.previous,
            _ => current,
        };
        // A listener that crashed on the same port had the same URL.
        let previous = previous.filter(|url| *url != ours);
        Registration { ours, previous }
    }
}

impl Store {
    /// The registration of a listener that could not restore the URL.
    pub(crate) async fn registration(&self) -> Result<Option<Registration>> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            connection
                .query_row(
                    "SELECT ours, previous FROM registrations WHERE origin = ?",
                    [&origin],
                    |row| {
                        Ok(Registration {
                            ours: row.get("ours")?,
                            previous: row.get("previous")?,
                        })
                    },
                )
                .optional()
        })
        .await
    }

    /// Stores a registration, before the URL is set.
    pub(crate) async fn remember_registration(&self, registration: Registration) -> Result<()> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            let Registration { ours, previous } = &registration;
            connection.execute(
                "INSERT OR REPLACE INTO registrations VALUES (?, ?, ?)",
                (&origin, ours, previous),
            )
        })
        .await
        .map(drop)
    }

    /// Removes the registration, after the URL was restored.
    pub(crate) async fn forget_registration(&self) -> Result<()> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            connection.execute("DELETE FROM registrations WHERE origin = ?", [&origin])
        })
        .await
        .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn previous(present: Option<&str>, left: Option<(&str, Option<&str>)>) -> Option<String> {
        let left = left.map(|(ours, previous)| Registration {
            ours: ours.to_owned(),
            previous: previous.map(str::to_owned),
        });
        Registration::new("new".to_owned(), present.map(str::to_owned), left).previous
    }

    #[test]
    fn the_url_of_a_listener_that_died_never_becomes_the_one_that_is_put_back() {
        assert_eq!(previous(None, None), None);
        assert_eq!(previous(Some("app"), None).as_deref(), Some("app"));
        let dead = Some(("dead", Some("app")));
        assert_eq!(previous(Some("dead"), dead).as_deref(), Some("app"));
        assert_eq!(previous(Some("dead"), Some(("dead", None))), None);
        // Somebody set another one since.
        assert_eq!(previous(Some("other"), dead).as_deref(), Some("other"));
        // It died on the very port that this one has.
        assert_eq!(previous(Some("new"), None), None);
    }
}
