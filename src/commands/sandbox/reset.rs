use serde_json::json;

use crate::app::Context;
use crate::client::Call;
use crate::json::Document;
use crate::outcome::{Exit, Result};
use crate::terminal::output::{Page, View};

/// Empty the sandbox: its bookings, messages and clock are as they were at first
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl sandbox reset")]
pub(crate) struct Args {}

pub(super) async fn run(context: &Context, _: Args) -> Result<Exit> {
    let answer = context
        .control(Call::post("/sandbox/reset", json!({})))
        .await?;
    // The reset restores all rate limits. If that cannot be stored, the next answer corrects the count.
    if context.journal_file().exists() {
        let _ = context
            .journal()
            .and_then(|mut journal| journal.forget_rate_limits());
    }
    context.out.emit(&Reset(answer.document))?;
    Ok(Exit::Done)
}

struct Reset(Document);

impl View for Reset {
    fn json(&self) -> Document {
        self.0.clone()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.line("the sandbox is empty");
        page
    }
}
