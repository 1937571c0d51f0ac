//! Whose URL the organization had before a listener put its own there.

use rusqlite::OptionalExtension;

use super::{Store, StoreError};

/// A listener's URL, and the one that it stands in for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registration {
    pub(crate) ours: String,
    pub(crate) previous: Option<String>,
}

impl Registration {
    /// A new listener's registration, where the organization now has `present` and `left` is what an earlier listener
    /// left behind: that one's URL is nobody's, and what was there before it is what is to come back.
    pub(crate) fn new(ours: String, present: Option<String>, left: Option<Registration>) -> Self {
        let previous = match left {
            Some(left) if present.as_deref() == Some(&left.ours) => left.previous,
            _ => present,
        };
        // What it is to come back to is never itself.
        let previous = previous.filter(|url| *url != ours);
        Registration { ours, previous }
    }
}

impl Store {
    /// What a listener left behind that could not put the URL back.
    pub(crate) async fn registration(&self) -> Result<Option<Registration>, StoreError> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            connection
                .query_row(
                    "SELECT ours, previous FROM registrations WHERE origin = ?",
                    [&origin],
                    |row| {
                        Ok(Registration {
                            ours: row.get(0)?,
                            previous: row.get(1)?,
                        })
                    },
                )
                .optional()
        })
        .await
    }

    /// Remembers a registration, before it is made.
    pub(crate) async fn remember_registration(
        &self,
        registration: Registration,
    ) -> Result<(), StoreError> {
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

    /// Forgets it, after the URL was put back.
    pub(crate) async fn forget_registration(&self) -> Result<(), StoreError> {
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
