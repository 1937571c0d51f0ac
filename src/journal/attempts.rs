//! Creates: intended, sent, settled.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{OptionalExtension, params};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::limits::{self, Window};
use super::{Journal, bookings, guests};
use crate::error::{Error, Result};
use crate::model::booking::Booking;
use crate::model::request::canonical;

/// What the journal knew of a key when a create began.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// Nothing that could have made a booking: the attempt is recorded now.
    New,
    /// The same request was attempted under this key before, and may have made one.
    Again,
    /// The same request made a booking under this key before.
    Settled,
    /// Nothing was recorded: the service would refuse it until this window resets.
    Shut(Window),
}

/// What is known of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It may have been sent, and nothing proves what came of it.
    Unsettled,
    /// A booking answered it.
    Settled,
    /// The service refused it: nothing was created.
    Refused,
    /// A person gave it up.
    Abandoned,
}

impl State {
    const ALL: [State; 4] = [
        State::Unsettled,
        State::Settled,
        State::Refused,
        State::Abandoned,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            State::Unsettled => "unsettled",
            State::Settled => "settled",
            State::Refused => "refused",
            State::Abandoned => "abandoned",
        }
    }

    /// A state that nobody here wrote proves nothing.
    fn named(text: &str) -> Self {
        let named = State::ALL.into_iter().find(|state| state.as_str() == text);
        named.unwrap_or(State::Unsettled)
    }
}

/// A create that was intended on this machine.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) idempotency_key: String,
    pub(crate) state: State,
    pub(crate) profile: Option<String>,
    /// Where it goes; a key never travels elsewhere.
    pub(crate) origin: String,
    pub(crate) request: Value,
    pub(crate) booking_id: Option<String>,
    /// RFC 3339.
    pub(crate) created_at: String,
    /// Whether the request is still the one that was written down.
    pub(crate) is_intact: bool,
    /// Of the request as it was sent, its guest included.
    request_hash: String,
    /// When its guest was forgotten: the request is not whole since then.
    pub(crate) forgotten_at: Option<String>,
    /// Whether its answer was a booking that was there before (spec, Limits 7).
    pub(crate) is_older: bool,
    /// Whose key it was made with; older journals did not note it.
    account: Option<String>,
}

/// A create that is older has no run any more that could still settle it.
const LONGEST_RUN: SignedDuration = SignedDuration::from_mins(5);

const COLUMNS: &str = "idempotency_key, state, profile, origin, request, booking_id, created_at, request_hash, forgotten_at, account, http_status";

fn attempt(row: &rusqlite::Row<'_>) -> rusqlite::Result<Attempt> {
    let text: String = row.get(4)?;
    let request: Value = serde_json::from_str(&text).unwrap_or_default();
    let request_hash: String = row.get(7)?;
    Ok(Attempt {
        idempotency_key: row.get(0)?,
        state: State::named(&row.get::<_, String>(1)?),
        profile: row.get(2)?,
        origin: row.get(3)?,
        booking_id: row.get(5)?,
        created_at: row.get(6)?,
        is_intact: is_hash_of(&request_hash, &request),
        request,
        request_hash,
        forgotten_at: row.get(8)?,
        account: row.get(9)?,
        is_older: row
            .get::<_, Option<u16>>(10)?
            .is_some_and(|status| status != 201),
    })
}

impl Attempt {
    /// Whether another account's key may have made a booking with it.
    fn belongs_to_another(&self, account: &str) -> bool {
        let another = self.account.as_deref().is_some_and(|it| it != account);
        another && self.state != State::Refused
    }

    /// Whether it asked for just this.
    pub(crate) fn is_of(&self, request: &Value) -> bool {
        is_hash_of(&self.request_hash, request)
    }
}

impl Journal {
    /// From here on attempts of every account are taken for this organization's own: its API key was changed.
    pub(crate) fn take_any_account(&mut self) {
        self.takes_any_account = true;
    }

    /// Whether what came of an attempt is to be found with the key at hand.
    pub(crate) fn owns(&self, attempt: &Attempt) -> bool {
        self.takes_any_account || !attempt.belongs_to_another(&self.account)
    }

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

    /// Every attempt, oldest first, whichever service it went to and whatever came of it.
    pub(crate) fn attempts(&self) -> Result<Vec<Attempt>> {
        self.read(|connection| {
            let query = format!("SELECT {COLUMNS} FROM attempts ORDER BY created_at");
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
    /// A key that was used for another request, for another service, or with another account's API key unless it was
    /// refused there, is refused. `metered` is the budget that
    /// the create is counted in, and now by the service's clock.
    pub(crate) fn begin(
        &mut self,
        key: &str,
        request: &Value,
        metered: Option<(&str, Timestamp)>,
    ) -> Result<Begun> {
        let text = request.to_string();
        let hash = hash(&canonical(request));
        let (origin, profile, now) = (
            self.origin.clone(),
            self.profile.clone(),
            Timestamp::now().to_string(),
        );
        let (account, any_account) = (self.account.clone(), self.takes_any_account);
        let (known, shut) = self.write(|connection| {
            let query = format!("SELECT {COLUMNS} FROM attempts WHERE idempotency_key = ?1");
            let known = connection.query_row(&query, [key], attempt).optional()?;
            // What is refused here is not sent, and takes nothing from the limit.
            let foreign = known.as_ref().is_some_and(|known| {
                known.origin != origin
                    || !known.is_of(request)
                    || !any_account && known.belongs_to_another(&account)
            });
            let shut = match metered {
                Some((budget, now)) if !foreign => {
                    limits::take(connection, &origin, &account, budget, now)?
                }
                _ => None,
            };
            if foreign || shut.is_some() {
                return Ok((known, shut));
            }
            if known.is_none() {
                connection.execute(
                    "INSERT INTO attempts (idempotency_key, origin, profile, state, request, request_hash, created_at, updated_at, account)
                     VALUES (?1, ?2, ?3, 'unsettled', ?4, ?5, ?6, ?6, ?7)",
                    params![key, origin, profile, text, hash, now, account],
                )?;
            }
            // What is tried again is open again, and whole again where its guest was forgotten; what is settled stays so.
            connection.execute(
                "UPDATE attempts
                 SET state = 'unsettled', request = ?2, request_hash = ?3, forgotten_at = NULL, account = ?4
                 WHERE idempotency_key = ?1 AND state IN ('refused', 'abandoned')",
                params![key, text, hash, account],
            )?;
            Ok((known, None))
        })?;
        match (known, shut) {
            (Some(known), _) if known.origin != self.origin => Err(Error::usage(format!(
                "this idempotency key was used at another service, {}; nothing was sent",
                known.origin
            ))
            .hint("a key belongs to one service for ever: give a new one, or a batch another name with --batch")
            .idempotency_key(key)),
            (Some(known), _) if !self.owns(&known) => Err(another_account(&known)),
            (Some(known), _) if !known.is_of(request) => Err(Error::usage("this idempotency key was used for another request; nothing was sent")
                .hint("a key belongs to one request for ever: leave --idempotency-key out, or give a new one")
                .idempotency_key(key)),
            (_, Some(window)) => Ok(Begun::Shut(window)),
            (None, None) => Ok(Begun::New),
            (Some(known), None) => Ok(match known.state {
                // A refusal was certain: whatever this try is told, no earlier one has made anything.
                State::Refused => Begun::New,
                State::Settled => Begun::Settled,
                State::Unsettled | State::Abandoned => Begun::Again,
            }),
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
                    Ok((attempt(row)?, row.get::<_, bool>(11)?))
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

    /// The answer came: this booking is what the attempt made, and is kept with it.
    pub(crate) fn settle(&mut self, key: &str, booking: &Booking, http_status: u16) -> Result<()> {
        self.conclude(key, "settled", Some(booking), http_status)
    }

    /// The service refused: nothing was created.
    pub(crate) fn refuse(&mut self, key: &str, http_status: u16) -> Result<()> {
        self.conclude(key, "refused", None, http_status)
    }

    fn conclude(
        &mut self,
        key: &str,
        state: &str,
        booking: Option<&Booking>,
        http_status: u16,
    ) -> Result<()> {
        let now = Timestamp::now().to_string();
        let (origin, retention) = (self.origin.clone(), self.retention);
        let purged = self.write(|connection| {
            // A settled attempt stays settled, whatever a repetition of it is told.
            connection.execute(
                "UPDATE attempts SET state = ?2, booking_id = ?3, http_status = ?4, updated_at = ?5
                 WHERE idempotency_key = ?1 AND state <> 'settled'",
                params![key, state, booking.map(Booking::id), http_status, now],
            )?;
            if let Some(booking) = booking {
                bookings::keep(connection, key, booking)?;
            }
            guests::purge(connection, &origin, retention)
        })?;
        self.clean_after(purged);
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

/// Another organization has bookings of its own under the same idempotency key: sent with its API key, the attempt
/// would book a second time.
pub(crate) fn another_account(attempt: &Attempt) -> Error {
    let profile = attempt.profile.as_ref();
    let of = profile.map_or(String::new(), |profile| format!(" (profile {profile})"));
    Error::config(format!(
        "the attempt under this idempotency key was made with another API key{of}; nothing was sent"
    ))
    .hint(
        "use the profile or the key it was made with, or say with --same-organization that both keys are of one; \
         another organization's booking needs another idempotency key, a batch another name",
    )
    .idempotency_key(&attempt.idempotency_key)
}

/// Whether a request is the one of this hash, also of a journal that hashed the text as it was sent.
fn is_hash_of(hashed: &str, request: &Value) -> bool {
    hashed == hash(&canonical(request)) || hashed == hash(&request.to_string())
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
            journal.begin("k", &json!({"party_size": 2}), None).unwrap(),
            Begun::New
        );
        assert_eq!(
            journal.begin("k", &json!({"party_size": 2}), None).unwrap(),
            Begun::Again
        );
        let error = journal
            .begin("k", &json!({"party_size": 3}), None)
            .unwrap_err();
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
        journal.begin("k", &json!({}), None).unwrap();
        assert_eq!(state(&journal), "unsettled");
        let made = json!({"id": "bk_1", "status": "confirmed"});
        let made = Booking::from_document(made.into()).unwrap();
        journal.settle("k", &made, 201).unwrap();
        journal.refuse("k", 429).unwrap();
        journal.withdraw("k").unwrap();
        assert_eq!(state(&journal), "settled");
    }
}
