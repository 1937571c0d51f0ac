use super::listing::Listing;
use crate::app::Context;
use crate::outcome::{Exit, Result};

/// List text messages with one-time codes, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox inbox\n  \
    bookctl sandbox inbox --jq '.messages[0].code'")]
pub(crate) struct Args {
    /// Only those of this organization
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let answer = context
        .control(super::list_of(
            "/sandbox/inbox",
            args.organization.as_deref(),
        ))
        .await?;
    let inbox = Listing {
        document: answer.document,
        field: "messages",
        is_oldest_first: false,
        columns: &[
            ("code", "code"),
            ("for", "booking_id|session_id"),
            ("sent to", "to"),
            ("sent", "created_at"),
            ("text", "text"),
        ],
    };
    inbox.emit(context, "no messages yet")
}
