use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::answer::{self, of_organization};
use crate::app::{Api, Parts};
use crate::booking::confirmation::Confirmation;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::service::client::Call;
use crate::service::time::when::When;
use crate::terminal::output::{DocumentView, Page};

#[derive(clap::Args, Debug)]
#[group(multiple = false)]
struct Change {
    /// Move the clock ahead by this much, such as 21m or 31d
    #[arg(long, value_name = "DURATION")]
    advance: Option<String>,
    /// Move the clock ahead to this time, such as 'fri 19:30'
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    to: Option<When>,
    /// Move the clock to the next booking change or webhook
    #[arg(long)]
    next: bool,
    /// Stop the clock
    #[arg(long)]
    freeze: bool,
    /// Restart a stopped clock
    #[arg(long)]
    resume: bool,
}

/// Show the sandbox's clock, move it ahead, or stop it
///
/// Expiries and confirmations that are due by then happen before the next response. A sandbox
/// server sends the webhooks that are due within a second. Each organization has a clock of its
/// own. A clock never goes back, except by `sandbox reset`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox clock\n  \
    bookctl sandbox clock --advance 21m\n  \
    bookctl sandbox clock --to 'fri 19:30'\n  \
    bookctl sandbox clock --organization org_01 --next")]
pub(crate) struct Args {
    #[command(flatten)]
    change: Change,
    /// Show or move only this organization's clock [default: all]
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

pub(crate) async fn run(Parts { api, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    let path = of_organization("/sandbox/clock", args.organization.as_deref());
    let change = args.change;
    let body = if let Some(advance) = change.advance {
        json!({ "advance": advance })
    } else if let Some(to) = change.to {
        json!({ "set": resolved(api, &path, &to).await? })
    } else if change.next {
        json!({ "next": true })
    } else if change.freeze {
        json!({ "freeze": true })
    } else if change.resume {
        json!({ "resume": true })
    } else {
        Value::Null
    };
    let call = if body.is_null() { Call::get(path) } else { Call::post(path, body) };
    answer::show(api, ui, call, page).await.map_err(|error| match error.http_status {
        Some(409) => error.hint("make a booking first, or use --advance"),
        _ => answer::by_flags(error),
    })
}

/// The clock as a person reads it. `--json` has each organization's, too.
fn page(answer: &Document) -> Page {
    let mut page = Page::default();
    answer::add_fields(&mut page, answer.value(), &["organizations"]);
    page
}

async fn resolved(api: &Api, path: &str, to: &When) -> Result<String> {
    let clock = api.control(Call::get(path)).await?.document;
    let now = clock.str("now").and_then(|it| it.parse().ok());
    let moment = to.resolve(now.unwrap_or_else(Timestamp::now), &TimeZone::UTC);
    Ok(moment.map_err(|error| Error::usage(error.to_string()))?.timestamp().to_string())
}

/// Delete all bookings, messages and settings
///
/// Also resets the clock. Asks first on a terminal, but not in a script.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox reset\n  \
    bookctl sandbox reset --yes\n  \
    bookctl sandbox reset --organization org_01")]
pub(crate) struct ResetArgs {
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    /// Reset only this organization: its bookings, faults and clock
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

pub(crate) async fn reset(Parts { api, records, ui, .. }: &Parts, args: ResetArgs) -> Result<Exit> {
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
