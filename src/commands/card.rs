use serde_json::Value;

use crate::adapter::{Misread, ReadKind, Shape};
use crate::app::Context;
use crate::client::session;
use crate::flows::{locate, sessions};
use crate::json::Document;
use crate::model::id::id;
use crate::model::shell;
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::{DocumentView, Page, Tone};
use crate::terminal::view::Fields;

/// Check whether a guest's own account has a card on file
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl card ses_01\n  \
    bookctl card --end-user user_7 --jq .has_card")]
pub(crate) struct Args {
    /// Session id, or @last
    #[arg(value_parser = id, conflicts_with = "end_user")]
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
    let named = args.session.as_deref();
    let session = named
        .map(|it| locate::locate_session(context, it))
        .transpose()?;
    let call = match (&session, &args.end_user) {
        (Some(id), _) => session::card(id),
        (None, Some(person)) => session::card_of_person(person, args.provider.as_deref()),
        (None, None) => {
            return Err(Error::usage("neither a session nor a person was named").hint(
                "name one: bookctl card SESSION, or bookctl card --end-user U; list sessions with `bookctl session list`",
            ));
        }
    };
    let answer = match (context.read(call).await, session) {
        (Err(error), Some(id))
            if error.code == Code::ReconnectRequired
                && sessions::waits_for_code(context, &id).await =>
        {
            // To connect again would send another text message.
            let verify = shell::command("session verify", &id, "--code CODE");
            return Err(error.hint(format!(
                "it waits for the code from the text message: {verify}"
            )));
        }
        (answer, _) => answer?,
    };
    let adapter = context.adapter();
    let (card, around) = adapter
        .object(ReadKind::Card, Shape::Card, &answer.document)
        .map_err(Misread::into_error)?;
    let page = |_: &Document| card_page(&card, &around);
    context.out.emit(&DocumentView(answer.document, page))?;
    Ok(Exit::Done)
}

fn card_page(card: &Value, around: &[(String, String)]) -> Page {
    let mut page = Page::default();
    let fields = &mut Fields::of(card);
    let has_card = fields.get("has_card").and_then(Value::as_bool);
    match has_card {
        Some(true) => page.heading(Tone::Good, "card", "the account has a card on file"),
        Some(false) => page.heading(Tone::Warn, "no card", "the account has no card on file"),
        None => page.heading(Tone::Warn, "unknown", "the answer does not say yes or no"),
    };
    if has_card.is_some() {
        fields.take("has_card");
    }
    for (path, value) in fields.rest().iter().chain(around) {
        page.field("other", format!("{path} = {value}"));
    }
    page
}
