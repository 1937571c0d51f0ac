use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use crate::app::{Facts, Parts, Settings, Ui};
use crate::config::SharedJournal;
use crate::journal::{Copied, Summary, TakenOver, copy, prepare, recover, set_aside_with};
use crate::outcome::{Error, Exit, Result};
use crate::service::documents::plural;
use crate::service::time::text::whole_seconds;
use crate::terminal::output::{Draw, Page};

/// Show where bookings are recorded, and share it with a team
///
/// The journal is a file on this computer. To share it with a team, set BOOKCTL_JOURNAL or a
/// profile's `journal` to a postgresql:// URL: bookings, unresolved requests and rate limits are
/// then the team's.
#[derive(clap::Subcommand, Debug, Default)]
#[command(after_help = "Examples:\n  \
    bookctl journal\n  \
    BOOKCTL_JOURNAL=postgresql://bookings@db.internal/bookctl bookctl journal init\n  \
    bookctl journal copy --from ~/.local/state/bookctl/journal.db")]
pub(crate) enum Command {
    /// Show where the journal is, what is in it, and how fast it answers
    #[command(after_help = "Examples:\n  bookctl journal status --json")]
    #[default]
    Status,
    /// Replace a damaged journal with a new one; the old file is kept
    Recover,
    /// Prepare a shared journal: make its tables
    ///
    /// Needs the right to create tables; other commands do not. Safe to run again.
    #[command(after_help = "Examples:\n  \
        BOOKCTL_JOURNAL=postgresql://owner@db.internal/bookctl bookctl journal init")]
    Init,
    /// Copy a local journal into the shared one
    ///
    /// Keeps what is there already. Safe to run again.
    #[command(after_help = "Examples:\n  \
        bookctl journal copy --from ~/.local/state/bookctl/journal.db")]
    Copy {
        /// Copy from this file
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
    },
}

pub(crate) async fn run(parts: &Parts, command: Command) -> Result<Exit> {
    let Parts { api, records, ui, settings } = parts;
    match command {
        Command::Status => status(parts),
        Command::Recover => replace_damaged(&api.facts, ui, settings),
        Command::Init => init(parts),
        Command::Copy { from } => {
            shared(&api.facts)?;
            ui.emit(&copy(&from, records.journal()?)?)
        }
    }
}

fn status(Parts { api, records, ui, settings }: &Parts) -> Result<Exit> {
    let path = settings.paths.journal.display().to_string();
    let shared = api.facts.target().journal.as_ref();
    let mut view = StatusView {
        kind: if shared.is_some() { "postgresql" } else { "file" },
        place: shared.map_or(path, |it| it.address.to_string()),
        exists: records.has_journal(),
        summary: None,
        latency_ms: None,
    };
    if view.exists {
        let journal = records.journal()?;
        let began = Instant::now();
        let _ = journal.rate_limit("")?;
        let milliseconds = began.elapsed().as_secs_f64() * 1000.0;
        view.latency_ms = Some((milliseconds * 100.0).round() / 100.0);
        let mut summary = journal.summary()?;
        let oldest = summary.oldest_unresolved_at.take();
        summary.oldest_unresolved_at = oldest.map(whole_seconds);
        view.summary = Some(summary);
    }
    ui.emit(&view)
}

fn replace_damaged(facts: &Facts, ui: &Ui, settings: &Settings) -> Result<Exit> {
    if let Some(shared) = facts.target().journal.as_ref() {
        return Err(Error::journal(format!(
            "the journal at {} is shared, and cannot be replaced from here",
            shared.address
        ))
        .hint("restore the database from a backup; see its state with `bookctl journal status`"));
    }
    let path = &settings.paths.journal;
    let (kept, taken) = recover(path)?.unzip();
    let text = |path: &PathBuf| path.display().to_string();
    ui.emit(&RecoveryView {
        recovered: kept.is_some(),
        journal: text(path),
        kept_with: kept.iter().flat_map(|it| set_aside_with(it)).map(|it| text(&it)).collect(),
        kept: kept.as_ref().map(text),
        taken,
    })
}

fn init(Parts { api, records, ui, .. }: &Parts) -> Result<Exit> {
    let shared = shared(&api.facts)?;
    let prepared = prepare(records.database(shared)?)?;
    // Opened as every other command opens it.
    let summary = records.journal()?.summary()?;
    ui.emit(&InitView {
        place: shared.address.to_string(),
        made: prepared.is_new,
        version: summary.version,
        schema: summary.schema.unwrap_or_default(),
        search_not_indexed: prepared.not_indexed,
    })
}

fn shared(facts: &Facts) -> Result<&SharedJournal> {
    facts.target().journal.as_ref().ok_or_else(|| {
        Error::config("the journal is a file on this computer and needs no preparation").hint(
            "to share one, set BOOKCTL_JOURNAL=postgresql://USER@HOST/DATABASE, or `bookctl profile set NAME journal=URL`",
        )
    })
}

#[derive(Serialize)]
struct StatusView {
    kind: &'static str,
    place: String,
    exists: bool,
    #[serde(flatten)]
    summary: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<f64>,
}

impl Draw for StatusView {
    fn draw(&self, page: &mut Page) {
        page.field("journal", &self.place);
        let Some(summary) = &self.summary else {
            page.line("None yet. The first booking request creates it.");
            return;
        };
        page.field("kind", self.kind);
        page.field("version", summary.version.to_string());
        page.field_if("schema", summary.schema.as_deref());
        page.field("attempts", summary.attempts.to_string());
        page.field("bookings", summary.bookings.to_string());
        let oldest = summary.oldest_unresolved_at.as_ref();
        let oldest = oldest.map(|at| format!(", the oldest of {at}"));
        let open = summary.unresolved.to_string();
        page.field("unresolved", open + &oldest.unwrap_or_default());
        let latency = self.latency_ms.map(|ms| format!("{ms:.1} ms"));
        page.field_if("latency", latency);
    }
}

#[derive(Serialize)]
struct RecoveryView {
    recovered: bool,
    journal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kept_with: Vec<String>,
    #[serde(flatten)]
    taken: Option<TakenOver>,
}

impl Draw for RecoveryView {
    fn draw(&self, page: &mut Page) {
        let (Some(kept), Some(taken)) = (&self.kept, &self.taken) else {
            let place = &self.journal;
            page.line(format!("There is no damaged journal at {place}. Nothing was changed."));
            return;
        };
        page.line(format!("New journal: {}", self.journal));
        page.line(format!("Old journal: {kept}"));
        for file in &self.kept_with {
            page.line(format!("Kept with it: {file}"));
        }
        page.line(match taken.attempts {
            0 => "No requests could be read from it. Look for its bookings at the service."
                .to_owned(),
            count => format!("Copied {}.", plural(count, "request", "requests")),
        });
        if !taken.lost.is_empty() {
            let keys = taken.lost.join(", ");
            page.line(format!("Requests that may have booked and could not be read: {keys}"));
        }
        if !taken.lost_bookings.is_empty() {
            let ids = taken.lost_bookings.join(" ");
            page.line(format!(
                "Bookings that could not be read; to see them at the service: bookctl show {ids}"
            ));
        }
    }
}

#[derive(Serialize)]
struct InitView {
    place: String,
    made: bool,
    version: i64,
    schema: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    search_not_indexed: Option<String>,
}

impl Draw for InitView {
    fn draw(&self, page: &mut Page) {
        let already = if self.made { "" } else { " already" };
        let (place, schema) = (&self.place, &self.schema);
        page.line(format!("The journal at {place} is prepared{already}, in schema {schema}."));
        if let Some(why) = &self.search_not_indexed {
            page.line(format!("Searches have no index, because the server {why}."));
        }
    }
}

impl Draw for Copied {
    fn draw(&self, page: &mut Page) {
        let (attempts, bookings) = (self.attempts, self.bookings);
        page.line(format!("Copied {attempts} attempts and {bookings} bookings."));
        for key in &self.refused {
            page.line(format!(
                "Left out {key}: the shared journal has another request under this key."
            ));
        }
    }
}
