//! What a listener shows: its address, a line per event, and the totals.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::commands::webhook::app_answer::{answer_in_words, attempt_json};
use crate::json::{Document, plain};
use crate::model::shell;
use crate::model::zone::system_zone;
use crate::secrets::Secret;
use crate::terminal::output::{Page, TableCell, Tone, View};
use crate::webhook::{Content, DeliveryOutcome, ListenerEvent, State, Totals};

/// The widths of the columns, so that an app's answer fits into 80 columns beside them.
const TIME: usize = 8;
const KIND: usize = 23;
const BOOKING: usize = 16;
const STATUS: usize = 15;

#[derive(Serialize)]
pub(super) struct Ready {
    pub(super) url: String,
    #[serde(rename = "forward_to")]
    pub(super) forwards_to: Option<String>,
    /// Whether the sandbox's webhook URL is set to the listener.
    #[serde(skip)]
    pub(super) registered: bool,
    /// Its address for other machines, if they can reach it.
    #[serde(skip)]
    pub(super) exposed: Option<String>,
    /// How many events earlier listeners did not forward.
    #[serde(skip)]
    pub(super) left: u64,
    /// The secret, if it is a sandbox's: no other is shown.
    #[serde(skip)]
    pub(super) sandbox_secret: Option<Secret>,
    /// Seconds until the first of those is due.
    #[serde(skip)]
    pub(super) due_in: f64,
}

impl View for Ready {
    fn json(&self) -> Document {
        Document::serialized(self)
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.heading(Tone::Good, "listening", &self.url);
        page.field_if("exposed", self.exposed.as_deref());
        page.field_if("forward to", self.forwards_to.as_deref());
        if self.left > 0 {
            let what = match &self.forwards_to {
                Some(_) if self.due_in > 0.0 => {
                    format!("the first is forwarded in {} s", self.due_in)
                }
                Some(_) => "forwarding now".to_owned(),
                None => "pass --forward-to to forward them".to_owned(),
            };
            page.field(
                "waiting",
                format!("{} events from before: {what}", self.left),
            );
        }
        page.field(
            "service",
            match self.registered {
                true => "sandbox webhook URL set to this listener (restored on exit)",
                false => {
                    "set the webhook URL in the dashboard to this address, or to a tunnel to it"
                }
            },
        );
        page.field("stop", "Ctrl-C");
        if let Some(secret) = &self.sandbox_secret {
            page.line("");
            page.line("For your app:");
            page.line("");
            let line = shell::set_variable("BOOKCTL_WEBHOOK_SECRET", secret.expose());
            page.secret(format!("  {line}"));
            page.line("");
        }
        page
    }
}

/// The output of `--print-secret`.
pub(super) struct SecretShown(pub(super) Secret);

impl View for SecretShown {
    fn json(&self) -> Document {
        json!({ "webhook_secret": self.0.expose() }).into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.secret(format!("webhook secret\t{}", self.0.expose()));
        page
    }
}

pub(super) struct EventLine(pub(super) ListenerEvent);

impl View for EventLine {
    fn json(&self) -> Document {
        let ListenerEvent { at, event, outcome } = &self.0;
        let mut line = json!({ "at": rfc3339(*at), "outcome": outcome_name(outcome) });
        if let Some(event) = event {
            line["event_id"] = json!(event.id);
            line["type"] = json!(event.kind);
            line["booking_id"] = json!(event.booking);
            line["status"] = json!(event.status);
        }
        match outcome {
            DeliveryOutcome::Forwarded {
                attempt,
                answer,
                next_at,
                ..
            } => {
                line["attempt"] = attempt_json(*attempt, answer);
                if let Some(next) = next_at {
                    line["next_attempt_at"] = json!(rfc3339(*next));
                }
            }
            DeliveryOutcome::Refused(why)
            | DeliveryOutcome::Unwritten(why)
            | DeliveryOutcome::Doubtful(why) => line["reason"] = json!(why),
            DeliveryOutcome::Kept(_) | DeliveryOutcome::HeldUp | DeliveryOutcome::Duplicate => {}
        }
        line.into()
    }

    fn page(&self) -> Page {
        let ListenerEvent { at, event, outcome } = &self.0;
        let mut page = Page::default();
        let time = at.to_zoned(system_zone()).strftime("%H:%M:%S").to_string();
        let (tone, said) = in_words(outcome, *at);
        let said = match tone {
            Some(tone) => TableCell::toned(said, tone),
            None => said.into(),
        };
        page.columns(match event {
            Some(event) => vec![
                (time.into(), TIME),
                (event.shown_kind().into(), KIND),
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

fn outcome_name(outcome: &DeliveryOutcome) -> &'static str {
    match outcome {
        DeliveryOutcome::Kept(_) => "kept",
        DeliveryOutcome::HeldUp => "waiting",
        DeliveryOutcome::Duplicate => "duplicate",
        DeliveryOutcome::Refused(_) => "refused",
        DeliveryOutcome::Unwritten(_) => "unwritten",
        DeliveryOutcome::Doubtful(_) => "warning",
        DeliveryOutcome::Forwarded {
            state: State::Waiting,
            ..
        } => "failed",
        DeliveryOutcome::Forwarded { state, .. } => state.as_str(),
    }
}

fn in_words(outcome: &DeliveryOutcome, now: Timestamp) -> (Option<Tone>, String) {
    match outcome {
        DeliveryOutcome::Kept(_) => (None, "kept".to_owned()),
        DeliveryOutcome::HeldUp => (Some(Tone::Warn), "waiting for an earlier event".to_owned()),
        DeliveryOutcome::Duplicate => (Some(Tone::Dim), "duplicate".to_owned()),
        DeliveryOutcome::Refused(why) => (Some(Tone::Bad), format!("refused: {why}")),
        DeliveryOutcome::Unwritten(why) => (Some(Tone::Bad), format!("not stored: {why}")),
        DeliveryOutcome::Doubtful(why) => (Some(Tone::Warn), why.clone()),
        DeliveryOutcome::Forwarded {
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
                    (Some(Tone::Warn), format!("{said}, retry in {pause} s"))
                }
                _ => (Some(Tone::Warn), said),
            }
        }
    }
}

fn rfc3339(at: Timestamp) -> String {
    format!("{at:.3}")
}

#[derive(Serialize)]
pub(super) struct Summary {
    pub(super) summary: Totals,
}

impl View for Summary {
    fn json(&self) -> Document {
        Document::serialized(self)
    }

    fn page(&self) -> Page {
        let Totals {
            received,
            duplicates,
            refused,
            forwarded,
            failed,
            abandoned,
            waiting,
            unshown,
        } = self.summary;
        let mut page = Page::default();
        page.heading(
            Tone::Strong,
            "stopped",
            format!("{received} received, {duplicates} duplicates, {refused} refused"),
        );
        page.field("app", format!(
            "{forwarded} forwarded, {failed} failed attempts, {abandoned} abandoned, {waiting} waiting"
        ));
        if unshown > 0 {
            page.field(
                "not shown",
                format!("{unshown} events, because the output was read too slowly"),
            );
        }
        if abandoned > 0 {
            page.next("bookctl webhook events list --state abandoned");
        }
        page
    }
}

/// What `--verbose` shows of an event: the request to the app with its answer, or the delivery that was kept.
pub(super) fn exchange(event: &ListenerEvent) -> Vec<String> {
    let mut lines = Vec::new();
    match &event.outcome {
        DeliveryOutcome::Forwarded { answer, .. } => {
            add_content(&mut lines, ">", answer.request.as_ref());
            if let Ok(status) = &answer.status {
                lines.push(format!("  < {status}"));
            }
            add_content(&mut lines, "<", answer.response.as_ref());
        }
        DeliveryOutcome::Kept(delivery) => add_content(&mut lines, ">", delivery.as_ref()),
        _ => {}
    }
    lines
}

fn add_content(lines: &mut Vec<String>, sign: &str, content: Option<&Content>) {
    let Some(content) = content else {
        return;
    };
    for (name, value) in &content.headers {
        lines.push(format!("  {sign} {name}: {}", plain(value)));
    }
    for line in content.body.lines() {
        lines.push(format!("  {sign} {line}"));
    }
}
