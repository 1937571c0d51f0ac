//! Faults: failures that a request or a webhook meets on purpose.

use std::collections::BTreeMap;
use std::fmt;

use axum::http::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api_error::{ApiError, Result};
use super::fields::typed;
use crate::sandbox::seed;

pub(crate) const WEBHOOK: &str = "webhook";
const ANY_REQUEST: &str = "any";
const MOST_DELAY_MS: u64 = 600_000;

/// A fault that waits, as its request and its document describe it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    /// The method and path of an endpoint, in which `{…}` matches any one segment; `any` for every
    /// request, or `webhook` for every delivery.
    pub(crate) on: String,
    pub(crate) kind: FaultKind,
    pub(crate) delay_ms: Option<u64>,
    pub(crate) status: Option<u16>,
    pub(crate) body: Option<Value>,
    /// Of a truncation, which is in the middle of the body without it.
    pub(crate) after_bytes: Option<usize>,
    pub(crate) times: Option<Times>,
    /// The share of the requests that meet it, in an order that the seed determines.
    pub(crate) rate: Option<f64>,
    pub(crate) seed: Option<u32>,
    /// Whether the request is handled first, whatever the kind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) after: bool,
    /// The number of the first affected request, from 1 among those that match.
    pub(crate) from: Option<u32>,
    /// The fields that a body must have, with their values; dots lead into objects.
    #[serde(default, rename = "match", skip_serializing_if = "Map::is_empty")]
    pub(crate) wanted: Map<String, Value>,
    /// Headers that its response has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    /// The only organization that it happens to.
    pub(crate) organization: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FaultKind {
    /// The response comes late.
    Delay,
    /// The request is not handled, and this response is sent.
    Status,
    /// The request is not handled, and the connection is closed without a response.
    DropBefore,
    /// The request is handled, and the connection is closed without a response.
    DropAfter,
    /// The request is handled, and the connection is closed in the middle of the response body.
    Truncate,
    /// The request is handled, and the response is not JSON.
    Garbage,
    /// The webhook is lost on its way, and tried again later.
    Drop,
    /// The webhook arrives twice.
    Duplicate,
    /// The webhook arrives after the next one of its booking.
    Reorder,
    /// The webhook arrives without a signature.
    Unsigned,
    /// The webhook arrives with a signature of an hour ago.
    Old,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "expected a whole number, or always")]
pub(crate) enum Times {
    Always,
    #[serde(untagged)]
    Count(u32),
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

fn preset(name: &str) -> Option<Value> {
    Some(match name {
        "flaky" => json!({"on": "any", "kind": "status", "status": 503, "rate": 0.2}),
        "slow" => json!({"on": "any", "kind": "delay", "delay_ms": 3000, "times": "always"}),
        "down" => json!({"on": "any", "kind": "drop_before", "times": "always"}),
        "rate_limited" => json!({"on": "any", "kind": "status", "status": 429, "times": "always"}),
        _ => return None,
    })
}

/// The body, with the fields of its preset that it does not replace itself.
fn with_preset(body: &Map<String, Value>) -> Result<Value> {
    let mut whole = Map::new();
    if let Some(name) = body.get("preset").filter(|it| !it.is_null()) {
        let demand = || ApiError::invalid("preset", "must be flaky, slow, down or rate_limited");
        let preset = name.as_str().and_then(preset).ok_or_else(demand)?;
        whole.extend(preset.as_object().cloned().unwrap_or_default());
        // The details are those of the preset's own kind.
        let is_detail = |name: &str| !matches!(name, "on" | "times" | "rate");
        let has_kind = body.get("kind").is_some_and(|it| !it.is_null());
        whole.retain(|name, _| !has_kind || !is_detail(name));
    }
    let given = body.iter().filter(|(name, it)| *name != "preset" && !it.is_null());
    whole.extend(given.map(|(name, it)| (name.clone(), it.clone())));
    Ok(Value::Object(whole))
}

impl Fault {
    /// Reads the body. `is_served` says whether a method and path are an endpoint's; `random` is
    /// the seed of a rate without one. The organization is left as it was named.
    pub(crate) fn read(
        body: &Map<String, Value>,
        is_served: impl Fn(&str, &str) -> bool,
        random: u32,
    ) -> Result<Self> {
        let mut fault: Self = typed(&with_preset(body)?)?;
        fault.on = match fault.on.trim().split_once(' ') {
            Some((method, path)) => format!("{} {}", method.to_uppercase(), path.trim()),
            None => fault.on.trim().to_owned(),
        };
        if let Some((field, why)) = fault.mistake(is_served) {
            return Err(ApiError::invalid(field, why));
        }
        match fault.kind {
            FaultKind::Delay => fault.delay_ms = fault.delay_ms.or(Some(1000)),
            FaultKind::Status => fault.status = fault.status.or(Some(500)),
            _ => {}
        }
        if fault.rate.is_some() {
            fault.seed = fault.seed.or(Some(random));
        }
        // Without `times`, a fault with a rate stays, and one without a rate applies once.
        let usual = match fault.rate {
            Some(_) => Times::Always,
            None => Times::Count(1),
        };
        fault.times = fault.times.or(Some(usual));
        Ok(fault)
    }

    #[rustfmt::skip]
    fn mistake(&self, is_served: impl Fn(&str, &str) -> bool) -> Option<(&'static str, String)> {
        use FaultKind::{Delay, Drop, Duplicate, Old, Reorder, Status, Truncate, Unsigned};
        let (kind, on) = (self.kind, self.on.as_str());
        let is_endpoint = on.split_once(' ').is_some_and(|(method, path)| is_served(method, path));
        let is_known = is_endpoint || on == ANY_REQUEST || on == WEBHOOK;
        let fits = kind == Delay || matches!(kind, Drop | Duplicate | Reorder | Unsigned | Old) == (on == WEBHOOK);
        let (what, kinds) = match on {
            WEBHOOK => ("webhooks", "delay, drop, duplicate, reorder, unsigned and old"),
            _ => ("requests", "delay, status, drop_before, drop_after, truncate and garbage"),
        };
        let is_foreign = |is_given: bool, owner| is_given && kind != owner;
        let foreign = |owner: FaultKind| format!("belongs to the kind {owner}, not to {kind}");
        let is_share = |rate: f64| rate > 0.0 && rate <= 1.0;
        [
            (!is_known, "on", "must be `any`, `webhook`, or a method and path such as POST /v1/bookings".to_owned()),
            (!fits, "kind", format!("{kind} is not for {what}; the kinds are {kinds}")),
            (is_foreign(self.delay_ms.is_some(), Delay), "delay_ms", foreign(Delay)),
            (is_foreign(self.status.is_some(), Status), "status", foreign(Status)),
            (is_foreign(self.body.is_some(), Status), "body", foreign(Status)),
            (is_foreign(self.after_bytes.is_some(), Truncate), "after_bytes", foreign(Truncate)),
            (self.delay_ms.is_some_and(|it| it > MOST_DELAY_MS), "delay_ms", "must be 0 to 600000".to_owned()),
            (self.status.is_some_and(|it| !(200..=599).contains(&it)), "status", "must be 200 to 599".to_owned()),
            (self.times == Some(Times::Count(0)), "times", "must be at least 1, or always".to_owned()),
            (self.rate.is_some_and(|it| !is_share(it)), "rate", "must be above 0 and at most 1".to_owned()),
            (self.from == Some(0), "from", "must be at least 1".to_owned()),
            (!self.headers.is_empty() && on == WEBHOOK, "headers", "are for responses, not for webhooks".to_owned()),
            (!self.headers.iter().all(is_header), "headers", "must be names and values of HTTP headers, and none that frames the response".to_owned()),
            (self.seed.is_some() && self.rate.is_none(), "seed", "needs a rate: without one, every request fails".to_owned()),
        ]
        .into_iter()
        .find_map(|(is_wrong, field, why)| is_wrong.then_some((field, why)))
    }

    pub(crate) fn meets_request(&self, method: &str, path: &str) -> bool {
        let is_endpoint =
            |(wanted, pattern): (&str, &str)| wanted == method && matches_path(pattern, path);
        self.on == ANY_REQUEST || self.on.split_once(' ').is_some_and(is_endpoint)
    }

    /// Whether a body has the fields that it happens to.
    pub(crate) fn meets_body(&self, body: &[u8]) -> bool {
        if self.wanted.is_empty() {
            return true;
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let field = |name: &str| name.split('.').try_fold(&body, |it, step| it.get(step));
        self.wanted.iter().all(|(name, value)| {
            body.get(name).or_else(|| field(name)).is_some_and(|it| it == value)
        })
    }

    /// Whether the request is handled although it fails.
    pub(crate) fn commits(&self) -> bool {
        self.after || self.kind == FaultKind::DropAfter
    }

    /// Whether the request is handled at all.
    pub(crate) const fn lets_handle(&self) -> bool {
        self.after || !matches!(self.kind, FaultKind::Status | FaultKind::DropBefore)
    }

    /// Whether it happens at the request of this number that it could happen to.
    pub(crate) fn applies_to(&self, number: u32) -> bool {
        if number + 1 < self.from.unwrap_or(1) {
            return false;
        }
        let chance = self.rate.zip(self.seed);
        chance.is_none_or(|(rate, seed)| seed::chance(seed, number) < rate)
    }

    /// Where it cuts a body of this many bytes: by default in its middle; `None` if not.
    pub(crate) fn cuts(&self, length: usize) -> Option<usize> {
        let after = self.after_bytes.unwrap_or(length / 2);
        (self.kind == FaultKind::Truncate && after < length).then_some(after)
    }

    /// What it did to a request whose answer has a body of this many bytes, as one sentence.
    #[rustfmt::skip]
    pub(crate) fn in_words(&self, length: usize) -> String {
        let fixed = match self.kind {
            FaultKind::Delay => &format!("A fault held the response back for {} ms.", self.delay_ms.unwrap_or_default()),
            FaultKind::Status if self.after => "The request was handled, and a fault responded instead of the service.",
            FaultKind::DropBefore if self.after => "A fault closed the connection after the request was handled; this response was not sent.",
            FaultKind::Status => "A fault responded instead of the service.",
            FaultKind::DropBefore => "A fault closed the connection before the request was handled.",
            FaultKind::DropAfter => "A fault closed the connection after the request was handled; this response was not sent.",
            FaultKind::Truncate if self.cuts(length).is_some() => "A fault closed the connection in the middle of this response.",
            FaultKind::Truncate => &format!(
                "The fault cuts after {} bytes. This response has only {length}, so it was sent whole.",
                self.after_bytes.unwrap_or_default(),
            ),
            FaultKind::Garbage => "A fault sent this page instead of the response.",
            // The others happen to webhooks.
            _ => "",
        };
        fixed.to_owned()
    }
}

fn is_header((name, value): (&String, &String)) -> bool {
    let framing = ["content-length", "transfer-encoding", "connection", "date"];
    HeaderName::from_bytes(name.as_bytes()).is_ok_and(|it| !framing.contains(&it.as_str()))
        && HeaderValue::from_str(value).is_ok()
}

/// Whether a path matches a pattern in which `{…}` stands for any one segment.
pub(crate) fn matches_path(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    pattern.split('/').all(|expected| {
        let is_any = expected.starts_with('{') && expected.ends_with('}');
        parts.next().is_some_and(|part| part == expected || is_any && !part.is_empty())
    }) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &Value) -> Result<Fault> {
        Fault::read(
            body.as_object().unwrap(),
            |method, path| {
                method == "POST" && matches_path("/v1/bookings/{booking_id}/continue", path)
            },
            7,
        )
    }

    #[test]
    fn a_pattern_covers_the_paths_of_its_shape() {
        let pattern = "/v1/bookings/{id}";
        assert!(matches_path(pattern, "/v1/bookings/bk_1"));
        assert!(matches_path(pattern, "/v1/bookings/{booking_id}"));
        for path in ["/v1/bookings", "/v1/bookings/", "/v1/bookings/bk_1/continue", "/v1/venues/x"]
        {
            assert!(!matches_path(pattern, path), "{path}");
        }
    }

    #[test]
    fn a_fault_names_an_endpoint_and_what_its_kind_needs() {
        let on = "POST /v1/bookings/{id}/continue";
        let fault = read(&json!({"on": on, "kind": "status", "status": 503})).unwrap();
        assert_eq!(fault.status, Some(503));
        assert_eq!(fault.times, Some(Times::Count(1)));
        let unsaid = |kind: &str| read(&json!({"on": on, "kind": kind})).unwrap();
        assert_eq!(unsaid("status").status, Some(500));
        assert_eq!(unsaid("delay").delay_ms, Some(1000));
        for body in [
            json!({"on": "POST /v1/bookngs", "kind": "garbage"}),
            json!({"on": "GET /v1/bookings/bk_1/continue", "kind": "garbage"}),
            json!({"on": on, "kind": "explode"}),
            json!({"on": on, "kind": "delay", "delay_ms": 700_000}),
            json!({"on": on, "kind": "status", "status": 99}),
            json!({"on": on, "kind": "garbage", "times": 0}),
            json!({"on": on, "kind": "truncate", "after_bytes": -1}),
            json!({"on": on, "kind": "garbage", "times": "often"}),
            json!({"on": on, "kind": "garbage", "rate": 1.5}),
            json!({"on": on, "kind": "garbage", "rate": 0.5, "seed": -1}),
            json!({"on": on, "kind": "reorder"}),
            json!({"on": "webhook", "kind": "garbage"}),
            json!({"preset": "gloomy"}),
            json!({"kind": "garbage"}),
            json!({"on": on, "kind": "garbage", "stauts": 503}),
            json!({"on": on, "kind": "drop_before", "status": 503}),
            json!({"on": on, "kind": "garbage", "seed": 7}),
            json!({"on": on, "kind": "garbage", "from": 0}),
            json!({"on": on, "kind": "status", "headers": {"content-length": "1"}}),
            json!({"on": on, "kind": "status", "headers": {"a b": "1"}}),
            json!({"on": "webhook", "kind": "drop", "headers": {"a": "1"}}),
        ] {
            let refused = read(&body).unwrap_err().answer().1;
            assert_eq!(refused["error"], "validation failed", "{body}");
        }
    }

    #[test]
    fn a_preset_is_a_fault_whose_fields_can_be_replaced() {
        let always = Some(Times::Always);
        for name in ["flaky", "slow", "down", "rate_limited"] {
            let fault = read(&json!({ "preset": name })).unwrap();
            assert_eq!((fault.on.as_str(), fault.times), ("any", always));
        }
        let on = "POST /v1/bookings/{id}/continue";
        let fault = read(&json!({"preset": "flaky", "on": on, "seed": 4, "times": 3})).unwrap();
        assert_eq!(fault.on, on);
        assert_eq!(fault.times, Some(Times::Count(3)));
        assert_eq!((fault.rate, fault.seed), (Some(0.2), Some(4)));
        let dropped = read(&json!({"preset": "flaky", "kind": "drop_before"})).unwrap();
        assert_eq!(dropped.kind, FaultKind::DropBefore);
        assert_eq!(dropped.status, None);
        let unsaid = read(&json!({"preset": "flaky"})).unwrap();
        assert_eq!(unsaid.seed, Some(7));
    }

    #[test]
    fn fault_rate_is_met_and_repeats_with_its_seed() {
        let applies_to = |seed| -> Vec<bool> {
            let fault = read(&json!({"preset": "flaky", "seed": seed})).unwrap();
            (0..1_000).map(|number| fault.applies_to(number)).collect()
        };
        let count = applies_to(4).into_iter().filter(|it| *it).count();
        assert!((150..250).contains(&count), "{count}");
        assert_eq!(applies_to(4), applies_to(4));
        assert_ne!(applies_to(4), applies_to(5));
    }
}
