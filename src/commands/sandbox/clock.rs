use std::time::Duration;

use serde_json::json;

use crate::app::Context;
use crate::client::Call;
use crate::json::{Document, plain};
use crate::model::duration::jump;
use crate::model::time_text::human;
use crate::outcome::{Exit, Result};
use crate::terminal::output::{DocumentView, Page, Tone};

/// Show the sandbox's clock, or move it ahead
///
/// Everything that is due by then happens before the next response: expiries, confirmations and webhook retries.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox clock\n  \
    bookctl sandbox clock --advance 21m")]
pub(crate) struct Args {
    /// How far to move the clock ahead, such as 21m or 31d
    #[arg(long, value_name = "DURATION", value_parser = jump)]
    advance: Option<Duration>,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let call = match args.advance {
        Some(advance) => Call::post(
            "/sandbox/clock",
            json!({ "advance": format!("{}s", advance.as_secs()) }),
        ),
        None => Call::get("/sandbox/clock"),
    };
    let answer = context.control(call).await?;
    context
        .out
        .emit(&DocumentView(answer.document, clock_page))?;
    Ok(Exit::Done)
}

fn clock_page(clock: &Document) -> Page {
    let now = clock.str("now").map(human).unwrap_or_default();
    let ahead = clock
        .value()
        .get("offset_seconds")
        .map(plain)
        .unwrap_or_default();
    let mut page = Page::default();
    page.heading(Tone::Strong, "sandbox clock", now);
    page.field("ahead", format!("{ahead} s"));
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::output::{ColorPrefs, StreamStyle};

    #[test]
    fn the_clock_is_shown_as_a_person_reads_it() {
        let document = json!({"now": "2026-12-01T10:00:00Z", "offset_seconds": 1260});
        let style = StreamStyle::decide(ColorPrefs::default(), false, 0);
        let page = clock_page(&document.into()).render(&style);
        assert_eq!(
            page,
            "sandbox clock\tTue 1 Dec 2026, 10:00 (UTC)\nahead\t1260 s\n"
        );
    }
}
