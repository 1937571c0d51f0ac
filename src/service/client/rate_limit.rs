//! Reads rate limits from answers, and names the rate limit of a call (spec, Limits).

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Method, StatusCode};

use super::call::Call;

/// The length of the service's window. A longer wait is not believed.
pub(crate) const RATE_LIMIT_WINDOW: Duration = Duration::from_secs(300);

/// From here on (2001) a number of seconds is a time, and no longer a wait.
const SINCE_1970: f64 = 1e9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateLimit {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    pub(crate) resets_in: Duration,
}

/// What an answer shows of its rate limit. A success may show that there is none.
pub(crate) type ShownLimit = Option<RateLimit>;

impl RateLimit {
    /// Reads `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds). A 429 leaves none.
    pub(crate) fn from_headers(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        let limit = number(headers, "ratelimit-limit")?;
        let remaining = match status {
            StatusCode::TOO_MANY_REQUESTS => 0,
            _ => number(headers, "ratelimit-remaining")?,
        };
        let reset = delay(headers, "ratelimit-reset").or_else(|| retry_after(headers))?;
        Some(RateLimit {
            limit: u32::try_from(limit).ok()?,
            remaining: u32::try_from(remaining).ok()?,
            resets_in: Duration::from_secs(reset).min(RATE_LIMIT_WINDOW),
        })
    }
}

/// The value of `Retry-After` in whole seconds.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<u64> {
    delay(headers, RETRY_AFTER.as_str())
}

/// A time to wait in whole seconds, from a header with seconds, a fraction, or the time when it
/// ends: a date or seconds since 1970, by the service's clock (`Date`).
fn delay(headers: &HeaderMap, name: &str) -> Option<u64> {
    let value = headers.get(name)?;
    let seconds = value.to_str().ok()?.trim().parse::<f64>().ok().filter(|it| *it >= 0.0);
    let until = match seconds {
        Some(seconds) if seconds < SINCE_1970 => return Some(seconds.ceil() as u64),
        Some(seconds) => Timestamp::from_second(seconds as i64).ok()?,
        None => http_date(value)?,
    };
    let now = headers.get(DATE).and_then(http_date);
    let left = until.duration_since(now.unwrap_or_else(Timestamp::now));
    Some(u64::try_from(left.as_secs()).unwrap_or(0))
}

/// A time as HTTP headers have it: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn http_date(value: &HeaderValue) -> Option<Timestamp> {
    Some(jiff::fmt::rfc2822::parse(value.to_str().ok()?).ok()?.timestamp())
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

impl Call {
    /// The name of the call's rate limit; `None` if the specification has none. Connecting and
    /// verifying a session share one, and both ways to read a card (spec, Limits).
    pub(crate) fn rate_limit_name(&self) -> Option<&'static str> {
        let path = self.path.split(['?', '#']).next().unwrap_or_default();
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        let name = match (&self.method, segments.as_slice()) {
            (&Method::POST, ["v1", "venues", "search"]) => "POST /v1/venues/search",
            (&Method::POST, ["v1", "availability", "search"]) => "POST /v1/availability/search",
            (&Method::POST, ["v1", "bookings"]) => "POST /v1/bookings",
            (&Method::POST, ["v1", "bookings", _, "continue"]) => "POST /v1/bookings/{id}/continue",
            (&Method::POST, ["v1", "bookings", _, "cancel"]) => "POST /v1/bookings/{id}/cancel",
            (&Method::POST, ["v1", "bookings", _, "modify"]) => "POST /v1/bookings/{id}/modify",
            (&Method::GET, ["v1", "bookings", _]) => "GET /v1/bookings/{id}",
            (&Method::POST, ["v1", "sessions"] | ["v1", "sessions", _, "verify"]) => {
                "POST /v1/sessions"
            }
            (&Method::GET, ["v1", "sessions", "card"] | ["v1", "sessions", _, "card"]) => {
                "GET /v1/sessions/{id}/card"
            }
            _ => return None,
        };
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs =
            pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        pairs.collect()
    }

    /// Of a 200, or of a 429: the limit, what is left, and for how many seconds.
    fn read(status: u16, values: &str) -> Option<(u32, u32, u64)> {
        let names = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
        let pairs: Vec<_> = names.into_iter().zip(values.split_whitespace()).collect();
        let status = StatusCode::from_u16(status).unwrap();
        let read = RateLimit::from_headers(status, &headers(&pairs))?;
        Some((read.limit, read.remaining, read.resets_in.as_secs()))
    }

    #[test]
    fn metered_answer_says_what_is_left_and_for_how_long() {
        assert_eq!(read(201, "10 3 120"), Some((10, 3, 120)));
        assert_eq!(read(429, "10 3 120"), Some((10, 0, 120)));
        for nothing in ["", "ten 1 1", "10 -1 1", "10 1"] {
            assert_eq!(read(200, nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_retry_after_may_be_a_time_by_the_clock_of_the_service() {
        let until = ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
        let at = |date| retry_after(&headers(&[until, ("date", date)]));
        assert_eq!(at("Sun, 06 Nov 1994 08:49:33 GMT"), Some(4));
        assert_eq!(at("Sun, 06 Nov 1994 09:00:00 GMT"), Some(0));
        assert_eq!(retry_after(&headers(&[until])), Some(0));
        assert_eq!(retry_after(&headers(&[("retry-after", "soon")])), None);
        assert_eq!(retry_after(&headers(&[("retry-after", "1.5")])), Some(2));
        let epoch = [("retry-after", "1893456010"), ("date", "Tue, 01 Jan 2030 00:00:00 GMT")];
        assert_eq!(retry_after(&headers(&epoch)), Some(10));
        let pairs = [
            ("ratelimit-limit", "9"),
            ("ratelimit-remaining", "1"),
            ("ratelimit-reset", "1893456010"),
        ];
        let pairs: Vec<_> = pairs.into_iter().chain([epoch[1]]).collect();
        let limit = RateLimit::from_headers(StatusCode::OK, &headers(&pairs)).unwrap();
        assert_eq!(limit.resets_in.as_secs(), 10);
    }

    /// Limits: `POST /v1/sessions and POST /v1/sessions/{id}/verify | 20`,
    /// `GET /v1/sessions/{id}/card and GET /v1/sessions/card | 30`.
    #[test]
    fn calls_that_share_a_rate_limit_are_counted_together() {
        let post = |path: &str| Call::post(path, json!({})).rate_limit_name();
        assert_eq!(post("/v1/sessions"), post("/v1/sessions/ses_1/verify"));
        assert_eq!(
            Call::get("/v1/sessions/card?end_user=a").rate_limit_name(),
            Call::get("/v1/sessions/ses_1/card").rate_limit_name()
        );
        assert_ne!(post("/v1/bookings"), post("/v1/bookings/bk_1/continue"));
        assert_eq!(Call::get("/v1/").rate_limit_name(), None);
    }
}
