//! Which booking the desk reads next from the service, and when: what is shown is so now, and ten
//! desks do not use up the rate limit.

use std::time::{Duration, Instant};

use crate::platform::pace::scaled;
use crate::service::client::{RATE_LIMIT_WINDOW, RateLimit};

/// How often the open card is read, and each row that may change any moment.
pub(super) const OFTEN: Duration = Duration::from_secs(10);
/// How often the open card is read where little is left, or without a person.
const SELDOM: Duration = Duration::from_secs(60);
/// Without a key for this long, there is no person.
const IDLE: Duration = Duration::from_secs(120);
/// The reads in a window of a service that shows no rate limit.
const UNLIMITED: usize = 30;
/// The part of the rate limit for rows that are not open.
const SHARE: usize = 10;
const BETWEEN: Duration = Duration::from_secs(1);

/// A booking that may have changed since it was seen, so long ago.
pub(super) struct Row<'a> {
    pub(super) id: &'a str,
    pub(super) age: Duration,
    /// The age at which it is due.
    pub(super) due: Duration,
}

struct Read {
    at: Instant,
    id: String,
    is_open: bool,
}

pub(super) struct Reads {
    pub(super) limit: Option<RateLimit>,
    pub(super) last_key: Instant,
    pub(super) is_hurried: bool,
    sent: Vec<Read>,
}

impl Reads {
    pub(super) fn new(now: Instant) -> Self {
        Reads { limit: None, last_key: now, is_hurried: true, sent: Vec::new() }
    }

    /// Returns the booking to read now, and counts it as read: the open card's if it is due, else
    /// the row that is overdue most.
    pub(super) fn next<'a>(
        &mut self,
        open: Option<&str>,
        rows: impl Iterator<Item = Row<'a>>,
        now: Instant,
    ) -> Option<String> {
        self.sent.retain(|read| now - read.at < scaled(RATE_LIMIT_WINDOW));
        let since = |id: &str| {
            let last = self.sent.iter().rev().find(|read| read.id == id);
            last.map_or(Duration::MAX, |read| now - read.at)
        };
        let is_limited = self.limit.is_none() && self.sent.len() >= UNLIMITED;
        let is_scarce = self.limit.is_some_and(|it| it.remaining <= it.limit / 4);
        let is_idle = now - self.last_key > scaled(IDLE);
        let pause = if is_scarce || is_idle { SELDOM } else { OFTEN };
        let is_due = |open: &&str| self.is_hurried || since(open) >= scaled(pause);
        let open = open.filter(|open| !is_limited && is_due(open));
        let others = || self.sent.iter().filter(|read| !read.is_open);
        let left =
            self.limit.map_or(UNLIMITED * SHARE, |it| it.remaining as usize + others().count());
        let has_share = !is_limited
            && others().count() < left / SHARE
            && others().all(|read| now - read.at >= scaled(BETWEEN));
        let rows = rows.filter(|_| has_share).map(|row| {
            let age = row.age.min(since(row.id)).as_secs_f64();
            (age / scaled(row.due).as_secs_f64(), row.id)
        });
        let most = rows.filter(|row| row.0 >= 1.0).max_by(|one, other| one.0.total_cmp(&other.0));
        let (id, is_open) = match (open, most) {
            (Some(open), _) => (open.to_owned(), true),
            (None, row) => (row?.1.to_owned(), false),
        };
        self.is_hurried &= !is_open;
        self.sent.push(Read { at: now, id: id.clone(), is_open });
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reads of desks in a window of a service that counts them, and what is left of its limit.
    fn window(desks: usize, limit: Option<u32>, has_card: bool, rows: usize) -> (usize, u32) {
        let start = Instant::now();
        let mut all: Vec<Reads> = (0..desks).map(|_| Reads::new(start)).collect();
        let ids: Vec<String> = (0..rows).map(|row| row.to_string()).collect();
        let (mut count, mut left) = (0, limit.unwrap_or(u32::MAX));
        for tick in 0..RATE_LIMIT_WINDOW.as_secs() * 5 {
            let now = start + Duration::from_millis(200) * tick as u32;
            for reads in &mut all {
                // At work, unless there is no card.
                reads.last_key = if has_card { now } else { start };
                let row = |id| Row { id, age: Duration::MAX, due: OFTEN };
                let rows = ids.iter().map(|id| row(id));
                if reads.next(has_card.then_some("open"), rows, now).is_some() {
                    (count, left) = (count + 1, left - 1);
                    let displayed = |limit| RateLimit { limit, remaining: left, resets_in: IDLE };
                    reads.limit = limit.map(displayed);
                }
            }
        }
        (count, left)
    }

    #[test]
    fn the_desk_reads_within_its_share_of_the_rate_limit() {
        assert_eq!(window(1, Some(300), true, 0).0, 30, "the open card, every ten seconds");
        assert_eq!(window(1, Some(300), false, 100).0, 30, "a tenth for rows");
        assert_eq!(window(1, None, true, 100).0, 30, "in all, where no limit is shown");
        assert!((50..60).contains(&window(1, Some(300), true, 100).0));
        let (_, left) = window(10, Some(300), true, 100);
        assert!(left > 10, "ten desks leave some: {left}");
    }
}
