pub(crate) mod open_attempts;

use serde_json::{Value, json};

use super::confirmation::Confirmation;
use super::find::pick;
use super::finish;
use super::terms::find_recorded;
use super::verdict::{changes, compared};
use crate::app::Parts;
use crate::app::plan::{Needs, ServiceNeed};
use crate::journal::recent::RecentList;
use crate::journal::{Attempt, Outcome, State};
use crate::json::Document;
use crate::outcome::{Exit, Result};
use crate::service::documents::Agreement;
use crate::service::time::{to_the_second, whole_seconds};
use crate::terminal::output::{DocumentView, Page, TableCell, Tone};
use crate::terminal::view::time_cell;

/// List and resolve booking requests whose result is unknown
///
/// bookctl saves each booking request before it sends it. If the connection breaks or the computer
/// crashes, the request is unresolved. `resume` sends the same request with the same idempotency
/// key: the service returns the booking if it exists, and makes it if it does not.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl attempts\n  \
    bookctl attempts resume order-4711\n  \
    bookctl attempts resume @last\n  \
    bookctl attempts abandon order-4711")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<AttemptsAction>,
}

impl Args {
    /// Listing needs only the journal.
    pub(crate) fn needs(&self) -> Needs {
        Needs::from_service(match self.action {
            None | Some(AttemptsAction::List { .. }) => ServiceNeed::None,
            Some(_) => ServiceNeed::Profile,
        })
    }
}

#[derive(clap::Subcommand, Debug)]
enum AttemptsAction {
    /// List unresolved requests
    #[command(after_help = "Examples:\n  bookctl attempts list --all")]
    List {
        /// List all requests, not only unresolved ones
        #[arg(long)]
        all: bool,
    },
    /// Resolve a request: send it again with the same key
    #[command(
        after_help = "Examples:\n  bookctl attempts resume order-4711\n  bookctl attempts --jq '.attempts[].idempotency_key' \\\n    | xargs -n 1 bookctl attempts resume"
    )]
    Resume {
        /// The request's idempotency key, @N for a row of the last list, or @last for the only
        /// unresolved one
        key: Option<String>,
        /// Accept a request made with another key of this organization
        #[arg(long, hide = true)]
        same_organization: bool,
    },
    /// Abandon a request; a booking may still exist
    #[command(after_help = "Examples:\n  bookctl attempts abandon order-4711")]
    Abandon {
        /// The request's idempotency key, @N for a row of the last list, or @last for the only
        /// unresolved one
        key: Option<String>,
        /// Skip the confirmation prompt, which only a terminal shows
        #[arg(long, short)]
        yes: bool,
    },
}

pub(crate) async fn run(parts: &Parts, args: Args) -> Result<Exit> {
    match args.action.unwrap_or(AttemptsAction::List { all: false }) {
        AttemptsAction::List { all } => list(parts, all)?,
        AttemptsAction::Resume { key, same_organization } => {
            let key = pick::attempt_or_pick(parts, key.as_deref()).await?;
            if same_organization {
                parts.records.journal()?.scope.takes_any_account.set(true);
            }
            let booking = open_attempts::resume(parts, &key).await?;
            return finish::finish_created(parts, &booking, false);
        }
        AttemptsAction::Abandon { key, yes } => {
            let key = pick::attempt_or_pick(parts, key.as_deref()).await?;
            abandon(parts, &key, yes).await?;
        }
    }
    Ok(Exit::Done)
}

fn list(Parts { records, ui, .. }: &Parts, all: bool) -> Result<()> {
    let journal = records.journal()?;
    let (attempts, none) = if all {
        (journal.attempts()?, "No requests yet.")
    } else {
        (journal.open_attempts_here()?, "No unresolved requests.")
    };
    let attempts = journal.with_marked(attempts)?;
    let keys = attempts.iter().map(|it| it.idempotency_key.as_str());
    records.remember_rows(RecentList::Attempts, keys);
    let document = Document::from(json!({ "attempts": documents(&attempts) }));
    let view = DocumentView(document, |_| page(&attempts, true, all));
    ui.out.emit_list(&view, attempts.is_empty(), none)?;
    if ui.out.is_human() && attempts.iter().any(|it| it.state == State::Unresolved) {
        ui.out.note("Resolve one: bookctl attempts resume KEY");
    }
    Ok(())
}

/// The requests with times in whole seconds. What was asked for stays as it was sent.
fn documents(attempts: &[Attempt]) -> Vec<Value> {
    let document = |attempt: &Attempt| {
        let mut document = json!(attempt);
        let shorten = |object: &mut Value| {
            for name in ["created_at", "started_at", "ended_at"] {
                if let Some(at) = object.get(name).and_then(Value::as_str) {
                    object[name] = whole_seconds(at).into();
                }
            }
        };
        shorten(&mut document);
        document["runs"].as_array_mut().into_iter().flatten().for_each(shorten);
        document
    };
    attempts.iter().map(document).collect()
}

async fn abandon(parts @ Parts { ui, .. }: &Parts, key: &str, yes: bool) -> Result<()> {
    let mut attempt = open_attempts::find_attempt(&parts.api.facts, &parts.records, key)?;
    open_attempts::refuse_closed(&attempt, "can be abandoned")?;
    // Scripts have done without a question from the start.
    if ui.prompter.interactive() && !yes {
        let mut page = page(std::slice::from_ref(&attempt), false, false);
        page.line(
            "The venue may have this booking. If you abandon the request, bookctl no longer checks it, and the same \
             booking can be made twice.",
        );
        ui.out.show(&page);
        let question = "Abandon this request without resolving it?";
        let declined = "The request is still unresolved.";
        Confirmation::new("abandoning a request", question, declined).ask(&ui.prompter).await?;
    }
    let (journal, records) = (parts.records.journal()?, &parts.records);
    let kept = journal.marked(key)?.and_then(|id| find_recorded(records, &id));
    attempt.state = journal.abandon(key)?;
    // What a booking that is kept as it is shows counts from now on as what was asked for.
    if let Some(kept) = kept {
        let (wish, booking) = (kept.wish(), &kept.booking);
        let mut found = compared(records, &wish, booking, false);
        found.retain(|it| matches!(it.agreement, Agreement::Differs(_)));
        let shown = changes(found, &wish, booking);
        let shown = shown.into_iter().map(|(field, mut it)| (field, it["to"].take())).collect();
        journal.change(booking, &shown, None)?;
    }
    if attempt.runs.iter().any(|run| run.outcome == Outcome::UnderWay) {
        let warning = "another process may still be sending this request, which can make a booking";
        ui.out.warn(warning);
    }
    let attempts = [attempt];
    let document = Document::from(json!({ "attempts": documents(&attempts) }));
    let view = DocumentView(document, |_| page(&attempts, false, false));
    ui.out.emit(&view).map(drop)
}

/// A row for each; `@N` names those of a list. Those of all services name theirs.
fn page(attempts: &[Attempt], is_list: bool, is_of_all: bool) -> Page {
    let rows = attempts.iter().enumerate().map(|(row, attempt)| {
        let wish = attempt.wish();
        let row = is_list.then(|| format!("@{}", row + 1));
        let tone = match attempt.state {
            State::Unresolved => Tone::Warn,
            State::Resolved => Tone::Good,
            State::Refused | State::Abandoned => Tone::Dim,
        };
        let mut cells = vec![
            TableCell::from(row.unwrap_or_default()),
            TableCell::from(attempt.idempotency_key.as_str()),
            TableCell::toned(attempt.state.as_str(), tone),
            TableCell::from(whole_seconds(&attempt.created_at))
                .in_short(Some(to_the_second(&attempt.created_at))),
            wish.venue().into(),
            wish.get("datetime").map_or_else(|| "".into(), |it| time_cell(it, None)),
            wish.guest().unwrap_or_default().into(),
            TableCell::from(attempt.booking_id.clone().unwrap_or_default()),
        ];
        let service = attempt.profile.as_deref().unwrap_or(&attempt.origin);
        cells.extend(is_of_all.then(|| service.into()));
        cells
    });
    let mut page = Page::default();
    // A sandbox's clock, which `when` goes by, may have been moved.
    let started = "started (this computer)";
    let mut headers = vec!["", "key", "state", started, "venue", "when", "guest", "booking id"];
    headers.extend(is_of_all.then_some("service"));
    let columns = (1..headers.len()).collect();
    page.table(headers, rows.collect(), columns);
    page
}
