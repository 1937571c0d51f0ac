//! What a listener shows: its address, a line per event, and the totals.

use serde::Serialize;

use crate::platform::shell::EnvFormat;
use crate::secrets::Secret;
use crate::service::documents::plural;
use crate::service::time::text::whole_seconds;
use crate::service::time::zone::system_zone;
use crate::terminal::output::{Draw, Page, TableCell, Tone};
use crate::webhook::reporter::{ForwardAttempt, ForwardOutcome, ListenerEvent, Totals};

#[derive(Serialize)]
pub(crate) struct ListenReady {
    pub(crate) url: String,
    pub(crate) forward_to: Option<String>,
    /// Whether the sandbox's webhook URL is set to the listener.
    pub(crate) registered: bool,
    /// How many events earlier listeners did not forward.
    pub(crate) left: u32,
    /// The secret, if it is a sandbox's: no other is shown.
    #[serde(skip)]
    pub(crate) sandbox_secret: Option<Secret>,
}

impl Draw for ListenReady {
    fn draw(&self, page: &mut Page) {
        page.heading(Tone::Good, "listening", &self.url);
        page.field_if("forward to", self.forward_to.as_deref());
        if self.left > 0 {
            let left = plural(self.left as usize, "event", "events");
            let what = match &self.forward_to {
                Some(_) => "they are forwarded when they are due",
                None => "pass --forward-to to forward them",
            };
            page.field("waiting", format!("{left} from before: {what}"));
        }
        page.field(
            "service",
            if self.registered {
                "sandbox webhook URL set to this listener (restored on exit)"
            } else {
                "set the webhook URL in the dashboard to this address, or to a tunnel to it"
            },
        );
        page.field("stop", "Ctrl-C");
        if let Some(secret) = &self.sandbox_secret {
            page.line("").line("For your handler:").line("");
            let line = EnvFormat::USUAL.export("BOOKCTL_WEBHOOK_SECRET", secret.expose());
            page.secret(format!("  {line}")).line("");
        }
    }
}

impl Draw for ListenerEvent {
    fn draw(&self, page: &mut Page) {
        let at = self.at.to_zoned(system_zone());
        let time = at.strftime("%H:%M:%S").to_string();
        // So wide that an app's response fits into 80 columns beside them.
        let received = whole_seconds(self.at);
        let mut cells = vec![(TableCell::from(received).in_short(Some(time)), 8)];
        if let Some(event) = &self.event {
            let booking = event.booking.as_deref().unwrap_or(&event.id);
            cells.extend([
                (event.shown_kind().into(), 23),
                (booking.into(), 16),
                (event.status.as_deref().unwrap_or_default().into(), 15),
            ]);
        }
        cells.push((self.result(), 0));
        page.columns(cells);
    }
}

impl ListenerEvent {
    fn result(&self) -> TableCell {
        let reason = self.reason.as_deref().unwrap_or_default();
        let answer = self.attempt.as_ref().map(ForwardAttempt::in_words).unwrap_or_default();
        let (tone, text) = match self.outcome {
            ForwardOutcome::Kept => return "kept".into(),
            ForwardOutcome::Duplicate => (Tone::Dim, "duplicate".to_owned()),
            ForwardOutcome::Refused => (Tone::Bad, format!("rejected: {reason}")),
            ForwardOutcome::Unwritten => (Tone::Bad, format!("not stored: {reason}")),
            ForwardOutcome::Warning => (Tone::Warn, reason.to_owned()),
            ForwardOutcome::Delivered => (Tone::Good, answer),
            ForwardOutcome::Abandoned => (Tone::Bad, format!("{answer}, abandoned")),
            ForwardOutcome::Failed => {
                let next = self.next_attempt_at.unwrap_or(self.at);
                let pause = next.duration_since(self.at).as_secs_f64().round();
                (Tone::Warn, format!("{answer}, retry in {pause} s"))
            }
        };
        TableCell::toned(text, tone)
    }
}

#[derive(Serialize)]
pub(crate) struct ListenSummary {
    pub(crate) summary: Totals,
}

impl Draw for ListenSummary {
    fn draw(&self, page: &mut Page) {
        let it = &self.summary;
        let received = format!(
            "{} received, {}, {} rejected",
            it.received,
            plural(it.duplicates as usize, "duplicate", "duplicates"),
            it.refused
        );
        page.heading(Tone::Strong, "stopped", received);
        let forwarded = format!(
            "{} forwarded, {} failed attempts, {} abandoned, {} waiting",
            it.forwarded, it.failed, it.abandoned, it.waiting
        );
        page.field("handler", forwarded);
        if it.abandoned > 0 {
            page.next("bookctl webhook events list --state abandoned");
        }
    }
}
