//! Many bookings at once: paced by the service's limits, each row once, whoever starts the batch again and where.

mod key;
mod once;
mod pace;
mod rows;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::comparison::difference;
use super::create::{Made, another_booking, make};
use super::wait::{read_booking, wait_while_processing};
use crate::app::Context;
use crate::app::in_flight::Course;
use crate::journal::State;
use crate::model::booking::{Booking, Status};
use crate::model::zone::system_zone;
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::Progress;
pub(crate) use key::{Identity, Keyed, keyed};
use pace::{Room, about, time_left};
pub(crate) use rows::{Format, is_key, read_rows};

/// The budget that creates are counted in.
const BUDGET: &str = "POST /v1/bookings";
/// So many rows in a row whose outcome is unknown mean that the service is not well: more would not help.
const UNKNOWN_IN_A_ROW: u32 = 3;
/// How any batch goes on.
const AGAIN: &str = "run the same command again to continue; nothing is booked twice";

/// How a batch is to be gone through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Wait for each booking that is processing, so long.
    pub(crate) wait: Option<Duration>,
    /// Give rows whose booking failed in an earlier run a new key.
    pub(crate) retry_failed: bool,
}

/// What became of a row.
pub(crate) struct RowResult {
    pub(crate) row: usize,
    pub(crate) idempotency_key: String,
    pub(crate) outcome: Result<Booking>,
}

impl RowResult {
    /// As `book` would have ended.
    pub(crate) fn exit(&self) -> Exit {
        match &self.outcome {
            Ok(booking) => booking.exit(),
            Err(error) => error.exit,
        }
    }
}

/// Goes through the rows in their order and tells of each as it is done.
///
/// `told` takes each result, and says whether anybody still reads them. A row that an earlier run settled is not
/// sent, and read only where it had not ended yet. What would refuse every row ends the batch, and so do several
/// unknown outcomes in a row, and results that nobody reads; the same batch can then be started again. Ends with 18
/// where a row did not end confirmed.
pub(crate) async fn run_batch(
    context: &Context,
    rows: Vec<Keyed>,
    manner: Manner,
    told: impl Fn(&RowResult) -> Result<bool>,
) -> Result<Exit> {
    context.wait_for_limits();
    let total = rows.len();
    let mut pace = Pace::new(context, &rows)?;
    let progress = context.out.progress_of(total);
    let mut failed: Vec<usize> = Vec::new();
    let mut unknown = 0;
    let mut sent_now = HashSet::new();
    for (done, keyed) in rows.iter().enumerate() {
        progress.say(&pace.told(context, failed.len()));
        context.course.replace(Some(course(done, total)));
        let began = Instant::now();
        let (result, sent) = settle(context, keyed, manner, &sent_now).await;
        if sent {
            pace.sent(began.elapsed());
            sent_now.insert(result.idempotency_key.clone());
        }
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
        // Where the first row is refused as all would be, the error says it, and there is nothing to list.
        if !(ends_here && done == 0) {
            let is_last = done + 1 == total;
            match told(&result) {
                Ok(false) if !is_last => {
                    return Err(stopped(nobody_reads(), done + 1, total, true));
                }
                Err(error) if !is_last => return Err(stopped(error, done + 1, total, true)),
                told => told?,
            };
        }
        progress.step();
        if exit != Exit::Done {
            failed.push(result.row);
        }
        if let (true, Err(error)) = (ends_here, result.outcome) {
            return Err(stopped(error, done + 1, total, done + 1 > failed.len()));
        }
    }
    context.course.replace(Some(course(total, total)));
    finish(context, progress, &failed, total)
}

fn finish(context: &Context, progress: Progress, failed: &[usize], total: usize) -> Result<Exit> {
    drop(progress);
    if failed.is_empty() {
        context.out.note(&match total {
            0 => "The batch has no rows. Nothing was sent.".to_owned(),
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

fn course(done: usize, total: usize) -> Course {
    Course {
        done: format!("{done} of {total} rows done"),
        hint: AGAIN.to_owned(),
    }
}

/// Whether the next row would be told the same.
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

/// Whoever started the batch has gone: it does not go on behind their back.
fn nobody_reads() -> Error {
    Error::new(Code::Io, "the output was closed")
}

/// The batch ended before its last row.
fn stopped(mut error: Error, row: usize, total: usize, some_done: bool) -> Error {
    error.message = format!("batch stopped at row {row} of {total}: {}", error.message);
    let why = error.hint.take();
    error.hint = Some(match why {
        Some(why) => format!("{why}; then {AGAIN}"),
        None => AGAIN.to_owned(),
    });
    if some_done {
        error.exit = Exit::PartialBatch;
    }
    error
}

/// Settles one row, and says whether that took a create; `sent_now` are the keys that this run has sent before.
async fn settle(
    context: &Context,
    keyed: &Keyed,
    manner: Manner,
    sent_now: &HashSet<String>,
) -> (RowResult, bool) {
    let mut retry = 0;
    loop {
        let key = keyed.key(retry);
        let known = match known(context, keyed, retry).await {
            // An earlier run gave it a new key: that is the one that counts.
            Ok(Known::Superseded) => {
                retry += 1;
                continue;
            }
            Ok(Known::Made(made)) => Ok((made, false)),
            Ok(Known::Nothing) => make(context, &key, keyed.row.body.clone())
                .await
                .map(|made| (made, true)),
            Err(error) => Err(error),
        };
        let (outcome, sent) = match known {
            Ok((made, sent)) => {
                let booking = made.booking;
                let earlier_run = made.earlier && !sent_now.contains(&key);
                if earlier_run && manner.retry_failed && booking.status() == Status::Failed {
                    retry += 1;
                    continue;
                }
                let waited = match manner.wait {
                    Some(longest) => wait_while_processing(context, booking, longest).await,
                    None => Ok(booking),
                };
                (waited, sent)
            }
            Err(error) => (Err(error), true),
        };
        let result = RowResult {
            row: keyed.row.number,
            idempotency_key: key,
            outcome,
        };
        return (result, sent);
    }
}

/// What this machine knows of a row under one of its keys.
enum Known {
    /// There is a later key.
    Superseded,
    Made(Made),
    /// It is to be sent, or sent again.
    Nothing,
}

async fn known(context: &Context, keyed: &Keyed, retry: u32) -> Result<Known> {
    let (attempt, later, owned) = {
        let journal = context.journal()?;
        let attempt = journal.attempt(&keyed.key(retry))?;
        let owned = attempt.as_ref().is_some_and(|it| journal.owns(it));
        (attempt, journal.attempt(&keyed.key(retry + 1))?, owned)
    };
    // What the key stands for otherwise is not this row's: the journal refuses it as it is sent.
    let settled = attempt.filter(|attempt| {
        attempt.state == State::Settled
            && attempt.origin == context.target().origin()
            && attempt.is_of(&keyed.row.body)
            && owned
    });
    let Some((id, is_older)) = settled.and_then(|it| Some((it.booking_id?, it.is_older))) else {
        return Ok(Known::Nothing);
    };
    if later.is_some() {
        return Ok(Known::Superseded);
    }
    let ended = context.journal()?.ended(&id)?;
    let booking = match ended {
        Some(booking) => booking,
        None => read_booking(context, &id).await?,
    };
    // A journal of an older version may have taken a booking for something else for the row's own.
    let difference = is_older.then(|| difference(&keyed.row.body, &booking));
    match difference.flatten() {
        Some(difference) => Err(another_booking(&booking, &difference, &keyed.key(retry))),
        None => Ok(Known::Made(Made {
            booking,
            earlier: true,
        })),
    }
}

/// How fast it goes, for an end time that can be believed.
struct Pace {
    /// Rows that have to be sent.
    left: usize,
    sent: u32,
    took: Duration,
}

impl Pace {
    fn new(context: &Context, rows: &[Keyed]) -> Result<Self> {
        let journal = context.journal()?;
        let mut left = 0;
        for row in rows {
            let attempt = journal.attempt(&row.key(0))?;
            let settled = attempt.is_some_and(|attempt| attempt.state == State::Settled);
            left += usize::from(!settled);
        }
        Ok(Pace {
            left,
            sent: 0,
            took: Duration::ZERO,
        })
    }

    fn sent(&mut self, took: Duration) {
        self.left = self.left.saturating_sub(1);
        self.sent += 1;
        self.took += took;
    }

    fn told(&self, context: &Context, failed: usize) -> String {
        let failed = match failed {
            0 => String::new(),
            failed => format!("{failed} not confirmed, "),
        };
        let a_row = self
            .took
            .checked_div(self.sent)
            .unwrap_or(Duration::from_millis(500));
        let left = time_left(self.left, a_row, room(context));
        let ends = SignedDuration::try_from(left).unwrap_or(SignedDuration::MAX);
        let ends = Timestamp::now()
            .saturating_add(ends)
            .unwrap_or(Timestamp::MAX);
        let ends = ends.to_zoned(system_zone());
        format!(
            "{failed}done in {}, at {}",
            about(left),
            ends.strftime("%H:%M")
        )
    }
}

/// What the journal knows of the create's limit.
fn room(context: &Context) -> Option<Room> {
    let window = context.journal().ok()?.window(BUDGET).ok()??;
    let now = Timestamp::now().saturating_add(window.ahead).ok()?;
    let (remaining, resets_in) = window.left(now);
    Some(Room {
        allowed: window.allowed,
        remaining,
        resets_in,
    })
}

/// Row numbers as people write them: `1-3, 7`.
fn ranges(rows: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &row in rows {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == row => *last = row,
            _ => ranges.push((row, row)),
        }
    }
    let written = ranges.into_iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    written.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_follow_each_other_are_told_as_a_range() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3, 7, 9-10");
        assert_eq!(ranges(&[4]), "4");
    }

    #[test]
    fn a_batch_that_stopped_half_way_failed_in_part_and_says_how_to_go_on() {
        let error = || Error::config("the key is gone").hint("log in");
        let first = stopped(error(), 1, 9, false);
        assert_eq!(first.exit, Exit::Config);
        let later = stopped(error(), 3, 9, true);
        assert_eq!(later.exit, Exit::PartialBatch);
        assert!(
            later
                .hint
                .clone()
                .unwrap()
                .contains("log in; then run the same command again")
        );
    }
}
