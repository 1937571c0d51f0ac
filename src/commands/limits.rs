use jiff::Timestamp;
use serde_json::{Value, json};

use crate::app::Context;
use crate::config::Target;
use crate::journal::RateLimitWindow;
use crate::json::Document;
use crate::model::duration::in_units;
use crate::outcome::{Exit, Result};
use crate::terminal::output::{Page, TableCell, Tone, View};

/// Show what is left of each rate limit
///
/// The service limits an organization's requests per five minutes. All bookctl processes on this computer share one
/// count, so that none sends a request that would be refused. Reads of bookings and cards are not counted.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl limits\n  \
    bookctl limits \\\n    --jq '.limits[] | select(.remaining == 0) | .resets_in_seconds'")]
pub(crate) struct Args {}

pub(super) async fn run(context: &Context, _: Args) -> Result<Exit> {
    let limits = LimitList(known(context)?);
    let none = "No rate limits known yet. A search or a booking shows them.";
    context.out.emit_list(&limits, limits.0.is_empty(), none)?;
    Ok(Exit::Done)
}

pub(super) fn known(context: &Context) -> Result<Vec<Seen>> {
    if !context.has_journal() {
        return Ok(Vec::new());
    }
    let windows = context.journal()?.rate_limits()?;
    let embedded = matches!(context.target(), Target::Embedded { .. });
    let moved = embedded.then(|| context.now()).transpose()?;
    let seen = windows.into_iter().map(|window| {
        let ours = Timestamp::now().saturating_add(window.ahead);
        let now = moved.unwrap_or(ours.unwrap_or(Timestamp::MAX));
        Seen::new(window, now)
    });
    Ok(seen.collect())
}

/// A rate limit as it is now, if nobody else has used it since.
pub(super) struct Seen {
    window: RateLimitWindow,
    remaining: u32,
    /// Seconds until the window resets, rounded up; `None` if it has reset already.
    resets_in: Option<u64>,
}

impl Seen {
    fn new(window: RateLimitWindow, now: Timestamp) -> Self {
        let (remaining, resets_in) = window.left(now);
        let seconds = resets_in.as_secs() + u64::from(resets_in.subsec_nanos() > 0);
        let resets_in = (seconds > 0).then_some(seconds);
        Seen {
            window,
            remaining,
            resets_in,
        }
    }

    /// What is said of a limit that leaves no request; `None` if one is left.
    pub(super) fn exhausted(&self) -> Option<String> {
        let seconds = self.resets_in.filter(|_| self.remaining == 0)?;
        Some(format!(
            "no {} is left; the limit resets in {}",
            self.window.name,
            in_units(seconds)
        ))
    }
}

struct LimitList(Vec<Seen>);

impl View for LimitList {
    fn json(&self) -> Document {
        let limits = self.0.iter().map(|seen| {
            json!({
                "endpoint": seen.window.name,
                "limit": seen.window.allowed,
                "remaining": seen.remaining,
                "resets_in_seconds": seen.resets_in.unwrap_or(0),
                "resets_at": seen.window.resets_at.to_string(),
                "seen_at": seen.window.seen_at.to_string(),
            })
        });
        json!({ "limits": limits.collect::<Vec<Value>>() }).into()
    }

    fn page(&self) -> Page {
        let rows = self.0.iter().map(|seen| {
            let tone = if seen.remaining == 0 {
                Tone::Bad
            } else {
                Tone::Good
            };
            let resets = seen
                .resets_in
                .map(|seconds| format!("in {}", in_units(seconds)));
            vec![
                seen.window.name.as_str().into(),
                TableCell::toned(seen.remaining.to_string(), tone),
                seen.window.allowed.to_string().into(),
                resets.unwrap_or_else(|| "now".to_owned()).into(),
            ]
        });
        let mut page = Page::default();
        let headers = vec!["endpoint", "left", "of", "resets"];
        page.table(headers, rows.collect(), vec![]);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    #[test]
    fn a_window_that_is_over_is_whole_again() {
        let now = Timestamp::UNIX_EPOCH;
        let window = |resets_at| RateLimitWindow {
            name: "POST /v1/bookings".into(),
            allowed: 10,
            remaining: 3,
            resets_at,
            ahead: SignedDuration::ZERO,
            seen_at: now,
        };
        let open = Seen::new(window(now + SignedDuration::from_secs(9)), now);
        assert_eq!((open.remaining, open.resets_in), (3, Some(9)));
        let over = Seen::new(window(now), now);
        assert_eq!((over.remaining, over.resets_in), (10, None));
    }
}
