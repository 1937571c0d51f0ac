use serde_json::Value;

use crate::app::Context;
use crate::client::session;
use crate::json::Document;
use crate::model::id::id;
use crate::outcome::{Exit, Result};
use crate::terminal::output::{DocumentView, Page, Tone};

/// Check whether a guest's own account has a card on file
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl card ses_01\n  \
    bookctl card --end-user user_7 --jq .has_card")]
pub(crate) struct Args {
    /// Session id
    #[arg(value_parser = id, required_unless_present = "end_user", conflicts_with = "end_user")]
    session: Option<String>,
    /// Person, by your own id, instead of a session
    #[arg(long, value_name = "U")]
    end_user: Option<String>,
    /// Provider of the account; needs --end-user
    #[arg(
        long,
        value_name = "P",
        requires = "end_user",
        conflicts_with = "session"
    )]
    provider: Option<String>,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let call = match (&args.session, &args.end_user) {
        (Some(id), _) => session::card(id),
        (None, person) => {
            let person = person.as_deref().unwrap_or_default();
            session::card_of_person(person, args.provider.as_deref())
        }
    };
    let answer = context.read(call).await?;
    context
        .out
        .emit(&DocumentView(answer.document, card_page))?;
    Ok(Exit::Done)
}

fn card_page(card: &Document) -> Page {
    let mut page = Page::default();
    match card.value().get("has_card").and_then(Value::as_bool) {
        Some(true) => page.heading(Tone::Good, "card", "the account has a card on file"),
        Some(false) => page.heading(Tone::Warn, "no card", "the account has no card on file"),
        None => page.heading(Tone::Warn, "unknown", "the answer does not say"),
    };
    page
}
