use std::path::Path;

use serde_json::{Value, json};

use super::{Needs, ServiceNeed};
use crate::app::Context;
use crate::flows::{Confirmation, attempt_or_pick, find_attempt, finish, resume};
use crate::journal::{Attempt, Outcome, Recovery, Run, State, recover};
use crate::json::{Document, plain};
use crate::model::document_time::time_text;
use crate::model::time_text::to_the_second;
use crate::outcome::{Code, Error, Exit, Result};
use crate::recent::RecentList;
use crate::terminal::output::{Page, TableCell, Tone, View};

/// List and resolve booking requests with an unknown result
///
/// bookctl saves each booking request as an attempt before it sends it. If the connection breaks or the computer crashes,
/// the attempt stays open. `resume` sends the same request with the same idempotency key: the service returns the booking
/// if it exists, and makes it if it does not.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl attempts\n  \
    bookctl attempts resume order-4711\n  \
    bookctl attempts resume @last\n  \
    bookctl attempts abandon order-4711\n  \
    bookctl attempts recover")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

impl Args {
    /// Listing and recovering need only the journal.
    pub(super) fn needs(&self) -> Needs {
        Needs::of(match self.action {
            None | Some(Action::List { .. } | Action::Recover) => ServiceNeed::None,
            Some(Action::Resume { .. } | Action::Abandon { .. }) => ServiceNeed::Profile,
        })
    }
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// List open attempts
    #[command(after_help = "Examples:\n  bookctl attempts list --all")]
    List {
        /// List all attempts, not only open ones
        #[arg(long)]
        all: bool,
    },
    /// Find out what happened to an attempt: send the same request with the same key
    #[command(
        after_help = "Examples:\n  bookctl attempts resume order-4711\n  bookctl attempts --jq '.attempts[].idempotency_key' \\\n    | xargs -n 1 bookctl attempts resume"
    )]
    Resume {
        /// The attempt's idempotency key, @N for a row of the last list of attempts, or @last for the only open one
        key: Option<String>,
        /// Treat an attempt that was made with another API key as this organization's
        #[arg(long)]
        same_organization: bool,
    },
    /// Give up an attempt; a booking may still exist
    #[command(after_help = "Examples:\n  bookctl attempts abandon order-4711")]
    Abandon {
        /// The attempt's idempotency key, @N for a row of the last list of attempts, or @last for the only open one
        key: Option<String>,
        /// Skip the confirmation prompt, which only a terminal shows
        #[arg(long, short)]
        yes: bool,
    },
    /// Replace a damaged journal with a new one; the old file is kept
    Recover,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    match args.action.unwrap_or(Action::List { all: false }) {
        Action::List { all } => {
            let attempts = match all {
                true => context.journal()?.attempts()?,
                false => context.journal()?.open_attempts()?,
            };
            let keys = attempts
                .iter()
                .map(|attempt| attempt.idempotency_key.as_str());
            context.remember_rows(RecentList::Attempts, keys);
            context.out.emit_long(&AttemptList {
                attempts: &attempts,
                is_list: true,
            })?;
            let is_any_open = attempts.iter().any(|it| it.state == State::Unsettled);
            let told = match (is_any_open, attempts.is_empty()) {
                (true, _) => {
                    Some("To find out what happened to an attempt: bookctl attempts resume KEY")
                }
                (false, true) => Some(if all {
                    "No attempts yet."
                } else {
                    "No open attempts."
                }),
                (false, false) => None,
            };
            if let Some(told) = told.filter(|_| context.out.is_human()) {
                context.out.note(told);
            }
            Ok(Exit::Done)
        }
        Action::Resume {
            key,
            same_organization,
        } => {
            let key = attempt_or_pick(context, key.as_deref()).await?;
            if same_organization {
                context.journal()?.take_any_account();
            }
            finish(context, &resume(context, &key).await?)
        }
        Action::Recover => {
            if let Some(shared) = context.target().journal() {
                return Err(Error::journal(format!(
                    "the journal at {} is shared, and cannot be replaced from here",
                    shared.address
                ))
                .hint("restore the database from a backup; see its state with `bookctl journal status`"));
            }
            let path = context.journal_file();
            let recovery = recover(path)?;
            context.out.emit(&RecoveryView { path, recovery })?;
            Ok(Exit::Done)
        }
        Action::Abandon { key, yes } => {
            let key = attempt_or_pick(context, key.as_deref()).await?;
            let mut attempt = find_attempt(context, &key)?;
            if attempt.state != State::Unsettled {
                return Err(Error::new(
                    Code::Http409,
                    format!(
                        "the attempt is {}; only an open attempt can be abandoned",
                        attempt.state.as_str()
                    ),
                ));
            }
            if context.prompter.interactive() && !yes {
                confirm_abandoning(context, &attempt).await?;
            }
            attempt.state = context.journal()?.abandon(&key)?;
            if attempt
                .runs
                .iter()
                .any(|run| run.outcome == Outcome::UnderWay)
            {
                context.out.warn(
                    "a run of this attempt has not ended: if its process is still sending the request, it may make a booking",
                );
            }
            context.out.emit(&AttemptList {
                attempts: &[attempt],
                is_list: false,
            })?;
            Ok(Exit::Done)
        }
    }
}

/// Shows the attempt and what giving it up means, and asks. Scripts have done without a question from the start.
async fn confirm_abandoning(context: &Context, attempt: &Attempt) -> Result<()> {
    let mut page = AttemptList {
        attempts: std::slice::from_ref(attempt),
        is_list: false,
    }
    .page();
    page.line(
        "The venue may have this booking. Once the attempt is abandoned, bookctl no longer asks about it, and the same \
         booking can be made twice.",
    );
    context.out.show(&page);
    let confirmation = Confirmation {
        action: "abandoning an attempt",
        question: "Abandon this attempt without finding out?".to_owned(),
        declined: "The attempt is still open.",
    };
    confirmation.ask(&context.prompter).await
}

fn tone_of(state: State) -> Tone {
    match state {
        State::Unsettled => Tone::Warn,
        State::Settled => Tone::Good,
        State::Refused | State::Abandoned => Tone::Dim,
    }
}

/// The state as a person reads it; scripts get the journal's own word. What became of the booking is its own status.
fn in_plain_words(state: State) -> Option<String> {
    match state {
        State::Unsettled => Some("open".to_owned()),
        State::Settled => Some("made".to_owned()),
        State::Refused | State::Abandoned => None,
    }
}

struct RecoveryView<'a> {
    path: &'a Path,
    recovery: Recovery,
}

impl View for RecoveryView<'_> {
    fn json(&self) -> Document {
        let journal = self.path.display().to_string();
        match &self.recovery {
            Recovery::SetAside { kept, attempts } => json!({
                "recovered": true,
                "journal": journal,
                "kept": kept.display().to_string(),
                "attempts": attempts,
            }),
            Recovery::Sound | Recovery::Missing => {
                json!({ "recovered": false, "journal": journal })
            }
        }
        .into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let journal = self.path.display();
        let lines = match &self.recovery {
            Recovery::Sound => vec![format!(
                "The journal {journal} is not damaged. Nothing was changed."
            )],
            Recovery::Missing => vec![format!(
                "There is no journal {journal} yet. The next booking creates it."
            )],
            Recovery::SetAside { kept, attempts } => vec![
                format!("New journal: {journal}"),
                format!("Old journal: {}", kept.display()),
                match attempts {
                    0 => "No attempts could be read from it. Look for its bookings at the service."
                        .to_owned(),
                    1 => "Copied 1 attempt.".to_owned(),
                    many => format!("Copied {many} attempts."),
                },
            ],
        };
        for line in lines {
            page.line(line);
        }
        page
    }
}

/// A run as `attempts --json` shows it, without unknown fields.
fn run_document(run: &Run) -> Value {
    let mut document = json!({
        "number": run.number,
        "outcome": run.outcome.as_str(),
        "process": run.process,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "http_status": run.http_status,
        "booking_id": run.booking_id,
        "user": run.maker.as_ref().map(|maker| &maker.user),
        "host": run.maker.as_ref().map(|maker| &maker.host),
    });
    if let Some(object) = document.as_object_mut() {
        object.retain(|_, value| !value.is_null());
    }
    document
}

struct AttemptList<'a> {
    attempts: &'a [Attempt],
    /// Whether `@N` names the rows.
    is_list: bool,
}

impl View for AttemptList<'_> {
    fn json(&self) -> Document {
        let attempts = self.attempts.iter().map(|attempt| {
            let mut object = json!({
                "idempotency_key": attempt.idempotency_key,
                "state": attempt.state.as_str(),
                "profile": attempt.profile,
                "origin": attempt.origin,
                "created_at": attempt.created_at,
                "request": attempt.request.body,
            });
            if attempt.asked() != &attempt.request.body
                && let Some(object) = object.as_object_mut()
            {
                object.insert("asked".to_owned(), attempt.asked().clone());
            }
            if let (Some(object), Some(id)) = (object.as_object_mut(), &attempt.booking_id) {
                object.insert("booking_id".to_owned(), json!(id));
            }
            if let (Some(object), Some(at)) = (object.as_object_mut(), &attempt.forgotten_at) {
                object.insert("forgotten_at".to_owned(), json!(at));
            }
            if let Some(object) = object.as_object_mut() {
                let runs = attempt.runs.iter().map(run_document);
                object.insert("runs".to_owned(), runs.collect());
            }
            object
        });
        json!({ "attempts": attempts.collect::<Vec<Value>>() }).into()
    }

    fn page(&self) -> Page {
        let rows = self.attempts.iter().enumerate().map(|(row, attempt)| {
            let asked = |field: &str| attempt.asked().get(field).map(plain).unwrap_or_default();
            let datetime = attempt.asked().get("datetime");
            let guest = attempt
                .asked()
                .get("customer")
                .and_then(|guest| guest.get("name"));
            let row = self.is_list.then(|| format!("@{}", row + 1));
            vec![
                TableCell::from(row.unwrap_or_default()),
                TableCell::from(attempt.idempotency_key.as_str()),
                TableCell::toned(attempt.state.as_str(), tone_of(attempt.state))
                    .in_short(in_plain_words(attempt.state)),
                TableCell::from(to_the_second(&attempt.created_at)),
                TableCell::from(asked("venue_id")),
                TableCell::from(datetime.map(time_text).unwrap_or_default()),
                TableCell::from(guest.map(plain).unwrap_or_default()),
                TableCell::from(attempt.booking_id.clone().unwrap_or_default()),
            ]
        });
        let mut page = Page::default();
        // A sandbox's clock, which `when` goes by, may have been moved.
        let started = "started (this computer)";
        let headers = vec![
            "",
            "key",
            "state",
            started,
            "venue",
            "when",
            "guest",
            "booking id",
        ];
        page.table(headers, rows.collect(), vec![0]);
        page
    }
}
