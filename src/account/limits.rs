use jiff::Timestamp;
use serde::Serialize;

use crate::app::{Facts, Parts, Records};
use crate::outcome::{Exit, Result};
use crate::service::time::{in_units, whole_seconds};
use crate::terminal::output::{Draw, Page, TableCell, Tone};

/// Show what is left of each rate limit
///
/// The service limits an organization's requests per five minutes. All bookctl processes on this
/// computer share one count, so none sends a request that would be rejected. Reads of bookings and
/// cards are not counted.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl limits\n  \
    bookctl limits \\\n    --jq '.limits[] | select(.remaining == 0) | .resets_in_seconds'")]
pub(crate) struct Args {}

pub(crate) async fn run(parts: &Parts, (): ()) -> Result<Exit> {
    let limits = known(&parts.api.facts, &parts.records)?;
    let is_empty = limits.is_empty();
    let list = LimitList { limits };
    let none = "No rate limits known yet. A search or a booking shows them.";
    parts.ui.out.emit_list(&list, is_empty, none)
}

pub(crate) fn known(facts: &Facts, records: &Records) -> Result<Vec<RateLimitRow>> {
    if !records.has_journal() {
        return Ok(Vec::new());
    }
    let moved = facts.target().service().is_none().then(|| facts.now()).transpose()?;
    let limits = records.journal()?.rate_limits()?.into_iter().map(|window| {
        let ours = Timestamp::now().saturating_add(window.skew);
        let (remaining, resets_in) = window.left(moved.unwrap_or(ours.unwrap_or(Timestamp::MAX)));
        RateLimitRow {
            endpoint: window.name,
            limit: window.allowed,
            remaining,
            resets_in_seconds: resets_in.as_secs() + u64::from(resets_in.subsec_nanos() > 0),
            resets_at: whole_seconds(window.resets_at),
            seen_at: whole_seconds(window.seen_at),
        }
    });
    Ok(limits.collect())
}

#[derive(Serialize)]
pub(crate) struct RateLimitRow {
    endpoint: String,
    limit: u32,
    remaining: u32,
    resets_in_seconds: u64,
    resets_at: String,
    seen_at: String,
}

impl RateLimitRow {
    /// What is said of a limit that leaves no request; `None` if one is left.
    pub(crate) fn exhausted(&self) -> Option<String> {
        let is_exhausted = self.remaining == 0 && self.resets_in_seconds > 0;
        let resets_in = in_units(self.resets_in_seconds);
        let endpoint = &self.endpoint;
        is_exhausted.then(|| format!("no {endpoint} is left; the limit resets in {resets_in}"))
    }
}

#[derive(Serialize)]
struct LimitList {
    limits: Vec<RateLimitRow>,
}

impl Draw for LimitList {
    fn draw(&self, page: &mut Page) {
        let rows = self.limits.iter().map(|seen| {
            let tone = if seen.remaining == 0 { Tone::Bad } else { Tone::Good };
            let resets = match seen.resets_in_seconds {
                0 => "now".to_owned(),
                seconds => format!("in {}", in_units(seconds)),
            };
            vec![
                seen.endpoint.as_str().into(),
                TableCell::toned(seen.remaining.to_string(), tone),
                seen.limit.to_string().into(),
                TableCell::from(seen.resets_at.as_str()).in_short(Some(resets)),
            ]
        });
        page.table(vec!["endpoint", "left", "of", "resets"], rows.collect(), vec![]);
    }
}
