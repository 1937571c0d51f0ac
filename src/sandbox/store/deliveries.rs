//! The tables of webhook events, of their deliveries and the attempts. An event is committed with
//! the change that it reports.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use rusqlite::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::number::next_number;
use super::tx::{Tx, from_json, json as text, moment};
use crate::sandbox::rules::booking::StoredBooking;
use crate::sandbox::rules::delivery::{ABANDONED, DeliveryAttempt, PENDING, after};
use crate::sandbox::rules::fault::{Fault, FaultKind, WEBHOOK};
use crate::sandbox::wire::booking::BookingSummary;
use crate::sandbox::wire::{IdKind, WireTime, add_owner, without_nulls};

/// How long an attempt belongs to the process that began it, in real time. Longer than the timeout
/// of an attempt, so that another process takes over only if the first one died.
const LEASE: SignedDuration = SignedDuration::from_secs(15);
/// How long a webhook waits for the next one of its booking, by the sandbox's clock.
const HELD_BACK: SignedDuration = SignedDuration::from_secs(30);

pub(crate) struct PendingDelivery {
    event: i64,
    pub(crate) booking: i64,
    pub(crate) organization: String,
    pub(crate) body: String,
    /// The number of the attempt, counted from 1.
    pub(crate) number: u32,
    /// When the attempt begins, by the organization's clock.
    at: Timestamp,
    pub(crate) url: String,
    pub(crate) secret: String,
    /// What the attempt meets, or was held back by.
    pub(crate) fault: Option<FaultKind>,
    /// Whether the fault comes after the handler has answered.
    pub(crate) is_after: bool,
}

pub(crate) struct SentDelivery {
    pub(crate) organization: String,
    /// Its id.
    pub(crate) event: String,
    pub(crate) is_abandoned: bool,
    /// Whether a fault held it back until the next event of its booking was sent.
    pub(crate) is_after_the_next: bool,
    pub(crate) attempts: Vec<DeliveryAttempt>,
}

#[derive(Serialize)]
struct AttemptDocument<'a> {
    number: u32,
    at: WireTime,
    #[serde(flatten)]
    attempt: &'a DeliveryAttempt,
}

impl Tx<'_> {
    /// Records events of these kinds with the booking as it is now, and queues their deliveries to
    /// the URL, if there is one.
    pub(super) fn record_events(
        &self,
        booking: &StoredBooking,
        kinds: impl IntoIterator<Item = String>,
        at: Timestamp,
        url: Option<&str>,
    ) -> Result<()> {
        let summary = text(&BookingSummary(booking))?;
        for kind in kinds {
            let number = next_number();
            let (id, created_at) = (IdKind::EVENT.id(number), WireTime(at).text());
            // Formatted by hand: this is a tenth of a booking request, and needs no escapes.
            let body = format!(
                r#"{{"id":"{id}","object":"event","type":"{kind}","created_at":"{created_at}","data":{{"object":{summary}}}}}"#
            );
            let row = (number, &booking.organization, booking.number, kind, body);
            self.run("INSERT INTO events VALUES (?, ?, ?, ?, ?)", row)?;
            if let Some(url) = url {
                let sql = "INSERT INTO deliveries (event, organization, url, state, failures, next_attempt_at) \
                           VALUES (?, ?, ?, 'pending', 0, ?)";
                self.run(sql, (number, &booking.organization, url, self.now_ms()))?;
            }
        }
        Ok(())
    }

    /// The events of a booking as they are delivered, oldest first. Those before a webhook URL was
    /// set are among them.
    pub(crate) fn events(&self, booking: i64) -> Result<Vec<Value>> {
        let sql = "SELECT body FROM events WHERE booking = ? ORDER BY number";
        self.all(sql, [booking], from_json)
    }

    pub(crate) fn has_due_deliveries(&self) -> Result<bool> {
        let sql = "SELECT 1 FROM clocks c CROSS JOIN deliveries d WHERE d.organization = c.organization \
                   AND d.next_attempt_at <= coalesce(c.frozen_at, c.offset_ms + ?)";
        self.sql(sql)?.exists([self.real_ms])
    }

    /// Leases up to `most` due deliveries, oldest event first, one for each booking that is not
    /// `busy`. They go to the organization's present webhook URL, or wait for one.
    pub(crate) fn take_due_deliveries(
        &self,
        most: usize,
        mut busy: HashSet<i64>,
    ) -> Result<Vec<PendingDelivery>> {
        let today = Timestamp::now();
        let mut due = self.sql(
            "SELECT d.event, e.booking, e.organization, e.body, d.met, d.held_back, \
             (SELECT count(*) FROM attempts a WHERE a.event = d.event) + 1 AS number \
             FROM clocks c CROSS JOIN deliveries d JOIN events e ON e.number = d.event \
             WHERE d.organization = c.organization AND coalesce(d.leased_until, 0) <= ?1 \
             AND d.next_attempt_at <= coalesce(c.frozen_at, c.offset_ms + ?1) ORDER BY d.event",
        )?;
        let due = due.query_map([today.as_millisecond()], |row| {
            let number = row.get("number")?;
            let is_held = row.get::<_, Option<u32>>("met")? == Some(number);
            let held_by = match row.get("held_back")? {
                0 => FaultKind::Delay,
                _ => FaultKind::Reorder,
            };
            Ok(PendingDelivery {
                event: row.get("event")?,
                booking: row.get("booking")?,
                organization: row.get("organization")?,
                body: row.get("body")?,
                number,
                at: self.now,
                url: String::new(),
                secret: String::new(),
                fault: is_held.then_some(held_by),
                is_after: false,
            })
        })?;
        // A row that cannot be read is an error, not a busy booking.
        let due = due.filter(|it| !it.as_ref().is_ok_and(|it| !busy.insert(it.booking)));
        let due: Vec<PendingDelivery> = due.take(most).collect::<Result<_>>()?;
        let mut deliveries = Vec::new();
        for mut delivery in due {
            let owner = delivery.organization.as_str();
            delivery.at = self.for_organization(owner)?.now;
            let to = self.organization(owner)?;
            let Some((url, secret)) = to.and_then(|it| Some((it.webhook_url?, it.webhook_secret)))
            else {
                self.set_state(delivery.event, PENDING, None)?;
                continue;
            };
            if delivery.fault.is_none() {
                let body = delivery.body.as_bytes();
                let meets = |it: &Fault| it.on == WEBHOOK && it.meets_body(body);
                let fault = self.take_fault(Some(owner), meets)?;
                if let Some(pause) = fault.as_ref().and_then(held_back) {
                    // A reordered one waits at most until another of its booking was attempted.
                    let is_reordered = fault.is_some_and(|it| it.kind == FaultKind::Reorder);
                    let then = delivery.at.saturating_add(pause).unwrap_or(delivery.at);
                    let row =
                        (then.as_millisecond(), delivery.number, is_reordered, delivery.event);
                    let sql = "UPDATE deliveries SET next_attempt_at = ?, met = ?, held_back = ? WHERE event = ?";
                    self.run(sql, row)?;
                    continue;
                }
                delivery.is_after = fault.as_ref().is_some_and(|it| it.after);
                delivery.fault = fault.map(|it| it.kind);
            }
            let row = (&url, (today + LEASE).as_millisecond(), delivery.event);
            self.run("UPDATE deliveries SET url = ?, leased_until = ? WHERE event = ?", row)?;
            deliveries.push(PendingDelivery { url, secret, ..delivery });
        }
        Ok(deliveries)
    }

    /// Records the outcome of an attempt. Does nothing if the delivery was deleted meanwhile.
    pub(crate) fn record_attempt(
        &self,
        delivery: &PendingDelivery,
        attempt: &DeliveryAttempt,
    ) -> Result<()> {
        let (event, booking) = (delivery.event, delivery.booking);
        let failed =
            "UPDATE deliveries SET failures = failures + 1 WHERE event = ? RETURNING failures";
        let failures = self.first(failed, [event], |row| row.get(0))?;
        let Some(failures) = failures else {
            return Ok(());
        };
        let document =
            AttemptDocument { number: delivery.number, at: WireTime(delivery.at), attempt };
        let row = (event, delivery.number, without_nulls(json!(document)).to_string());
        self.run("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?)", row)?;
        // The delivery of this booking that waited for this one goes on.
        let go_on = "UPDATE deliveries SET next_attempt_at = ?, held_back = 2 \
                     WHERE held_back = 1 AND event <> ? \
                     AND event IN (SELECT number FROM events WHERE booking = ?)";
        self.run(go_on, (self.now_ms(), event, booking))?;
        let (state, next) = after(attempt, failures, self.now);
        self.set_state(event, state, next)
    }

    /// Starts its schedule anew. An attempt that is under way does not belong to it.
    pub(crate) fn resend(&self, event: i64) -> Result<()> {
        let again = "UPDATE deliveries SET state = 'pending', next_attempt_at = \
                     (SELECT coalesce(frozen_at, offset_ms + ?1) FROM clocks c WHERE c.organization = deliveries.organization), \
                     failures = CASE WHEN coalesce(leased_until, 0) <= ?1 THEN 0 ELSE -1 END WHERE event = ?2";
        self.run(again, (self.real_ms, event)).map(drop)
    }

    /// Deliveries with attempts, in the events' order: of `event`, `organization`, or all.
    pub(crate) fn deliveries(
        &self,
        event: Option<i64>,
        organization: Option<&str>,
    ) -> Result<Vec<Value>> {
        let sql = "SELECT d.event, e.kind, e.booking, e.organization, d.url, d.state, d.next_attempt_at \
                   FROM deliveries d JOIN events e ON e.number = d.event \
                   WHERE (?1 IS NULL OR d.event = ?1) AND (?2 IS NULL OR e.organization = ?2) \
                   ORDER BY d.event";
        let names = self.organization_names()?;
        self.all(sql, (event, organization), |row| {
            let event = row.get("event")?;
            let mut attempts: Vec<Map<String, Value>> = self.attempts(event)?;
            for it in &mut attempts {
                it.retain(|name, _| name != "request" && name != "response");
            }
            let mut delivery = json!({
                "event_id": IdKind::EVENT.id(event),
                "type": row.get::<_, String>("kind")?,
                "booking_id": IdKind::BOOKING.id(row.get("booking")?),
                "url": row.get::<_, String>("url")?,
                "state": row.get::<_, String>("state")?,
                "attempts": attempts,
            });
            add_owner(&mut delivery, row.get_ref("organization")?.as_str()?, &names);
            if let Some(next) = row.get("next_attempt_at")? {
                delivery["next_attempt_at"] = json!(WireTime(moment(next)?));
            }
            Ok(delivery)
        })
    }

    /// Adds the body to the delivery of an event, and what each attempt sent and got back.
    pub(crate) fn add_content(&self, event: i64, delivery: &mut Value) -> Result<()> {
        let sql = "SELECT body FROM events WHERE number = ?";
        let body: Option<String> = self.first(sql, [event], |row| row.get(0))?;
        delivery["body"] = json!(body);
        delivery["attempts"] = json!(self.attempts::<Value>(event)?);
        Ok(())
    }

    /// What a report reads of the deliveries.
    pub(crate) fn sent_deliveries(&self, organization: Option<&str>) -> Result<Vec<SentDelivery>> {
        let sql = "SELECT d.event, e.organization, d.state, d.held_back FROM deliveries d \
                   JOIN events e ON e.number = d.event \
                   WHERE ?1 IS NULL OR e.organization = ?1 ORDER BY d.event";
        self.all(sql, [organization], |row| {
            let event = row.get("event")?;
            Ok(SentDelivery {
                organization: row.get("organization")?,
                event: IdKind::EVENT.id(event),
                is_abandoned: row.get_ref("state")?.as_str()? == ABANDONED,
                is_after_the_next: row.get::<_, u8>("held_back")? == 2,
                attempts: self.attempts(event)?,
            })
        })
    }

    fn attempts<T: DeserializeOwned>(&self, event: i64) -> Result<Vec<T>> {
        let sql = "SELECT attempt FROM attempts WHERE event = ? ORDER BY number";
        self.all(sql, [event], from_json)
    }

    fn set_state(&self, event: i64, state: &str, next: Option<Timestamp>) -> Result<()> {
        let sql = "UPDATE deliveries SET state = ?, next_attempt_at = ?, leased_until = NULL, \
                   held_back = held_back & 2 WHERE event = ?";
        self.run(sql, (state, next.map(Timestamp::as_millisecond), event)).map(drop)
    }
}

/// How long a fault holds a webhook back, if it does.
fn held_back(fault: &Fault) -> Option<SignedDuration> {
    match fault.kind {
        FaultKind::Reorder => Some(HELD_BACK),
        FaultKind::Delay => i64::try_from(fault.delay_ms?).ok().map(SignedDuration::from_millis),
        _ => None,
    }
}
