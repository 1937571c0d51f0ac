//! Books many rows at the pace that the service's rate limits allow, each row once, even if the
//! batch is started again or on another computer.

use std::cell::Cell;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::keys::KeyedRow;
use super::replaced::{Replaced, read_again};
use super::request::{asks_same, refuses_all, row_request};
use super::results::{last_try, own_attempt, refusal, refusal_of_kept, row_line, unsent};
use super::rows::ranges;
use super::{Args, NotConfirmed};
use crate::app::Parts;
use crate::app::in_flight::BatchProgress;
use crate::booking::attempts::open_attempts;
use crate::booking::book::create::{CreatedBooking, create_booking};
use crate::booking::book::{duplicates, review};
use crate::booking::verdict::{self, Verdict};
use crate::booking::{finish, watch::wait};
use crate::journal::recent::RecentSlot;
use crate::journal::{
    Attempt, BatchRecord, KeptBooking, KeyOrigin, LONGEST_LEASE, RowLine, State, abandoned,
};
use crate::json::plain;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::pace;
use crate::service::documents::{Booking, Compared, Status, Weight};
use crate::terminal::output::{Progress, visible};

/// After so many unknown outcomes in a row the batch stops: the service has a problem.
const UNKNOWN_IN_A_ROW: u32 = 3;

/// How often is looked whether another computer has done its row.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) struct BatchRun<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) rows: &'a [KeyedRow],
    pub(crate) args: &'a Args,
    /// How to continue a batch that stopped.
    pub(crate) again: String,
    /// The batch in the journal: its name, or the path of its file.
    pub(crate) batch: &'a str,
    /// Whether each start has all rows of it: what comes without a name may be another batch.
    pub(crate) lists_all_rows: bool,
    /// What the journal had of it before this start.
    pub(crate) record: &'a BatchRecord,
    pub(crate) replaced: Replaced,
    pub(crate) origin: Cell<Origin>,
}

/// Where the result of the last row comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An earlier request: what is wrong with it was so before, and the batch goes on.
    #[default]
    Known,
    /// What was sent now.
    Sent,
    /// The same, and its response is not understood: the next rows would be booked just so, and are
    /// not sent.
    Misread,
}

impl BatchRun<'_> {
    /// Books the rows in order, and passes each result to `emit`, which returns whether anybody
    /// still reads the results.
    ///
    /// A row that an earlier run booked is not sent again; it is read only if its booking had not
    /// ended. A problem that would refuse every row ends the batch, and so do several unknown
    /// outcomes in a row and unread results. The same batch can then be started again.
    /// The exit code is 18 if a row did not end confirmed.
    pub(crate) async fn run(
        &self,
        emit: impl Fn(&KeyedRow, &RowLine) -> Result<bool>,
    ) -> Result<Exit> {
        let out = &self.parts.ui.out;
        self.parts.api.wait_for_rate_limits();
        let total = self.rows.len();
        let progress = out.progress_of(total);
        let mut left: VecDeque<&KeyedRow> = self.rows.iter().collect();
        let (mut done, mut unknown_in_a_row) = (0, 0);
        let mut failed = NotConfirmed::default();
        self.note_progress(done);
        while let Some(keyed) = self.claim_next(&mut left, &progress).await? {
            if !failed.rows.is_empty() {
                progress.say(&format!("{} not confirmed", failed.rows.len()));
            }
            self.origin.set(Origin::Known);
            let (key, outcome) = self.book(keyed).await;
            self.release(keyed);
            done += 1;
            let line = self.printed(keyed, &outcome).unwrap_or_else(|| row_line(key, &outcome));
            let exit = line.exit;
            if exit != Exit::Done {
                let error = outcome.as_ref().err();
                failed.add(keyed, error.and_then(|error| error.hint.as_deref()));
            }
            let origin = self.origin.get();
            if exit == Exit::OutcomeUnknown && origin != Origin::Known {
                unknown_in_a_row += 1;
            } else {
                unknown_in_a_row = 0;
            }
            let is_misread = origin == Origin::Misread;
            // A read that shows another booking, or none, says nothing of the other rows.
            let is_of_row = origin == Origin::Known
                && matches!(&outcome, Err(error) if error.code == Code::UnexpectedAnswer);
            let refuses_all = refuses_all(exit) && !is_of_row;
            let is_last = refuses_all || is_misread || unknown_in_a_row == UNKNOWN_IN_A_ROW;
            let ends_here = is_last && outcome.is_err();
            if !ends_here {
                self.note_progress(done);
            }
            // If the first row fails with every row's error, that error is the result.
            if !ends_here || done > 1 || is_misread {
                // A result that cannot be stored is printed all the same.
                let journal = self.parts.records.journal();
                let _ = journal.and_then(|it| it.end_row(self.batch, &keyed.first, &line));
                let read = emit(keyed, &line);
                if done < total && !matches!(read, Ok(true)) {
                    // Whoever started the batch has probably gone: it does not continue unseen.
                    let closed = || Error::new(Code::Io, "the output was closed");
                    let error = self.stopped(read.err().unwrap_or_else(closed), "after", done);
                    return Err(error.exiting(Exit::PartialBatch));
                }
                read?;
            }
            progress.step();
            if let Err(error) = outcome
                && ends_here
            {
                let mut error = self.stopped(error, "at", done);
                for keyed in left.iter().filter(|_| is_misread) {
                    emit(keyed, &row_line(keyed.key(0), &Err(unsent())))?;
                }
                if failed.rows.len() < done || is_misread {
                    error.exit = Exit::PartialBatch;
                }
                return Err(error);
            }
        }
        drop(progress);
        if self.lists_all_rows {
            let Parts { records, ui, .. } = self.parts;
            self.replaced.warn_of_removed(records, ui, self.rows, true)?;
        }
        if !failed.rows.is_empty() {
            return Err(failed.into_error(total));
        }
        out.note(&format!("{total} of {total} rows confirmed."));
        Ok(Exit::Done)
    }

    /// Warns of rows whose guests have a booking at the venue on that day, or an earlier row, and
    /// asks whether they are meant; no is `declined` (17). Bookings of the batch's `own` keys do
    /// not count, nor rows with a booking that are not booked again.
    pub(crate) async fn ask_about_same_guests(
        &self,
        own: &HashSet<String>,
        is_confirmed: bool,
    ) -> Result<()> {
        let (Parts { records, ui, .. }, rows) = (self.parts, self.rows);
        let venues = rows.iter().map(|keyed| keyed.row.wish().venue()).collect();
        let booked = duplicates::Booked::at_venues(records, &venues, rows.len())?;
        let is_own = |live: &KeptBooking| {
            let key = live.idempotency_key.as_ref();
            key.is_some_and(|key| own.contains(key))
        };
        let journal = records.journal()?;
        let has_booking = |keyed: &KeyedRow| {
            let attempt = journal.attempt(&keyed.key(0)).ok().flatten();
            attempt.is_some_and(|it| it.state == State::Resolved)
        };
        let mut earlier = duplicates::EarlierRows::default();
        let same = rows.iter().filter_map(|keyed| {
            let row = &keyed.row.wish();
            let in_batch =
                earlier.add(records, keyed.row.number, row).filter(|_| !self.args.equal_rows);
            let other = booked
                .for_guest_of(&self.parts.records, &self.parts.ui, row, is_own)
                .or(in_batch)?;
            let is_booked = !self.args.retry_failed && has_booking(keyed);
            if is_booked || !self.replaced.before(records, &keyed.row).is_empty() {
                return None;
            }
            Some((keyed.row.number, other))
        });
        let (numbers, others): (Vec<usize>, Vec<String>) = same.unzip();
        let (Some((first, more)), Some(other)) = (numbers.split_first(), others.first()) else {
            return Ok(());
        };
        let mut warning = format!("row {first}: {other}");
        if !more.is_empty() {
            let s = if more.len() == 1 { "" } else { "s" };
            warning.push_str(&format!("; the same holds for row{s} {}", ranges(more)));
        }
        duplicates::ask_about(ui, &warning, "Book these rows as well?", is_confirmed).await
    }

    /// What an interrupt says.
    fn note_progress(&self, done: usize) {
        let progress = BatchProgress {
            done: format!("{done} of {} rows done", self.rows.len()),
            hint: self.again.clone(),
        };
        self.parts.api.batch_progress.replace(Some(progress));
    }

    /// The error of a batch that ended before its last row.
    fn stopped(&self, mut error: Error, place: &str, row: usize) -> Error {
        let total = self.rows.len();
        let why = &error.message;
        error.message = format!("batch stopped {place} row {row} of {total}: {why}");
        let first = error.hint.take().map(|first| format!("{first}; then "));
        error.hint(first.unwrap_or_default() + &self.again)
    }

    /// Whether a team shares the journal, so that computers may share a batch.
    fn is_shared(&self) -> bool {
        self.parts.api.facts.target().journal.is_some()
    }

    /// The next row that no other computer books. Waits if others book all that are left.
    async fn claim_next<'r>(
        &self,
        left: &mut VecDeque<&'r KeyedRow>,
        progress: &Progress,
    ) -> Result<Option<&'r KeyedRow>> {
        let mut others = 0;
        while let Some(keyed) = left.pop_front() {
            if !self.is_shared() {
                return Ok(Some(keyed));
            }
            let key = keyed.key(0);
            let journal = self.parts.records.journal()?;
            let Some(seconds) = journal.claim(&key, LONGEST_LEASE)? else {
                return Ok(Some(keyed));
            };
            // A row with a result needs no claim: its computer may have died with one.
            let attempt = journal.attempt(&key)?;
            if attempt.is_some_and(|it| matches!(it.state, State::Resolved | State::Abandoned)) {
                return Ok(Some(keyed));
            }
            left.push_back(keyed);
            others += 1;
            if others >= left.len() {
                progress
                    .say(&format!("other computers book the last rows; waiting up to {seconds} s"));
                pace::pause(POLL_INTERVAL).await;
                others = 0;
            }
        }
        Ok(None)
    }

    /// Gives a row back that was settled, or that ended without a result.
    fn release(&self, keyed: &KeyedRow) {
        if self.is_shared() {
            // If it cannot be released, its time ends.
            let _ = self.parts.records.journal().and_then(|it| it.release(&keyed.key(0)));
        }
    }

    /// The line of an earlier start, whose booking is as it was: the journal's document of it is in
    /// the contract's shape, and not the service's own.
    fn printed(&self, keyed: &KeyedRow, outcome: &Result<Booking>) -> Option<RowLine> {
        let (line, now) = (self.record.rows.get(&keyed.first)?.clone()?, outcome.as_ref().ok()?);
        let then = self.parts.api.facts.mapping().booking(line.booking.clone()?, true).ok()?.item;
        let state = |it: &Booking| {
            (it.id().to_owned(), it.status(), it.exit(), it.time.clone(), it.party.clone())
        };
        (line.error.is_none() && state(&then) == state(now)).then_some(line)
    }

    /// What a row ends with, under which of its keys.
    async fn book(&self, keyed: &KeyedRow) -> (String, Result<Booking>) {
        let mut retry = match last_try(self.parts, keyed) {
            Ok(retry) => retry,
            Err(error) => return (keyed.key(0), Err(error)),
        };
        loop {
            if let Some(outcome) = self.book_under(keyed, retry).await.transpose() {
                return (keyed.key(retry), outcome);
            }
            retry += 1;
        }
    }

    /// Books a row under one of its keys, unless an earlier run or another computer has. `None` if
    /// the row's next key counts.
    async fn book_under(&self, keyed: &KeyedRow, retry: u32) -> Result<Option<Booking>> {
        let (Parts { api, records, ui, .. }, key) = (self.parts, keyed.key(retry));
        let journal = records.journal()?;
        let attempt = own_attempt(&api.facts, records, keyed, &key)?.filter(|it| journal.owns(it));
        match &attempt {
            Some(attempt) if attempt.state == State::Abandoned => return Err(abandoned(attempt)),
            // What was refused is corrected, and a key is never used for another request.
            Some(attempt) if attempt.state == State::Refused && !asks_same(attempt, &keyed.row) => {
                return Ok(None);
            }
            Some(attempt) => self.warn_of_other_fields(attempt, keyed),
            None if retry == 0 => {
                let known = self.replaced.booking_of(api, records, ui, &keyed.row).await?;
                if known.is_some() {
                    return Ok(known);
                }
            }
            None => {}
        }
        // The runners of a shared batch do not repeat what one of them learned.
        if self.is_shared()
            && !self.args.retry_failed
            && let Some(refusal) = attempt.as_ref().and_then(refusal)
            && matches!(refusal.http_status, Some(400 | 404 | 413 | 422))
        {
            return Err(refusal.idempotency_key(&key));
        }
        let known = match &attempt {
            Some(Attempt { state: State::Resolved, booking_id: Some(id), .. }) => {
                let kept = journal.load_booking(id)?;
                let kept = kept.filter(|it| refusal_of_kept(records, &api.facts, it).is_none());
                match kept.map(|it| it.booking) {
                    Some(booking)
                        if booking.status() == Status::Confirmed && !journal.is_in_doubt(id)? =>
                    {
                        self.note_changes(keyed, &booking);
                        return Ok(Some(booking));
                    }
                    Some(booking) if !booking.status().has_not_ended() => Some(booking),
                    _ => Some(self.read_again(id).await?),
                }
            }
            Some(attempt) => open_attempts::resolve_by_read(api, records, attempt).await?,
            None => None,
        };
        let (mut booking, existed_before) = match known {
            Some(booking) => (booking, true),
            None => {
                let created = self.send(keyed, &key, attempt.as_ref()).await?;
                (created.booking, created.existed_before)
            }
        };
        let mut verdict = self.check(&key, &booking)?;
        // A card may be charged twice, and a cancelled visit is not wanted again.
        let is_over = |it: &Booking| {
            matches!(it.status(), Status::Failed | Status::Expired) && !it.may_stand()
        };
        if existed_before && self.args.retry_failed && is_over(&booking) {
            // The journal's booking, or a repeated response, may be of another time.
            booking = self.read_again(booking.id()).await?;
            verdict = self.check(&key, &booking)?;
            if is_over(&booking) {
                return Ok(None);
            }
        }
        if let Some(longest) = self.args.wait.longest {
            booking = wait::wait_while_processing(self.parts, booking, longest).await?;
            verdict = self.check(&key, &booking)?;
        }
        // Of what an earlier start booked, that one said how it differs.
        if attempt.is_none_or(|it| it.state != State::Resolved) {
            verdict::tell(&api.facts, ui, &verdict, &format!("row {}: ", keyed.row.number));
        }
        Ok(Some(booking))
    }

    /// Reads the booking of an earlier request, before anything is sent beside it.
    async fn read_again(&self, id: &str) -> Result<Booking> {
        self.origin.set(Origin::Known);
        let Parts { api, records, ui, .. } = self.parts;
        read_again(api, records, ui, id).await
    }

    /// Warns of what a row was sent with otherwise that makes no other visit of it.
    fn warn_of_other_fields(&self, attempt: &Attempt, keyed: &KeyedRow) {
        let (before, now) = (attempt.wish(), keyed.row.wish());
        let marks = before.guest_marks();
        let has_new_mark = now.guest_marks().iter().any(|mark| !marks.contains(mark));
        let providers = before.text("provider").zip(now.text("provider"));
        let other = [
            (has_new_mark, "email or phone"),
            (providers.is_some_and(|(before, now)| before != now), "provider"),
        ];
        for (_, what) in other.iter().filter(|it| it.0 && attempt.request.is_intact()) {
            self.parts.ui.out.warn(&format!(
                "row {} was sent with another {what}, which bookctl does not change",
                keyed.row.number
            ));
        }
    }

    /// Says what was changed since the row was booked: the row may ask for what was before.
    fn note_changes(&self, keyed: &KeyedRow, booking: &Booking) {
        let found = verdict::compared(&self.parts.records, &keyed.row.wish(), booking, false);
        let terms = found.iter().filter(|it| it.weight == Weight::Terms);
        for clause in terms.filter_map(Compared::clause) {
            let row = keyed.row.number;
            self.parts.ui.out.note(&format!("row {row}: in the booking {clause}: changed since"));
        }
    }

    /// Refuses (16) a booking that is not the one that the row asked for: its guest may have none.
    fn check(&self, key: &str, booking: &Booking) -> Result<Verdict> {
        let verdict = finish::store_and_judge(&self.parts.records, booking);
        let Some(error) = verdict::refusal(&self.parts.api.facts, booking, &verdict) else {
            return Ok(verdict);
        };
        if verdict.setting.is_some() && self.origin.get() == Origin::Sent {
            self.origin.set(Origin::Misread);
        }
        Err(error.idempotency_key(key))
    }

    async fn send(
        &self,
        keyed: &KeyedRow,
        key: &str,
        before: Option<&Attempt>,
    ) -> Result<CreatedBooking> {
        self.origin.set(Origin::Sent);
        let request = row_request(self.parts, keyed, before).await?;
        let slot = request.requested.get("availability_id").map(plain);
        let seen = slot.and_then(|id| self.parts.records.known_slot(&id));
        let costs = |it: RecentSlot| review::costs(&self.parts.api.facts, &it.slot, it.party_size);
        if let Some(costs) = seen.and_then(costs) {
            self.parts.ui.out.warn(&visible(&format!("row {}: {costs}", keyed.row.number)));
        }
        let allow_duplicate = self.args.equal_rows;
        let origin = match keyed.row.idempotency_key.as_deref() == Some(key) {
            true => KeyOrigin::Caller,
            false => KeyOrigin::Derived { allow_duplicate },
        };
        let row = self.lists_all_rows.then_some((self.batch, keyed.first.as_str()));
        let created = create_booking(self.parts, key, origin, request, row).await;
        created.map_err(|it| {
            if it.is_misread && it.error.exit == Exit::OutcomeUnknown {
                let last = before.and_then(|it| it.runs.last()?.http_status);
                let was_so = matches!(last, Some(200..=299));
                self.origin.set(if was_so { Origin::Known } else { Origin::Misread });
            }
            it.error
        })
    }
}
