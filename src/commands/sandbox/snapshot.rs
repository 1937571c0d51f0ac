use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::listing::Listing;
use crate::app::Context;
use crate::client::Call;
use crate::json::Document;
use crate::model::time_text::human;
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::file_text;
use crate::platform::private_file;
use crate::terminal::output::{DocumentView, Page};

/// Save the sandbox's state, and go back to it
///
/// A snapshot holds everything: bookings, sessions, messages, deliveries, settings, organizations, faults, and the clock.
/// Snapshots outlive `sandbox reset`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox snapshot save clean\n  \
    bookctl sandbox snapshot restore clean\n  \
    bookctl sandbox snapshot save --to state.json")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Save the present state, in place of an earlier snapshot of that name
    #[command(after_help = "Examples:\n  \
        bookctl sandbox snapshot save clean\n  \
        bookctl sandbox snapshot save --to state.json")]
    Save {
        /// Name of the snapshot
        #[arg(required_unless_present = "to", conflicts_with = "to")]
        name: Option<String>,
        /// Write the state to this file instead, which only you can read
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
    /// Replace the sandbox's state and its clock
    #[command(after_help = "Examples:\n  \
        bookctl sandbox snapshot restore clean\n  \
        bookctl sandbox snapshot restore --from state.json")]
    Restore {
        /// Name of the snapshot
        #[arg(required_unless_present = "from", conflicts_with = "from")]
        name: Option<String>,
        /// Read the state from this file instead
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },
    /// List snapshots
    List,
    /// Remove a snapshot
    #[command(after_help = "Examples:\n  bookctl sandbox snapshot remove clean")]
    Remove {
        /// Name of the snapshot
        name: String,
    },
}

const PATH: &str = "/sandbox/snapshots";
/// The present state as a document.
const STATE: &str = "/sandbox/snapshot";

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let (document, page): (Document, fn(&Document) -> Page) =
        match args.action.unwrap_or(Action::List) {
            Action::List => return list(context).await,
            Action::Save { to: Some(file), .. } => (save_to(context, &file).await?, saved_page),
            Action::Save { name, .. } => {
                let call = Call::post(PATH, json!({ "name": name }));
                (context.control(call).await?.document, saved_page)
            }
            Action::Restore { name, from } => {
                let call = match from {
                    Some(file) => Call::put(STATE, read(&file)?),
                    None => {
                        let name = name.unwrap_or_default();
                        Call::post(
                            format!("{PATH}/{}/restore", Call::segment(&name)),
                            json!({}),
                        )
                    }
                };
                let answer = context.control(call).await?;
                // The sandbox has the rate limits of the snapshot now. If that cannot be stored, the next answers correct it.
                if context.has_journal() {
                    let _ = context.journal().and_then(|mut it| it.forget_rate_limits());
                }
                (answer.document, restored_page)
            }
            Action::Remove { name } => {
                let call = Call::delete(format!("{PATH}/{}", Call::segment(&name)));
                (context.control(call).await?.document, removed_page)
            }
        };
    context.out.emit(&DocumentView(document, page))?;
    Ok(Exit::Done)
}

async fn list(context: &Context) -> Result<Exit> {
    let answer = context.control(Call::get(PATH)).await?;
    let list = Listing {
        document: answer.document,
        field: "snapshots",
        columns: &[
            ("name", "name"),
            ("sandbox clock", "now"),
            ("bytes", "bytes"),
        ],
    };
    list.emit(context, "no snapshots yet")
}

async fn save_to(context: &Context, file: &Path) -> Result<Document> {
    let state = context.control(Call::get(STATE)).await?.document;
    let text = state.value().to_string();
    private_file::write(file, &text)
        .map_err(|error| Error::io(format!("cannot write {}", file.display()), error))?;
    Ok(json!({"file": file.display().to_string(), "bytes": text.len()}).into())
}

fn read(file: &Path) -> Result<Value> {
    let name = file.display().to_string();
    let text = file_text(file).map_err(|error| Error::unreadable(&name, error))?;
    serde_json::from_str(&text).map_err(|error| {
        let what = format!("{name} is not a snapshot: {error}");
        Error::usage(what).hint("write one with: bookctl sandbox snapshot save --to FILE")
    })
}

fn saved_page(saved: &Document) -> Page {
    let what = saved.str("file").or_else(|| saved.str("name"));
    let mut page = Page::default();
    page.line(format!("saved {}", what.unwrap_or_default()));
    page
}

fn restored_page(clock: &Document) -> Page {
    let mut page = Page::default();
    let now = clock.str("now").map(human).unwrap_or_default();
    page.line(format!("restored; the sandbox clock is {now}"));
    page
}

fn removed_page(removed: &Document) -> Page {
    let mut page = Page::default();
    page.line(format!(
        "removed {}",
        removed.str("name").unwrap_or_default()
    ));
    page
}
