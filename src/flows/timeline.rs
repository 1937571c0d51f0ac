//! A booking's story: what was asked for, each state in which it was seen, what changed, what was received about it, and
//! how it was sent, in one order and on one clock, the service's.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use crate::app::Context;
use crate::journal::{Attempt, Run, Sighting};
use crate::json::plain;
use crate::model::booking::Booking;
use crate::model::document_time::{DocumentTime, time_text};
use crate::outcome::Result;
use crate::terminal::view::TimelineRow;
use crate::webhook::{AttemptRow, EventRow, Query};

/// Two clocks that differ by less are the same one.
const SAME_CLOCK: SignedDuration = SignedDuration::from_mins(1);
const TOLD: [&str; 3] = ["datetime", "party_size", "seating_preference"];

/// The story of a booking, as far as `booking` and this machine tell it.
///
/// # Errors
///
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
        clock: Clock::of(created, &attempts),
        answers: Vec::new(),
        rows: Vec::new(),
    };
    for attempt in &attempts {
        story.attempt(attempt);
    }
    // The state that was read just now may be newer than the journal's.
    seen.extend(booking.map(|booking| Sighting {
        status: booking.status().as_str().to_owned(),
        facts: booking.value().clone(),
        seen_at: Timestamp::now().to_string(),
    }));
    story.states(created, &seen);
    let change = booking.and_then(|booking| booking.value().get("last_modification"));
    if let Some(change) = change
        && let Some(changes) = change.get("changes").and_then(Value::as_object)
    {
        story.change(time(change, "at"), changes);
    }
    if let Some(webhooks) = context.received()? {
        let booking = Some(id.to_owned());
        let query = Query {
            booking,
            ..Query::default()
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

/// How this machine's times become the service's: a sandbox's clock may have been moved.
#[derive(Clone, Copy)]
struct Clock {
    created: Option<Timestamp>,
    /// Whether both clocks were seen at one moment. They were not if the booking was made elsewhere.
    is_compared: bool,
    ahead: SignedDuration,
}

impl Clock {
    fn of(created: Option<Timestamp>, attempts: &[Attempt]) -> Self {
        let ahead = created.and_then(|created| {
            let mut runs = attempts.iter().flat_map(|attempt| &attempt.runs);
            let maker = runs.clone().find(|run| run.outcome.may_have_booked())?;
            let answered = runs.find(|run| run.booking_id.is_some())?;
            let sent: Timestamp = maker.started_at.parse().ok()?;
            let ended: Timestamp = answered.ended_at.as_ref()?.parse().ok()?;
            let is_answered = std::ptr::eq(maker, answered);
            Some(ahead_by(created, sent, ended, is_answered))
        });
        Clock {
            created,
            is_compared: ahead.is_some(),
            ahead: ahead.unwrap_or_default(),
        }
    }

    fn moment(self, ours: Timestamp) -> Timestamp {
        ours.saturating_add(self.ahead).unwrap_or(Timestamp::MAX)
    }

    fn text(self, ours: &str) -> Option<Timestamp> {
        ours.parse().ok().map(|ours| self.moment(ours))
    }

    /// The same for what led to the booking, and so came before it.
    fn before_creation(self, ours: &str) -> Option<Timestamp> {
        let at = self.text(ours)?;
        Some(self.created.map_or(at, |created| at.min(created)))
    }
}

/// How far the service's clock is ahead. The service created the booking between the first request and the answer. If the
/// creation time lies in that interval, the clocks agree. If not, the difference is measured from the answer of the run that
/// booked, or from its start if that run got no answer.
fn ahead_by(
    created: Timestamp,
    sent: Timestamp,
    ended: Timestamp,
    is_answered: bool,
) -> SignedDuration {
    let (least, most) = (created.duration_since(ended), created.duration_since(sent));
    if -SAME_CLOCK <= most && least <= SAME_CLOCK {
        SignedDuration::ZERO
    } else if is_answered {
        least
    } else {
        most
    }
}

struct Story {
    clock: Clock,
    /// When an answer with the booking came, by this machine's clock and by the service's.
    answers: Vec<(Timestamp, Timestamp)>,
    rows: Vec<TimelineRow>,
}

impl Story {
    fn add(&mut self, at: Option<Timestamp>, kind: &'static str, text: String, details: Value) {
        let (Some(at), Value::Object(mut details)) = (at, details) else {
            return;
        };
        details.retain(|_, value| !value.is_null());
        let mut document = json!({"at": at.strftime("%FT%TZ").to_string(), "kind": kind});
        if let Value::Object(members) = &mut document {
            members.extend(details);
        }
        self.rows.push(TimelineRow {
            at,
            kind,
            text,
            document,
        });
    }

    fn attempt(&mut self, attempt: &Attempt) {
        let key = attempt.idempotency_key.as_str();
        let source = if key.starts_with("batch-") {
            "book --from"
        } else {
            "book"
        };
        let asked = |field: &str| attempt.asked().get(field);
        let mut text = format!("made with bookctl {source}:");
        for part in [
            asked("venue_id").map(plain),
            asked("datetime").map(time_text),
            asked("party_size").map(|size| format!("for {}", plain(size))),
        ] {
            text.extend(part.map(|part| format!(" {part}")));
        }
        let details =
            json!({"idempotency_key": key, "from": source, "request": attempt.request.body});
        let at = self.clock.before_creation(&attempt.created_at);
        self.add(at, "request", text, details);
        let mut runs = attempt.runs.iter();
        let maker = runs.position(|run| run.outcome.may_have_booked());
        let mut last = at;
        for (place, run) in attempt.runs.iter().enumerate() {
            let led_to_it = maker.is_none_or(|maker| place <= maker);
            last = self.run(run, attempt.runs.len(), led_to_it, last);
        }
    }

    /// One time that the request was sent, and its result. A run begins after the one before it, which ended at `after`.
    fn run(
        &mut self,
        run: &Run,
        count: usize,
        led_to_it: bool,
        after: Option<Timestamp>,
    ) -> Option<Timestamp> {
        let number = run.number;
        let several = (count > 1).then(|| format!("run {number}: "));
        let which = several.unwrap_or_default();
        let sent = if led_to_it {
            self.clock.before_creation(&run.started_at)
        } else {
            self.clock.text(&run.started_at)
        };
        let sent = sent.max(after);
        let details = json!({"run": number, "process": run.process});
        self.add(sent, "sent", format!("{which}request sent"), details);
        let Some(ended_at) = &run.ended_at else {
            return sent;
        };
        let result = match (led_to_it, &run.booking_id) {
            // A new booking is answered with 201.
            (false, Some(_)) if run.http_status == Some(200) => "the booking was there already",
            _ => run.outcome.in_words(),
        };
        let status = run.http_status.map(|status| format!("HTTP {status}, "));
        let text = format!("{which}{}{result}", status.unwrap_or_default());
        let details =
            json!({"run": number, "outcome": run.outcome.as_str(), "http_status": run.http_status});
        let ended = self.clock.text(ended_at).max(sent);
        self.add(ended, "answer", text, details);
        let booked = run.booking_id.as_ref().and(ended_at.parse().ok());
        self.answers.extend(booked.zip(ended));
        ended
    }

    /// The time of the answer that brought a state which was seen then, by the service's clock.
    fn brought(&mut self, seen_at: &str) -> Option<Timestamp> {
        let seen: Timestamp = seen_at.parse().ok()?;
        // The state is stored right after the answer.
        let seen = seen.saturating_add(SignedDuration::from_secs(1)).ok()?;
        let before = self.answers.extract_if(.., |(ours, _)| *ours <= seen);
        before.map(|(_, theirs)| theirs).max()
    }

    /// The creation, each state, and what changed between two of them.
    fn states(&mut self, created: Option<Timestamp>, seen: &[Sighting]) {
        let mut last: Option<&Sighting> = None;
        let mut seen_last = None;
        for sighting in seen {
            let own = time(&sighting.facts, "updated_at");
            let own = own.or_else(|| self.clock.text(&sighting.seen_at));
            // No state stands before the answer that brought it, nor before the state that was seen before it.
            let at = own.max(self.brought(&sighting.seen_at)).max(seen_last);
            seen_last = at;
            let fact = |name: &str| sighting.facts.get(name).filter(|it| !it.is_null());
            let is_same = last.is_some_and(|last| {
                let code = |it: &Sighting| it.facts.get("error_code").cloned().unwrap_or_default();
                last.status == sighting.status && code(last) == code(sighting)
            });
            if last.is_none() && created.is_some() && created != own {
                let text = "made at the service".to_owned();
                self.add(created, "created", text, json!({}));
            }
            if !is_same {
                let (code, message) = (fact("error_code"), fact("error_message"));
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
            let before = last.map(|last| &last.facts);
            if let Some(before) = before.filter(|before| before.get("datetime").is_some()) {
                self.change(at, &changes(before, &sighting.facts));
            }
            last = Some(sighting);
        }
    }

    fn change(&mut self, at: Option<Timestamp>, changes: &Map<String, Value>) {
        let changes_value = Value::Object(changes.clone());
        let is_told = |it: &TimelineRow| it.document.get("changes") == Some(&changes_value);
        if changes.is_empty() || self.rows.iter().any(is_told) {
            return;
        }
        let side = |change: &Value, side: &str| match change.get(side) {
            None | Some(Value::Null) => "not set".to_owned(),
            Some(value) => time_text(value),
        };
        let texts = changes.iter().map(|(field, change)| {
            format!("{field} {} → {}", side(change, "from"), side(change, "to"))
        });
        let text = texts.collect::<Vec<_>>().join(", ");
        self.add(at, "change", text, json!({"changes": changes_value}));
    }

    /// A delivery that `webhook listen` received, and each time that it was forwarded.
    fn delivery(&mut self, event: &EventRow, body: &[u8], forwards: &[AttemptRow]) {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let received = self.clock.moment(event.received_at);
        let happened = time(&body, "created_at");
        // A sandbox's clock may have been moved since the booking was made. Nothing is received before it happened. Where
        // nothing shows how far apart the clocks are, the event has the service's time.
        let at = match happened {
            Some(happened) if self.clock.is_compared => happened.max(received),
            Some(happened) => happened,
            None => received,
        };
        let mut text = format!("webhook {} received", event.event.shown_kind());
        if let Some(status) = &event.event.status {
            text.push_str(&format!(" · {status}"));
        }
        if event.duplicates > 0 {
            text.push_str(&format!(" · {} more times", event.duplicates));
        }
        let details = json!({
            "event": event.event.id, "type": event.event.kind, "status": event.event.status,
            "state": event.state.as_str(), "duplicates": event.duplicates,
            "received_at": event.received_at.strftime("%FT%TZ").to_string(),
        });
        self.add(Some(at), "delivery", text, details);
        for forward in forwards {
            let later = forward.begun_at.duration_since(event.received_at);
            let answer = match (forward.status, &forward.error) {
                (Some(status), _) => format!("HTTP {status}"),
                (None, Some(error)) => error.clone(),
                (None, None) => "no answer yet".to_owned(),
            };
            let text = format!("{} answered {answer}", forward.url);
            let details = json!({
                "event": event.event.id, "attempt": forward.number, "url": forward.url,
                "http_status": forward.status, "error": forward.error,
            });
            let at = at.saturating_add(later).ok();
            self.add(at, "forward", text, details);
        }
    }
}

fn changes(before: &Value, after: &Value) -> Map<String, Value> {
    let side = |facts: &Value, field: &str| facts.get(field).cloned().unwrap_or_default();
    let changed = TOLD.into_iter().filter_map(|field| {
        let (from, to) = (side(before, field), side(after, field));
        (from != to).then(|| (field.to_owned(), json!({"from": from, "to": to})))
    });
    changed.collect()
}

fn time(document: &Value, field: &str) -> Option<Timestamp> {
    DocumentTime::read(document.get(field)?)?.instant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_makes_no_other_clock_and_a_moved_clock_is_told_from_it() {
        let ahead = |created: &str, sent: &str, ended: &str, is_answered| {
            let at = |time: &str| format!("2026-11-22T{time}Z").parse().unwrap();
            ahead_by(at(created), at(sent), at(ended), is_answered).as_secs()
        };
        assert_eq!(ahead("20:00:01", "20:00:00", "20:00:02", true), 0);
        // The answer was lost, and the booking is shown ten minutes later.
        assert_eq!(ahead("20:00:01", "20:00:00", "20:10:00", false), 0);
        // The service's clock is an hour ahead, or behind.
        assert_eq!(ahead("21:00:01", "20:00:00", "20:00:01", true), 3600);
        assert_eq!(ahead("21:00:00", "20:00:00", "20:10:00", false), 3600);
        assert_eq!(ahead("19:00:01", "20:00:00", "20:00:01", true), -3600);
    }
}
