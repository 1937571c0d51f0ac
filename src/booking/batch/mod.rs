//! `batch`: makes many bookings, and writes one line for each.

pub(crate) mod keys;
pub(crate) mod request;
pub(crate) mod rows;
pub(crate) mod run;

use std::collections::HashSet;
use std::io::ErrorKind;

use serde_json::json;

use crate::app::Context;
use crate::booking::arguments::{JournalFlags, Wait};
use crate::booking::attempts::open_attempts;
use crate::booking::finish::request_view;
use crate::config::Target;
use crate::json::{Document, plain};
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::{Source, read_marked_text, without_mark};
use crate::platform::shell;
use crate::service::client::{BookingRequest, create_call};
use crate::service::time::document_time::as_text;
use crate::service::time::text::{human, local};
use crate::terminal::output::{DocumentView, Page, TableCell, Tone, View as _, cut};
use crate::terminal::view::tone_of;
use keys::KeyedRow;
use request::with_slot;
use run::{BatchRun, RowResult};

/// The largest batch that is read, in bytes. It is read as a whole, so that a mistake in the last row is found before
/// the first is sent.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The width of a guest's name on a terminal, so that a result has one line.
const GUEST: usize = 18;

/// Book every row of a JSON lines or CSV file
///
/// bookctl keeps to the service's rate limits. If a batch stops, start it again: it books nothing twice.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl batch friday.csv\n  \
    bookctl batch friday.csv --results\n  \
    export-rows | bookctl batch - --name friday --json\n\n\
    A row as a JSON line; CSV has the same names as columns, e.g. customer.name:\n  \
    {\"venue_id\": \"ven_confirms\", \"datetime\": \"2030-12-01T19:30:00Z\", \"party_size\": 2, \
    \"customer\": {\"name\": \"Ada Lovelace\"}}\n  \
    Optional: provider, availability_id, end_user, payment_collection, idempotency_key.")]
pub(crate) struct Args {
    /// File of rows; `-` reads standard input
    #[arg(value_name = "FILE", value_parser = Source::parse)]
    rows: Source,
    /// Name the batch [default: the file's content]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    wait: Wait,
    /// Retry rows whose booking failed in an earlier run
    #[arg(long)]
    retry_failed: bool,
    /// Show the results of the rows so far, and book nothing
    #[arg(long, conflicts_with_all = ["retry_failed", "dry_run", "wait"])]
    results: bool,
    /// Book equal rows, each of them once
    #[arg(long)]
    equal_rows: bool,
    /// Show the requests and book nothing
    #[arg(long)]
    dry_run: bool,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    journal: JournalFlags,
}

pub(crate) async fn run(context: &Context, args: Args) -> Result<Exit> {
    if !args.dry_run {
        context.connect_ahead();
    }
    let from = args.rows.clone();
    let name = args.name.as_deref();
    if from == Source::Stdin && name.is_none() {
        return Err(Error::usage("a batch from standard input needs a name")
            .hint("pass --name NAME; with the same name you can continue the batch later"));
    }
    // An unset variable in a script would make one batch of all its batches.
    if name.is_some_and(|name| name.trim().is_empty()) {
        return Err(Error::usage("--name is blank")
            .hint("pass a name, or leave out --name to identify the batch by its content"));
    }
    let file_name = from.name();
    // With a mark, because the keys of the rows come from the whole text.
    let marked = read(from).await?;
    let local_times = context.adapter().local_times;
    let rows = rows::read_rows(&file_name, without_mark(&marked), local_times)?;
    keys::refuse_twins(&rows, args.equal_rows || args.results)?;
    let embedded = matches!(context.target(), Target::Embedded { .. });
    let rows = keys::keyed(rows, name, &marked, embedded);
    if args.dry_run {
        return show_requests(context, &rows).await;
    }
    args.journal.apply(context)?;
    let digits = rows.len().to_string().len();
    let emit = |result: &RowResult<'_>| {
        let line = DocumentView(result_document(result), |_| result_page(result, digits));
        context.out.emit_line(&line)
    };
    if args.results {
        let mut exit = Exit::Done;
        for row in &rows {
            let result = run::known_result(context, row)?;
            if result.exit() != Exit::Done {
                exit = Exit::PartialBatch;
            }
            emit(&result)?;
        }
        return Ok(exit);
    }
    context.before_change()?;
    let mine: HashSet<String> = rows.iter().flat_map(KeyedRow::keys).collect();
    open_attempts::warn_of_open_attempts(context, &mine).await?;
    let run = BatchRun {
        context,
        rows: &rows,
        wait: args.wait.longest,
        retry_failed: args.retry_failed,
        equal_rows: args.equal_rows,
        again: again(context, &args),
    };
    run.ask_about_same_guests(&mine, args.yes).await?;
    let exit = run.run(emit).await?;
    if exit == Exit::PartialBatch && name.is_none() {
        context.out.note(
            "A changed file is another batch, which books all of its rows. To correct rows that were rejected, put them alone into a \
             new file; for rows whose result is unknown, run this file again.",
        );
    }
    Ok(exit)
}

/// How to continue the batch: the command that starts it again.
fn again(context: &Context, args: &Args) -> String {
    let (from, how) = match &args.rows {
        Source::Stdin => ("-".to_owned(), ", send the same rows to"),
        Source::File(path) => (shell::word(&path.to_string_lossy()), ""),
    };
    let mut words = vec!["bookctl batch".to_owned(), from];
    words.extend(args.name.as_ref().map(|name| shell::flag("--name", name)));
    let wait = args.wait.longest;
    words.extend(wait.map(|wait| format!("--wait={}s", wait.as_secs())));
    words.extend(args.retry_failed.then(|| "--retry-failed".to_owned()));
    words.extend(args.equal_rows.then(|| "--equal-rows".to_owned()));
    let profile = context.target().profile();
    words.extend(profile.map(|profile| shell::flag("--profile", profile)));
    let command = words.join(" ");
    format!("to continue without booking anything twice{how}: {command}")
}

async fn read(from: Source) -> Result<String> {
    let name = from.name();
    read_marked_text(from, LARGEST).await.map_err(|error| {
        let is_encoding = error.kind() == ErrorKind::InvalidData;
        let error = Error::unreadable(&name, error);
        if is_encoding {
            return error.hint("save it as UTF-8; spreadsheets call that format \"CSV UTF-8\"");
        }
        error
    })
}

/// The output of `--dry-run`: each row's request on a line, with the slot that the venue offers now. The first row that would be
/// rejected ends it, as the command would reject it.
async fn show_requests(context: &Context, rows: &[KeyedRow]) -> Result<Exit> {
    context.wait_for_rate_limits();
    for keyed in rows {
        let asked = with_slot(context, &keyed.row.body).await.map_err(|mut error| {
            error.message = format!("row {}: {}", keyed.row.number, error.message);
            error
        })?;
        let request = BookingRequest::new(context.adapter(), asked, &serde_json::Map::new())?;
        let request = request_view(context, create_call(request.body, &keyed.key(0)));
        let number = keyed.row.number;
        let mut line = json!({ "row": number });
        for (name, value) in request.json().value().as_object().into_iter().flatten() {
            line[name] = value.clone();
        }
        let body = TableCell::from(line["body"].to_string());
        let page = |_: &Document| {
            let mut page = Page::default();
            page.columns(vec![(number.to_string().into(), 4), (body.clone(), 0)]);
            page
        };
        context.out.emit_line(&DocumentView(line.into(), page))?;
    }
    Ok(Exit::Done)
}

/// The result line of a row for a script. The booking is the service's own text, byte for byte.
fn result_document(result: &RowResult<'_>) -> Document {
    let (name, outcome) = match &result.outcome {
        Ok(booking) => ("booking", booking.document.clone()),
        Err(error) => ("error", error.to_json()["error"].take().into()),
    };
    let key = result.keyed.key(result.retry);
    Document::object(&[
        ("row", &json!(result.keyed.row.number).into()),
        ("idempotency_key", &json!(key).into()),
        ("exit_code", &json!(result.exit().code()).into()),
        (name, &outcome),
    ])
}

/// The result line of a row for a person. `digits` is the width of the row numbers.
fn result_page(result: &RowResult<'_>, digits: usize) -> Page {
    let number = TableCell::from(result.keyed.row.number.to_string());
    let guest = result.keyed.row.guest();
    let guest = TableCell::from(guest.as_str()).in_short(Some(cut(&guest, GUEST)));
    let (state, rest) = match &result.outcome {
        Ok(booking) => {
            let field = |name: &str| booking.value().get(name);
            let status = booking.status();
            let venue = booking.str("venue_name").or(booking.str("venue_id"));
            let time = field("datetime").map(as_text).unwrap_or_default();
            let error_code = field("error_code").map(plain).unwrap_or_default();
            // On a terminal a row has one line: with its time, or why it failed.
            let short = match error_code.as_str() {
                "" => local(&time),
                code => Some(code.to_owned()),
            };
            let rest = vec![
                TableCell::from(booking.id()),
                TableCell::from(error_code).in_short(Some(String::new())),
                TableCell::from(human(&time)).in_short(short),
                TableCell::from(venue.unwrap_or_default()).in_short(Some(String::new())),
            ];
            (TableCell::toned(status.as_str(), tone_of(&status)), rest)
        }
        Err(error) => {
            let code = TableCell::toned(error.code.to_string(), Tone::Bad);
            (code, vec![TableCell::from(error.message.as_str())])
        }
    };
    let mut cells = vec![(number, digits), (state, 15), (guest, GUEST)];
    cells.extend(rest.into_iter().map(|cell| (cell, 0)));
    let mut page = Page::default();
    page.columns(cells);
    page
}
