//! The tables of webhook deliveries and their attempts.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{OptionalExtension, Row};
use serde_json::{Value, json};

use super::tx::{Tx, moment};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::delivery::{DeliveryAttempt, DeliveryState, after};
use crate::sandbox::rules::fault::{Fault, FaultKind};
use crate::sandbox::wire::id::IdKind;
use crate::sandbox::wire::moment::Moment;

/// How long an attempt belongs to the process that began it, in real time. Longer than the timeout of an attempt, so
/// that another process takes over only if the first one died.
const LEASE: SignedDuration = SignedDuration::from_secs(15);

/// A delivery to attempt.
#[derive(Debug)]
pub(crate) struct PendingDelivery {
    event: i64,
    pub(crate) booking: i64,
    pub(crate) url: String,
    pub(crate) secret: String,
    pub(crate) body: String,
    /// The attempt's number, counted from 1.
    pub(crate) number: u32,
    /// When the attempt begins, by the sandbox's clock.
    at: Timestamp,
    /// What happens to it on its way.
    pub(crate) fault: Option<Fault>,
}

/// A row of the deliveries that are due.
struct Due {
    event: i64,
    booking: i64,
    organization: String,
    body: String,
    attempts: u32,
    /// The number of the attempt that has met its fault already.
    met: Option<u32>,
}

/// How long a webhook waits for the next one of its booking, by the sandbox's clock.
const HELD_BACK: SignedDuration = SignedDuration::from_secs(30);

impl Tx<'_> {
    /// Queues the delivery of an event.
    pub(super) fn queue_delivery(&self, event: i64, url: &str) -> rusqlite::Result<()> {
        self.sql(
            "INSERT INTO deliveries (event, url, state, failures, next_attempt_at) \
             VALUES (?, ?, 'pending', 0, ?)",
        )?
        .execute((event, url, self.now.as_millisecond()))?;
        Ok(())
    }

    /// Whether an attempt is due.
    pub(crate) fn has_due_deliveries(&self) -> rusqlite::Result<bool> {
        self.sql("SELECT 1 FROM deliveries WHERE next_attempt_at <= ? LIMIT 1")?
            .exists([self.now.as_millisecond()])
    }

    /// Leases up to `most` due deliveries, oldest event first, one for each booking that is not `busy`. They go to the
    /// organization's present webhook URL; without one they are abandoned.
    pub(crate) fn take_due_deliveries(
        &self,
        most: usize,
        mut busy: HashSet<i64>,
    ) -> Result<Vec<PendingDelivery>, ApiError> {
        let today = Timestamp::now();
        let mut due = self.sql(
            "SELECT d.event, e.booking, e.organization, e.body, \
                 (SELECT count(*) FROM attempts a WHERE a.event = d.event), d.met \
                 FROM deliveries d JOIN events e ON e.number = d.event \
                 WHERE d.next_attempt_at <= ? AND coalesce(d.leased_until, 0) <= ? \
                 ORDER BY d.event",
        )?;
        let mut rows = due.query((self.now.as_millisecond(), today.as_millisecond()))?;
        let mut due = Vec::new();
        while due.len() < most
            && let Some(row) = rows.next()?
        {
            if busy.insert(row.get(1)?) {
                due.push(Due {
                    event: row.get(0)?,
                    booking: row.get(1)?,
                    organization: row.get(2)?,
                    body: row.get(3)?,
                    attempts: row.get(4)?,
                    met: row.get(5)?,
                });
            }
        }
        let mut deliveries = Vec::with_capacity(due.len());
        let has_faults = self.has_faults()?;
        for due in due {
            let event = due.event;
            let organization = self.organization(&due.organization)?;
            let to = organization
                .and_then(|it| Some((it.webhook_url.clone()?, it.webhook_secret.clone())));
            let Some((url, secret)) = to else {
                self.set_state(event, DeliveryState::Abandoned, None)?;
                continue;
            };
            let fault = if has_faults && due.met != Some(due.attempts + 1) {
                self.take_webhook_fault(&due.organization)?
            } else {
                None
            };
            if let Some(pause) = fault.as_ref().and_then(pause) {
                let reordered = fault.is_some_and(|it| it.kind == FaultKind::Reorder);
                self.hold_back(&due, pause, reordered)?;
                continue;
            }
            self.sql("UPDATE deliveries SET url = ?, leased_until = ? WHERE event = ?")?
                .execute((&url, (today + LEASE).as_millisecond(), event))?;
            deliveries.push(PendingDelivery {
                event,
                booking: due.booking,
                url,
                secret,
                body: due.body,
                number: due.attempts + 1,
                at: self.now,
                fault,
            });
        }
        Ok(deliveries)
    }

    /// Lets a delivery wait, `reordered` at most until another one of its booking was attempted.
    fn hold_back(&self, due: &Due, pause: SignedDuration, reordered: bool) -> rusqlite::Result<()> {
        let then = self.now.saturating_add(pause).unwrap_or(self.now);
        self.sql(
            "UPDATE deliveries SET next_attempt_at = ?, met = ?, held_back = ? WHERE event = ?",
        )?
        .execute((
            then.as_millisecond(),
            due.attempts + 1,
            reordered,
            due.event,
        ))?;
        Ok(())
    }

    /// Lets go of the delivery that waited for this one.
    fn release(&self, delivery: &PendingDelivery) -> rusqlite::Result<()> {
        self.sql(
            "UPDATE deliveries SET next_attempt_at = ?, held_back = 0 \
             WHERE held_back = 1 AND event <> ? \
             AND event IN (SELECT number FROM events WHERE booking = ?)",
        )?
        .execute((self.now.as_millisecond(), delivery.event, delivery.booking))?;
        Ok(())
    }

    /// Records the outcome of an attempt. Does nothing if the delivery was deleted meanwhile.
    pub(crate) fn record_attempt(
        &self,
        delivery: &PendingDelivery,
        attempt: &DeliveryAttempt,
    ) -> rusqlite::Result<()> {
        let failures: Option<u32> = self
            .sql(
                "UPDATE deliveries SET failures = failures + 1 WHERE event = ? RETURNING failures",
            )?
            .query_row([delivery.event], |row| row.get(0))
            .optional()?;
        let Some(failures) = failures else {
            return Ok(());
        };
        self.sql("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute((
                delivery.event,
                delivery.number,
                delivery.at.as_millisecond(),
                attempt.outcome.as_ref().ok(),
                attempt.outcome.as_ref().err(),
                i64::try_from(attempt.latency_ms).unwrap_or(i64::MAX),
                attempt.request.as_ref().map(|it| json!(it).to_string()),
                attempt.response.as_ref().map(|it| json!(it).to_string()),
            ))?;
        self.release(delivery)?;
        let (state, next) = after(attempt, failures, self.now);
        self.set_state(delivery.event, state, next)
    }

    /// Restarts the schedule of a delivery; returns false if there is none for the event.
    pub(crate) fn resend(&self, event: i64) -> rusqlite::Result<bool> {
        let changed = self
            .sql(
                "UPDATE deliveries SET state = 'pending', failures = 0, next_attempt_at = ? \
                 WHERE event = ?",
            )?
            .execute((self.now.as_millisecond(), event))?;
        Ok(changed > 0)
    }

    /// Every delivery with its attempts, in the order of the events; only that of `event`, or those of `organization`,
    /// if given.
    pub(crate) fn deliveries(
        &self,
        event: Option<i64>,
        organization: Option<&str>,
    ) -> rusqlite::Result<Vec<Value>> {
        self.sql(
            "SELECT d.event, e.kind, e.booking, d.url, d.state, d.next_attempt_at \
             FROM deliveries d JOIN events e ON e.number = d.event \
             WHERE (?1 IS NULL OR d.event = ?1) AND (?2 IS NULL OR e.organization = ?2) \
             ORDER BY d.event",
        )?
        .query_map((event, organization), |row| {
            let mut delivery = json!({
                "event_id": IdKind::Event.id(row.get(0)?),
                "type": row.get::<_, String>(1)?,
                "booking_id": IdKind::Booking.id(row.get(2)?),
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

    /// The delivery of an event, with its body, and what each attempt sent and got back.
    pub(crate) fn delivery(&self, event: i64) -> rusqlite::Result<Option<Value>> {
        let Some(mut delivery) = self.deliveries(Some(event), None)?.pop() else {
            return Ok(None);
        };
        let body: String = self
            .sql("SELECT body FROM events WHERE number = ?")?
            .query_row([event], |row| row.get(0))?;
        delivery["body"] = json!(body);
        let mut contents =
            self.sql("SELECT request, response FROM attempts WHERE event = ? ORDER BY number")?;
        let mut contents = contents.query([event])?;
        for attempt in delivery["attempts"].as_array_mut().into_iter().flatten() {
            let Some(row) = contents.next()? else {
                break;
            };
            for (column, field) in ["request", "response"].into_iter().enumerate() {
                let content: Option<String> = row.get(column)?;
                let content = content.and_then(|it| serde_json::from_str(&it).ok());
                if let Some(content) = content {
                    let content: Value = content;
                    attempt[field] = content;
                }
            }
        }
        Ok(Some(delivery))
    }

    fn attempts(&self, event: i64) -> rusqlite::Result<Vec<Value>> {
        self.sql(
            "SELECT number, at, status, error, latency_ms FROM attempts \
             WHERE event = ? ORDER BY number",
        )?
        .query_map([event], attempt)?
        .collect()
    }

    fn set_state(
        &self,
        event: i64,
        state: DeliveryState,
        next: Option<Timestamp>,
    ) -> rusqlite::Result<()> {
        self.sql(
            "UPDATE deliveries SET state = ?, next_attempt_at = ?, leased_until = NULL, held_back = 0 \
             WHERE event = ?",
        )?
        .execute((state.as_str(), next.map(Timestamp::as_millisecond), event))?;
        Ok(())
    }
}

/// How long a fault lets a delivery wait.
fn pause(fault: &Fault) -> Option<SignedDuration> {
    match fault.kind {
        FaultKind::Delay => {
            let delay = i64::try_from(fault.delay_ms.unwrap_or_default());
            Some(SignedDuration::from_millis(delay.unwrap_or_default()))
        }
        FaultKind::Reorder => Some(HELD_BACK),
        _ => None,
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
