//! A booking's story: what was asked for and how it was sent, each state in which it was seen, what
//! changed, and what was received about it, in one order and on one clock, the service's.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::app::{Api, Parts, Records};
use crate::booking::verdict::{changes, compared};
use crate::journal::{Attempt, BookingWrite};
use crate::json::{plain, read_body};
use crate::outcome::Result;
use crate::service::documents::money::money;
use crate::service::documents::{Booking, Certainty, Wish};
use crate::service::mapping::{Mapping, WriteKind, scalars};
use crate::service::time::{DocumentTime, human, whole_seconds};
use crate::terminal::output::TableCell;
use crate::terminal::view::{change_text, field_word};
use crate::webhook::{Event, EventQuery, EventRow};

/// Two clocks that differ by less are the same one.
const SAME_CLOCK: SignedDuration = SignedDuration::from_mins(1);

#[derive(Serialize)]
pub(crate) struct TimelineRow {
    /// In whole seconds.
    pub(crate) at: Timestamp,
    pub(crate) kind: &'static str,
    #[serde(skip)]
    pub(crate) text: TableCell,
    #[serde(flatten)]
    details: Map<String, Value>,
}

/// The story of a booking, as far as `booking` and this computer tell it.
pub(crate) fn timeline(
    Parts { api: Api { facts, .. }, records, .. }: &Parts,
    id: &str,
    booking: Option<&Booking>,
) -> Result<Vec<TimelineRow>> {
    let journal = records.has_journal().then(|| records.journal()).transpose()?;
    let attempts = journal.map(|it| it.attempts_of(id)).transpose()?.unwrap_or_default();
    let mut seen = journal.map(|it| it.sightings(id)).transpose()?.unwrap_or_default();
    let writes = journal.map(|it| it.writes(id)).transpose()?.unwrap_or_default();
    // The state that was read just now may be newer than the journal's.
    seen.extend(booking.cloned());
    let created = booking.and_then(|booking| booking.created()?.instant);
    let mut story = Story {
        ahead: created.and_then(|created| clock_ahead(created, &attempts)),
        is_shared: facts.target().journal.is_some(),
        first_answer: None,
        certainty: facts.certainty(),
        rows: Vec::new(),
    };
    if attempts.is_empty() {
        story.add(created, "created", "made at the service", json!({}));
    }
    for attempt in &attempts {
        story.attempt(attempt);
    }
    let requested = attempts.first().map(|it| it.request.canonical()["customer"].clone());
    let guest = Wish::from_request(&json!({ "customer": requested }));
    story.states(records, &seen, &writes, guest);
    if let Some(webhooks) = records.received()? {
        let query = EventQuery { booking: Some(id.to_owned()), ..EventQuery::default() };
        for event in webhooks.events(&query)?.into_iter().rev() {
            let body = webhooks.delivery(event.number)?.body;
            story.delivery(&event, &body, facts.mapping());
        }
    }
    // What happened in the same second is in order already.
    story.rows.sort_by_key(|it| it.at);
    Ok(story.rows)
}

/// How far the service's clock is ahead of ours; `None` if the booking was made elsewhere.
fn clock_ahead(created: Timestamp, attempts: &[Attempt]) -> Option<SignedDuration> {
    let runs = attempts.iter().flat_map(|attempt| &attempt.runs);
    let makers = runs.filter(|run| run.outcome.may_have_booked());
    let ahead = makers.filter_map(|run| Some(created.duration_since(run.started_at.parse().ok()?)));
    let ahead: Vec<SignedDuration> = ahead.collect();
    // Of several runs, a later one may have made it.
    if ahead.iter().any(|ahead| ahead.abs() < SAME_CLOCK) {
        return Some(SignedDuration::ZERO);
    }
    ahead.first().copied()
}

struct Story {
    /// Whether others share the journal, so that it matters who sent a request.
    is_shared: bool,
    /// How far the service's clock is ahead, if that is known.
    ahead: Option<SignedDuration>,
    /// When the first answer with the booking came.
    first_answer: Option<Timestamp>,
    certainty: Certainty,
    rows: Vec<TimelineRow>,
}

impl Story {
    /// Adds a row. Details that are null are left out, and so is a row without a time.
    fn add(
        &mut self,
        at: Option<Timestamp>,
        kind: &'static str,
        text: impl Into<TableCell>,
        details: Value,
    ) {
        let at = at.and_then(|at| Timestamp::from_second(at.as_second()).ok());
        let (Some(at), Value::Object(mut details)) = (at, details) else {
            return;
        };
        details.retain(|_, detail| !detail.is_null());
        self.rows.push(TimelineRow { at, kind, text: text.into(), details });
    }

    /// A time of this computer by the service's clock.
    fn theirs(&self, ours: &str) -> Option<Timestamp> {
        self.shifted(ours.parse().ok()?)
    }

    fn shifted(&self, ours: Timestamp) -> Option<Timestamp> {
        ours.checked_add(self.ahead.unwrap_or_default()).ok()
    }

    /// What was asked for, and each time that it was sent.
    fn attempt(&mut self, attempt: &Attempt) {
        let (key, wish) = (attempt.idempotency_key.as_str(), attempt.wish());
        let source = if key.starts_with("batch-") { "batch" } else { "book" };
        let text = |text: Option<String>| text.unwrap_or_default();
        let (venue, party) = (wish.venue(), text(wish.text("party_size")));
        let when = text(wish.time_text());
        let text = format!("requested with bookctl {source}: {venue} {when} for {party}");
        let details =
            json!({"idempotency_key": key, "from": source, "request": attempt.request.body});
        self.add(self.theirs(&attempt.created_at), "request", text, details);
        let mut may_be_booked = false;
        for run in &attempt.runs {
            let number = run.number;
            let which = match attempt.runs.len() {
                1 => String::new(),
                _ => format!("run {number}: "),
            };
            let details = json!({"run": number, "process": run.process});
            let sent = self.theirs(&run.started_at);
            let maker = run.maker.as_ref().filter(|_| self.is_shared);
            let by = maker.map(|it| format!(" by {} on {}", it.user, it.host));
            let text = format!("{which}request sent{}", by.unwrap_or_default());
            self.add(sent, "sent", text, details);
            let ended = run.ended_at.as_deref().and_then(|ended| self.theirs(ended));
            let is_booked = run.booking_id.is_some();
            // A new booking is answered with 201.
            let was_there = may_be_booked && is_booked && run.http_status == Some(200);
            let result =
                if was_there { "the booking was there already" } else { run.outcome.in_words() };
            let status = run.http_status.map(|status| format!("HTTP {status}, "));
            let id = run.request_id.as_ref().map(|id| format!(" · request {id}"));
            let text =
                format!("{which}{}{result}{}", status.unwrap_or_default(), id.unwrap_or_default());
            let details = json!({
                "run": number, "outcome": run.outcome.as_str(), "http_status": run.http_status,
                "request_id": run.request_id,
            });
            self.add(ended, "response", text, details);
            self.first_answer = self.first_answer.or(ended.filter(|_| is_booked));
            may_be_booked |= run.outcome.may_have_booked();
        }
    }

    /// What was sent to change the booking.
    fn write(&mut self, write: &BookingWrite, at: Option<Timestamp>) {
        let facts = &write.facts;
        let what = match WriteKind::parse(&write.kind) {
            Some(WriteKind::Otp) => "one-time code",
            Some(WriteKind::Payment) => "payment response",
            Some(WriteKind::Abort) => "end of the payment",
            Some(WriteKind::Modify) => "change",
            Some(WriteKind::Cancel) => "cancellation",
            _ => "details",
        };
        let result = match &*write.outcome {
            "done" => "accepted",
            "rejected" => "rejected",
            "unsent" => "not carried out",
            _ => "the result is unknown",
        };
        let mut text = format!("{what}: {result}");
        // What the pause says twice, and the currency of an amount.
        let is_left_out = |path: &str| path.starts_with("pause.") && !path.ends_with("_id");
        let pause = &facts["pause"];
        let amount = money(&pause["amount"], pause["currency"].as_str(), self.certainty);
        text.extend(amount.map(|amount| format!(" · {amount}")));
        for (path, value) in scalars(facts).into_iter().filter(|(path, _)| !is_left_out(path)) {
            let field = path.rsplit('.').next().unwrap_or(&path);
            text.push_str(&format!(" · {} {}", field_word(field), human(&value)));
        }
        let mut details = facts.clone();
        details["write"] = write.kind.as_str().into();
        details["outcome"] = write.outcome.as_str().into();
        self.add(at, "write", text, details);
    }

    /// Each state, what changed between two of them, and what was sent in between. No state that
    /// the journal has names its guest.
    fn states(
        &mut self,
        records: &Records,
        seen: &[Booking],
        writes: &[BookingWrite],
        mut known: Wish,
    ) {
        let mut writes = writes.iter().peekable();
        // None stands before the booking's response, nor before the earlier state.
        let mut at = self.first_answer;
        let mut last = None;
        for state in seen {
            let (value, seen_at) = (state.value(), state.left_at);
            let mut own = time(value, "updated_at");
            while let Some(write) =
                writes.next_if(|it| seen_at.is_some_and(|seen| it.sent_at <= seen))
            {
                let sent = self.shifted(write.sent_at);
                self.write(write, sent);
                // The clocks may differ a little. What it brought about does not stand before it.
                let is_close = |own: &Timestamp| {
                    sent.is_some_and(|sent| sent.duration_since(*own).abs() < SAME_CLOCK)
                };
                own =
                    own.map(|own| if is_close(&own) { own.max(sent.unwrap_or(own)) } else { own });
            }
            at = own.or_else(|| self.shifted(seen_at?)).max(at);
            let (code, message) = (&value["error_code"], &value["error_message"]);
            let outcome = Some((state.status(), code));
            if last != outcome {
                let more = [code, message].into_iter().filter(|it| !it.is_null());
                let more: String = more.map(|it| format!(" · {}", plain(it))).collect();
                let (name, word) = (state.str("status").unwrap_or_default(), state.status());
                let text = format!("{name}{more}");
                let text = TableCell::from(text).in_short(Some(word.word().to_owned() + &more));
                let seen_at = seen_at.map(whole_seconds);
                let details = json!({"status": name, "error_code": code, "message": message, "seen_at": seen_at});
                self.add(at, "status", text, details);
            }
            last = outcome;
            let changes = changes(compared(records, &known, state, false), &known, state);
            known.update(Wish::from_request(value), &changes);
            if !changes.is_empty() {
                self.add(at, "change", changes_text(&changes), json!({ "changes": changes }));
            }
        }
        for write in writes {
            self.write(write, self.shifted(write.sent_at));
        }
    }

    /// A delivery that `webhook listen` received.
    fn delivery(&mut self, row: &EventRow, body: &[u8], mapping: &Mapping) {
        let booking =
            Event::booking_in(body, mapping).filter(|_| row.event.kind == "booking.modified");
        let changes = booking.and_then(|it| {
            let changes = it.1.last_changes().filter(|changes| !changes.is_empty())?;
            Some(changes.clone())
        });
        let body = read_body(body, |_| None).map(|it| it.value().clone()).unwrap_or_default();
        let (event, happened) = (&row.event, time(&body, "created_at"));
        // Without a known difference of the clocks, the event has the service's time. A sandbox's
        // clock may have been moved, and nothing is received before it happened.
        let ahead = self.ahead.unwrap_or_default();
        let received = row.received_at.checked_add(ahead).ok();
        let at = match self.ahead {
            Some(_) => happened.max(received),
            None => happened.or(received),
        };
        let mut text = format!("webhook {} received", event.shown_kind());
        if let Some(status) = &event.status {
            text.push_str(&format!(" · {status}"));
        }
        text.extend(changes.as_ref().map(|changes| format!(" · {}", changes_text(changes))));
        if row.duplicates > 0 {
            text.push_str(&format!(" · {} more times", row.duplicates));
        }
        let details = json!({
            "event": event.id, "type": event.kind, "status": event.status,
            "state": row.state.as_str(), "duplicates": row.duplicates,
            "received_at": whole_seconds(row.received_at), "changes": changes,
        });
        self.add(at, "delivery", text, details);
    }
}

fn changes_text(changes: &Map<String, Value>) -> String {
    let texts = changes.iter().map(|(field, change)| change_text(field, change));
    texts.collect::<Vec<_>>().join(", ")
}

fn time(document: &Value, field: &str) -> Option<Timestamp> {
    DocumentTime::from_field(document, field)?.instant
}
