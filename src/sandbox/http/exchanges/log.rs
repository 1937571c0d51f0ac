//! The last requests, in memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::exchange::Exchange;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fields::FieldErrors;
use crate::sandbox::wire::id::IdKind;

/// How many requests are kept.
const MOST: usize = 1000;
/// How many bytes they may hold together.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// How much memory waits for another exchange, in pieces: as many as requests that are often answered at a time.
const MOST_SPARE: usize = 64;
/// How many requests a list has unless it is asked for more.
const LIMIT: usize = 100;

/// The last requests of this process.
pub(crate) struct ExchangeLog(Mutex<Kept>);

struct Kept {
    exchanges: VecDeque<Arc<Exchange>>,
    bytes: usize,
    /// The memory of exchanges that were dropped.
    spare: Vec<Vec<u8>>,
    /// The number of the last one.
    last: i64,
}

impl ExchangeLog {
    /// An empty one. Numbers begin with the time, so that they are not used again after a restart.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Kept {
            exchanges: VecDeque::new(),
            bytes: 0,
            spare: Vec::new(),
            last: Timestamp::now().as_millisecond() << 21,
        }))
    }

    /// Memory for another exchange.
    pub(in super::super) fn memory(&self) -> Vec<u8> {
        self.lock().spare.pop().unwrap_or_default()
    }

    /// Keeps a request, and drops the oldest ones that it leaves no room for.
    pub(in super::super) fn keep(&self, mut exchange: Exchange) -> Arc<Exchange> {
        let mut kept = self.lock();
        kept.last += 1;
        exchange.number = kept.last;
        kept.bytes += exchange.size();
        let exchange = Arc::new(exchange);
        kept.exchanges.push_back(Arc::clone(&exchange));
        while kept.exchanges.len() > MOST || kept.bytes > MOST_BYTES {
            let Some(oldest) = kept.exchanges.pop_front() else {
                break;
            };
            kept.bytes -= oldest.size();
            if kept.spare.len() < MOST_SPARE {
                kept.spare
                    .extend(Arc::into_inner(oldest).map(Exchange::into_memory));
            }
        }
        exchange
    }

    /// Those that a filter lets through, newest first.
    pub(in super::super) fn list(&self, filter: &Filter) -> Vec<Arc<Exchange>> {
        // The lock is not held while bodies are read.
        let kept: Vec<_> = self.lock().exchanges.iter().cloned().collect();
        let wanted = kept.into_iter().rev().filter(|it| filter.takes(it));
        wanted.take(filter.limit).collect()
    }

    /// The one with this id.
    pub(in super::super) fn find(&self, id: &str) -> Option<Arc<Exchange>> {
        self.numbered(IdKind::Request.number(id)?)
    }

    /// The one with this number.
    pub(in super::super) fn numbered(&self, number: i64) -> Option<Arc<Exchange>> {
        let kept = self.lock();
        kept.exchanges
            .iter()
            .find(|it| it.number == number)
            .cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which requests a list has.
pub(in super::super) struct Filter {
    limit: usize,
    status: Option<String>,
    method: Option<String>,
    path: Option<String>,
    booking: Option<String>,
    organization: Option<String>,
    after: Option<i64>,
}

impl Filter {
    /// Reads a query, in which `organization` was looked up.
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
        let status = query("status").map(|it| it.to_ascii_lowercase());
        let is_status = |text: &String| {
            let class = text.strip_suffix("xx");
            let is_class = class.is_some_and(|it| matches!(it, "1" | "2" | "3" | "4" | "5"));
            is_class || matches!(text.parse::<u16>(), Ok(0 | 100..=599))
        };
        if status.as_ref().is_some_and(|it| !is_status(it)) {
            errors.add(
                "status",
                "must be a status, 100 to 599, or a class, 1xx to 5xx",
            );
        }
        let after = query("after").map(|it| IdKind::Request.number(&it));
        if after == Some(None) {
            errors.add("after", "must be the id of a request");
        }
        let limit = errors.finish(limit)?;
        Ok(Self {
            limit,
            status,
            method: query("method"),
            // Every path begins with a slash.
            path: query("path").map(|it| format!("/{}", it.trim_start_matches('/'))),
            booking: query("booking"),
            organization,
            after: after.flatten(),
        })
    }

    fn takes(&self, exchange: &Exchange) -> bool {
        let status = exchange.status.to_string();
        let is_status = |wanted: &String| match wanted.strip_suffix("xx") {
            Some(class) => status.len() == 3 && status.starts_with(class),
            None => *wanted == status,
        };
        let is = |wanted: &Option<String>, has: Option<String>| {
            wanted.is_none() || wanted.as_deref() == has.as_deref()
        };
        let method = self.method.as_ref();
        self.after.is_none_or(|after| exchange.number > after)
            && self.status.as_ref().is_none_or(is_status)
            && method.is_none_or(|it| it.eq_ignore_ascii_case(exchange.method.as_str()))
            && self
                .path
                .as_ref()
                .is_none_or(|it| exchange.path().starts_with(it.as_str()))
            && (self.booking.is_none() || is(&self.booking, exchange.booking()))
            && (self.organization.is_none() || is(&self.organization, exchange.organization()))
    }
}
