//! What becomes of an attempt when a run of it begins or ends, when a person gives it up, when a
//! journal is recovered or copied: pure functions over what the journal keeps. A transaction loads
//! an attempt, calls one of them, and writes what it returns. The model checker calls the same
//! functions, with small values for keys and requests (`protocol_model`).

use serde::Serialize;

use super::judgement::{TryResult, outcome_of};
use super::runs::{Earlier, Outcome, Run, State, may_be_sent_by, state_of};
use super::wish::{ComparableRequest, RecordedRequest};

/// An idempotency key, the request that was to be sent under it, and its runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Attempt<I = String, R = RecordedRequest> {
    pub(crate) idempotency_key: I,
    /// The service that it goes to. An idempotency key is never sent to another service.
    pub(crate) origin: I,
    pub(crate) profile: Option<I>,
    /// The fingerprint of the API key of the run that began last, also for runs that cannot be read
    /// any more.
    #[serde(skip)]
    pub(super) account: Option<I>,
    #[serde(flatten)]
    pub(crate) request: R,
    /// When its guest was deleted (RFC 3339). The request is incomplete since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) forgotten_at: Option<I>,
    /// RFC 3339.
    pub(crate) created_at: I,
    /// In the order in which they began, or were copied.
    pub(crate) runs: Vec<Run<I>>,
    /// What the runs prove, as [`Attempt::derive`] writes it. Indexes use it, and a recovery where
    /// runs cannot be read.
    pub(crate) state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) booking_id: Option<I>,
    #[serde(skip)]
    pub(super) http_status: Option<u16>,
}

/// Why no run of an attempt may begin. Nothing is recorded then, and nothing is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Forbidden<I> {
    AnotherService,
    /// Another organization's API key may have booked with it.
    AnotherAccount,
    AnotherRequest,
    /// The attempt under this other key is open, and is for the same booking.
    OpenUnder(I),
}

#[derive(Clone, Debug)]
pub(crate) struct Begun<I, R> {
    pub(crate) attempt: Attempt<I, R>,
    /// What the runs before it leave possible.
    pub(crate) earlier: Earlier,
    pub(crate) is_new: bool,
}

/// Begins a run. `first` is the attempt as it is if the key is not known yet: with this run alone.
/// `others` are the open attempts among which one for the same booking forbids the run: none if the
/// caller chose the key, or a person wants to book twice.
pub(crate) fn begin<'a, I: Clone + PartialEq + 'a, R: ComparableRequest + 'a>(
    known: Option<Attempt<I, R>>,
    first: Attempt<I, R>,
    takes_any_account: bool,
    others: impl IntoIterator<Item = &'a Attempt<I, R>>,
) -> Result<Begun<I, R>, Forbidden<I>> {
    let begun = |attempt, earlier, is_new| Ok(Begun { attempt, earlier, is_new });
    let is_own = |run: &Run<I>| first.runs.iter().any(|own| own.token == run.token);
    if let Some(at) = (known.as_ref()).and_then(|it| it.runs.iter().position(is_own)) {
        // The transaction was committed before, and its answer was lost.
        let attempt = known.unwrap_or(first);
        let earlier = Earlier::left_by(&attempt.runs[..at]);
        return begun(attempt, earlier, false);
    }
    if let Some(other) = others.into_iter().find(|it| conflicts_with(it, &first)) {
        return Err(Forbidden::OpenUnder(other.idempotency_key.clone()));
    }
    let Some(mut attempt) = known else {
        return begun(first, Earlier::Nothing, true);
    };
    let may_send = |account: &I| takes_any_account || may_be_sent_by(account, &attempt.runs);
    if attempt.origin != first.origin {
        return Err(Forbidden::AnotherService);
    } else if !first.account.as_ref().is_some_and(may_send) {
        return Err(Forbidden::AnotherAccount);
    } else if !attempt.request.is_same_request(&first.request) {
        return Err(Forbidden::AnotherRequest);
    }
    let earlier = Earlier::left_by(&attempt.runs);
    attempt.account = first.account;
    for run in first.runs {
        attempt.add(run);
    }
    attempt.derive();
    attempt.restore_request(first.request);
    begun(attempt, earlier, true)
}

/// Whether an open attempt may have made, or may yet make, the booking that is asked for under
/// another key. Whether it is still being sent, and with which API key, makes no difference.
pub(crate) fn conflicts_with<I: PartialEq, R: ComparableRequest>(
    open: &Attempt<I, R>,
    wanted: &Attempt<I, R>,
) -> bool {
    open.state == State::Unresolved
        && open.origin == wanted.origin
        && open.idempotency_key != wanted.idempotency_key
        && open.request.is_same_booking(&wanted.request)
}

#[derive(Clone, Debug)]
pub(crate) struct End<I> {
    /// Distinguishes the run from all others.
    pub(crate) token: I,
    pub(crate) last: TryResult,
    /// Whether an earlier try of the run may have booked.
    pub(crate) in_doubt: bool,
    /// The booking that was asked for, if it was answered with.
    pub(crate) booking_id: Option<I>,
    /// Whether another attempt at this service has that booking.
    pub(crate) is_of_another_key: bool,
    pub(crate) http_status: Option<u16>,
    pub(crate) error_code: Option<I>,
    pub(crate) request_id: Option<I>,
    pub(crate) ended_at: I,
}

/// Ends a run, which says nothing about other runs. Returns the attempt, unless it was never sent
/// and is to be removed, how the run ended, and the state of the attempt. `sent` is the request,
/// which an open attempt gets back if its guest was deleted.
pub(crate) fn end<I: Clone + PartialEq, R>(
    mut known: Option<Attempt<I, R>>,
    end: End<I>,
    sent: R,
) -> (Option<Attempt<I, R>>, Outcome, State) {
    let outcome = outcome_of(end.last, end.in_doubt, end.is_of_another_key);
    let is_own = |run: &&mut Run<I>| run.token == end.token;
    let own = known.as_mut().and_then(|it| it.runs.iter_mut().find(is_own));
    match own {
        Some(run) => {
            run.outcome = outcome;
            // A person gave it up without knowing how it ends.
            run.abandoned = false;
            run.http_status = end.http_status;
            run.error_code = end.error_code;
            run.request_id = end.request_id;
            run.booking_id = end.booking_id.filter(|_| outcome == Outcome::Booked);
            run.ended_at = Some(end.ended_at);
        }
        // The transaction was committed before, and its answer was lost: it removed the attempt,
        // none of whose runs was sent. If the key is known now, another process has begun it anew.
        None if outcome == Outcome::NotSent => return (known, outcome, State::Refused),
        None => {}
    }
    let Some(mut attempt) = known else {
        return (None, outcome, State::Unresolved);
    };
    attempt.derive();
    attempt.restore_request(sent);
    let state = attempt.state;
    let stored = Some(attempt).filter(|it| !it.was_never_sent());
    (stored, outcome, state)
}

/// The merge of an attempt that is copied from another journal into the same key's attempt `there`;
/// `None` if that is for another request or service. Nothing known changes, except by newer facts:
/// a run is known by its token, and may have ended since.
pub(crate) fn copy<I: Clone + PartialEq, R: ComparableRequest>(
    there: Option<Attempt<I, R>>,
    copied: Attempt<I, R>,
) -> Option<Attempt<I, R>> {
    let Some(mut there) = there else {
        return Some(copied);
    };
    if there.origin != copied.origin || !there.request.is_same_request(&copied.request) {
        return None;
    }
    for run in copied.runs {
        let is_same = |it: &&mut Run<I>| it.token == run.token;
        let Some(known) = there.runs.iter_mut().find(is_same) else {
            there.add(run);
            continue;
        };
        let abandoned = known.abandoned || run.abandoned;
        if known.outcome == Outcome::UnderWay {
            let number = known.number;
            *known = Run { number, ..run };
        }
        known.abandoned = abandoned;
    }
    there.derive();
    if copied.forgotten_at.is_none() {
        there.restore_request(copied.request);
    }
    Some(there)
}

impl<I: Clone, R> Attempt<I, R> {
    pub(super) fn first(idempotency_key: I, origin: I, request: R, run: Run<I>) -> Self {
        Attempt {
            idempotency_key,
            origin,
            profile: None,
            account: run.account.clone(),
            request,
            forgotten_at: None,
            created_at: run.started_at.clone(),
            runs: vec![run],
            state: State::Unresolved,
            booking_id: None,
            http_status: None,
        }
    }

    /// A person gives up the runs that may have booked.
    pub(crate) fn abandon(&mut self) {
        let gives_up =
            |run: &&mut Run<I>| run.outcome.may_have_booked() && run.outcome != Outcome::Booked;
        let open = self.runs.iter_mut().filter(gives_up);
        open.for_each(|run| run.abandoned = true);
        self.derive();
    }

    /// Adds a run that proves what the attempt's row says, where those that can be read do not.
    /// Returns whether one was missing. No other run has the token.
    pub(crate) fn recover(&mut self, token: I) -> bool {
        if !self.runs.is_empty() && state_of(&self.runs) == self.state {
            return false;
        }
        let outcome = match self.state {
            State::Resolved => Outcome::Booked,
            State::Refused => Outcome::Refused,
            State::Unresolved | State::Abandoned => Outcome::InDoubt,
        };
        self.add(Run {
            outcome,
            http_status: self.http_status,
            booking_id: self.booking_id.clone(),
            abandoned: self.state == State::Abandoned,
            ..Run::begun(token, self.account.clone(), self.created_at.clone())
        });
        self.derive();
        true
    }

    /// Deletes the guest, unless the attempt is open and may have to be sent again.
    #[cfg(test)]
    pub(crate) fn forget(&mut self, now: I) {
        if self.state != State::Unresolved {
            self.forgotten_at.get_or_insert(now);
        }
    }

    /// Writes what the runs prove. A key has one booking: the first that was seen.
    fn derive(&mut self) {
        self.state = state_of(&self.runs);
        let proof = self.runs.iter().find(|run| run.outcome == Outcome::Booked);
        let proof = proof.or(self.runs.last());
        self.booking_id = proof.and_then(|run| run.booking_id.clone());
        self.http_status = proof.and_then(|run| run.http_status);
    }

    /// Gives an open attempt its whole request back, not a closed one with a deleted guest.
    fn restore_request(&mut self, request: R) {
        if self.state == State::Unresolved && self.forgotten_at.take().is_some() {
            self.request = request;
        }
    }

    fn add(&mut self, run: Run<I>) {
        let last = self.runs.iter().map(|run| run.number).max();
        let number = last.map_or(1, |last| last.saturating_add(1));
        self.runs.push(Run { number, ..run });
    }

    fn was_never_sent(&self) -> bool {
        let mut runs = self.runs.iter();
        !self.runs.is_empty() && runs.all(|run| run.outcome == Outcome::NotSent)
    }
}
