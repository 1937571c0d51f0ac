//! Books many rows at the pace that the service's rate limits allow, each row once, even if the batch is started again
//! or on another machine.

mod earlier;
mod fields;
mod keys;
mod known;
mod problem;
mod request;
mod rows;
mod share;
mod spreadsheet;
mod unique_keys;

use std::collections::HashSet;
use std::time::Duration;

use super::create::{CreatedBooking, make};
use super::repeated::refuse_to_repeat_row;
use super::same_guest::{Booked, ask_about};
use super::wait::wait_while_processing;
use crate::app::Context;
use crate::app::in_flight::BatchProgress;
use crate::journal::{Attempt, KeyOrigin, LiveBooking};
use crate::model::booking::{Booking, Status};
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::Progress;
use earlier::{EarlierResult, earlier_result};
pub(crate) use fields::is_key;
pub(crate) use keys::{BatchIdentity, KeyedRow, keyed};
pub(crate) use known::known_result;
use request::row_request;
use rows::ranges;
pub(crate) use rows::{BatchFormat, read_rows, refuse_equal_rows};
use share::Share;

/// After so many unknown outcomes in a row the batch stops: the service has a problem.
const UNKNOWN_IN_A_ROW: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchOptions {
    /// How long to wait for each booking that is processing, if at all.
    pub(crate) wait: Option<Duration>,
    /// Give rows whose booking failed in an earlier run a new key.
    pub(crate) retry_failed: bool,
    /// Rows that ask for the same booking are meant.
    pub(crate) equal_rows: bool,
}

pub(crate) struct RowResult {
    pub(crate) row: usize,
    pub(crate) idempotency_key: String,
    pub(crate) guest: String,
    pub(crate) outcome: Result<Booking>,
}

impl RowResult {
    /// The exit code that `book` would have had for this row alone.
    pub(crate) fn exit(&self) -> Exit {
        match &self.outcome {
            Ok(booking) => booking.exit(),
            Err(error) => error.exit,
        }
    }
}

/// Books the rows in order, and passes each result to `told`, which returns whether anybody still reads the results.
///
/// A row that an earlier run booked is not sent again; it is read only if its booking had not ended. A problem that
/// would refuse every row ends the batch, and so do several unknown outcomes in a row and results that nobody reads.
/// The same batch can then be started again.
///
/// A row for which one of the `open` attempts may have booked is not sent, unless it has a key of its own.
///
/// `again` tells a person how to continue a batch that stopped.
///
/// Returns exit code 18 if a row did not end confirmed.
pub(crate) async fn run_batch(
    context: &Context,
    rows: Vec<KeyedRow>,
    options: BatchOptions,
    open: &[Attempt],
    again: &str,
    told: impl Fn(&RowResult) -> Result<bool>,
) -> Result<Exit> {
    context.wait_for_rate_limits();
    let total = rows.len();
    let progress = context.out.progress_of(total);
    let mut failed: Vec<usize> = Vec::new();
    let mut unknown = 0;
    let mut rows = Share::new(context, &rows);
    let mut done = 0;
    while let Some(keyed) = rows.next(&progress).await? {
        if !failed.is_empty() {
            progress.say(&format!("{} not confirmed", failed.len()));
        }
        context
            .batch_progress
            .replace(Some(batch_progress(done, total, again)));
        let result = settle(context, keyed, options, open).await;
        rows.release(keyed);
        let exit = result.exit();
        unknown = if exit == Exit::OutcomeUnknown {
            unknown + 1
        } else {
            0
        };
        let ends_here = match &result.outcome {
            Err(error) => refuses_all(error) || unknown == UNKNOWN_IN_A_ROW,
            Ok(_) => false,
        };
        if !ends_here {
            let done = batch_progress(done + 1, total, again);
            context.batch_progress.replace(Some(done));
        }
        // If the first row fails with an error that every row would get, that error is the whole result.
        if !(ends_here && done == 0) {
            let is_last = done + 1 == total;
            match told(&result) {
                Ok(false) if !is_last => {
                    return Err(stopped(
                        nobody_reads(),
                        done + 1,
                        total,
                        RowState::Done,
                        again,
                    ));
                }
                Err(error) if !is_last => {
                    return Err(stopped(error, done + 1, total, RowState::Done, again));
                }
                told => told?,
            };
        }
        progress.step();
        if exit != Exit::Done {
            failed.push(result.row);
        }
        if let (true, Err(error)) = (ends_here, result.outcome) {
            let state = match done + 1 > failed.len() {
                true => RowState::Refused,
                false => RowState::RefusedFirst,
            };
            return Err(stopped(error, done + 1, total, state, again));
        }
        done += 1;
    }
    context
        .batch_progress
        .replace(Some(batch_progress(total, total, again)));
    finish(context, progress, &failed, total)
}

fn finish(context: &Context, progress: Progress, failed: &[usize], total: usize) -> Result<Exit> {
    drop(progress);
    if failed.is_empty() {
        context.out.note(&match total {
            1 => "1 of 1 rows confirmed.".to_owned(),
            _ => format!("{total} of {total} rows confirmed."),
        });
        return Ok(Exit::Done);
    }
    let count = failed.len();
    context.out.warn(&format!(
        "{count} of {total} rows are not confirmed: {}",
        ranges(failed)
    ));
    Ok(Exit::PartialBatch)
}

fn batch_progress(done: usize, total: usize, again: &str) -> BatchProgress {
    BatchProgress {
        done: format!("{done} of {total} rows done"),
        hint: again.to_owned(),
    }
}

/// Whether the next row would get the same error.
fn refuses_all(error: &Error) -> bool {
    matches!(
        error.exit,
        Exit::Config
            | Exit::Unauthorized
            | Exit::NotAllowed
            | Exit::RateLimited
            | Exit::Network
            | Exit::Unclassified
    )
}

/// Warns of rows whose guests have a booking at the venue on that day already, and asks a person whether they are meant.
/// What was booked under the batch's `own` keys does not count.
///
/// # Errors
///
/// `declined` (17) if the answer is no.
pub(crate) async fn ask_about_same_guests(
    context: &Context,
    rows: &[KeyedRow],
    own: &HashSet<String>,
    goes_ahead: bool,
) -> Result<()> {
    let booked = Booked::at_venues_of(context, rows.iter().map(|keyed| &keyed.row.body))?;
    let same = rows.iter().filter_map(|keyed| {
        let is_own = |live: &LiveBooking| {
            let key = live.idempotency_key.as_ref();
            key.is_some_and(|key| own.contains(key))
        };
        let other = booked.for_guest_of(&keyed.row.body, is_own)?;
        Some((keyed.row.number, other))
    });
    let (numbers, others): (Vec<usize>, Vec<String>) = same.unzip();
    let warning = match (numbers.as_slice(), others.first()) {
        ([only], Some(other)) => format!("row {only}: {other}"),
        ([first, more @ ..], Some(other)) => {
            format!(
                "row {first}: {other}; the same holds for rows {}",
                ranges(more)
            )
        }
        _ => return Ok(()),
    };
    ask_about(context, &warning, "Book these rows as well?", goes_ahead).await
}

/// The reader of the results has gone, and probably whoever started the batch: it does not continue unseen.
fn nobody_reads() -> Error {
    Error::new(Code::Io, "the output was closed")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowState {
    Done,
    /// Refused, after other rows were confirmed.
    Refused,
    /// Refused, and no other row was confirmed.
    RefusedFirst,
}

/// The error of a batch that ended before its last row.
fn stopped(mut error: Error, row: usize, total: usize, state: RowState, again: &str) -> Error {
    let place = match state {
        RowState::Done => "after",
        RowState::Refused | RowState::RefusedFirst => "at",
    };
    error.message = format!(
        "batch stopped {place} row {row} of {total}: {}",
        error.message
    );
    let why = error.hint.take();
    error.hint = Some(match why {
        Some(why) => format!("{why}; then {again}"),
        None => again.to_owned(),
    });
    if state != RowState::RefusedFirst {
        error.exit = Exit::PartialBatch;
    }
    error
}

/// Books one row.
async fn settle(
    context: &Context,
    keyed: &KeyedRow,
    options: BatchOptions,
    open: &[Attempt],
) -> RowResult {
    let mut retry = 0;
    loop {
        let key = keyed.key(retry);
        let known = match earlier_result(context, keyed, retry, options.retry_failed).await {
            // An earlier run gave the row a new key, and that key counts.
            Ok(EarlierResult::Superseded) => {
                retry += 1;
                continue;
            }
            Ok(EarlierResult::Created(created)) => Ok(*created),
            Ok(EarlierResult::Refused(error)) => Err(*error),
            Ok(EarlierResult::None) => send(context, keyed, &key, options, open).await,
            Err(error) => Err(error),
        };
        let outcome = match known {
            Ok(made) => {
                let booking = made.booking;
                if made.earlier && options.retry_failed && booking.status() == Status::Failed {
                    retry += 1;
                    continue;
                }
                match options.wait {
                    Some(longest) => wait_while_processing(context, booking, longest).await,
                    None => Ok(booking),
                }
            }
            Err(error) => Err(error),
        };
        return of_row(keyed, key, outcome);
    }
}

async fn send(
    context: &Context,
    keyed: &KeyedRow,
    key: &str,
    options: BatchOptions,
    open: &[Attempt],
) -> Result<CreatedBooking> {
    let request = row_request(context, keyed, key).await?;
    let is_own = keyed.row.idempotency_key.as_deref() == Some(key);
    if !is_own && !options.equal_rows {
        refuse_to_repeat_row(open, &request)?;
    }
    let origin = match is_own {
        true => KeyOrigin::Caller,
        false => KeyOrigin::Derived,
    };
    make(context, key, origin, request).await
}

fn of_row(keyed: &KeyedRow, key: String, outcome: Result<Booking>) -> RowResult {
    RowResult {
        row: keyed.row.number,
        idempotency_key: key,
        guest: keyed.row.guest(),
        outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_stopped_half_way_failed_in_part_and_says_how_to_go_on() {
        const AGAIN: &str = "to continue: bookctl book --from friday.csv";
        let error = || Error::config("the key is gone").hint("log in");
        let first = stopped(error(), 1, 9, RowState::RefusedFirst, AGAIN);
        assert_eq!(first.exit, Exit::Config);
        let later = stopped(error(), 3, 9, RowState::Refused, AGAIN);
        assert_eq!(later.exit, Exit::PartialBatch);
        assert!(
            later
                .hint
                .clone()
                .unwrap()
                .contains("log in; then to continue: bookctl book --from friday.csv")
        );
    }
}
