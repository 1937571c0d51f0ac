//! Deliveries of events, and their history.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{OptionalExtension, Row};
use serde_json::{Value, json};

use super::ledger::{Ledger, moment};
use crate::sandbox::rules::delivery::{Attempt, DeliveryState, after};
use crate::sandbox::wire::id::Kind;
use crate::sandbox::wire::moment::Moment;

/// How long an attempt is left to who began it, in real time. It outlives the attempt's deadline, so that only
/// a process that died loses it to another.
const LEASE: SignedDuration = SignedDuration::from_secs(15);

/// A delivery that is to be attempted.
#[derive(Debug)]
pub(crate) struct Errand {
    event: i64,
    pub(crate) booking: i64,
    pub(crate) url: String,
    pub(crate) secret: String,
    pub(crate) body: String,
    /// The attempt's number, from 1.
    pub(crate) number: u32,
    /// When it begins, by the sandbox's clock.
    at: Timestamp,
}

impl Ledger<'_> {
    /// Sends an event on its way, if the organization has a webhook URL.
    pub(super) fn dispatch(&self, event: i64, organization: &str) -> rusqlite::Result<()> {
        self.sql(
            "INSERT INTO deliveries (event, url, state, failures, next_attempt_at) \
             SELECT ?, settings ->> 'webhook_url', 'pending', 0, ? FROM organizations \
             WHERE id = ? AND settings ->> 'webhook_url' IS NOT NULL",
        )?
        .execute((event, self.now.as_millisecond(), organization))?;
        Ok(())
    }

    /// Whether an attempt is due.
    pub(crate) fn has_errands(&self) -> rusqlite::Result<bool> {
        self.sql("SELECT 1 FROM deliveries WHERE next_attempt_at <= ? LIMIT 1")?
            .exists([self.now.as_millisecond()])
    }

    /// Takes on attempts that are due, oldest event first, one of each booking that is not `busy`. They go to where
    /// the organization wants them now; where it wants none any more, they are abandoned.
    pub(crate) fn take_errands(
        &self,
        most: usize,
        mut busy: HashSet<i64>,
    ) -> rusqlite::Result<Vec<Errand>> {
        let today = Timestamp::now();
        let mut due = self.sql(
            "SELECT d.event, e.booking, e.organization, e.body, \
                 (SELECT count(*) FROM attempts a WHERE a.event = d.event) \
                 FROM deliveries d JOIN events e ON e.number = d.event \
                 WHERE d.next_attempt_at <= ? AND coalesce(d.leased_until, 0) <= ? \
                 ORDER BY d.event",
        )?;
        let mut rows = due.query((self.now.as_millisecond(), today.as_millisecond()))?;
        let mut due: Vec<(i64, i64, String, String, u32)> = Vec::new();
        while due.len() < most
            && let Some(row) = rows.next()?
        {
            if busy.insert(row.get(1)?) {
                due.push((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                ));
            }
        }
        let mut errands = Vec::with_capacity(due.len());
        for (event, booking, organization, body, attempts) in due {
            let organization = self.organization(&organization)?;
            let Some(url) = organization.webhook_url else {
                self.settle(event, DeliveryState::Abandoned, None)?;
                continue;
            };
            self.sql("UPDATE deliveries SET url = ?, leased_until = ? WHERE event = ?")?
                .execute((&url, (today + LEASE).as_millisecond(), event))?;
            errands.push(Errand {
                event,
                booking,
                url,
                secret: organization.webhook_secret,
                body,
                number: attempts + 1,
                at: self.now,
            });
        }
        Ok(errands)
    }

    /// Notes what came of an attempt. One whose delivery was forgotten meanwhile is nothing.
    pub(crate) fn note_attempt(&self, errand: &Errand, attempt: &Attempt) -> rusqlite::Result<()> {
        let failures: Option<u32> = self
            .sql(
                "UPDATE deliveries SET failures = failures + 1 WHERE event = ? RETURNING failures",
            )?
            .query_row([errand.event], |row| row.get(0))
            .optional()?;
        let Some(failures) = failures else {
            return Ok(());
        };
        self.sql("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?)")?
            .execute((
                errand.event,
                errand.number,
                errand.at.as_millisecond(),
                attempt.answer.as_ref().ok(),
                attempt.answer.as_ref().err(),
                i64::try_from(attempt.latency_ms).unwrap_or(i64::MAX),
            ))?;
        let (state, next) = after(attempt, failures, self.now);
        self.settle(errand.event, state, next)
    }

    /// Starts a delivery's schedule anew; false where there is no such delivery.
    pub(crate) fn resend(&self, event: i64) -> rusqlite::Result<bool> {
        let changed = self
            .sql(
                "UPDATE deliveries SET state = 'pending', failures = 0, next_attempt_at = ? \
                 WHERE event = ?",
            )?
            .execute((self.now.as_millisecond(), event))?;
        Ok(changed > 0)
    }

    /// Every delivery with its attempts, in the order of their events; or that of one event.
    pub(crate) fn deliveries(&self, event: Option<i64>) -> rusqlite::Result<Vec<Value>> {
        self.sql(
            "SELECT d.event, e.kind, e.booking, d.url, d.state, d.next_attempt_at \
             FROM deliveries d JOIN events e ON e.number = d.event \
             WHERE ?1 IS NULL OR d.event = ?1 ORDER BY d.event",
        )?
        .query_map([event], |row| {
            let mut delivery = json!({
                "event_id": Kind::Event.id(row.get(0)?),
                "type": row.get::<_, String>(1)?,
                "booking_id": Kind::Booking.id(row.get(2)?),
                "url": row.get::<_, String>(3)?,
                "state": row.get::<_, String>(4)?,
                "attempts": self.attempts(row.get(0)?)?,
            });
            if let Some(next) = row.get(5)? {
                delivery["next_attempt_at"] = json!(Moment(moment(next)?));
            }
            Ok(delivery)
        })?
        .collect()
    }

    fn attempts(&self, event: i64) -> rusqlite::Result<Vec<Value>> {
        self.sql(
            "SELECT number, at, status, error, latency_ms FROM attempts \
             WHERE event = ? ORDER BY number",
        )?
        .query_map([event], attempt)?
        .collect()
    }

    fn settle(
        &self,
        event: i64,
        state: DeliveryState,
        next: Option<Timestamp>,
    ) -> rusqlite::Result<()> {
        self.sql(
            "UPDATE deliveries SET state = ?, next_attempt_at = ?, leased_until = NULL \
             WHERE event = ?",
        )?
        .execute((state.as_str(), next.map(Timestamp::as_millisecond), event))?;
        Ok(())
    }
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<Value> {
    let mut attempt = json!({"number": row.get::<_, i64>(0)?, "at": Moment(moment(row.get(1)?)?)});
    if let Some(status) = row.get::<_, Option<u16>>(2)? {
        attempt["status"] = json!(status);
    }
    if let Some(error) = row.get::<_, Option<String>>(3)? {
        attempt["error"] = json!(error);
    }
    attempt["latency_ms"] = json!(row.get::<_, i64>(4)?);
    Ok(attempt)
}
