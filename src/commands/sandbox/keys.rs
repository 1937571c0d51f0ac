use super::listing::Listing;
use crate::app::Context;
use crate::client::Call;
use crate::outcome::{Exit, Result};

/// List the sandbox's API keys and what each is for
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox keys\n  \
    BOOKCTL_PROFILE=sandbox BOOKCTL_API_KEY=sk_test_sandbox \\\n    \
      bookctl search dining --near London --at 'tomorrow 19:30'")]
pub(crate) struct Args {}

pub(super) async fn run(context: &Context, _: Args) -> Result<Exit> {
    let answer = context.control(Call::get("/sandbox/keys")).await?;
    context.out.emit(&Listing {
        document: answer.document,
        field: "keys",
        is_oldest_first: false,
        columns: &[
            ("key", "key"),
            ("kind", "kind"),
            ("organization", "organization"),
            ("purpose", "purpose"),
            ("scopes", "scopes"),
        ],
    })?;
    Ok(Exit::Done)
}
