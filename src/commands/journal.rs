use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::app::Context;
use crate::journal::{Copied, JournalState, Prepared, copy, prepare};
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Page, View};

/// Show where bookings are recorded, and share it with a team
///
/// The journal is a file of this computer. Set BOOKCTL_JOURNAL, or `journal` of a profile, to a postgresql:// URL to
/// share it with other computers: bookings, attempts and rate limits are then those of the team.
#[derive(clap::Subcommand, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl journal status\n  \
    BOOKCTL_JOURNAL=postgresql://bookings@db.internal/bookctl bookctl journal init\n  \
    bookctl journal copy --from ~/.local/state/bookctl/journal.db")]
pub(crate) enum Command {
    /// Show where the journal is, what is in it, and how fast it answers
    #[command(after_help = "Examples:\n  bookctl journal status --json")]
    Status,
    /// Prepare a shared journal: make its tables
    ///
    /// Needs the right to create tables. Other commands do not. To run it again changes nothing.
    #[command(after_help = "Examples:\n  \
        BOOKCTL_JOURNAL=postgresql://owner@db.internal/bookctl bookctl journal init")]
    Init,
    /// Copy a local journal into the shared one
    ///
    /// What is there already stays, so it can be run again.
    #[command(after_help = "Examples:\n  \
        bookctl journal copy --from ~/.local/state/bookctl/journal.db")]
    Copy {
        /// The file to copy from
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
    },
}

pub(super) fn run(context: &Context, command: Command) -> Result<Exit> {
    match command {
        Command::Status => status(context),
        Command::Init => init(context),
        Command::Copy { from } => {
            shared(context)?;
            let mut journal = context.journal()?;
            context.out.emit(&CopyView(copy(&from, &mut journal)?))?;
            Ok(Exit::Done)
        }
    }
}

fn status(context: &Context) -> Result<Exit> {
    let file = context.journal_file().display().to_string();
    let view = if context.has_journal() {
        let shared = context.target().journal();
        let journal = context.journal()?;
        let began = Instant::now();
        let _ = journal.rate_limit("")?;
        let latency = began.elapsed();
        StatusView {
            place: shared.map_or(file, |shared| shared.address.to_string()),
            state: Some((journal.state()?, latency)),
        }
    } else {
        StatusView {
            place: file,
            state: None,
        }
    };
    context.out.emit(&view)?;
    Ok(Exit::Done)
}

fn init(context: &Context) -> Result<Exit> {
    let place = shared(context)?;
    let database = context.shared_journal()?;
    let database = database.ok_or_else(|| Error::journal("the journal is not shared"))?;
    let prepared = prepare(database)?;
    // Opened as every other command opens it.
    let state = context.journal()?.state()?;
    context.out.emit(&InitView {
        place,
        prepared,
        state,
    })?;
    Ok(Exit::Done)
}

fn shared(context: &Context) -> Result<String> {
    let shared = context.target().journal().ok_or_else(|| {
        Error::config("the journal is a file of this computer, which needs no preparation").hint(
            "to share one, set BOOKCTL_JOURNAL=postgresql://USER@HOST/DATABASE, or `bookctl profile set NAME journal=URL`",
        )
    })?;
    Ok(shared.address.to_string())
}

struct StatusView {
    place: String,
    state: Option<(JournalState, Duration)>,
}

impl View for StatusView {
    fn json(&self) -> Document {
        let Some((state, latency)) = &self.state else {
            return json!({"kind": "file", "place": self.place, "exists": false}).into();
        };
        let mut document = json!({
            "kind": state.kind,
            "place": self.place,
            "exists": true,
            "version": state.version,
            "attempts": state.attempts,
            "bookings": state.bookings,
            "open_attempts": state.open_attempts,
            "oldest_open_at": state.oldest_open_at,
            "latency_ms": (latency.as_secs_f64() * 100_000.0).round() / 100.0,
        });
        if let Some(is_indexed) = state.search_is_indexed {
            document["search_indexed"] = json!(is_indexed);
        }
        document.into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.field("journal", &self.place);
        let Some((state, latency)) = &self.state else {
            page.line("None yet. The first booking request creates it.");
            return page;
        };
        page.field("kind", state.kind);
        page.field("version", state.version.to_string());
        page.field("attempts", state.attempts.to_string());
        page.field("bookings", state.bookings.to_string());
        let open = match &state.oldest_open_at {
            None => "none".to_owned(),
            Some(oldest) => format!("{}, the oldest of {oldest}", state.open_attempts),
        };
        page.field("open attempts", &open);
        page.field(
            "latency",
            format!("{:.1} ms", latency.as_secs_f64() * 1000.0),
        );
        if let Some(is_indexed) = state.search_is_indexed {
            page.field(
                "searches",
                if is_indexed {
                    "with an index"
                } else {
                    "without an index; to make it: bookctl journal init"
                },
            );
        }
        page
    }
}

struct InitView {
    place: String,
    prepared: Prepared,
    state: JournalState,
}

impl View for InitView {
    fn json(&self) -> Document {
        let mut document = json!({
            "place": self.place,
            "made": self.prepared.is_new,
            "version": self.state.version,
            "search_indexed": self.state.search_is_indexed,
        });
        if let Some(why) = &self.prepared.not_indexed {
            document["search_not_indexed"] = json!(why);
        }
        document.into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let already = if self.prepared.is_new { "" } else { " already" };
        page.line(format!(
            "The journal at {} is prepared{already}.",
            self.place
        ));
        if let Some(why) = &self.prepared.not_indexed {
            page.line(format!("Searches have no index, because the server {why}."));
        }
        page
    }
}

struct CopyView(Copied);

impl View for CopyView {
    fn json(&self) -> Document {
        let Copied {
            attempts,
            bookings,
            refused,
        } = &self.0;
        json!({"attempts": attempts, "bookings": bookings, "refused": refused}).into()
    }

    fn page(&self) -> Page {
        let Copied {
            attempts,
            bookings,
            refused,
        } = &self.0;
        let mut page = Page::default();
        page.line(format!(
            "Copied {attempts} attempts and {bookings} bookings."
        ));
        for key in refused {
            page.line(format!(
                "Left out {key}: the shared journal has another request under this key."
            ));
        }
        page
    }
}
