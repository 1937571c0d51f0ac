use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::app::Context;
use crate::client::Call;
use crate::json::{Document, plain};
use crate::model::time_text::human;
use crate::outcome::{Exit, Result};
use crate::terminal::output::{DocumentView, Page, Tone};

/// Show the service's version, time and endpoints
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl status\n  bookctl status --jq .version")]
pub(crate) struct Args {}

pub(super) async fn run(context: &Context, _: Args) -> Result<Exit> {
    let answer = context.read(Call::get("/v1/")).await?;
    let page = |index: &Document| index_page(index, &context.target().origin(), Timestamp::now());
    context.out.emit(&DocumentView(answer.document, page))?;
    Ok(Exit::Done)
}

fn index_page(document: &Document, address: &str, now: Timestamp) -> Page {
    let index = document.value();
    let mut page = Page::default();
    page.heading(
        Tone::Good,
        "reachable",
        document.str("name").unwrap_or_default(),
    );
    page.field("address", address);
    page.field_if("version", index.get("version").map(plain));
    if let Some(time) = document.str("server_time") {
        page.field("time", human(time));
        page.field_if("clock", time.parse().ok().map(|time| difference(now, time)));
    }
    if index.get("sandbox") == Some(&Value::Bool(true)) {
        page.field("sandbox", "yes: nothing is really booked");
    }
    let endpoints = index
        .get("endpoints")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let rows = endpoints.map(|endpoint| {
        let cell = |field: &str| endpoint.get(field).map(plain).unwrap_or_default().into();
        vec![cell("method"), cell("path"), cell("summary")]
    });
    page.table(vec!["method", "path", "summary"], rows.collect(), vec![]);
    page
}

/// The difference between the service's clock and ours, in words.
fn difference(ours: Timestamp, theirs: Timestamp) -> String {
    let ahead = theirs.duration_since(ours);
    if ahead.abs() < SignedDuration::from_secs(2) {
        return "same as this computer's".to_owned();
    }
    let seconds = ahead.as_secs().abs();
    let direction = if ahead.is_positive() {
        "ahead of"
    } else {
        "behind"
    };
    format!("{seconds} s {direction} this computer's")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_differs_is_told_in_seconds_and_direction() {
        let ours: Timestamp = "2026-12-01T10:00:00Z".parse().unwrap();
        let at = |text: &str| difference(ours, text.parse().unwrap());
        assert_eq!(at("2026-12-01T10:00:01Z"), "same as this computer's");
        assert_eq!(
            at("2026-12-01T10:21:00Z"),
            "1260 s ahead of this computer's"
        );
        assert_eq!(at("2026-12-01T09:59:30Z"), "30 s behind this computer's");
    }
}
