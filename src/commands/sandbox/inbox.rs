use serde_json::Value;

use crate::api::Call;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::model::document::{Document, plain};
use crate::model::moment::human;
use crate::output::{Page, View};

/// Show the text messages that the sandbox sent, newest first: one-time codes and session codes
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox inbox\n  \
    bookctl sandbox inbox --jq '.messages[0].code'")]
pub(crate) struct Args {}

pub(super) async fn run(context: &Context, _: Args) -> Result<Exit> {
    let answer = context.control(Call::get("/sandbox/inbox")).await?;
    context.out.emit(&Inbox(answer.document))?;
    Ok(Exit::Done)
}

struct Inbox(Document);

impl View for Inbox {
    fn json(&self) -> Document {
        self.0.clone()
    }

    fn page(&self) -> Page {
        let messages = self.0.value().get("messages").and_then(Value::as_array);
        let rows = messages.into_iter().flatten().map(|message| {
            let text = |field: &str| message.get(field).map(plain).unwrap_or_default();
            let about = [text("booking_id"), text("session_id")].concat();
            [
                text("code"),
                about,
                text("to"),
                human(&text("created_at")),
                text("text"),
            ]
            .map(Into::into)
            .to_vec()
        });
        let rows: Vec<_> = rows.collect();
        let mut page = Page::default();
        page.table(vec!["code", "for", "to", "sent", "text"], rows, vec![]);
        page
    }
}
