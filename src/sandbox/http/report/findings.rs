//! The rules that a client was seen to break. Each is a pure function of what was sent. What the
//! wire cannot prove is no finding: a request after a control has changed something is what a test
//! does next, and not a retry.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use serde_json::Value;

use super::Finding;
use crate::sandbox::http::exchanges::{Exchange, NO_KEY, OTHER_BOOKING};
use crate::sandbox::rules::delivery::DeliveryAttempt;
use crate::sandbox::rules::fault::FaultKind;
use crate::sandbox::store::SentDelivery;
use crate::sandbox::wire::IdKind;

/// Its code, title, why it matters, its section of the specification, and the requests that show
/// it: of the last three, the events.
type Rule = (&'static str, &'static str, &'static str, &'static str, fn(&Seen<'_>) -> Vec<String>);

#[rustfmt::skip]
const RULES: [Rule; 12] = [
    (NO_KEY, "A booking request without an Idempotency-Key", "If its response is lost, the client cannot find out whether it booked. Sending it again books again.", "Limits, 7", |_| Vec::new()),
    (OTHER_BOOKING, "An Idempotency-Key is sent with another booking request", "The service does not compare the body: it returns the first booking, and makes no new one.", "Limits, 7", |_| Vec::new()),
    ("retry_with_another_key", "A booking request is repeated with another key", "The first one may have booked; with another key the guest has two tables.", "Limits, 7", retried_with_another_key),
    ("retry_after_ignored", "A request is sent before Retry-After is over", "Until then the service rejects it, and the whole organization shares the limit.", "Limits, 2", sent_too_soon),
    ("rejected_sent_again", "A rejected booking request is sent again", "It is rejected again, and uses up the limit. Correct what the error names, or give up.", "Errors", rejected_sent_again),
    ("answer_sent_twice", "A one-time code or a payment answer is sent twice", "The first one may have counted: the second uses up a try or charges a card. Read the booking first.", "Continue", answered_twice),
    ("polling_too_fast", "A booking is read more often than the limit allows", "300 reads in 5 minutes are one a second, for all bookings together.", "Limits, 1", polled),
    ("slot_for_another_party", "A slot is booked for another party than it was offered for", "The venue offered the table for another number of guests.", "Slot", booked_for_others),
    ("unknown_field", "A field or parameter that the service does not know", "The service ignores it, so what it was meant to do does not happen.", "Overview", with_unknown_fields),
    ("unsigned_accepted", "The handler accepts a delivery without a signature", "Anyone who knows the address can report a booking as confirmed.", "Headers", |seen| accepted(seen, FaultKind::Unsigned)),
    ("old_accepted", "The handler accepts a delivery with an old signature", "A recorded delivery can be sent again by a stranger.", "Headers", |seen| accepted(seen, FaultKind::Old)),
    ("genuine_rejected", "The handler rejects each delivery, although its signature is valid", "It learns nothing. Verify the raw bytes of the body, with the organization's secret.", "Headers", rejected),
];

/// What the rules look at: one organization's requests in their order, and its deliveries.
#[derive(Default)]
pub(super) struct Seen<'a> {
    pub(super) sent: Vec<Sent<'a>>,
    pub(super) deliveries: Vec<&'a SentDelivery>,
}

/// Repeated reads from which on their pace is a client's.
const POLLS: usize = 9;
/// How exactly the two clocks are known. A test moves the sandbox's by more.
const EXACT: Duration = Duration::from_millis(500);

/// A request, with what several rules look at.
pub(super) struct Sent<'a> {
    pub(super) exchange: &'a Exchange,
    pub(super) read_body: OnceCell<Value>,
}

impl Sent<'_> {
    pub(super) fn body(&self) -> &Value {
        self.read_body.get_or_init(|| self.exchange.request_json())
    }

    pub(super) fn id(&self) -> String {
        IdKind::REQUEST.id(self.exchange.number)
    }

    /// Whether the other request came later without a change in between: of the same client, as far
    /// as the wire shows.
    pub(super) fn precedes(&self, other: &Self) -> bool {
        let (this, other) = (self.exchange, other.exchange);
        this.changes == other.changes && this.came < other.came
    }

    /// How long after the end of this one the other began, in real time and by the sandbox's clock;
    /// `None` if it was before.
    fn pauses(&self, other: &Self) -> Option<(Duration, Duration)> {
        let end = self.exchange.came + self.exchange.duration;
        let real = Duration::try_from(other.exchange.came.duration_since(end)).ok()?;
        Some((real, other.exchange.at.duration_since(self.exchange.at).unsigned_abs()))
    }

    /// How long after the end of this one the other began, by the clock that was faster.
    fn pause(&self, other: &Self) -> Option<Duration> {
        let (real, passed) = self.pauses(other)?;
        Some(real.max(passed))
    }

    /// Whether it read a booking that is not finished.
    fn is_poll(&self) -> bool {
        let waiting = ["processing", "otp", "confirm_details", "payment_approval"];
        self.exchange.method == "GET" && waiting.iter().any(|code| self.exchange.shows(code))
    }

    /// The code or the approval that it gives, if it gives one that the service may have taken.
    fn answer(&self) -> Option<&Value> {
        let path = self.exchange.path();
        let is_answer = path.ends_with("/continue") || path.ends_with("/verify");
        if !is_answer || matches!(self.exchange.status, 401..=404 | 413 | 429) {
            return None;
        }
        ["otp", "psp_response", "code"].iter().find_map(|it| self.body().get(it))
    }
}

/// The codes of the rules that were broken, each with what shows it.
pub(super) fn find_broken_rules(seen: &Seen<'_>) -> impl Iterator<Item = (&'static str, String)> {
    RULES.iter().flat_map(|(code, .., shows)| shows(seen).into_iter().map(|id| (*code, id)))
}

pub(super) fn findings(displayed: &mut HashMap<String, BTreeSet<String>>) -> Vec<Finding> {
    let found = RULES.iter().filter_map(|(code, title, why, section, _)| {
        let requests = displayed.remove(*code)?.into_iter().collect();
        let [code, title, why, section] = [*code, title, why, section].map(str::to_owned);
        Some(Finding { code, title, why, section, requests, calls: BTreeMap::new() })
    });
    found.collect()
}

fn with_unknown_fields(seen: &Seen<'_>) -> Vec<String> {
    seen.sent.iter().filter(|it| !it.exchange.unknown(it.body()).is_empty()).map(Sent::id).collect()
}

/// The pairs of a request that may be the first and a later one that shows that it is.
fn pairs(
    seen: &Seen<'_>,
    is_first: impl Fn(&Sent<'_>) -> bool,
    shows: impl Fn(&Sent<'_>, &Sent<'_>) -> bool,
) -> Vec<String> {
    let mut found = Vec::new();
    for (place, first) in seen.sent.iter().enumerate().filter(|(_, it)| is_first(it)) {
        let mut later = seen.sent[place + 1..].iter();
        if let Some(second) = later.find(|it| first.precedes(it) && shows(first, it)) {
            found.extend([first.id(), second.id()]);
        }
    }
    found
}

fn retried_with_another_key(seen: &Seen<'_>) -> Vec<String> {
    let is_slow = |it: &Sent<'_>| it.exchange.fault_kind() == Some(FaultKind::Delay);
    let is_first = |it: &Sent<'_>| {
        let may_be_lost = it.exchange.is_in_doubt() || is_slow(it);
        may_be_lost && it.exchange.is_create() && it.exchange.idempotency_key().is_some()
    };
    let is_same =
        |one: &Sent<'_>, other: &Sent<'_>| other.exchange.is_create() && one.body() == other.body();
    let has_same_key = |one: &Sent<'_>, other: &Sent<'_>| {
        one.exchange.idempotency_key() == other.exchange.idempotency_key()
    };
    pairs(seen, is_first, |first, second| {
        // A client that does not wait for a response that is held back has given it up.
        let is_given_up = !is_slow(first) || first.pause(second).is_none();
        // What was sent again with its own key was found out, whatever else was sent.
        let again = |it: &&Sent<'_>| has_same_key(first, it) && is_same(first, it);
        is_given_up
            && !has_same_key(first, second)
            && is_same(first, second)
            && seen.sent.iter().filter(again).count() == 1
    })
}

fn sent_too_soon(seen: &Seen<'_>) -> Vec<String> {
    let is_first = |it: &Sent<'_>| it.exchange.status == 429;
    pairs(seen, is_first, |first, second| {
        let endpoint = |it: &Sent<'_>| it.exchange.endpoint.map(|it| it.summary);
        let wait = first.exchange.response.header("retry-after");
        let wait = wait.and_then(|it| it.parse().ok()).map(Duration::from_secs);
        let is_too_soon = |wait| first.pause(second).is_some_and(|pause| pause < wait);
        endpoint(first) == endpoint(second) && wait.is_some_and(is_too_soon)
    })
}

fn rejected_sent_again(seen: &Seen<'_>) -> Vec<String> {
    let own = |it: &Sent<'_>| it.exchange.fault_kind().is_none() && it.exchange.is_create();
    // Other statuses may be mended without another body: search, new session, other key.
    let is_first = |it: &Sent<'_>| own(it) && matches!(it.exchange.status, 400 | 422);
    pairs(seen, is_first, |first, second| {
        let key = first.exchange.idempotency_key();
        let is_same = key.is_some() && key == second.exchange.idempotency_key();
        is_same
            && own(second)
            && matches!(second.exchange.status, 400..=422)
            && first.body() == second.body()
    })
}

fn answered_twice(seen: &Seen<'_>) -> Vec<String> {
    // One that was rejected did not count, and the client knows it.
    let is_first = |it: &Sent<'_>| {
        (it.exchange.status < 400 || it.exchange.is_in_doubt()) && it.answer().is_some()
    };
    pairs(seen, is_first, |first, second| {
        let path = first.exchange.path();
        // Nor did one after which the booking still waits.
        let is_read = |it: &Sent<'_>| {
            path.strip_suffix("/continue") == Some(it.exchange.path())
                && it.is_poll()
                && first.precedes(it)
                && it.precedes(second)
        };
        path == second.exchange.path()
            && first.answer() == second.answer()
            && !seen.sent.iter().any(is_read)
    })
}

/// Reads of unfinished bookings, some of them again, and no other call about a booking in between.
fn polled(seen: &Seen<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut run: Vec<&Sent<'_>> = Vec::new();
    for it in &seen.sent {
        let path = it.exchange.path();
        let is_other = it.exchange.method != "GET" && path.starts_with("/v1/bookings");
        // A test that moves the clock does not poll either.
        let is_at_once = |last: &&Sent<'_>| {
            let pauses = last.pauses(it);
            last.precedes(it) && pauses.is_none_or(|(real, passed)| passed < real + EXACT)
        };
        if is_other || !run.last().is_none_or(is_at_once) {
            run.clear();
        }
        if !it.is_poll() {
            continue;
        }
        run.push(it);
        let bookings: HashSet<_> = run.iter().map(|it| it.exchange.path()).collect();
        let pause = run[0].pause(it).unwrap_or_default();
        let is_fast = pause < Duration::from_secs(run.len() as u64 - 1);
        if run.len() - bookings.len() >= POLLS && is_fast {
            found.extend([run[0].id(), it.id()]);
            run.clear();
        }
    }
    found
}

fn booked_for_others(seen: &Seen<'_>) -> Vec<String> {
    // Of each slot, the parties that it was offered for, and the last search that did.
    let mut offers: HashMap<String, (HashSet<i64>, String)> = HashMap::new();
    let mut found = Vec::new();
    for it in &seen.sent {
        if it.exchange.path() == "/v1/availability/search" && it.exchange.status == 200 {
            let answer = it.exchange.answer_json();
            for slot in answer["slots"].as_array().into_iter().flatten() {
                if let Some(slot_id) = slot["availability_id"].as_str()
                    && let Some(party) = slot["party_size"].as_i64()
                {
                    let (parties, search) = offers.entry(slot_id.to_owned()).or_default();
                    parties.insert(party);
                    *search = it.id();
                }
            }
        } else if it.exchange.is_create()
            && it.exchange.status < 400
            && !offers.is_empty()
            && let Some(slot) = it.body()["availability_id"].as_str()
            && let Some(party) = it.body()["party_size"].as_i64()
            && let Some((parties, search)) = offers.get(slot)
            && !parties.contains(&party)
        {
            found.extend([search.clone(), it.id()]);
        }
    }
    found
}

/// The events of which an attempt shows it.
fn events(seen: &Seen<'_>, shows: impl Fn(&DeliveryAttempt) -> bool) -> Vec<String> {
    let found = seen.deliveries.iter().filter(|it| it.attempts.iter().any(&shows));
    found.map(|it| it.event.clone()).collect()
}

/// The events that the handler took although it should not have.
fn accepted(seen: &Seen<'_>, fault: FaultKind) -> Vec<String> {
    events(seen, |it| it.fault == Some(fault) && matches!(it.status, Some(200..=299)))
}

/// The events whose genuine deliveries the handler rejected: a finding if it accepts none.
fn rejected(seen: &Seen<'_>) -> Vec<String> {
    let forged = [Some(FaultKind::Unsigned), Some(FaultKind::Old)];
    events(seen, |it| !forged.contains(&it.fault) && matches!(it.status, Some(400 | 401 | 403)))
}
