use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::app::Context;
use crate::client::Call;
use crate::json::Document;
use crate::model::duration::{in_units, jump};
use crate::model::time_text::{human, to_the_second};
use crate::model::when::When;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{DocumentView, Page, Tone};

/// Show the sandbox's clock, move it ahead, or stop it
///
/// Expiries and confirmations that are due by then happen before the next response. A served sandbox sends the webhooks that
/// are due within a second. The clock never goes back, except by `sandbox reset`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox clock\n  \
    bookctl sandbox clock --advance 21m\n  \
    bookctl sandbox clock --to 'fri 19:30'\n  \
    bookctl sandbox clock --next")]
pub(crate) struct Args {
    #[command(flatten)]
    change: Change,
}

#[derive(clap::Args, Debug)]
#[group(multiple = false)]
struct Change {
    /// How far to move the clock ahead, such as 21m or 31d
    #[arg(long, value_name = "DURATION", value_parser = jump)]
    advance: Option<Duration>,
    /// Move the clock ahead to this time, such as 'fri 19:30'; without an offset it is UTC
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    to: Option<When>,
    /// Move the clock to the next change of a booking or the next webhook
    #[arg(long)]
    next: bool,
    /// Stop the clock; --advance, --to and --next still move it
    #[arg(long)]
    freeze: bool,
    /// Let a stopped clock go on
    #[arg(long)]
    resume: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    const PATH: &str = "/sandbox/clock";
    let change = args.change;
    let body = if let Some(advance) = change.advance {
        json!({ "advance": format!("{}s", advance.as_secs()) })
    } else if let Some(to) = change.to {
        json!({ "set": resolved(context, &to).await? })
    } else if change.next {
        json!({ "next": true })
    } else if change.freeze {
        json!({ "freeze": true })
    } else if change.resume {
        json!({ "resume": true })
    } else {
        Value::Null
    };
    let call = match body {
        Value::Null => Call::get(PATH),
        body => Call::post(PATH, body),
    };
    let answer = context.control(call).await.map_err(|error| {
        let has_nothing_due = change.next && error.http_status == Some(409);
        if has_nothing_due {
            error.hint("move the clock by a time: bookctl sandbox clock --advance 5m")
        } else {
            super::by_flags(error, &[("set", "--to"), ("advance", "--advance")])
        }
    })?;
    context
        .out
        .emit(&DocumentView(answer.document, clock_page))?;
    Ok(Exit::Done)
}

/// A time by the sandbox's clock, with its offset.
async fn resolved(context: &Context, to: &When) -> Result<String> {
    let clock = context.control(Call::get("/sandbox/clock")).await?;
    let now = clock.document.str("now").and_then(|it| it.parse().ok());
    let moment = to.resolve(now.unwrap_or_else(Timestamp::now), &TimeZone::UTC);
    let moment = moment.map_err(|error| Error::usage(error.to_string()))?;
    Ok(moment.timestamp().to_string())
}

fn clock_page(clock: &Document) -> Page {
    let now = clock.str("now").map(human).unwrap_or_default();
    let offset = clock.value().get("offset_seconds").and_then(Value::as_i64);
    let offset = offset.unwrap_or_default();
    let mut page = Page::default();
    page.heading(Tone::Strong, "sandbox clock", now);
    // A clock that was stopped falls behind.
    let label = if offset < 0 { "behind" } else { "ahead" };
    page.field(label, in_units(offset.unsigned_abs()));
    if clock.value().get("frozen").is_some() {
        page.field("stopped", "yes");
    }
    if let Some(next) = clock.str("next_due_at") {
        page.field("next due", to_the_second(next));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::output::{ColorPrefs, StreamStyle};

    #[test]
    fn the_clock_is_shown_as_a_person_reads_it() {
        let style = StreamStyle::decide(ColorPrefs::default(), false, 0);
        for (seconds, shown) in [(1260, "ahead\t21 min"), (-90_000, "behind\t1 d 1 h")] {
            let document = json!({"now": "2026-12-01T10:00:00Z", "offset_seconds": seconds});
            let page = clock_page(&document.into()).render(&style);
            let heading = "sandbox clock\tTue 1 Dec 2026, 10:00 (UTC)";
            assert_eq!(page, format!("{heading}\n{shown}\n"));
        }
    }
}
