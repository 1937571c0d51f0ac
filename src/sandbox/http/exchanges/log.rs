//! The last requests, in memory.

use std::collections::{HashMap, VecDeque};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::exchange::Exchange;
use crate::sandbox::rules::access;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fields::FieldErrors;
use crate::sandbox::wire::IdKind;

const MOST: usize = 1000;
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// How many requests a list has unless it is asked for more.
const LIMIT: usize = 100;

pub(crate) struct ExchangeLog(Mutex<LogEntries>);

struct LogEntries {
    exchanges: VecDeque<Arc<Exchange>>,
    size: usize,
    last: i64,
    changes: u32,
    /// What requests of a key met that are no longer kept, and the first that did.
    earlier: HashMap<(String, String), i64>,
}

impl ExchangeLog {
    /// An empty one. Numbers begin with the time, so that they are not used again after a restart.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(LogEntries {
            exchanges: VecDeque::new(),
            size: 0,
            last: Timestamp::now().as_millisecond() << 21,
            changes: 0,
            earlier: HashMap::new(),
        }))
    }

    /// Numbers and keeps a request, and drops the oldest ones that it leaves no room for.
    pub(in super::super) fn keep(&self, mut exchange: Exchange) -> Arc<Exchange> {
        let mut kept = self.lock();
        kept.last += 1;
        exchange.number = kept.last;
        exchange.changes = kept.changes;
        kept.size += exchange.size();
        let exchange = Arc::new(exchange);
        kept.exchanges.push_back(Arc::clone(&exchange));
        while (kept.exchanges.len() > MOST || kept.size > MOST_BYTES)
            && let Some(oldest) = kept.exchanges.pop_front()
        {
            kept.size -= oldest.size();
            let key = oldest.key().filter(|_| oldest.status != 401);
            for code in oldest.met() {
                let met = (key.unwrap_or_default().to_owned(), code.to_owned());
                kept.earlier.entry(met).or_insert(oldest.number);
            }
        }
        exchange
    }

    /// A control has changed something.
    pub(in super::super) fn note_change(&self) {
        self.lock().changes += 1;
    }

    /// Drops what came from an organization that is removed.
    pub(in super::super) fn forget(&self, organization: &str) {
        let mut kept = self.lock();
        let is_its = |it: &Exchange| it.organization().as_deref() == Some(organization);
        kept.exchanges.retain(|it| !is_its(it));
        kept.size = kept.exchanges.iter().map(|it| it.size()).sum();
        kept.earlier.retain(|(key, _), _| {
            access::key(key).is_none_or(|it| it.organization != organization)
        });
    }

    /// What is kept, oldest first; and what earlier requests met first.
    pub(in super::super) fn all(&self) -> (Vec<Arc<Exchange>>, Vec<MetBefore>) {
        let kept = self.lock();
        let earlier = kept.earlier.iter().map(|((key, code), first)| {
            let organization = access::key(key).map(|it| it.organization);
            (organization, code.clone(), *first)
        });
        (kept.exchanges.iter().cloned().collect(), earlier.collect())
    }

    pub(in super::super) fn list(&self, filter: &Filter) -> Vec<Arc<Exchange>> {
        let kept = self.lock();
        let newest = kept.exchanges.iter().rev().filter(|it| filter.takes(it));
        newest.take(filter.limit).cloned().collect()
    }

    pub(in super::super) fn numbered(&self, number: i64) -> Option<Arc<Exchange>> {
        let kept = self.lock();
        let mut newest = kept.exchanges.iter().rev();
        newest.find(|it| it.number == number).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, LogEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An organization, the code of a situation, and the number of the first request that met it.
pub(in super::super) type MetBefore = (Option<String>, String, i64);

pub(in super::super) struct Filter {
    limit: usize,
    status: Option<RangeInclusive<u16>>,
    method: Option<String>,
    path: Option<String>,
    booking: Option<String>,
    organization: Option<String>,
    after: Option<i64>,
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

impl Filter {
    pub(in super::super) fn read(
        organization: Option<String>,
        query: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ApiError> {
        let mut errors = FieldErrors::default();
        let limit = query("limit").map_or(Some(LIMIT), |it| it.parse().ok());
        let limit = limit.filter(|it| (1..=MOST).contains(it));
        if limit.is_none() {
            errors.add("limit", format!("must be 1 to {MOST}"));
        }
        let status = query("status").map(|it| statuses(&it));
        if status == Some(None) {
            let demand = "must be a status, 100 to 599, 0 for no response, or a class, 1xx to 5xx";
            errors.add("status", demand);
        }
        let after = query("after").map(|it| IdKind::Request.number(&it));
        if after == Some(None) {
            errors.add("after", "must be the id of a request");
        }
        let limit = errors.finish(limit)?;
        Ok(Self {
            limit,
            status: status.flatten(),
            method: query("method"),
            // Every path begins with a slash.
            path: query("path").map(|it| format!("/{}", it.trim_start_matches('/'))),
            booking: query("booking"),
            organization,
            after: after.flatten(),
        })
    }

    fn takes(&self, exchange: &Exchange) -> bool {
        let is_method = |it: &String| it.eq_ignore_ascii_case(exchange.method.as_str());
        let is_path = |it: &String| exchange.path().starts_with(it.as_str());
        let is_status = |it: &RangeInclusive<u16>| it.contains(&exchange.status);
        self.after.is_none_or(|after| exchange.number > after)
            && self.status.as_ref().is_none_or(is_status)
            && self.method.as_ref().is_none_or(is_method)
            && self.path.as_ref().is_none_or(is_path)
            && (self.booking.is_none() || self.booking == exchange.booking())
            && (self.organization.is_none() || self.organization == exchange.organization())
    }
}
