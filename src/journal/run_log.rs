//! Writing the runs of an attempt: each begins in one synced transaction before anything is sent, and ends by itself.

use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::attempts::{another_account, derived, find, request_hash, runs};
use super::rate_window::{self, Window};
use super::runs::{Earlier, Outcome, State, earlier, may_be_sent_by};
use super::{Journal, bookings, guests};
use crate::model::booking::Booking;
use crate::outcome::{Error, Result};

/// A run that this process has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunId {
    key: String,
    number: u32,
}

/// What became of the wish to send an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// The run is on the disk, and the request may be sent.
    Run { run: RunId, earlier: Earlier },
    /// Nothing was recorded: the service would refuse the request until this window resets.
    Shut(Window),
}

/// How a run ended.
struct End<'a> {
    outcome: Outcome,
    http_status: Option<u16>,
    booking: Option<&'a Booking>,
    /// The whole request, where the attempt stays open and must not lack its guest.
    request: Option<&'a Value>,
}

impl Journal {
    /// Records a run of the attempt under `key`, synced. The attempt is open from here on, until its runs prove
    /// otherwise.
    ///
    /// `metered` is the budget that the request is counted in, and now by the service's clock.
    ///
    /// # Errors
    /// A key that was used for another request (2) or at another service (2), or that another organization's API key
    /// may have booked with (3), is refused, and nothing is recorded.
    pub(crate) fn begin(
        &mut self,
        key: &str,
        request: &Value,
        metered: Option<(&str, Timestamp)>,
    ) -> Result<Begun> {
        let (origin, account) = (self.origin.clone(), self.account.clone());
        let (profile, any_account) = (self.profile.clone(), self.takes_any_account);
        let begun = self.write(|connection| {
            let known = find(connection, key)?;
            if let Some(known) = &known {
                let refused = if known.origin != origin {
                    Some(at_another_service(&known.origin))
                } else if !any_account && !may_be_sent_by(&account, known.evidence()) {
                    Some(another_account(known))
                } else if !known.is_of(request) {
                    Some(for_another_request())
                } else {
                    None
                };
                if let Some(refused) = refused {
                    return Ok(Err(refused));
                }
            }
            if let Some((budget, now)) = metered
                && let Some(window) = rate_window::take(connection, &origin, &account, budget, now)?
            {
                return Ok(Ok(Begun::Shut(window)));
            }
            let now = Timestamp::now().to_string();
            if known.is_none() {
                connection.execute(
                    "INSERT INTO attempts (idempotency_key, origin, profile, state, request, request_hash, created_at, updated_at)
                     VALUES (?1, ?2, ?3, 'unsettled', ?4, ?5, ?6, ?6)",
                    params![key, origin, profile, request.to_string(), request_hash(request), now],
                )?;
            }
            let earlier_runs = known.map(|known| known.runs).unwrap_or_default();
            let number = earlier_runs.last().map_or(1, |last| last.number.saturating_add(1));
            connection.execute(
                "INSERT INTO runs (idempotency_key, number, account, process, outcome, started_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![key, number, account, std::process::id(), Outcome::UnderWay.as_str(), now],
            )?;
            connection.execute(
                "UPDATE attempts SET account = ?2 WHERE idempotency_key = ?1",
                [key, account.as_str()],
            )?;
            derive(connection, key, Some(request), &now)?;
            Ok(Ok(Begun::Run {
                run: RunId { key: key.to_owned(), number },
                earlier: earlier(earlier_runs.iter().map(|run| run.evidence())),
            }))
        })?;
        begun.map_err(|refused| refused.idempotency_key(key))
    }

    /// The run was answered with the booking that was asked for, which is kept with it.
    pub(crate) fn book(&mut self, run: &RunId, booking: &Booking, status: u16) -> Result<State> {
        self.end(
            run,
            &End {
                outcome: Outcome::Booked,
                http_status: Some(status),
                booking: Some(booking),
                request: None,
            },
        )
    }

    /// The service refused the run: it created nothing. Returns what the other runs leave of the attempt.
    pub(crate) fn refuse(&mut self, run: &RunId, status: u16) -> Result<State> {
        self.end(
            run,
            &End {
                outcome: Outcome::Refused,
                http_status: Some(status),
                booking: None,
                request: None,
            },
        )
    }

    /// The run sent nothing. An attempt that has no other run is removed. Returns what the other runs leave of it.
    pub(crate) fn withdraw(&mut self, run: &RunId) -> Result<State> {
        self.end(
            run,
            &End {
                outcome: Outcome::NotSent,
                http_status: None,
                booking: None,
                request: None,
            },
        )
    }

    /// The service says that it made another booking under this key before. The attempt is open, as after a doubt.
    pub(crate) fn note_another_booking(
        &mut self,
        run: &RunId,
        request: &Value,
        status: u16,
    ) -> Result<State> {
        self.end(
            run,
            &End {
                outcome: Outcome::AnotherBooking,
                http_status: Some(status),
                booking: None,
                request: Some(request),
            },
        )
    }

    /// The run ended without a proof of what the service did. The attempt is open, with the whole `request`, also
    /// where a person abandoned it, or its guest was forgotten, while the run was under way.
    pub(crate) fn doubt(
        &mut self,
        run: &RunId,
        request: &Value,
        status: Option<u16>,
    ) -> Result<State> {
        self.end(
            run,
            &End {
                outcome: Outcome::InDoubt,
                http_status: status,
                booking: None,
                request: Some(request),
            },
        )
    }

    fn end(&mut self, run: &RunId, end: &End<'_>) -> Result<State> {
        let now = Timestamp::now().to_string();
        let (origin, retention) = (self.origin.clone(), self.retention);
        let (state, purged) = self.write(|connection| {
            connection.execute(
                "UPDATE runs SET outcome = ?3, http_status = ?4, booking_id = ?5, ended_at = ?6, abandoned = 0
                 WHERE idempotency_key = ?1 AND number = ?2",
                params![
                    run.key,
                    run.number,
                    end.outcome.as_str(),
                    end.http_status,
                    end.booking.map(Booking::id),
                    now
                ],
            )?;
            let state = derive(connection, &run.key, end.request, &now)?;
            if let Some(booking) = end.booking {
                bookings::keep(connection, &run.key, booking)?;
            }
            Ok((state, guests::purge(connection, &origin, retention)?))
        })?;
        self.clean_after(purged);
        Ok(state)
    }

    /// Gives up the runs whose outcome is open; the attempt stays in the journal.
    pub(crate) fn abandon(&mut self, key: &str) -> Result<State> {
        let now = Timestamp::now().to_string();
        let (origin, retention) = (self.origin.clone(), self.retention);
        let (state, purged) = self.write(|connection| {
            connection.execute(
                "UPDATE runs SET abandoned = 1
                 WHERE idempotency_key = ?1 AND outcome NOT IN ('booked', 'refused', 'not_sent')",
                [key],
            )?;
            let state = derive(connection, key, None, &now)?;
            Ok((state, guests::purge(connection, &origin, retention)?))
        })?;
        self.clean_after(purged);
        Ok(state)
    }
}

impl Journal {
    /// Makes the runs of every attempt prove what its row says. Where runs could not be read, as in a damaged journal,
    /// or were never written, as in one of an older version, the row is what is known: a run that proves just as much
    /// takes their place.
    pub(super) fn prove_again(&mut self) -> Result<()> {
        let now = Timestamp::now().to_string();
        self.write(|connection| {
            let mut query = connection.prepare("SELECT idempotency_key, state FROM attempts")?;
            let attempts = query.query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })?;
            for attempt in attempts {
                let (key, state) = attempt?;
                let runs = runs(connection, &key)?;
                let state = State::parse(&state);
                if !runs.is_empty() && derived(&runs) == state {
                    continue;
                }
                let outcome = match state {
                    State::Settled => Outcome::Booked,
                    State::Refused => Outcome::Refused,
                    State::Unsettled | State::Abandoned => Outcome::InDoubt,
                };
                let number = runs.last().map_or(1, |last| last.number.saturating_add(1));
                connection.execute(
                    "INSERT INTO runs (idempotency_key, number, account, outcome, abandoned, http_status, booking_id, started_at, ended_at)
                     SELECT idempotency_key, ?2, account, ?3, ?4, http_status, booking_id, created_at, updated_at
                     FROM attempts WHERE idempotency_key = ?1",
                    params![key, number, outcome.as_str(), state == State::Abandoned],
                )?;
                derive(connection, &key, None, &now)?;
            }
            Ok(())
        })
    }
}

/// Writes the state that the runs prove into the attempt's row, and returns it. An attempt in which nothing was ever
/// sent is removed. One that is open gets its whole request back, where that is at hand.
fn derive(
    connection: &Connection,
    key: &str,
    request: Option<&Value>,
    now: &str,
) -> rusqlite::Result<State> {
    let runs = runs(connection, key)?;
    let state = derived(&runs);
    if !runs.is_empty() && runs.iter().all(|run| run.outcome == Outcome::NotSent) {
        for table in ["attempts", "runs"] {
            let query = format!("DELETE FROM {table} WHERE idempotency_key = ?1");
            connection.execute(&query, [key])?;
        }
        return Ok(state);
    }
    // A key has one booking: the first that was seen stays.
    let proof = runs
        .iter()
        .find(|run| run.outcome == Outcome::Booked)
        .or(runs.last());
    connection.execute(
        "UPDATE attempts SET state = ?2, booking_id = ?3, http_status = ?4, updated_at = ?5 WHERE idempotency_key = ?1",
        params![
            key,
            state.as_str(),
            proof.and_then(|run| run.booking_id.as_deref()),
            proof.and_then(|run| run.http_status),
            now
        ],
    )?;
    if let (State::Unsettled, Some(request)) = (state, request) {
        connection.execute(
            "UPDATE attempts SET request = ?2, request_hash = ?3, forgotten_at = NULL
             WHERE idempotency_key = ?1 AND forgotten_at IS NOT NULL",
            params![key, request.to_string(), request_hash(request)],
        )?;
    }
    Ok(state)
}

fn at_another_service(origin: &str) -> Error {
    Error::usage(format!(
        "this idempotency key was used at another service, {origin}; nothing was sent"
    ))
    .hint("give a new key, or a batch another name with --batch: a key belongs to one service")
}

fn for_another_request() -> Error {
    Error::usage("this idempotency key was used for another request; nothing was sent")
        .hint("leave --idempotency-key out, or give a new one: a key belongs to one request")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::retention::Retention;
    use serde_json::json;

    fn journal(folder: &tempfile::TempDir) -> Journal {
        let path = folder.path().join("journal.db");
        Journal::open(&path, "https://a.example".into(), None)
            .unwrap()
            .of_account("one".into())
    }

    impl Journal {
        /// Begins a run of an attempt, where nothing stands against it.
        pub(crate) fn run(&mut self, key: &str, request: &Value) -> RunId {
            match self.begin(key, request, None).unwrap() {
                Begun::Run { run, .. } => run,
                Begun::Shut(window) => panic!("{window:?}"),
            }
        }
    }

    fn run(journal: &mut Journal, request: &Value) -> (RunId, Earlier) {
        match journal.begin("k", request, None).unwrap() {
            Begun::Run { run, earlier } => (run, earlier),
            Begun::Shut(window) => panic!("{window:?}"),
        }
    }

    fn request() -> Value {
        json!({"party_size": 2, "customer": {"name": "Ada Lovelace"}})
    }

    fn booking(id: &str) -> Booking {
        Booking::from_document(json!({"id": id, "status": "confirmed"}).into()).unwrap()
    }

    #[test]
    fn a_key_is_never_reused_for_another_body() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        assert_eq!(run(&mut journal, &request()).1, Earlier::Nothing);
        assert_eq!(run(&mut journal, &request()).1, Earlier::MayHaveBooked);
        let other = json!({"party_size": 3});
        let error = journal.begin("k", &other, None).unwrap_err();
        assert_eq!(
            (
                error.code.to_string().as_str(),
                error.idempotency_key.as_deref()
            ),
            ("usage", Some("k"))
        );
    }

    #[test]
    fn a_key_is_never_sent_to_another_service() {
        let folder = tempfile::tempdir().unwrap();
        run(&mut journal(&folder), &request());
        let path = folder.path().join("journal.db");
        let mut elsewhere = Journal::open(&path, "https://b.example".into(), None).unwrap();
        let error = elsewhere.begin("k", &request(), None).unwrap_err();
        assert!(error.message.contains("https://a.example"), "{error:?}");
        assert_eq!(elsewhere.attempt("k").unwrap().unwrap().runs.len(), 1);
    }

    #[test]
    fn an_attempt_is_open_from_before_the_first_byte_and_settled_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        let (first, _) = run(&mut journal, &request());
        assert_eq!(
            journal.attempt("k").unwrap().unwrap().state,
            State::Unsettled
        );
        assert_eq!(
            journal.book(&first, &booking("bk_1"), 201).unwrap(),
            State::Settled
        );
        let (second, earlier) = run(&mut journal, &request());
        assert_eq!(earlier, Earlier::Booked);
        assert_eq!(journal.refuse(&second, 429).unwrap(), State::Settled);
        let (third, _) = run(&mut journal, &request());
        assert_eq!(journal.withdraw(&third).unwrap(), State::Settled);
        let attempt = journal.attempt("k").unwrap().unwrap();
        assert_eq!(attempt.booking_id.as_deref(), Some("bk_1"));
        assert_eq!(attempt.runs.len(), 3);
    }

    #[test]
    fn a_refusal_of_one_run_leaves_another_one_open_and_its_guest_known() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        journal.keep_for(Retention::parse("0").unwrap());
        let (a, _) = run(&mut journal, &request());
        let (b, _) = run(&mut journal, &request());
        assert_eq!(journal.refuse(&a, 429).unwrap(), State::Unsettled);
        assert_eq!(journal.unsettled().unwrap()[0].request, request());
        assert_eq!(
            journal.doubt(&b, &request(), None).unwrap(),
            State::Unsettled
        );
        assert_eq!(journal.unsettled().unwrap()[0].request, request());
        assert_eq!(journal.doubtful().unwrap().len(), 1);
    }

    #[test]
    fn a_run_that_was_not_sent_removes_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        let (a, _) = run(&mut journal, &request());
        let (b, _) = run(&mut journal, &request());
        assert_eq!(journal.withdraw(&a).unwrap(), State::Unsettled);
        assert_eq!(journal.unsettled().unwrap().len(), 1);
        assert_eq!(journal.withdraw(&b).unwrap(), State::Refused);
        assert!(journal.attempts().unwrap().is_empty());
    }

    #[test]
    fn a_run_in_doubt_opens_what_was_abandoned_and_forgotten_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        journal.keep_for(Retention::parse("0").unwrap());
        let (a, _) = run(&mut journal, &request());
        let (b, _) = run(&mut journal, &request());
        assert_eq!(journal.abandon("k").unwrap(), State::Abandoned);
        // Ending any run purges: the guest of the abandoned attempt goes.
        assert_eq!(journal.refuse(&a, 400).unwrap(), State::Abandoned);
        let attempt = journal.attempt("k").unwrap().unwrap();
        assert!(attempt.forgotten_at.is_some() && !attempt.is_intact);
        assert_eq!(
            journal.doubt(&b, &request(), None).unwrap(),
            State::Unsettled
        );
        let attempt = journal.attempt("k").unwrap().unwrap();
        assert_eq!(
            (attempt.request, attempt.forgotten_at, attempt.is_intact),
            (request(), None, true)
        );
    }

    #[test]
    fn another_organization_may_take_over_only_what_was_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = journal(&folder);
        let (first, _) = run(&mut one, &request());
        let mut two = journal(&folder).of_account("two".into());
        let refused = two.begin("k", &request(), None).unwrap_err();
        assert!(refused.message.contains("another API key"));
        one.refuse(&first, 402).unwrap();
        run(&mut two, &request());
        let refused = one.begin("k", &request(), None).unwrap_err();
        assert!(refused.message.contains("another API key"));
        one.take_any_account();
        run(&mut one, &request());
    }

    #[test]
    fn a_run_says_which_process_it_belongs_to() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        run(&mut journal, &request());
        let attempt = journal.attempt("k").unwrap().unwrap();
        assert_eq!(attempt.runs[0].process, Some(std::process::id()));
    }
}
