//! Which row of a batch this process books next. Where a team shares the journal, several machines may book one batch at
//! the same time: each claims a row before it books it, and leaves those of others for later.

use std::collections::VecDeque;
use std::time::Duration;

use super::KeyedRow;
use crate::app::Context;
use crate::journal::{Claim, LONGEST_LEASE, State};
use crate::outcome::Result;
use crate::terminal::output::Progress;

/// How often is looked whether another machine has done its row.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The rows that are left.
pub(super) struct Share<'a> {
    context: &'a Context,
    left: VecDeque<&'a KeyedRow>,
    is_shared: bool,
    /// How many rows in a row were found to be others'.
    others: usize,
}

impl<'a> Share<'a> {
    pub(super) fn new(context: &'a Context, rows: &'a [KeyedRow]) -> Self {
        Share {
            context,
            left: rows.iter().collect(),
            is_shared: context.target().journal().is_some(),
            others: 0,
        }
    }

    /// The next row: one that no other machine books right now. Waits if there are only such ones.
    pub(super) async fn next(&mut self, progress: &Progress) -> Result<Option<&'a KeyedRow>> {
        while let Some(row) = self.left.pop_front() {
            if !self.is_shared {
                return Ok(Some(row));
            }
            let key = row.key(0);
            let claim = self.context.journal()?.claim(&key, LONGEST_LEASE)?;
            let Claim::Others { seconds } = claim else {
                self.others = 0;
                return Ok(Some(row));
            };
            // A row with a result needs no claim: its machine may have died before it released its own.
            let attempt = self.context.journal()?.attempt(&key)?;
            if attempt.is_some_and(|it| it.state == State::Settled) {
                return Ok(Some(row));
            }
            self.left.push_back(row);
            self.others += 1;
            if self.others >= self.left.len() {
                progress.say(&format!(
                    "other machines book the last rows; waiting up to {seconds} s"
                ));
                tokio::time::sleep(LOOK_AGAIN).await;
                self.others = 0;
            }
        }
        Ok(None)
    }

    /// Gives a row back that was settled, or that ended without a result.
    pub(super) fn release(&self, row: &KeyedRow) {
        if self.is_shared {
            let journal = self.context.journal();
            // If it cannot be released, its time ends.
            let _ = journal.and_then(|mut journal| journal.release(&row.key(0)));
        }
    }
}
