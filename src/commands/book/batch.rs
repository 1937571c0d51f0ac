//! `book --from`: makes many bookings, and writes one line for each.

use std::collections::HashSet;
use std::io::ErrorKind;

use serde_json::{Value, json};

use super::JournalFlags;
use crate::app::Context;
use crate::client::create_call;
use crate::config::Target;
use crate::flows::{
    BatchFormat, BatchIdentity, BatchOptions, KeyedRow, RowResult, ask_about_same_guests, keyed,
    known_result, read_rows, refuse_equal_rows, run_batch, warn_of_open_attempts,
};
use crate::json::{Document, plain};
use crate::model::document_time::as_text;
use crate::model::shell;
use crate::model::time_text::{human, local};
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::{Source, read_marked_text, without_mark};
use crate::terminal::output::{Page, TableCell, Tone, View, cut};
use crate::terminal::view::{RequestView, tone_of};

/// The largest batch that is read, in bytes. It is read as a whole, so that a mistake in the last row is found before
/// the first is sent.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The width of a guest's name on a terminal, so that a result has one line.
const GUEST: usize = 18;

pub(super) struct Batch {
    pub(super) from: Source,
    pub(super) name: Option<String>,
    pub(super) manner: BatchOptions,
    pub(super) dry_run: bool,
    pub(super) goes_ahead: bool,
    /// Only shows what is known.
    pub(super) results: bool,
    pub(super) journal_flags: JournalFlags,
}

pub(super) async fn run(context: &Context, batch: Batch) -> Result<Exit> {
    if batch.from == Source::Stdin && batch.name.is_none() {
        return Err(Error::usage("a batch from standard input needs a name")
            .hint("pass --batch NAME; with the same name you can continue the batch later"));
    }
    // An unset variable in a script would make one batch of all its batches.
    if batch
        .name
        .as_deref()
        .is_some_and(|name| name.trim().is_empty())
    {
        return Err(Error::usage("--batch is blank")
            .hint("pass a name, or leave out --batch to identify the batch by its content"));
    }
    let again = again(context, &batch);
    let file_name = batch.from.name();
    let marked = read(batch.from).await?;
    let text = without_mark(&marked);
    let format = BatchFormat::of(&file_name, text);
    let rows = read_rows(text, format, context.adapter().local_times)?;
    if !batch.manner.equal_rows && !batch.results {
        refuse_equal_rows(&rows)?;
    }
    let identity = match batch.name {
        Some(name) => BatchIdentity::Name(name),
        None => BatchIdentity::of_content(&marked),
    };
    let is_named = matches!(identity, BatchIdentity::Name(_));
    let embedded = matches!(context.target(), Target::Embedded { .. });
    let rows = keyed(rows, &identity, embedded);
    if batch.dry_run {
        return show(context, &rows);
    }
    batch.journal_flags.apply(context)?;
    if batch.results {
        return show_results(context, &rows);
    }
    context.before_change()?;
    let mine: HashSet<String> = rows.iter().flat_map(KeyedRow::keys).collect();
    let open = warn_of_open_attempts(context, &mine).await?.open;
    ask_about_same_guests(context, &rows, &mine, batch.goes_ahead).await?;
    let digits = rows.len().to_string().len();
    let exit = run_batch(context, rows, batch.manner, &open, &again, |result| {
        context.out.emit_next(&ResultLine { result, digits })
    })
    .await?;
    if exit == Exit::PartialBatch && !is_named {
        context.out.note(
            "A changed file is another batch, which books all of its rows. To correct rows that were refused, put them alone into a \
             new file; for rows whose result is unknown, run this file again.",
        );
    }
    Ok(exit)
}

/// The output of `--results`: what the journal knows of each row, whoever booked it.
fn show_results(context: &Context, rows: &[KeyedRow]) -> Result<Exit> {
    let digits = rows.len().to_string().len();
    let mut exit = Exit::Done;
    for row in rows {
        let result = known_result(context, row)?;
        if result.exit() != Exit::Done {
            exit = Exit::PartialBatch;
        }
        let result = &result;
        context.out.emit_next(&ResultLine { result, digits })?;
    }
    Ok(exit)
}

/// How to continue the batch: the command that starts it again.
fn again(context: &Context, batch: &Batch) -> String {
    let (how, from) = match &batch.from {
        Source::Stdin => (
            "to continue without booking anything twice, send the same rows to",
            "-".into(),
        ),
        Source::File(path) => (
            "to continue without booking anything twice",
            path.to_string_lossy(),
        ),
    };
    let mut command = format!("bookctl book --from {}", shell::word(&from));
    if let Some(name) = &batch.name {
        command.push_str(&format!(" --batch {}", shell::word(name)));
    }
    if let Some(wait) = batch.manner.wait {
        command.push_str(&format!(" --wait={}s", wait.as_secs()));
    }
    if batch.manner.retry_failed {
        command.push_str(" --retry-failed");
    }
    if batch.manner.equal_rows {
        command.push_str(" --equal-rows");
    }
    if let Some(profile) = context.target().profile() {
        command.push_str(&format!(" --profile {}", shell::word(profile)));
    }
    format!("{how}: {command}")
}

async fn read(from: Source) -> Result<String> {
    let name = from.name();
    // With a mark, because the keys of the rows come from the whole text.
    let text = read_marked_text(from, LARGEST).await.and_then(|text| {
        let is_text = !text.contains('\0');
        is_text
            .then_some(text)
            .ok_or_else(|| std::io::Error::new(ErrorKind::InvalidData, "it contains NUL bytes"))
    });
    text.map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::FileTooLarge => Some("split it"),
            ErrorKind::InvalidData => {
                Some("save it as UTF-8; spreadsheets call that format \"CSV UTF-8\"")
            }
            _ => None,
        };
        let error = Error::unreadable(&name, error);
        match hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    })
}

/// The output of `--dry-run`: each row's request on a line, before its slot is looked up. A file may have more rows than
/// the service permits reads.
fn show(context: &Context, rows: &[KeyedRow]) -> Result<Exit> {
    if rows
        .iter()
        .any(|it| it.row.body.get("availability_id").is_none())
    {
        context.out.warn(
            "the slot of a row without availability_id is looked up when the row is booked; its request does not show it",
        );
    }
    for keyed in rows {
        let call = create_call(keyed.row.request(context.adapter())?.body, &keyed.key(0));
        let request = RequestView::masked(
            call,
            context.adapter(),
            context.has_key(),
            context.base_path(),
        );
        context.out.emit_line(&RowRequest {
            row: keyed.row.number,
            request: request.value(),
        })?;
    }
    Ok(Exit::Done)
}

struct RowRequest {
    row: usize,
    request: Value,
}

impl View for RowRequest {
    fn json(&self) -> Document {
        let mut document = json!({ "row": self.row });
        if let (Some(document), Some(request)) =
            (document.as_object_mut(), self.request.as_object())
        {
            document.extend(request.clone());
        }
        document.into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let body = self.request.get("body").map(Value::to_string);
        page.columns(vec![
            (TableCell::from(self.row.to_string()), 4),
            (TableCell::from(body.unwrap_or_default()), 0),
        ]);
        page
    }
}

struct ResultLine<'a> {
    result: &'a RowResult,
    /// The width of the row numbers.
    digits: usize,
}

impl View for ResultLine<'_> {
    fn json(&self) -> Document {
        let result = self.result;
        let head = json!({
            "row": result.row,
            "idempotency_key": result.idempotency_key,
            "exit_code": result.exit().code(),
        });
        match &result.outcome {
            // The service's own text, byte for byte.
            Ok(booking) => head_with(&head, "booking", booking.document().text()),
            Err(error) => {
                let error = error.to_json().get("error").cloned().unwrap_or_default();
                head_with(&head, "error", &error.to_string())
            }
        }
    }

    fn page(&self) -> Page {
        let (result, digits) = (self.result, self.digits);
        let mut page = Page::default();
        let number = TableCell::from(result.row.to_string());
        let guest = TableCell::from(result.guest.as_str())
            .in_short(Some(cut(&result.guest, GUEST).into_owned()));
        match &result.outcome {
            Ok(booking) => {
                let text = |field: &str| booking.value().get(field).map(plain).unwrap_or_default();
                let status = booking.status();
                let venue = booking.str("venue_name").or(booking.str("venue_id"));
                let datetime = booking.value().get("datetime").map(as_text);
                let (datetime, error_code) = (datetime.unwrap_or_default(), text("error_code"));
                let when = TableCell::from(human(&datetime)).in_short(local(&datetime));
                page.row(vec![
                    (number, digits),
                    (TableCell::toned(status.as_str(), tone_of(&status)), 15),
                    (guest, GUEST),
                    (TableCell::from(booking.id()), 0),
                    (TableCell::from(error_code), 0),
                    (when, 0),
                    (TableCell::from(venue.unwrap_or_default()), 0),
                ])
            }
            Err(error) => page.row(vec![
                (number, digits),
                (TableCell::toned(error.code.to_string(), Tone::Bad), 15),
                (guest, GUEST),
                (TableCell::from(error.message.as_str()), 0),
            ]),
        };
        page
    }
}

/// `head` with `text` as an additional last member.
fn head_with(head: &Value, member: &str, text: &str) -> Document {
    let head = head.to_string();
    let open = head.trim_end_matches('}');
    let whole = format!("{open},\"{member}\":{text}}}");
    Document::parse(whole).unwrap_or_else(|_| Value::Null.into())
}
