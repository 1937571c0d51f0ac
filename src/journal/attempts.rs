//! Creates: intended, sent, settled.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{OptionalExtension, params};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Journal;
use crate::error::{Error, Result};

/// What the journal knew of a key when a create began.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// Nothing: the attempt is recorded now.
    New,
    /// The same request was attempted under this key before.
    Again,
}

/// A create that was intended on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) idempotency_key: String,
    /// `unsettled`, `settled`, `refused` or `abandoned`.
    pub(crate) state: String,
    pub(crate) profile: Option<String>,
    /// Where it goes; a key never travels elsewhere.
    pub(crate) origin: String,
    pub(crate) request: Value,
    pub(crate) booking_id: Option<String>,
    /// RFC 3339.
    pub(crate) created_at: String,
}

/// A create that is older has no run any more that could still settle it.
const LONGEST_RUN: SignedDuration = SignedDuration::from_mins(5);

const COLUMNS: &str = "idempotency_key, state, profile, origin, request, booking_id, created_at";

fn attempt(row: &rusqlite::Row<'_>) -> rusqlite::Result<Attempt> {
    let request: String = row.get(4)?;
    Ok(Attempt {
        idempotency_key: row.get(0)?,
        state: row.get(1)?,
        profile: row.get(2)?,
        origin: row.get(3)?,
        request: serde_json::from_str(&request).unwrap_or_default(),
        booking_id: row.get(5)?,
        created_at: row.get(6)?,
    })
}

impl Journal {
    /// Every attempt whose outcome is not settled, oldest first, whichever service it went to.
    pub(crate) fn unsettled(&self) -> Result<Vec<Attempt>> {
        self.read(|connection| {
            let query = format!(
                "SELECT {COLUMNS} FROM attempts WHERE state = 'unsettled' ORDER BY created_at"
            );
            connection
                .prepare(&query)?
                .query_map([], attempt)?
                .collect()
        })
    }

    /// One attempt, whatever its state.
    pub(crate) fn attempt(&self, key: &str) -> Result<Option<Attempt>> {
        self.read(|connection| {
            let query = format!("SELECT {COLUMNS} FROM attempts WHERE idempotency_key = ?1");
            connection.query_row(&query, [key], attempt).optional()
        })
    }

    /// Says that nobody will settle an attempt any more; it stays in the journal.
    pub(crate) fn abandon(&mut self, key: &str) -> Result<()> {
        let now = Timestamp::now().to_string();
        self.write(|connection| {
            connection.execute(
                "UPDATE attempts SET state = 'abandoned', updated_at = ?2
                 WHERE idempotency_key = ?1 AND state = 'unsettled'",
                [key, now.as_str()],
            )
        })?;
        Ok(())
    }

    /// Records an intent, synced. From here on the attempt is unsettled until an answer proves otherwise.
    ///
    /// A key that was used for another request, or for another service, is refused.
    pub(crate) fn begin(&mut self, key: &str, request: &Value) -> Result<Begun> {
        let text = request.to_string();
        let hash = hash(&text);
        let (origin, profile, now) = (
            self.origin.clone(),
            self.profile.clone(),
            Timestamp::now().to_string(),
        );
        let known = self.write(|connection| {
            let known: Option<(String, String)> = connection
                .query_row("SELECT origin, request_hash FROM attempts WHERE idempotency_key = ?1", [key], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()?;
            if known.is_none() {
                connection.execute(
                    "INSERT INTO attempts (idempotency_key, origin, profile, state, request, request_hash, created_at, updated_at)
                     VALUES (?1, ?2, ?3, 'unsettled', ?4, ?5, ?6, ?6)",
                    params![key, origin, profile, text, hash, now],
                )?;
            }
            // A refusal that is tried again is open again.
            connection.execute(
                "UPDATE attempts SET state = 'unsettled' WHERE idempotency_key = ?1 AND state = 'refused'",
                [key],
            )?;
            Ok(known)
        })?;
        match known {
            None => Ok(Begun::New),
            Some((of, with)) if of == self.origin && with == hash => Ok(Begun::Again),
            Some(_) => Err(Error::usage("this idempotency key was used for another request")
                .hint("a key belongs to one request for ever: leave --idempotency-key out, or give a new one")
                .idempotency_key(key)),
        }
    }

    /// The run ended without knowing the outcome.
    pub(crate) fn doubt(&mut self, key: &str) -> Result<()> {
        self.write(|connection| {
            connection.execute(
                "UPDATE attempts SET doubted = 1 WHERE idempotency_key = ?1",
                [key],
            )
        })?;
        Ok(())
    }

    /// The attempts at this service whose runs have ended without a known outcome: those that were told so,
    /// and those so old that whoever made them has died.
    pub(crate) fn doubtful(&self) -> Result<Vec<Attempt>> {
        let long_ago = Timestamp::now()
            .saturating_sub(LONGEST_RUN)
            .unwrap_or(Timestamp::MIN);
        let attempts = self.read(|connection| {
            let query = format!(
                "SELECT {COLUMNS}, doubted FROM attempts
                 WHERE state = 'unsettled' AND origin = ?1 ORDER BY created_at"
            );
            connection
                .prepare(&query)?
                .query_map([&self.origin], |row| {
                    Ok((attempt(row)?, row.get::<_, bool>(7)?))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let died = |attempt: &Attempt| {
            attempt
                .created_at
                .parse::<Timestamp>()
                .is_ok_and(|began| began < long_ago)
        };
        let doubtful = attempts
            .into_iter()
            .filter(|(attempt, doubted)| *doubted || died(attempt));
        Ok(doubtful.map(|(attempt, _)| attempt).collect())
    }

    /// The answer came: this booking is what the attempt made.
    pub(crate) fn settle(&mut self, key: &str, booking_id: &str, http_status: u16) -> Result<()> {
        self.conclude(key, "settled", Some(booking_id), http_status)
    }

    /// The service refused: nothing was created.
    pub(crate) fn refuse(&mut self, key: &str, http_status: u16) -> Result<()> {
        self.conclude(key, "refused", None, http_status)
    }

    fn conclude(
        &mut self,
        key: &str,
        state: &str,
        booking_id: Option<&str>,
        http_status: u16,
    ) -> Result<()> {
        let now = Timestamp::now().to_string();
        self.write(|connection| {
            // A settled attempt stays settled, whatever a repetition of it is told.
            connection.execute(
                "UPDATE attempts SET state = ?2, booking_id = ?3, http_status = ?4, updated_at = ?5
                 WHERE idempotency_key = ?1 AND state <> 'settled'",
                params![key, state, booking_id, http_status, now],
            )
        })?;
        Ok(())
    }

    /// Nothing was sent at all: the intent is taken back.
    pub(crate) fn withdraw(&mut self, key: &str) -> Result<()> {
        self.write(|connection| {
            connection.execute(
                "DELETE FROM attempts WHERE idempotency_key = ?1 AND state = 'unsettled'",
                [key],
            )
        })?;
        Ok(())
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn journal(folder: &tempfile::TempDir) -> Journal {
        Journal::open(
            &folder.path().join("journal.db"),
            "https://a.example".into(),
            None,
        )
        .unwrap()
    }

    #[test]
    fn a_key_is_never_reused_for_another_body() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        assert_eq!(
            journal.begin("k", &json!({"party_size": 2})).unwrap(),
            Begun::New
        );
        assert_eq!(
            journal.begin("k", &json!({"party_size": 2})).unwrap(),
            Begun::Again
        );
        let error = journal.begin("k", &json!({"party_size": 3})).unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.idempotency_key.as_deref()),
            ("usage", Some("k"))
        );
    }

    #[test]
    fn an_attempt_is_unsettled_from_before_the_first_byte_and_settled_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        let state = |journal: &Journal| -> String {
            journal
                .read(|c| c.query_row("SELECT state FROM attempts", [], |row| row.get(0)))
                .unwrap()
        };
        journal.begin("k", &json!({})).unwrap();
        assert_eq!(state(&journal), "unsettled");
        journal.settle("k", "bk_1", 201).unwrap();
        journal.refuse("k", 429).unwrap();
        journal.withdraw("k").unwrap();
        assert_eq!(state(&journal), "settled");
    }
}
