use jiff::Timestamp;
use serde_json::json;

use super::event_row::{find, pick, rfc3339};
use crate::app::Context;
use crate::commands::webhook::app_answer::add_response;
use crate::json::Document;
use crate::outcome::{Exit, Result};
use crate::terminal::output::{Page, Tone, View};
use crate::webhook::{AttemptRow, EventRow, Header, HeaderLine, Names, State};

/// Show an event: its headers, raw body, signature time, and the attempts to forward it
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook events show evt_01\n  \
    bookctl webhook events show evt_01 --jq .body")]
pub(crate) struct Args {
    /// Id of the event, @N for a row of the last list of events, or @last for the newest
    event: Option<String>,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let webhooks = context.webhooks()?;
    let id = match args.event {
        Some(id) => id,
        None => pick(context).await?,
    };
    let row = find(context, &webhooks, &id)?;
    let (headers, body) = webhooks.content(row.number)?;
    let attempts = webhooks.attempts(row.number)?;
    let name = Names::new(context.adapter()).signature_header();
    let signature = headers.iter().find(|(known, _)| *known == name);
    let signed_at = signature
        .and_then(|(_, value)| Header::parse(value.as_bytes()).ok())
        .and_then(|header| Timestamp::from_second(header.time()).ok());
    context.out.emit(&Received {
        row,
        headers,
        body,
        attempts,
        signed_at,
    })?;
    Ok(Exit::Done)
}

struct Received {
    row: EventRow,
    headers: Vec<HeaderLine>,
    body: Vec<u8>,
    attempts: Vec<AttemptRow>,
    signed_at: Option<Timestamp>,
}

impl Received {
    /// The signature's age on arrival, in seconds.
    fn age(&self) -> Option<i64> {
        let signed = self.signed_at?;
        Some(self.row.received_at.as_second() - signed.as_second())
    }
}

impl View for Received {
    fn json(&self) -> Document {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| json!({ "name": name, "value": value }));
        let mut event = json!(self.row);
        event["headers"] = headers.collect();
        event["body"] = json!(String::from_utf8_lossy(&self.body));
        // Only deliveries that verify are stored.
        event["verification"] = json!({
            "verified": true,
            "signed_at": self.signed_at.map(|at| at.to_string()),
            "age_seconds": self.age(),
        });
        event["attempts"] = json!(self.attempts);
        event.into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let tone = match self.row.state {
            State::Delivered => Tone::Good,
            State::Abandoned => Tone::Bad,
            State::Kept => Tone::Strong,
            State::Waiting => Tone::Warn,
        };
        let event = &self.row.event;
        page.heading(tone, self.row.state.as_str(), &event.id);
        page.field("kind", event.shown_kind());
        page.field_if("booking", event.booking.as_deref());
        page.field_if("status", event.status.as_deref());
        page.field("received (this computer)", rfc3339(self.row.received_at));
        if let (Some(at), Some(age)) = (self.signed_at, self.age()) {
            page.field("signed", format!("{at}, {age} s earlier (verified)"));
        }
        if self.row.duplicates > 0 {
            page.field("duplicates", self.row.duplicates.to_string());
        }
        let headers = self.headers.iter();
        let headers =
            headers.map(|(name, value)| vec![name.as_str().into(), value.as_str().into()]);
        page.table(vec!["header", "value"], headers.collect(), vec![]);
        let attempts = self.attempts.iter().map(|it| {
            vec![
                it.number.to_string().into(),
                rfc3339(it.begun_at).into(),
                if it.replay { "replay" } else { "forward" }.into(),
                it.url.as_str().into(),
                answer(it).into(),
            ]
        });
        let headings = vec!["attempt", "at", "as", "to", "response"];
        page.table(headings, attempts.collect(), vec![]);
        for attempt in &self.attempts {
            if let Some(response) = &attempt.response {
                page.line(format!("response to attempt {}:", attempt.number));
                add_response(&mut page, response);
            }
        }
        if self.attempts.iter().any(|it| it.response.is_some()) {
            page.line("delivery:");
        }
        let body = String::from_utf8_lossy(&self.body).into_owned();
        match serde_json::from_str::<serde::de::IgnoredAny>(&body) {
            Ok(_) => page.json(body),
            Err(_) => page.line(body),
        };
        page.next(format!(
            "bookctl webhook events replay {} --to URL",
            event.id
        ));
        page
    }
}

fn answer(attempt: &AttemptRow) -> String {
    match (attempt.status, &attempt.error, attempt.latency_ms) {
        (Some(status), _, Some(latency)) => format!("{status} in {latency} ms"),
        (_, Some(why), _) => why.clone(),
        _ => "in flight".to_owned(),
    }
}
