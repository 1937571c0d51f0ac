//! The last requests, in memory.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jiff::Timestamp;

use super::exchange::Exchange;
use crate::sandbox::http::request::Request;
use crate::sandbox::rules::api_error::Result;
use crate::sandbox::rules::fields::FieldErrors;
use crate::sandbox::store::SentDelivery;
use crate::sandbox::wire::IdKind;

const MOST: usize = 1000;
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// How many ids of one code are remembered.
const MOST_IDS: usize = 100;
/// How many requests a list has unless it is asked for more.
const LIMIT: usize = 100;
/// How many times longer than judging requests took has to pass before deleted ones are judged
/// again. What deletes a thousand sooner is a load test, which pays 2 % for its report.
const JUDGING_PAUSE: u32 = 50;

pub(crate) struct ExchangeLog(Mutex<LogEntries>);

#[derive(Default)]
struct LogEntries {
    exchanges: VecDeque<Arc<Exchange>>,
    size: usize,
    last: i64,
    /// How often a control has changed something for an organization, or for all.
    changes: HashMap<Option<String>, u32>,
    /// The bookings that a response showed as processing, and none since as anything else.
    processing: HashSet<String>,
    /// `None` if there is no report.
    judge: Option<Judge>,
    judging_due: Option<Instant>,
    /// What all requests showed, and the rules that those broke which are no longer there.
    displayed: HashMap<(Option<String>, String), BTreeSet<String>>,
}

/// Says which rules requests broke, and what deliveries show.
pub(crate) type Judge = fn(&[Arc<Exchange>], &[SentDelivery]) -> Vec<Evidence>;
/// An organization, the code of a situation or a finding, and the id of what shows it.
pub(crate) type Evidence = (Option<String>, String, String);

impl ExchangeLog {
    /// An empty one. Numbers begin with the time, so that they are not used again after a restart.
    pub(crate) fn new(judge: Option<Judge>) -> Self {
        Self(Mutex::new(LogEntries {
            last: Timestamp::now().as_millisecond() << 21,
            judge,
            ..LogEntries::default()
        }))
    }

    /// Numbers and stores a request. Those it displaces are judged with what followed.
    pub(in super::super) fn keep(&self, mut exchange: Exchange) -> Arc<Exchange> {
        let mut stored = self.lock();
        stored.last += 1;
        exchange.number = stored.last;
        if !stored.changes.is_empty() {
            let owners = [&None, &exchange.organization];
            exchange.changes = owners.iter().filter_map(|it| stored.changes.get(*it)).sum();
        }
        if stored.judge.is_some() {
            stored.count(&mut exchange);
        }
        stored.size += exchange.size();
        let exchange = Arc::new(exchange);
        stored.exchanges.push_back(Arc::clone(&exchange));
        if stored.exchanges.len() > 2 * MOST || stored.size > MOST_BYTES {
            let began = Instant::now();
            if stored.size > MOST_BYTES || stored.judging_due.is_none_or(|due| began >= due) {
                let all: Vec<_> = stored.exchanges.iter().cloned().collect();
                stored.remember(&all, &[]);
                stored.judging_due = Some(began + began.elapsed() * JUDGING_PAUSE);
            }
            while (stored.exchanges.len() > MOST || stored.size > MOST_BYTES / 2)
                && let Some(oldest) = stored.exchanges.pop_front()
            {
                stored.size -= oldest.size();
            }
        }
        exchange
    }

    /// A control was called.
    pub(in super::super) fn note(&self, control: &Exchange) {
        if let Some(owner) = control.changes_for() {
            *self.lock().changes.entry(owner).or_default() += 1;
        }
    }

    /// Judges deleted deliveries, and a removed organization's requests with them.
    pub(in super::super) fn forget(&self, organization: Option<&str>, deliveries: &[SentDelivery]) {
        let mut stored = self.lock();
        let is_its = |it: &Arc<Exchange>| {
            organization.is_some() && it.organization.as_deref() == organization
        };
        let all = std::mem::take(&mut stored.exchanges).into_iter();
        let (leaving, staying): (Vec<_>, Vec<_>) = all.partition(is_its);
        stored.remember(&leaving, deliveries);
        stored.size = staying.iter().map(|it| it.size()).sum();
        stored.exchanges = staying.into();
    }

    /// What is kept, oldest first; what all showed; and what judges it, unless there is no report.
    pub(in super::super) fn all(&self) -> Option<(Vec<Arc<Exchange>>, Vec<Evidence>, Judge)> {
        let stored = self.lock();
        let displayed = stored.displayed.iter().flat_map(|((owner, code), ids)| {
            ids.iter().map(|id| (owner.clone(), code.clone(), id.clone()))
        });
        Some((stored.exchanges.iter().cloned().collect(), displayed.collect(), stored.judge?))
    }

    pub(in super::super) fn list(
        &self,
        limit: usize,
        is_wanted: impl Fn(&Exchange) -> bool,
    ) -> Vec<Arc<Exchange>> {
        let stored = self.lock();
        let newest = stored.exchanges.iter().rev().filter(|it| is_wanted(it));
        newest.take(limit).cloned().collect()
    }

    pub(in super::super) fn numbered(&self, number: i64) -> Option<Arc<Exchange>> {
        self.lock().exchanges.iter().rev().find(|it| it.number == number).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, LogEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogEntries {
    /// Counts what a request shows. Only together with what came before does a read show that a
    /// booking was processed.
    fn count(&mut self, exchange: &mut Exchange) {
        if exchange.shows("processing") {
            self.processing.extend(exchange.booking());
        } else if (exchange.method == "GET" && exchange.status == 200)
            && !self.processing.is_empty()
            && exchange.booking().is_some_and(|it| self.processing.remove(&it))
        {
            let has_failed = exchange.shows("provider_error");
            let how = if has_failed { "processing_failed" } else { "processed" };
            exchange.situations.push(how.into());
        }
        for code in &exchange.situations {
            let id = IdKind::REQUEST.id(exchange.number);
            self.add((exchange.organization.clone(), code.clone(), id));
        }
    }

    fn remember(&mut self, leaving: &[Arc<Exchange>], deliveries: &[SentDelivery]) {
        if let Some(judge) = self.judge {
            judge(leaving, deliveries).into_iter().for_each(|it| self.add(it));
        }
    }

    fn add(&mut self, (owner, code, id): Evidence) {
        let ids = self.displayed.entry((owner, code)).or_default();
        if ids.len() < MOST_IDS {
            ids.insert(id);
        }
    }
}

/// The most exchanges of a list, and which of them the parameters of its request let through.
pub(crate) fn read_filter(request: &Request) -> Result<(usize, impl Fn(&Exchange) -> bool)> {
    let mut errors = FieldErrors::default();
    let count = |it: String| it.parse().ok().filter(|it| (1..=MOST).contains(it));
    let demand = format!("must be 1 to {MOST}");
    let limit = errors.parsed("limit", request.query("limit"), count, &demand).unwrap_or(LIMIT);
    let demand = "must be a status, 100 to 599, 0 for no response, or a class, 1xx to 5xx";
    let status = errors.parsed("status", request.query("status"), |it| statuses(&it), demand);
    let number = |it: String| IdKind::REQUEST.number(&it);
    let demand = "must be the id of a request";
    let after = errors.parsed("after", request.query("after"), number, demand).unwrap_or(0);
    errors.finish()?;
    let status = status.unwrap_or(0..=u16::MAX);
    let (method, booking) = (request.query("method"), request.query("booking"));
    // Every path begins with a slash.
    let path = request.query("path").map(|it| format!("/{}", it.trim_start_matches('/')));
    let path = path.unwrap_or_default();
    let is_wanted = move |it: &Exchange| {
        it.number > after
            && status.contains(&it.status)
            && method.as_ref().is_none_or(|method| method.eq_ignore_ascii_case(it.method.as_str()))
            && it.path().starts_with(&path)
            && (booking.is_none() || booking == it.booking())
            && request.is_about(it.organization.as_deref().unwrap_or_default())
    };
    Ok((limit, is_wanted))
}

fn statuses(text: &str) -> Option<RangeInclusive<u16>> {
    let text = text.to_ascii_lowercase();
    if let Some(class) = text.strip_suffix("xx") {
        let class: u16 = class.parse().ok().filter(|it| (1..=5).contains(it))?;
        return Some(class * 100..=class * 100 + 99);
    }
    let status = text.parse().ok()?;
    matches!(status, 0 | 100..=599).then_some(status..=status)
}
