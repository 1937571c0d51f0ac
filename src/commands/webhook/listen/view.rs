//! What a listener shows: that it listens, a line for each event, and what it comes to.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::json::Document;
use crate::model::zone::system_zone;
use crate::secrets::Secret;
use crate::terminal::output::{Page, TableCell, Tone, View};
use crate::webhook::{Answer, Notice, State, Sum, What};

/// Columns of a time, a kind, a booking's id and a status, so that an app's answer fits beside them into 80.
const TIME: usize = 8;
const KIND: usize = 23;
const BOOKING: usize = 16;
const STATUS: usize = 15;

pub(super) struct Ready<'a> {
    pub(super) url: &'a str,
    pub(super) forwards_to: Option<&'a str>,
    /// Whether the organization's webhook URL is this listener's now.
    pub(super) registered: bool,
    /// Where it can be reached, too, where it listens beyond this machine.
    pub(super) exposed: Option<String>,
    /// Events that an earlier listener did not get forwarded.
    pub(super) left: u64,
    /// Seconds until the first of them is due.
    pub(super) due_in: f64,
}

impl View for Ready<'_> {
    fn json(&self) -> Document {
        json!({ "url": self.url, "forward_to": self.forwards_to }).into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.heading(Tone::Good, "listening", self.url);
        page.field_if("exposed", self.exposed.as_deref());
        page.field_if("forward to", self.forwards_to);
        if self.left > 0 {
            let what = match self.forwards_to {
                Some(_) if self.due_in > 0.0 => {
                    format!("forwarded when due, the first in {} s", self.due_in)
                }
                Some(_) => "forwarded when due, the first now".to_owned(),
                None => "still to be forwarded: give --forward-to".to_owned(),
            };
            page.field("waiting", format!("{} received before, {what}", self.left));
        }
        page.field(
            "service",
            match self.registered {
                true => "a sandbox: its webhook URL is this one until the end",
                false => "set this address, or a tunnel to it, as the webhook URL in its dashboard",
            },
        );
        page.field("end", "Ctrl-C");
        page
    }
}

pub(super) struct SecretShown(pub(super) Secret);

impl View for SecretShown {
    fn json(&self) -> Document {
        json!({ "webhook_secret": self.0.expose() }).into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.columns(vec![
            ("webhook secret".into(), 0),
            (self.0.expose().into(), 0),
        ]);
        page
    }
}

/// One thing that happened.
pub(super) struct Line(pub(super) Notice);

impl View for Line {
    fn json(&self) -> Document {
        let Notice { at, event, what } = &self.0;
        let mut line = json!({ "at": moment(*at), "outcome": outcome(what) });
        if let Some(event) = event {
            line["event_id"] = json!(event.id);
            line["type"] = json!(event.kind);
            line["booking_id"] = json!(event.booking);
            line["status"] = json!(event.status);
        }
        match what {
            What::Forwarded {
                attempt,
                answer,
                next_at,
                ..
            } => {
                line["attempt"] = attempt_json(*attempt, answer);
                if let Some(next) = next_at {
                    line["next_attempt_at"] = json!(moment(*next));
                }
            }
            What::Refused(why) | What::Unwritten(why) => line["reason"] = json!(why),
            What::Kept | What::HeldUp | What::Duplicate => {}
        }
        line.into()
    }

    fn page(&self) -> Page {
        let Notice { at, event, what } = &self.0;
        let mut page = Page::default();
        let time = at.to_zoned(system_zone()).strftime("%H:%M:%S").to_string();
        let (tone, said) = in_words(what, *at);
        let said = match tone {
            Some(tone) => TableCell::toned(said, tone),
            None => said.into(),
        };
        page.columns(match event {
            Some(event) => vec![
                (time.into(), TIME),
                (event.kind.as_str().into(), KIND),
                (
                    event.booking.as_deref().unwrap_or(&event.id).into(),
                    BOOKING,
                ),
                (event.status.as_deref().unwrap_or_default().into(), STATUS),
                (said, 0),
            ],
            None => vec![(time.into(), TIME), (said, 0)],
        });
        page
    }
}

fn outcome(what: &What) -> &'static str {
    match what {
        What::Kept => "kept",
        What::HeldUp => "waiting",
        What::Duplicate => "duplicate",
        What::Refused(_) => "refused",
        What::Unwritten(_) => "unwritten",
        What::Forwarded {
            state: State::Waiting | State::Undelivered,
            ..
        } => "failed",
        What::Forwarded { state, .. } => state.as_str(),
    }
}

fn in_words(what: &What, now: Timestamp) -> (Option<Tone>, String) {
    match what {
        What::Kept => (None, "kept".to_owned()),
        What::HeldUp => (Some(Tone::Warn), "waits its turn".to_owned()),
        What::Duplicate => (Some(Tone::Dim), "duplicate".to_owned()),
        What::Refused(why) => (Some(Tone::Bad), format!("refused: {why}")),
        What::Unwritten(why) => (Some(Tone::Bad), format!("cannot be written down: {why}")),
        What::Forwarded {
            answer,
            state,
            next_at,
            ..
        } => {
            let said = answer_in_words(answer);
            match (state, next_at) {
                (State::Delivered, _) => (Some(Tone::Good), said),
                (State::Abandoned, _) => (Some(Tone::Bad), format!("{said}, abandoned")),
                (_, Some(next)) => {
                    let pause = next.duration_since(now).as_secs_f64().ceil();
                    (Some(Tone::Warn), format!("{said}, again in {pause} s"))
                }
                _ => (Some(Tone::Warn), format!("{said}, the service tries again")),
            }
        }
    }
}

/// `200 in 3 ms`, or why there was no answer.
pub(in crate::commands::webhook) fn answer_in_words(answer: &Answer) -> String {
    match &answer.status {
        Ok(status) if answer.latency_ms < 10_000 => format!("{status} in {} ms", answer.latency_ms),
        Ok(status) => format!("{status} in {} s", answer.latency_ms / 1000),
        Err(why) => why.clone(),
    }
}

/// An attempt as the sandbox's `deliveries` show it.
pub(in crate::commands::webhook) fn attempt_json(number: u32, answer: &Answer) -> Value {
    let mut attempt = json!({ "number": number });
    match &answer.status {
        Ok(status) => attempt["status"] = json!(status),
        Err(why) => attempt["error"] = json!(why),
    }
    attempt["latency_ms"] = json!(answer.latency_ms);
    attempt
}

fn moment(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// What it came to.
pub(super) struct Summary {
    pub(super) sum: Sum,
    /// Events that the next listener is to forward.
    pub(super) waiting: u64,
}

impl View for Summary {
    fn json(&self) -> Document {
        json!({ "summary": {
            "received": self.sum.received,
            "duplicates": self.sum.duplicates,
            "refused": self.sum.refused,
            "forwarded": self.sum.forwarded,
            "failed": self.sum.failed,
            "abandoned": self.sum.abandoned,
            "waiting": self.waiting,
            "unshown": self.sum.unshown,
        } })
        .into()
    }

    fn page(&self) -> Page {
        let Sum {
            received,
            duplicates,
            refused,
            forwarded,
            failed,
            abandoned,
            unshown,
        } = self.sum;
        let mut page = Page::default();
        page.heading(
            Tone::Strong,
            "ended",
            format!("{received} received, {duplicates} duplicates, {refused} refused"),
        );
        page.field("app", format!(
            "{forwarded} forwarded, {failed} failed attempts, {abandoned} abandoned, {} waiting",
            self.waiting
        ));
        if unshown > 0 {
            page.field(
                "not shown",
                format!("{unshown} lines, which nobody read as fast"),
            );
        }
        if abandoned > 0 {
            page.next("bookctl webhook events list --state abandoned");
        }
        page
    }
}
