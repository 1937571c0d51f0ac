//! The last requests, in memory.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::exchange::{Exchange, Metadata};
use super::parts::{Layout, Parts};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fields::FieldErrors;
use crate::sandbox::wire::id::IdKind;

/// How many requests are kept.
const MOST: usize = 1000;
/// How many bytes they may hold together.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// How many pieces of memory wait for another exchange: as many as requests that are often answered at a time.
const MOST_SPARE: usize = 64;
/// How many requests a list has unless it is asked for more.
const LIMIT: usize = 100;

/// The last requests of this process.
pub(crate) struct ExchangeLog(Mutex<Kept>);

struct Kept {
    exchanges: VecDeque<(Metadata, Layout)>,
    /// The bytes of them all. One ring is written sequentially, which suits the processor's cache: with an allocation for
    /// each exchange, to log a read took twice as long.
    bytes: VecDeque<u8>,
    /// How much memory the exchanges take.
    size: usize,
    /// Memory for exchanges that are not complete yet.
    spare: Vec<Vec<u8>>,
    /// The number of the last one.
    last: i64,
}

impl ExchangeLog {
    /// An empty one. Numbers begin with the time, so that they are not used again after a restart.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Kept {
            exchanges: VecDeque::new(),
            bytes: VecDeque::new(),
            size: 0,
            spare: Vec::new(),
            last: Timestamp::now().as_millisecond() << 21,
        }))
    }

    /// Memory for another exchange.
    pub(in super::super) fn memory(&self) -> Vec<u8> {
        self.lock().spare.pop().unwrap_or_default()
    }

    /// Takes back the memory of an exchange.
    pub(in super::super) fn reuse(&self, exchange: Exchange) {
        let mut kept = self.lock();
        if kept.spare.len() < MOST_SPARE {
            kept.spare.push(exchange.parts.into_memory());
        }
    }

    /// Keeps and numbers a request, and drops the oldest ones that it leaves no room for.
    pub(in super::super) fn keep(&self, exchange: &mut Exchange) {
        let mut kept = self.lock();
        kept.last += 1;
        exchange.metadata.number = kept.last;
        let layout = exchange.parts.layout();
        let size = exchange.metadata.size() + layout.length();
        let is_full = |kept: &Kept| kept.exchanges.len() >= MOST || kept.size + size > MOST_BYTES;
        while is_full(&kept) && kept.drop_oldest() {}
        kept.size += size;
        kept.exchanges
            .push_back((exchange.metadata.clone(), layout));
        kept.add(exchange.parts.bytes());
    }

    /// Those that a filter lets through, newest first.
    pub(in super::super) fn list(&self, filter: &Filter) -> Vec<Exchange> {
        let kept = self.lock();
        let candidates = kept.newest(|metadata| filter.may_take(metadata));
        let wanted = candidates.filter(|it| filter.takes(it));
        wanted.take(filter.limit).collect()
    }

    /// The one with this id.
    pub(in super::super) fn find(&self, id: &str) -> Option<Exchange> {
        self.numbered(IdKind::Request.number(id)?)
    }

    /// The one with this number.
    pub(in super::super) fn numbered(&self, number: i64) -> Option<Exchange> {
        self.lock().newest(|it| it.number == number).next()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Adds to the bytes. Their memory doubles as it fills, but never beyond what they may hold.
    fn add(&mut self, bytes: &[u8]) {
        let needed = self.bytes.len() + bytes.len();
        if needed > self.bytes.capacity() {
            let room = (2 * needed).min(MOST_BYTES.max(needed));
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.extend(bytes);
    }

    /// Drops the oldest exchange; `false` if there is none.
    fn drop_oldest(&mut self) -> bool {
        let Some((metadata, layout)) = self.exchanges.pop_front() else {
            return false;
        };
        self.bytes.drain(..layout.length());
        self.size -= metadata.size() + layout.length();
        true
    }

    /// Copies of the exchanges of which this is true, newest first.
    fn newest(&self, is_wanted: impl Fn(&Metadata) -> bool) -> impl Iterator<Item = Exchange> {
        let mut start = self.bytes.len();
        self.exchanges
            .iter()
            .rev()
            .filter_map(move |(metadata, layout)| {
                let end = start;
                start -= layout.length();
                is_wanted(metadata).then(|| Exchange {
                    metadata: metadata.clone(),
                    parts: Parts::new(self.bytes.range(start..end).copied().collect(), *layout),
                })
            })
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

    /// Whether it may let an exchange through, as far as its bytes do not decide.
    fn may_take(&self, metadata: &Metadata) -> bool {
        let status = metadata.status.to_string();
        let is_status = |wanted: &String| match wanted.strip_suffix("xx") {
            Some(class) => status.len() == 3 && status.starts_with(class),
            None => *wanted == status,
        };
        let method = self.method.as_ref();
        self.after.is_none_or(|after| metadata.number > after)
            && self.status.as_ref().is_none_or(is_status)
            && method.is_none_or(|it| it.eq_ignore_ascii_case(metadata.method.as_str()))
    }

    /// Whether it lets an exchange through that it may take.
    fn takes(&self, exchange: &Exchange) -> bool {
        let is = |wanted: &Option<String>, has: Option<String>| {
            wanted.is_none() || wanted.as_deref() == has.as_deref()
        };
        self.path
            .as_ref()
            .is_none_or(|it| exchange.path().starts_with(it.as_str()))
            && (self.booking.is_none() || is(&self.booking, exchange.booking()))
            && (self.organization.is_none() || is(&self.organization, exchange.organization()))
    }
}
