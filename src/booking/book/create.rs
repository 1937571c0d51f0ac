//! Sends a booking request. Each run of it is recorded before its first byte is sent, and its end
//! is recorded with what it proves.

use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::doubt::{
    another_booking, asked_before, into_outcome_unknown, nothing_more, still_conflicting,
};
use crate::app::in_flight::{InFlight, abandon_command, show_command};
use crate::app::{Effect, Parts};
use crate::booking::terms::terms_asked_for;
use crate::booking::verdict::{certain, compared, is_booking, of_create, of_known};
use crate::journal::recent::RecentList;
use crate::journal::{
    Attempt, BeginOutcome, Conclusion, Earlier, Intent, KeyOrigin, RateLimitWindow,
    RecordedRequest, RunEnd, RunId, ServiceClock, ShownBooking, State, TryResult, conclusion,
    existed_before, judge, may_be_modified, outcome_of,
};
use crate::json::Document;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::pace;
use crate::service::client::refusal::{KeySender, request_id};
use crate::service::client::{Answer, BookingRequest, Call, Failure};
use crate::service::documents::{Booking, Certainty, Wish};

/// How often is looked whether another computer has its first answer.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) struct CreatedBooking {
    pub(crate) booking: Booking,
    /// Whether the key had the booking before this command sent it (spec, Limits 7).
    pub(crate) existed_before: bool,
}

/// Why there is no booking.
pub(crate) struct NotCreated {
    pub(crate) error: Error,
    /// Whether a 2xx is no booking that can be read or compared: the service would answer the next
    /// request just so.
    pub(crate) is_misread: bool,
}

impl From<Error> for NotCreated {
    fn from(error: Error) -> Self {
        NotCreated { error, is_misread: false }
    }
}

pub(crate) fn attempt_request(attempt: &Attempt) -> BookingRequest {
    BookingRequest::sent_before(attempt.request.body.clone(), attempt.canonical().clone())
}

/// Like [`create_booking`]; also tells a person if the booking existed before.
pub(crate) async fn create_and_tell(
    parts: &Parts,
    key: &str,
    origin: KeyOrigin,
    request: BookingRequest,
) -> Result<Booking> {
    let made = create_booking(parts, key, origin, request, None).await.map_err(|it| it.error)?;
    if made.existed_before {
        parts.ui.out.note(&format!(
            "Booking {} was already made with this idempotency key.",
            made.booking.id()
        ));
    }
    Ok(made.booking)
}

/// Makes a booking under `key`. The journal holds the run, synced, before anything is sent. Without
/// a journal nothing is sent.
///
/// If this run or another run of the attempt may have booked, the error says so (16, or 9 if a rate
/// limit was met last) and names the command that finds out. A booking for something else is an
/// error too: 7 if the caller's key had it before, else 16. A `row` of a batch, which is that and the
/// row's first key, is sent while the batch has it.
pub(crate) async fn create_booking(
    parts @ Parts { api, .. }: &Parts,
    key: &str,
    origin: KeyOrigin,
    request: BookingRequest,
    row: Option<(&str, &str)>,
) -> Result<CreatedBooking, NotCreated> {
    api.client()?;
    let mut sender = BookingSender {
        parts,
        key,
        origin,
        request: RecordedRequest::new(&request.body, &request.requested),
        reopens: origin == KeyOrigin::Caller && !request.is_row,
        call: request.call(key),
        row,
        known_booking: None,
        is_unresolved: false,
        is_rejected: false,
        began: Instant::now(),
    };
    let mut max_wait = api.max_wait();
    loop {
        let begun = sender.begin_run(max_wait).await;
        let (id, earlier, left) = begun.map_err(|error| sender.stopped(error))?;
        // A signal drops this future where it waits. `unless_interrupted` then adds to the error
        // what is in flight.
        let effect = Effect::Create {
            key,
            sender: sender.key_sender(earlier),
            appears_in: &|body| sender.appears_in_refusal(body),
        };
        let left_at = Timestamp::now();
        let (sent, in_doubt) = api.send(&sender.call, &effect).await?;
        let run = Run { id, earlier, in_doubt, left_at };
        let failure = match sent {
            Ok(answer) => return sender.judge_response(&run, answer),
            Err(failure) => failure,
        };
        let last = if failure.sent_nothing() {
            TryResult::NotSent
        } else if failure.is_certain_refusal() {
            TryResult::Refused
        } else {
            TryResult::NoProof
        };
        let (conclusion, _) = sender.end_run(&run, last, (failure.status(), failure.code()), None);
        sender.is_unresolved = conclusion == Conclusion::Unknown;
        sender.is_rejected = last == TryResult::Refused && !in_doubt;
        if conclusion == Conclusion::NothingBooked {
            api.in_flight.take();
        }
        // The end is recorded before the wait, so an interrupt adds no doubt.
        let is_open_conflict = failure.is_open_conflict();
        let is_misread = matches!(failure.status(), Some(200..=299));
        let waited = api.pause_for_rate_limit(failure, &sender.call, left);
        max_wait = waited.await.map_err(|error| {
            let mut error = sender.stopped(error);
            if is_open_conflict {
                error = still_conflicting(key, error, earlier, api.facts.mapping());
            }
            NotCreated { error, is_misread }
        })?;
    }
}

/// A run whose last try has ended.
struct Run {
    id: RunId,
    /// What the earlier runs of the attempt leave possible.
    earlier: Earlier,
    /// Whether an earlier try of this run may have booked.
    in_doubt: bool,
    left_at: Timestamp,
}

struct BookingSender<'a> {
    parts: &'a Parts,
    key: &'a str,
    origin: KeyOrigin,
    call: Call,
    row: Option<(&'a str, &'a str)>,
    request: RecordedRequest,
    /// The id of the booking that an earlier run of this attempt made.
    known_booking: Option<String>,
    /// Whether a person named the key just now, who may send again what was abandoned.
    reopens: bool,
    /// Whether the last run left the attempt open: one of its runs may have booked.
    is_unresolved: bool,
    /// Whether the service rejected each try of the last run.
    is_rejected: bool,
    began: Instant,
}

impl BookingSender<'_> {
    /// Who may have sent the key before, as far as that is known.
    fn key_sender(&self, earlier: Earlier) -> KeySender {
        match self.origin {
            _ if earlier != Earlier::Nothing => KeySender::Others,
            KeyOrigin::Generated { .. } => KeySender::Own,
            KeyOrigin::Derived { .. } => KeySender::Row,
            KeyOrigin::Caller => KeySender::Others,
        }
    }

    fn wish(&self) -> Wish {
        self.request.wish()
    }

    /// When this command began, by the service's clock.
    fn began(&self) -> Timestamp {
        let ago = SignedDuration::try_from(self.began.elapsed()).unwrap_or_default();
        let began = Timestamp::now().saturating_sub(ago).unwrap_or_default();
        self.parts.api.facts.by_service(began)
    }

    /// Whether the booking was made before this run began. A sandbox says so by its status; other
    /// services answer a fresh booking with 200 too, and its time says so.
    fn is_older(&self, booking: &Booking, status: u16) -> bool {
        if self.parts.api.facts.certainty() == Certainty::Contract {
            return status == 200;
        }
        // A service's clocks may differ among themselves. Where a booking that looks older would
        // leave the attempt open, only a minute counts; elsewhere the clocks of two computers are
        // compared with a resolution of some seconds.
        let clocks = match self.origin {
            KeyOrigin::Generated { .. } => SignedDuration::from_mins(1),
            _ => SignedDuration::from_secs(5),
        };
        // A time without an offset may be that of the zone that is last to have it.
        let last = TimeZone::fixed(jiff::tz::offset(-12));
        let made = booking.created().and_then(|created| created.instant_in(Some(&last)));
        let facts = &self.parts.api.facts;
        made.is_some_and(|made| facts.is_before(made, self.began(), clocks))
    }

    /// Records a run once the rate limit allows one. Returns what is left of `max_wait`.
    async fn begin_run(&mut self, mut max_wait: Duration) -> Result<(RunId, Earlier, Duration)> {
        let mut limit = self.call.rate_limit_name();
        let mut progress = None;
        loop {
            let clock =
                |window: Option<&RateLimitWindow>| self.parts.api.estimated_service_time(window);
            let counted_in = limit.map(|limit| (limit, &clock as ServiceClock<'_>));
            let begun = self.parts.records.journal()?.record_begin(&Intent {
                key: self.key,
                request: &self.request,
                allow_duplicate: self.origin.allow_duplicate(),
                reopens: self.reopens,
                counted_in,
                row: self.row,
            })?;
            match begun {
                BeginOutcome::Run { run, earlier, known } => {
                    if let Some(known) = known {
                        self.continues(*known);
                    }
                    return Ok((run, earlier, max_wait));
                }
                BeginOutcome::RateLimited(window) => {
                    match self.parts.api.wait_for_window(&window, &self.call, max_wait).await? {
                        Some(left) => max_wait = left,
                        None => limit = None,
                    }
                }
                BeginOutcome::Refused(refused) => return Err(*refused),
                BeginOutcome::OpenUnder(key) => {
                    let anew = match self.origin {
                        KeyOrigin::Derived { .. } => "give the row an idempotency_key",
                        _ => "pass a new --idempotency-key",
                    };
                    return Err(asked_before(&key, anew));
                }
                BeginOutcome::RateLimitAwaited => {
                    let what = "waiting for another computer's first response";
                    progress.get_or_insert_with(|| self.parts.ui.out.progress(what));
                    pace::pause(POLL_INTERVAL).await;
                }
            }
        }
    }

    /// Sends what was sent before, byte for byte, also under another mapping.
    fn continues(&mut self, known: Attempt) {
        if known.repeats(self.request.canonical()) {
            self.call = attempt_request(&known).call(self.key);
            self.request = known.request;
        }
        self.known_booking = known.booking_id;
    }

    /// Whether a refusal has the booking outside its list of unfinished ones (spec, Errors).
    fn appears_in_refusal(&self, refusal: &Document) -> bool {
        let wish = self.wish();
        let is_it = |booking: &Booking| {
            let may_be = is_booking(&self.parts.records, &wish, booking) || booking.may_stand();
            may_be && of_known(&self.parts.records, &wish, booking).refusal.is_none()
        };
        self.parts.api.facts.mapping().bookings_within(refusal).iter().any(is_it)
    }

    fn request_id(&self) -> Option<String> {
        let answered = self.parts.api.client().ok()?.answered.borrow();
        let (call, head) = answered.as_ref()?;
        (call == "POST /v1/bookings").then(|| request_id(&head.headers))?
    }

    /// Ends a run, and returns what may be said of the attempt, and the key of another attempt that
    /// has `booking`. That the end cannot be recorded is a warning.
    fn end_run(
        &self,
        run: &Run,
        last: TryResult,
        (http_status, error_code): (Option<u16>, Option<&str>),
        booking: Option<&Booking>,
    ) -> (Conclusion, Option<String>) {
        let terms = booking.and_then(|_| terms_asked_for(&self.parts.records, &self.wish()));
        let end = RunEnd {
            last,
            in_doubt: run.in_doubt,
            http_status,
            error_code,
            request_id: http_status.and_then(|_| self.request_id()),
            booking,
            terms: terms.as_ref(),
            request: &self.request,
        };
        let journal = self.parts.records.journal();
        match journal.and_then(|it| it.record_end(&run.id, &end)) {
            Ok(ended) => (conclusion(ended.outcome, Some(ended.state)), ended.other_attempt),
            Err(error) => {
                let what = match booking {
                    Some(_) => "the booking was made, but could not be saved in the journal",
                    None => "cannot save the result in the journal",
                };
                self.parts.ui.out.warn(&format!("{what}: {}", error.message));
                (conclusion(outcome_of(last, run.in_doubt, false), None), None)
            }
        }
    }

    /// Judges a 2xx: it is either the requested booking, or an error.
    fn judge_response(&self, run: &Run, answer: Answer) -> Result<CreatedBooking, NotCreated> {
        let (status, wish) = (answer.status, self.wish());
        let read = self.parts.api.booking_in(answer.document, run.left_at, true);
        let booking = match read.and_then(|booking| certain(&self.parts.records, &wish, booking)) {
            Ok(booking) => booking,
            Err(why) => {
                self.end_run(run, TryResult::NoProof, (Some(status), None), None);
                let error = Failure::no_booking(status, why).into_error(&self.call);
                let error = into_outcome_unknown(self.key, error);
                return Err(NotCreated { error, is_misread: true });
            }
        };
        let known = self.known_booking.as_deref().filter(|_| run.earlier == Earlier::Booked);
        let booking = match known {
            Some(known) => self.parts.api.identified(booking, known).0,
            None => booking,
        };
        let id = booking.id();
        let is_first = run.earlier != Earlier::Booked;
        let found = compared(&self.parts.records, &wish, &booking, is_first);
        let created = booking.created().and_then(|it| it.instant);
        let is_younger = created.is_some_and(|created| created > self.began());
        let may_be_modified =
            !is_younger && may_be_modified(self.origin, run.in_doubt, run.earlier);
        let verdict = of_create(&booking, &found, may_be_modified);
        let displayed = ShownBooking {
            agrees: verdict.refusal.is_none(),
            is_known: known == Some(id) && !verdict.is_another,
            is_older: self.is_older(&booking, status),
            // Only another venue or guest shows that another caller used the key.
            is_200: status == 200 && verdict.is_another,
        };
        let last = judge(displayed, self.origin, run.in_doubt, run.earlier);
        let is_marked = verdict.refusal.is_some() && !verdict.is_another;
        let stored = (last == TryResult::Booked || is_marked).then_some(&booking);
        let (conclusion, other_key) = self.end_run(run, last, (Some(status), None), stored);
        let difference = verdict.refusal;
        let mut error = match conclusion {
            Conclusion::Booked => {
                self.parts.api.in_flight.replace(InFlight::known(&booking));
                self.parts.records.remember_last(RecentList::LastBooking, id);
                if let Some(known) = known.filter(|known| *known != id) {
                    let what = format!(
                        "this idempotency key returned booking {known} before, and {id} now: both may exist"
                    );
                    // A sandbox may have been reset. Of another service, or with another
                    // organization's key, both stand.
                    if self.parts.api.facts.certainty() != Certainty::Contract {
                        let (known, id) = (show_command(known), show_command(id));
                        let error = Error::new(Code::OutcomeUnknown, what).body(booking.document);
                        let hint = format!("see both: {known}; {id}");
                        return Err(error.hint(hint).idempotency_key(self.key).into());
                    }
                    self.parts.ui.out.warn(&what);
                }
                let is_older = displayed.is_older || displayed.is_known;
                return Ok(CreatedBooking {
                    existed_before: existed_before(is_older, run.in_doubt, run.earlier),
                    booking,
                });
            }
            Conclusion::AnotherBooking => {
                another_booking(id, &difference.unwrap_or_default(), self.key)
            }
            // `judge` never takes a 2xx for a refusal, so only `Unknown` comes here.
            Conclusion::Unknown | Conclusion::NothingBooked => {
                let why = match (other_key, difference) {
                    (Some(other), _) => format!("which idempotency key {other} has already"),
                    (None, Some(difference)) => format!("in which {difference}"),
                    (None, None) => "which is older than this request".to_owned(),
                };
                let what = "the outcome is unknown: the service returned booking";
                let what = format!("{what} {id} ({}), {why}", booking.status());
                let error = Error::new(Code::OutcomeUnknown, what);
                let set = verdict.setting.map(|it| self.parts.api.facts.mapping().set_command(it));
                into_outcome_unknown(
                    self.key,
                    error.hint(match set {
                        Some(set) => format!("after you set how the service writes it: {set}"),
                        None => format!(
                            "if the service always returns that booking, abandon this request: {}",
                            abandon_command(self.key)
                        ),
                    }),
                )
            }
        };
        error.http_status = Some(status);
        error.request = Some(self.call.name());
        let is_misread = verdict.setting.is_some();
        Err(NotCreated { error: error.body(booking.document), is_misread })
    }

    /// The error that ends the command while no run of it is under way. The journal says whether
    /// the attempt is open, or which booking it made.
    fn stopped(&self, error: Error) -> Error {
        let is_limited = error.exit == Exit::RateLimited;
        let is_passing = is_limited || matches!(error.exit, Exit::Unauthorized | Exit::NotAllowed);
        // An interrupt already says what is in flight.
        if error.code == Code::Interrupted || !is_limited && !self.is_unresolved {
            return error;
        }
        let known = || self.parts.records.journal().ok()?.attempt(self.key).ok()?;
        match known().map(|it| (it.state, it.booking_id)) {
            Some((State::Resolved, Some(id))) if is_limited => {
                error.hint(format!("this key made {id}: {}", show_command(&id)))
            }
            Some((State::Abandoned, _)) if is_limited => error,
            Some((State::Abandoned, _)) => {
                nothing_more(self.key, error, "before booking again with a new --idempotency-key")
            }
            Some((State::Unresolved, _)) if self.is_rejected && !is_passing => {
                let abandon = abandon_command(self.key);
                nothing_more(self.key, error, &format!("and abandon the request: {abandon}"))
            }
            Some((State::Unresolved, _)) => into_outcome_unknown(self.key, error),
            _ if self.is_unresolved => into_outcome_unknown(self.key, error),
            _ => error,
        }
    }
}
