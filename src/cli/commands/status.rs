use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::app::Parts;
use crate::json::{Document, plain};
use crate::outcome::{Exit, Result};
use crate::service::client::Call;
use crate::service::time::duration::in_units;
use crate::terminal::output::{DocumentView, Page, Tone};
use crate::terminal::view::Fields;

/// Show the service's version, time and endpoints
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl status\n  bookctl status --jq .version")]
pub(crate) struct Args {}

pub(crate) async fn run(Parts { api, ui, .. }: &Parts, (): ()) -> Result<Exit> {
    let answer = api.read(Call::get("/v1/")).await?;
    let index = api.facts.mapping().index(&answer.document)?;
    let page = |_: &Document| index_page(&index, &api.facts.target().address(), Timestamp::now());
    ui.emit(&DocumentView(answer.document, page))
}

fn index_page(index: &Value, address: &str, now: Timestamp) -> Page {
    let fields = &mut Fields::from_document(index);
    let mut page = Page::default();
    let name = fields.text("name").unwrap_or_default();
    page.heading(Tone::Good, "reachable", name);
    page.field("address", address);
    page.field_if("version", fields.scalar("version"));
    let time = fields.time("server_time").and_then(|(_, it)| it.instant);
    page.field_if("time", fields.time_text("server_time"));
    page.field_if("clock", time.map(|time| difference(now, time)));
    let is_sandbox = fields.read("sandbox", |it| it.as_bool().filter(|it| *it));
    page.field_if("sandbox", is_sandbox.map(|_| "yes: nothing is really booked"));
    let endpoints = index.get("endpoints").and_then(Value::as_array);
    let mut rows = Vec::new();
    for endpoint in endpoints.into_iter().flatten() {
        let cells = ["method", "path", "summary"].map(|name| {
            let found = endpoint.get(name).filter(|it| it.is_string());
            if let Some(found) = found {
                fields.took(found);
            }
            found.map(plain).unwrap_or_default()
        });
        if cells.iter().any(|cell| !cell.is_empty()) {
            rows.push(cells.map(Into::into).to_vec());
        }
    }
    for (path, value) in fields.rest() {
        page.field("other", format!("{path} = {value}"));
    }
    page.table(vec!["method", "path", "summary"], rows, vec![]);
    page
}

fn difference(ours: Timestamp, theirs: Timestamp) -> String {
    let ahead = theirs.duration_since(ours);
    if ahead.abs() < SignedDuration::from_secs(2) {
        return "same as this computer's".to_owned();
    }
    let length = in_units(ahead.as_secs().unsigned_abs());
    let direction = if ahead.is_positive() { "ahead of" } else { "behind" };
    format!("{length} {direction} this computer's")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_difference_is_shown_with_length_and_direction() {
        let ours: Timestamp = "2026-12-01T10:00:00Z".parse().unwrap();
        let at = |text: &str| difference(ours, text.parse().unwrap());
        assert_eq!(at("2026-12-01T10:00:01Z"), "same as this computer's");
        assert_eq!(at("2026-12-01T10:21:00Z"), "21 min ahead of this computer's");
        assert_eq!(at("2026-12-01T09:59:30Z"), "30 s behind this computer's");
    }
}
