use serde_json::json;

use super::answer::of_organization;
use crate::app::Parts;
use crate::booking::confirmation::Confirmation;
use crate::json::Document;
use crate::outcome::{Exit, Result};
use crate::service::client::Call;
use crate::terminal::output::{DocumentView, Page};

/// Delete all bookings, messages and settings
///
/// Also resets the clock. Asks first on a terminal, but not in a script.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox reset\n  \
    bookctl sandbox reset --yes\n  \
    bookctl sandbox reset --organization org_01")]
pub(crate) struct Args {
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    /// Reset only this organization: its bookings, faults and clock
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

pub(crate) async fn run(Parts { api, records, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    if !args.yes && ui.prompter.interactive() {
        // Fails if this is not a sandbox, before a question about a real service.
        api.control(Call::get("/sandbox/clock")).await?;
        let confirmation = Confirmation::new(
            "resetting the sandbox",
            "Delete all bookings, text messages and settings of the sandbox?",
            "the sandbox was not reset",
        );
        confirmation.ask(&ui.prompter).await?;
    }
    let path = of_organization("/sandbox/reset", args.organization.as_deref());
    let answer = api.control(Call::post(path, json!({}))).await?;
    // The reset restores all rate limits and deletes all bookings, those of unknown result too. If
    // that cannot be stored, the next answers correct it.
    if args.organization.is_none() && records.has_journal() {
        let _ = records.journal().and_then(|journal| {
            for attempt in journal.open_attempts_here()? {
                journal.abandon(&attempt.idempotency_key)?;
            }
            journal.forget_sandbox()
        });
    }
    let page = |_: &Document| {
        let mut page = Page::default();
        page.line("sandbox reset");
        page
    };
    ui.emit(&DocumentView(answer.document, page))
}
