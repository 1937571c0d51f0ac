//! `batch`: makes many bookings, and writes one line for each.

pub(crate) mod keys;
pub(crate) mod replaced;
pub(crate) mod request;
pub(crate) mod results;
pub(crate) mod rows;
pub(crate) mod run;

use std::cell::Cell;
use std::collections::HashSet;
use std::io::ErrorKind;

use serde_json::json;

use crate::app::{Facts, Parts};
use crate::booking::arguments::{JournalFlags, Wait, Zone};
use crate::booking::attempts::open_attempts;
use crate::booking::finish::request_view;
use crate::journal::RowLine;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::{Source, read_text};
use crate::platform::shell;
use crate::service::client::{BookingRequest, create_call};
use crate::service::documents::{Booking, FieldValue, Status};
use crate::service::time::moment::local_text;
use crate::terminal::output::{DocumentView, Page, TableCell, Tone, View as _, cut};
use crate::terminal::view::tone_of;
use keys::KeyedRow;
use replaced::Replaced;
use request::with_slot;
use run::BatchRun;

/// The largest batch that is read, in bytes. It is read as a whole, so that a mistake in the last
/// row is found before the first is sent.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The width of a guest's name on a terminal, so that a result has one line.
const GUEST: usize = 18;

/// Book every row of a JSON lines or CSV file
///
/// bookctl keeps to the service's rate limits. If a batch stops, start it again: rows already booked
/// are not booked again, also after you correct others.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl batch friday.csv\n  \
    bookctl batch friday.csv --results\n  \
    export-rows | bookctl batch - --json\n\n\
    A row as a JSON line; CSV has the same names as columns, e.g. customer.name:\n  \
    {\"venue_id\": \"ven_confirms\", \"datetime\": \"2030-12-01T19:30:00Z\", \"party_size\": 2, \
    \"customer\": {\"name\": \"Ada Lovelace\"}}\n  \
    Optional: provider, availability_id, end_user, payment_collection, idempotency_key.")]
pub(crate) struct Args {
    /// File of rows; `-` reads standard input
    #[arg(value_name = "FILE", value_parser = Source::parse)]
    rows: Source,
    /// Name the batch; its rows are booked apart from other batches
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    zone: Zone,
    /// Leave out these columns
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    ignore_columns: Vec<String>,
    #[command(flatten)]
    wait: Wait,
    /// Retry rows whose booking failed in an earlier run
    #[arg(long)]
    retry_failed: bool,
    /// Show the results of the rows so far, and book nothing
    #[arg(long, conflicts_with_all = ["retry_failed", "dry_run", "wait"])]
    results: bool,
    /// Allow identical rows, and book each one
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

pub(crate) async fn run(parts @ Parts { api, records, .. }: &Parts, args: Args) -> Result<Exit> {
    if !args.dry_run {
        records.connect_ahead();
    }
    let from = args.rows.clone();
    let name = args.name.as_deref();
    // An unset variable in a script would make one batch of all its batches.
    if name.is_some_and(|name| name.trim().is_empty()) {
        return Err(Error::usage("--name is blank").hint("pass a name, or leave out --name"));
    }
    if parts.settings.stdin_is_terminal && matches!(from, Source::Stdin) {
        let what = "standard input is a terminal; nothing was sent";
        return Err(Error::usage(what).hint("pass a file, or pipe the rows"));
    }
    let file_name = from.name();
    let text = read(from).await?;
    let mut rows = rows::read_rows(&file_name, &text, &args.ignore_columns)?;
    api.wait_for_rate_limits();
    request::set_moments(api, records, &mut rows, args.zone.tz.as_ref(), !args.results).await?;
    keys::refuse_twins(&rows, args.equal_rows || args.results)?;
    let rows = keys::keyed(rows, name, &api.facts.target().address());
    if args.dry_run {
        return show_requests(parts, &rows).await;
    }
    args.journal.apply(records)?;
    let digits = rows.len().to_string().len();
    let emit = |keyed: &KeyedRow, line: &RowLine| {
        let document = result_document(keyed, line);
        let page = |_: &Document| result_page(&api.facts, keyed, line, digits);
        parts.ui.out.emit_line(&DocumentView(document, page))
    };
    let batch = batch_id(&args);
    let known = records.journal()?.batch(&batch)?;
    if args.results {
        let mut failed = NotConfirmed::default();
        for keyed in &rows {
            let line = results::known_line(parts, &known, keyed)?;
            if line.exit != Exit::Done {
                failed.add(keyed, line.error.as_ref().and_then(|error| error.str("hint")));
            }
            emit(keyed, &line)?;
        }
        let exit = known.exit.filter(|exit| *exit != Exit::Done).unwrap_or(Exit::PartialBatch);
        return match failed.rows[..] {
            [] => Ok(Exit::Done),
            _ => Err(failed.into_error(rows.len()).exiting(exit)),
        };
    }
    api.facts.before_change()?;
    let mine: HashSet<String> = rows.iter().flat_map(KeyedRow::keys).collect();
    open_attempts::warn_of_open_attempts(parts, &mine).await?;
    let lists_all_rows = name.is_some() || !matches!(args.rows, Source::Stdin);
    let first: HashSet<&str> = rows.iter().map(|keyed| keyed.first.as_str()).collect();
    let journal = records.journal()?;
    let replaced = Replaced::find(parts, &known, &first)?;
    if lists_all_rows {
        replaced.warn_of_removed(records, &parts.ui, &rows, false)?;
    }
    let mut run = BatchRun {
        parts,
        rows: &rows,
        args: &args,
        again: again(&api.facts, &args),
        batch: &batch,
        lists_all_rows,
        record: &known,
        replaced,
        origin: Cell::default(),
    };
    run.ask_about_same_guests(&mine, args.yes).await?;
    // What an earlier start has sent by now; it sends no more of the rows that are gone.
    let record = journal.begin_batch(&batch, &first)?;
    run.replaced = Replaced::find(parts, &record, &first)?;
    run.record = &record;
    let ended = run.run(emit).await;
    let exit = ended.as_ref().map_or_else(|error| error.exit, |exit| *exit);
    let _ = journal.end_batch(&batch, exit, &run.replaced.over);
    ended
}

/// The rows that did not end confirmed, and what to do about the first that says so.
#[derive(Default)]
struct NotConfirmed {
    rows: Vec<usize>,
    hint: Option<String>,
}

impl NotConfirmed {
    fn add(&mut self, keyed: &KeyedRow, hint: Option<&str>) {
        let number = keyed.row.number;
        self.rows.push(number);
        self.hint = self.hint.take().or(hint.map(|hint| format!("row {number}: {hint}")));
    }

    /// `2 of 4 rows not confirmed (rows 2-3)`
    fn into_error(self, total: usize) -> Error {
        let (count, rows) = (self.rows.len(), rows::ranges(&self.rows));
        let s = if count == 1 { "" } else { "s" };
        let why = format!("{count} of {total} rows not confirmed (row{s} {rows})");
        let mut error = Error::partly_failed(count, total, why);
        error.hint = self.hint;
        error
    }
}

/// What the journal calls a batch: its name, or the path of its file.
fn batch_id(args: &Args) -> String {
    match (&args.name, &args.rows) {
        (Some(name), _) => format!("name {name}"),
        (None, Source::Stdin) => "file -".to_owned(),
        (None, Source::File(path)) => {
            format!("file {}", path.canonicalize().unwrap_or_else(|_| path.clone()).display())
        }
    }
}

/// How to continue the batch: the command that starts it again.
fn again(facts: &Facts, args: &Args) -> String {
    let (from, how) = match &args.rows {
        Source::Stdin => ("-".to_owned(), ", send the same rows to"),
        Source::File(path) => (shell::word(&path.to_string_lossy()), ""),
    };
    let mut words = vec!["bookctl batch".to_owned(), from];
    words.extend(args.name.as_ref().map(|name| shell::flag("--name", name)));
    let zone = args.zone.tz.as_ref().and_then(|zone| zone.iana_name());
    words.extend(zone.map(|zone| shell::flag("--tz", zone)));
    let ignored = Some(args.ignore_columns.join(",")).filter(|it| !it.is_empty());
    words.extend(ignored.map(|ignored| shell::flag("--ignore-columns", &ignored)));
    let wait = args.wait.longest;
    words.extend(wait.map(|wait| format!("--wait={}s", wait.as_secs())));
    words.extend(args.retry_failed.then(|| "--retry-failed".to_owned()));
    words.extend(args.equal_rows.then(|| "--equal-rows".to_owned()));
    let profile = facts.target().profile();
    words.extend(profile.map(|profile| shell::flag("--profile", profile)));
    let command = words.join(" ");
    format!("to continue without booking anything twice{how}: {command}")
}

async fn read(from: Source) -> Result<String> {
    let name = from.name();
    read_text(from, LARGEST).await.map_err(|error| {
        let is_encoding = error.kind() == ErrorKind::InvalidData;
        let error = Error::unreadable(&name, error);
        if is_encoding {
            return error.hint("save it as UTF-8; spreadsheets call that format \"CSV UTF-8\"");
        }
        error
    })
}

/// The output of `--dry-run`: each row's request on a line, with the slot that the venue offers
/// now. The first row that would be rejected ends it, as the command would reject it.
async fn show_requests(parts @ Parts { api, ui, .. }: &Parts, rows: &[KeyedRow]) -> Result<Exit> {
    api.wait_for_rate_limits();
    for keyed in rows {
        let requested = with_slot(api, &parts.records, &keyed.row).await.map_err(|mut error| {
            error.message = format!("row {}: {}", keyed.row.number, error.message);
            error
        })?;
        let request = BookingRequest::new(api.facts.mapping(), requested, &serde_json::Map::new())?;
        let request = request_view(&api.facts, create_call(request.body, &keyed.key(0)));
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
        ui.out.emit_line(&DocumentView(line.into(), page))?;
    }
    Ok(Exit::Done)
}

/// The result line of a row for a script.
fn result_document(keyed: &KeyedRow, line: &RowLine) -> Document {
    let (number, key) = (json!(keyed.row.number).into(), json!(line.idempotency_key).into());
    let (exit, hint) = (json!(line.exit.code()).into(), json!(ONLY_WITH_A_KEY).into());
    let mut members = vec![("row", &number), ("idempotency_key", &key), ("exit_code", &exit)];
    members.extend(line.booking.as_ref().map(|booking| ("booking", booking)));
    members.extend(line.error.as_ref().map(|error| ("error", error)));
    members.extend(is_cancelled(line).then_some(("hint", &hint)));
    Document::object(&members)
}

const ONLY_WITH_A_KEY: &str = "to book it again, give the row an idempotency_key";

fn is_cancelled(line: &RowLine) -> bool {
    let status = line.booking.as_ref().and_then(|it| it.str("status"));
    line.error.is_none() && status.is_some_and(|it| Status::parse(it) == Status::Cancelled)
}

/// The result line of a row for a person. `digits` is the width of the row numbers.
fn result_page(facts: &Facts, keyed: &KeyedRow, line: &RowLine, digits: usize) -> Page {
    let number = TableCell::from(keyed.row.number.to_string());
    let guest = keyed.row.wish().guest().unwrap_or_default();
    let guest = TableCell::from(guest.as_str()).in_short(Some(cut(&guest, GUEST)));
    let text = |field| line.error.as_ref().and_then(|it| it.str(field)).unwrap_or_default();
    let booking = line.booking.clone().filter(|_| line.error.is_none());
    // The journal's document is in the contract's shape, which an expression does not read.
    let booking = booking.and_then(|it| {
        let read = facts.mapping().booking(it.clone(), true).ok().map(|it| it.item);
        let read = read.filter(|it| !matches!(it.time, FieldValue::Absent));
        read.or_else(|| Booking::from_document(it))
    });
    let (state, rest) = match booking {
        Some(booking) => {
            let status = booking.status();
            let venue = booking.str("venue_name").or(booking.str("venue_id"));
            let time = match &booking.time {
                FieldValue::NotUnderstood(text) => text.clone(),
                time => time.read().map(|it| it.rfc3339()).unwrap_or_default(),
            };
            let error_code = booking.str("error_code").unwrap_or_default();
            // On a terminal a row has one line: with its time, or why it failed.
            let short = match error_code {
                "" => booking.time.read().and_then(|it| it.local_in(None)).map(local_text),
                code => Some(code.to_owned()),
            };
            let mut rest = vec![
                TableCell::from(booking.id()),
                TableCell::from(error_code).in_short(Some(String::new())),
                TableCell::from(time).in_short(short),
                TableCell::from(venue.unwrap_or_default()).in_short(Some(String::new())),
            ];
            rest.extend(is_cancelled(line).then(|| TableCell::from(ONLY_WITH_A_KEY)));
            let word = Some(status.word().to_owned());
            (TableCell::toned(status.as_str(), tone_of(&status)).in_short(word), rest)
        }
        None => (TableCell::toned(text("code"), Tone::Bad), vec![TableCell::from(text("message"))]),
    };
    let mut cells = vec![(number, digits), (state, 15), (guest, GUEST)];
    cells.extend(rest.into_iter().map(|cell| (cell, 0)));
    let mut page = Page::default();
    page.columns(cells);
    page
}
