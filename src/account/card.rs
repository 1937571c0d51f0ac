//! The card of a guest's own account.

use serde_json::Value;

use crate::app::Parts;
use crate::app::pages::waits_for_code;
use crate::booking::find::locate::locate_session;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::shell;
use crate::service::client::session;
use crate::service::documents::id;
use crate::service::mapping::ReadKind;
use crate::terminal::output::{DocumentView, Page, Tone};
use crate::terminal::view::Fields;

/// Check whether a guest's own account has a card on file
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl card ses_01\n  \
    bookctl card --end-user user_7 --jq .has_card")]
pub(crate) struct CardArgs {
    /// Session id, or @last
    #[arg(value_parser = id, conflicts_with = "end_user")]
    session: Option<String>,
    /// Name the guest by your own id, instead of a session
    #[arg(long, value_name = "ID")]
    end_user: Option<String>,
    /// Choose the provider of the guest's account
    #[arg(long, value_name = "NAME", requires = "end_user", conflicts_with = "session")]
    provider: Option<String>,
}

pub(crate) async fn card(Parts { api, records, ui, .. }: &Parts, args: CardArgs) -> Result<Exit> {
    let session = args.session.as_deref().map(|it| locate_session(records, it)).transpose()?;
    let call = match (&session, &args.end_user) {
        (Some(id), _) => session::card(id),
        (None, Some(person)) => session::card_of_person(person, args.provider.as_deref()),
        (None, None) => {
            return Err(Error::usage("name a session or a guest")
                .hint("list sessions with `bookctl session list`, or pass --end-user ID"));
        }
    };
    let answer = match (api.read(call).await, session) {
        (Err(error), Some(id))
            if error.code == Code::ReconnectRequired && waits_for_code(api, &id).await =>
        {
            // To connect again would send another text message.
            let verify = shell::command("session verify", &id, "--code CODE");
            return Err(
                error.hint(format!("it waits for the code from the text message: {verify}"))
            );
        }
        (answer, _) => answer?,
    };
    let (card, envelope_fields) = api.facts.mapping().object(ReadKind::Card, &answer.document)?;
    let view = DocumentView(answer.document, |_| card_page(&card, &envelope_fields));
    ui.emit(&view)
}

fn card_page(card: &Value, envelope_fields: &[(String, String)]) -> Page {
    let mut page = Page::default();
    let fields = &mut Fields::from_document(card);
    match fields.take("has_card").and_then(Value::as_bool) {
        Some(true) => page.heading(Tone::Good, "card", "the account has a card on file"),
        _ => page.heading(Tone::Warn, "no card", "the account has no card on file"),
    };
    for (path, value) in fields.rest().iter().chain(envelope_fields) {
        page.field("other", format!("{path} = {value}"));
    }
    page
}
