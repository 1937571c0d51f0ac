//! A booking's story: what was asked for, each state in which it was seen, what changed, what was received about it, and
//! how it was sent, in one order and on one clock, the service's.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use crate::app::Context;
use crate::journal::{Attempt, Run, StatusObservation};
use crate::json::plain;
use crate::outcome::Result;
use crate::service::documents::booking::Booking;
use crate::service::time::document_time::{DocumentTime, time_text};
use crate::webhook::{AttemptRow, EventQuery, EventRow};

/// Two clocks that differ by less are the same one.
const SAME_CLOCK: SignedDuration = SignedDuration::from_mins(1);
/// A state is stored right after the answer that brought it.
const RIGHT_AFTER: SignedDuration = SignedDuration::from_secs(1);
const COMPARED: [&str; 3] = ["datetime", "party_size", "seating_preference"];

pub(crate) struct TimelineRow {
    pub(crate) at: Timestamp,
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// With `at` and `kind`.
    pub(crate) document: Value,
}

/// The story of a booking, as far as `booking` and this machine tell it.
///
/// # Errors
/// Those of the journal and of the webhook file.
pub(crate) fn timeline(
    context: &Context,
    id: &str,
    booking: Option<&Booking>,
) -> Result<Vec<TimelineRow>> {
    let (mut attempts, mut seen) = (Vec::new(), Vec::new());
    if context.has_journal() {
        let journal = context.journal()?;
        attempts = journal.attempts_of(id)?;
        seen = journal.sightings(id)?;
    }
    let created = booking.and_then(|booking| time(booking.value(), "created_at"));
    let mut story = Story {
        ahead: created.and_then(|created| clock_ahead(created, &attempts)),
        answers: Vec::new(),
        rows: Vec::new(),
    };
    if attempts.is_empty() {
        story.add(created, "created", "made at the service", json!({}));
    }
    for attempt in &attempts {
        story.attempt(attempt);
    }
    // The state that was read just now may be newer than the journal's.
    seen.extend(booking.map(|booking| StatusObservation {
        status: booking.status().as_str().to_owned(),
        facts: booking.value().clone(),
        seen_at: Timestamp::now().to_string(),
    }));
    story.states(&seen);
    let change = booking.and_then(|booking| booking.value().get("last_modification"));
    if let Some(change) = change
        && let Some(changes) = change.get("changes").and_then(Value::as_object)
    {
        story.change(time(change, "at"), changes);
    }
    if let Some(webhooks) = context.received()? {
        let query = EventQuery {
            booking: Some(id.to_owned()),
            ..EventQuery::default()
        };
        for event in webhooks.events(&query)?.into_iter().rev() {
            let (_, body) = webhooks.content(event.number)?;
            let forwards = webhooks.attempts(event.number)?;
            story.delivery(&event, &body, &forwards);
        }
    }
    // What happened in the same second is in order already.
    story.rows.sort_by_key(|it| it.at.as_second());
    Ok(story.rows)
}

/// How far the service's clock is ahead of this machine's: a sandbox's may have been moved. `None` if the booking was made
/// elsewhere.
fn clock_ahead(created: Timestamp, attempts: &[Attempt]) -> Option<SignedDuration> {
    let mut runs = attempts.iter().flat_map(|attempt| &attempt.runs);
    let maker = runs.find(|run| run.outcome.may_have_booked())?;
    let sent: Timestamp = maker.started_at.parse().ok()?;
    let ahead = created.duration_since(sent);
    let is_same = ahead.abs() < SAME_CLOCK;
    Some(if is_same { SignedDuration::ZERO } else { ahead })
}

struct Story {
    /// How far the service's clock is ahead, if that is known.
    ahead: Option<SignedDuration>,
    /// When an answer with the booking came, by this machine's clock.
    answers: Vec<Timestamp>,
    rows: Vec<TimelineRow>,
}

impl Story {
    /// Adds a row. Details that are null are left out, and so is a row without a time.
    fn add(
        &mut self,
        at: Option<Timestamp>,
        kind: &'static str,
        text: impl Into<String>,
        details: Value,
    ) {
        let Some(at) = at else { return };
        let mut document = json!({"at": at.strftime("%FT%TZ").to_string(), "kind": kind});
        let given = details.as_object().into_iter().flatten();
        for (name, detail) in given.filter(|(_, detail)| !detail.is_null()) {
            document[name] = detail.clone();
        }
        self.rows.push(TimelineRow {
            at,
            kind,
            text: text.into(),
            document,
        });
    }

    /// A time of this machine by the service's clock.
    fn theirs(&self, ours: Timestamp) -> Option<Timestamp> {
        ours.checked_add(self.ahead.unwrap_or_default()).ok()
    }

    fn theirs_of(&self, ours: &str) -> Option<Timestamp> {
        self.theirs(ours.parse().ok()?)
    }

    fn attempt(&mut self, attempt: &Attempt) {
        let key = attempt.idempotency_key.as_str();
        let is_of_batch = key.starts_with("batch-");
        let source = if is_of_batch { "batch" } else { "book" };
        let asked = |field: &str| attempt.asked().get(field);
        let parts = [
            Some(format!("made with bookctl {source}:")),
            asked("venue_id").map(plain),
            asked("datetime").map(time_text),
            asked("party_size").map(|size| format!("for {}", plain(size))),
        ];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let details =
            json!({"idempotency_key": key, "from": source, "request": attempt.request.body});
        let at = self.theirs_of(&attempt.created_at);
        self.add(at, "request", text, details);
        let mut may_be_booked = false;
        for run in &attempt.runs {
            let is_only = attempt.runs.len() == 1;
            let which = (!is_only).then(|| format!("run {}: ", run.number));
            self.run(run, &which.unwrap_or_default(), may_be_booked);
            may_be_booked |= run.outcome.may_have_booked();
        }
    }

    /// One time that the request was sent, and its result.
    fn run(&mut self, run: &Run, which: &str, is_later: bool) {
        let details = json!({"run": run.number, "process": run.process});
        let sent = self.theirs_of(&run.started_at);
        self.add(sent, "sent", format!("{which}request sent"), details);
        let Some(ended_at) = &run.ended_at else {
            return;
        };
        let result = match (is_later, &run.booking_id) {
            // A new booking is answered with 201.
            (true, Some(_)) if run.http_status == Some(200) => "the booking was there already",
            _ => run.outcome.in_words(),
        };
        let status = run.http_status.map(|status| format!("HTTP {status}, "));
        let status = status.unwrap_or_default();
        let text = format!("{which}{status}{result}");
        let details = json!({"run": run.number, "outcome": run.outcome.as_str(), "http_status": run.http_status});
        self.add(self.theirs_of(ended_at), "answer", text, details);
        if run.booking_id.is_some() {
            self.answers.extend(ended_at.parse::<Timestamp>());
        }
    }

    /// Each state, and what changed between two of them.
    fn states(&mut self, seen: &[StatusObservation]) {
        let mut last: Option<&StatusObservation> = None;
        let mut at = None;
        for sighting in seen {
            let seen_at: Option<Timestamp> = sighting.seen_at.parse().ok();
            let seen_at = seen_at.and_then(|at| at.checked_add(RIGHT_AFTER).ok());
            let brought = self.answers.iter().filter(|ours| Some(**ours) <= seen_at);
            let brought = brought.filter_map(|ours| self.theirs(*ours)).max();
            let own = time(&sighting.facts, "updated_at");
            let own = own.or_else(|| self.theirs_of(&sighting.seen_at));
            // No state stands before the answer that brought it, nor before the state that was seen before it.
            at = own.max(brought).max(at);
            let code = fact(sighting, "error_code");
            let is_same = |last: &StatusObservation| {
                last.status == sighting.status && fact(last, "error_code") == code
            };
            if !last.is_some_and(is_same) {
                let message = fact(sighting, "error_message");
                let mut text = sighting.status.clone();
                for more in [code, message].into_iter().flatten() {
                    text.push_str(&format!(" · {}", plain(more)));
                }
                let details = json!({
                    "status": sighting.status, "error_code": code, "message": message,
                    "seen_at": sighting.seen_at,
                });
                self.add(at, "status", text, details);
            }
            if let Some(before) = last.filter(|it| it.facts.get("datetime").is_some()) {
                self.change(at, &changes(&before.facts, &sighting.facts));
            }
            last = Some(sighting);
        }
    }

    fn change(&mut self, at: Option<Timestamp>, changes: &Map<String, Value>) {
        let details = json!({ "changes": changes });
        let is_told = |it: &TimelineRow| it.document.get("changes") == details.get("changes");
        if changes.is_empty() || self.rows.iter().any(is_told) {
            return;
        }
        let side = |side: &Value| match side {
            Value::Null => "not set".to_owned(),
            value => time_text(value),
        };
        let texts = changes.iter().map(|(field, change)| {
            format!(
                "{field} {} → {}",
                side(&change["from"]),
                side(&change["to"])
            )
        });
        self.add(at, "change", texts.collect::<Vec<_>>().join(", "), details);
    }

    /// A delivery that `webhook listen` received, and each time that it was forwarded.
    fn delivery(&mut self, row: &EventRow, body: &[u8], forwards: &[AttemptRow]) {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let (event, happened) = (&row.event, time(&body, "created_at"));
        // Where nothing shows how far apart the clocks are, the event has the service's time. A sandbox's clock may have been
        // moved since the booking was made, and nothing is received before it happened.
        let received = self.theirs(row.received_at);
        let at = if self.ahead.is_some() {
            happened.max(received)
        } else {
            happened.or(received)
        };
        let mut text = format!("webhook {} received", event.shown_kind());
        if let Some(status) = &event.status {
            text.push_str(&format!(" · {status}"));
        }
        if row.duplicates > 0 {
            text.push_str(&format!(" · {} more times", row.duplicates));
        }
        let details = json!({
            "event": event.id, "type": event.kind, "status": event.status,
            "state": row.state.as_str(), "duplicates": row.duplicates,
            "received_at": row.received_at.strftime("%FT%TZ").to_string(),
        });
        self.add(at, "delivery", text, details);
        for forward in forwards {
            let later = forward.begun_at.duration_since(row.received_at);
            let AttemptRow { attempt, .. } = forward;
            let status = attempt.status.map(|status| format!("HTTP {status}"));
            let answer = status.or_else(|| attempt.error.clone());
            let answer = answer.unwrap_or_else(|| "no response yet".to_owned());
            let text = format!("{} answered {answer}", forward.url);
            let details = json!({
                "event": event.id, "attempt": attempt.number, "url": forward.url,
                "http_status": attempt.status, "error": attempt.error,
            });
            let at = at.and_then(|at| at.checked_add(later).ok());
            self.add(at, "forward", text, details);
        }
    }
}

fn fact<'a>(sighting: &'a StatusObservation, name: &str) -> Option<&'a Value> {
    sighting.facts.get(name).filter(|it| !it.is_null())
}

fn changes(before: &Value, after: &Value) -> Map<String, Value> {
    let mut changed = Map::new();
    for field in COMPARED {
        let (from, to) = (&before[field], &after[field]);
        if from != to {
            changed.insert(field.to_owned(), json!({"from": from, "to": to}));
        }
    }
    changed
}

fn time(document: &Value, field: &str) -> Option<Timestamp> {
    DocumentTime::read(document.get(field)?)?.instant
}
