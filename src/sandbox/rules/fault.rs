//! Faults: failures that a request meets on purpose, instead of or besides its response.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api_error::ApiError;
use super::fields::{FieldErrors, Fields, whole};
use crate::sandbox::seed;

/// The delay of [`Fault::Delay`] if the request names none.
const DELAY_MS: i64 = 1000;
/// The status of [`Fault::Status`] if the request names none.
const STATUS: i64 = 500;

const FIELDS: [&str; 7] = [
    "preset",
    "on",
    "kind",
    "times",
    "rate",
    "seed",
    "organization",
];
/// The fields of one kind of fault alone, each with its kind.
const FIELDS_OF_KINDS: [(&str, &str); 4] = [
    ("delay_ms", "delay"),
    ("status", "status"),
    ("body", "status"),
    ("after_bytes", "truncate"),
];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Fault {
    /// The response comes late.
    Delay { delay_ms: u64 },
    /// The request is not handled, and this response is sent.
    Status {
        status: u16,
        #[serde(skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
    },
    /// The request is not handled, and the connection is closed without a response.
    DropBefore,
    /// The request is handled, and the connection is closed without a response.
    DropAfter,
    /// The request is handled, and the connection is closed in the middle of the response body.
    Truncate {
        #[serde(skip_serializing_if = "Option::is_none")]
        after_bytes: Option<usize>,
    },
    /// The request is handled, and the response is not JSON.
    Garbage,
    /// The webhook is lost on its way, and tried again later.
    Drop,
    /// The webhook arrives twice.
    Duplicate,
    /// The webhook arrives after the next one of its booking.
    Reorder,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum FaultTarget {
    /// Requests with this method, and a path in which `{…}` matches any one segment.
    Endpoint { method: String, path: String },
    /// Every request.
    AnyRequest,
    /// Every delivery of a webhook.
    Webhook,
}

impl FaultTarget {
    /// The text in `on`.
    pub(crate) fn as_text(&self) -> String {
        match self {
            Self::Endpoint { method, path } => format!("{method} {path}"),
            Self::AnyRequest => "any".to_owned(),
            Self::Webhook => "webhook".to_owned(),
        }
    }

    /// Reads the text in `on`. `is_served` says whether a method and path are an endpoint's.
    fn read(text: &str, is_served: impl Fn(&str, &str) -> bool) -> Option<Self> {
        match text.trim() {
            "any" => Some(Self::AnyRequest),
            "webhook" => Some(Self::Webhook),
            text => {
                let (method, path) = text.split_once(' ')?;
                let (method, path) = (method.to_uppercase(), path.trim().to_owned());
                is_served(&method, &path).then_some(Self::Endpoint { method, path })
            }
        }
    }

    pub(crate) fn is_request(&self, method: &str, path: &str) -> bool {
        match self {
            Self::Endpoint {
                method: wanted,
                path: pattern,
            } => wanted == method && covers(pattern, path),
            Self::AnyRequest => true,
            Self::Webhook => false,
        }
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct FaultRequest {
    pub(crate) target: FaultTarget,
    pub(crate) fault: Fault,
    /// How often it happens; `None` for always.
    pub(crate) times: Option<u32>,
    pub(crate) chance: Option<Chance>,
    /// The id of the organization that it happens to; `None` for every one.
    pub(crate) organization: Option<String>,
}

/// How often a fault happens where it could, in an order that the seed determines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chance {
    pub(crate) rate: f64,
    pub(crate) seed: u32,
}

impl Chance {
    /// Whether it happens at the request of this number.
    pub(crate) fn strikes(self, number: u32) -> bool {
        seed::chance(self.seed, number) < self.rate
    }
}

/// The fields of a fault that has a name. Whatever else a request names replaces them.
fn preset(name: &str) -> Option<Value> {
    Some(match name {
        "flaky" => json!({"on": "any", "kind": "status", "status": 503, "rate": 0.2}),
        "slow" => json!({"on": "any", "kind": "delay", "delay_ms": 3000, "times": "always"}),
        "down" => json!({"on": "any", "kind": "drop_before", "times": "always"}),
        "rate_limited" => {
            let (status, body) = ApiError::RateLimited {
                limit: 10,
                retry_after: 30,
            }
            .answer();
            json!({"on": "any", "kind": "status", "status": status, "body": body, "times": "always"})
        }
        _ => return None,
    })
}

impl FaultRequest {
    /// Reads the body. `is_served` says whether a method and path are an endpoint's; `random` is the seed of a rate
    /// without one. The organization is left as it was named.
    pub(crate) fn read(
        body: &Map<String, Value>,
        is_served: impl Fn(&str, &str) -> bool,
        random: u32,
    ) -> Result<Self, ApiError> {
        let body = &with_preset(body)?;
        let fields = Fields::of(body);
        let on = fields.text("on")?;
        let kind = fields.text("kind")?;
        let rate = fields.number("rate")?;
        let organization = fields.text("organization")?;
        let numbers = Numbers {
            delay_ms: fields.whole("delay_ms")?,
            status: fields.whole("status")?,
            after_bytes: fields.whole("after_bytes")?,
        };
        let seed = fields.whole("seed")?;

        let mut errors = FieldErrors::default();
        let target = errors
            .required("on", on)
            .and_then(|it| FaultTarget::read(it, is_served));
        if on.is_some() && target.is_none() {
            errors.add(
                "on",
                "must be the method and path of an endpoint, as POST /v1/bookings, or any, or webhook",
            );
        }
        // A rate is a rule, and one time of it would be a riddle.
        let times = times(body.get("times"), rate.is_none(), &mut errors);
        if rate.is_some_and(|it| !(it > 0.0 && it <= 1.0)) {
            errors.add("rate", "must be above 0 and at most 1");
        }
        let seed = seed.map_or(Some(random), |it| u32::try_from(it).ok());
        if seed.is_none() {
            errors.add("seed", "must be 0 to 4294967295");
        }
        let fault = errors.required("kind", kind);
        let of_webhook = target == Some(FaultTarget::Webhook);
        let fault =
            fault.and_then(|kind| Fault::read(kind, of_webhook, body, numbers, &mut errors));
        let ((target, fault), times) = errors.finish(target.zip(fault).zip(times))?;
        let chance = rate.zip(seed).map(|(rate, seed)| Chance { rate, seed });
        Ok(Self {
            target,
            fault,
            times,
            chance,
            organization: organization.map(str::to_owned),
        })
    }
}

fn with_preset(body: &Map<String, Value>) -> Result<Map<String, Value>, ApiError> {
    let Some(name) = Fields::of(body).text("preset")? else {
        return Ok(body.clone());
    };
    let Some(Value::Object(mut whole)) = preset(name) else {
        let known = "must be flaky, slow, down or rate_limited";
        return Err(ApiError::invalid("preset", known));
    };
    for (field, value) in body {
        whole.insert(field.clone(), value.clone());
    }
    Ok(whole)
}

/// The fields of a request that say nothing about its fault: there are none of these names, or they belong to another kind.
pub(crate) fn ignored_fields<'a>(body: &'a Map<String, Value>, fault: &Fault) -> Vec<&'a str> {
    let is_read = |name: &str| {
        let owner = FIELDS_OF_KINDS.iter().find(|(field, _)| *field == name);
        FIELDS.contains(&name) || owner.is_some_and(|(_, kind)| *kind == fault.kind())
    };
    let given = body.iter().filter(|(_, value)| !value.is_null());
    let names = given.map(|(name, _)| name.as_str());
    names.filter(|name| !is_read(name)).collect()
}

/// How often a fault happens: a number or `always`; without a word, once or always. The outer `None` is an error.
fn times(said: Option<&Value>, once: bool, errors: &mut FieldErrors) -> Option<Option<u32>> {
    let times = match said {
        None | Some(Value::Null) => return Some(once.then_some(1)),
        Some(Value::String(text)) if text == "always" => return Some(None),
        Some(value) => whole(value).and_then(|it| u32::try_from(it).ok()),
    };
    let times = times.filter(|it| *it > 0);
    if times.is_none() {
        errors.add("times", "must be at least 1, or always");
    }
    times.map(Some)
}

struct Numbers {
    delay_ms: Option<i64>,
    status: Option<i64>,
    after_bytes: Option<i64>,
}

impl Fault {
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Delay { .. } => "delay",
            Self::Status { .. } => "status",
            Self::DropBefore => "drop_before",
            Self::DropAfter => "drop_after",
            Self::Truncate { .. } => "truncate",
            Self::Garbage => "garbage",
            Self::Drop => "drop",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
        }
    }

    /// Where it cuts a body of this many bytes: in its middle if no place was named. `None` if it does not.
    pub(crate) fn cuts(&self, length: usize) -> Option<usize> {
        let Self::Truncate { after_bytes } = self else {
            return None;
        };
        Some(after_bytes.unwrap_or(length / 2)).filter(|after| *after < length)
    }

    /// What it did to a request whose answer has a body of this many bytes, as one sentence.
    pub(crate) fn in_words(&self, length: usize) -> String {
        let fixed = match self {
            Self::Delay { delay_ms } => {
                return format!("A fault held the request back for {delay_ms} ms.");
            }
            Self::Status { .. } => "A fault answered instead of the service.",
            Self::DropBefore => "A fault closed the connection before the request was handled.",
            Self::DropAfter => {
                "A fault closed the connection after the request was handled; this answer was not sent."
            }
            Self::Truncate { .. } if self.cuts(length).is_some() => {
                "A fault closed the connection in the middle of this answer."
            }
            Self::Truncate { after_bytes } => {
                let after = after_bytes.unwrap_or_default();
                return format!(
                    "The fault cuts after {after} bytes. This answer has only {length}, so it was sent whole."
                );
            }
            Self::Garbage => "A fault sent this page instead of the answer.",
            Self::Drop => "A fault dropped the webhook.",
            Self::Duplicate => "A fault sent the webhook twice.",
            Self::Reorder => "A fault held the webhook back until the next one of its booking.",
        };
        fixed.to_owned()
    }

    /// The fault of a kind; `None` after adding to `errors`.
    fn read(
        kind: &str,
        of_webhook: bool,
        body: &Map<String, Value>,
        numbers: Numbers,
        errors: &mut FieldErrors,
    ) -> Option<Self> {
        match kind {
            "drop" if of_webhook => Some(Self::Drop),
            "duplicate" if of_webhook => Some(Self::Duplicate),
            "reorder" if of_webhook => Some(Self::Reorder),
            "delay" => {
                let delay_ms = u64::try_from(numbers.delay_ms.unwrap_or(DELAY_MS)).ok();
                if delay_ms.is_none_or(|it| it > 600_000) {
                    errors.add("delay_ms", "must be 0 to 600000");
                }
                delay_ms.map(|delay_ms| Self::Delay { delay_ms })
            }
            _ if of_webhook => {
                errors.add("kind", "must be delay, drop, duplicate or reorder");
                None
            }
            "status" => {
                let status = u16::try_from(numbers.status.unwrap_or(STATUS)).ok();
                let status = status.filter(|it| (200..=599).contains(it));
                if status.is_none() {
                    errors.add("status", "must be 200 to 599");
                }
                let body = body.get("body").filter(|it| !it.is_null()).cloned();
                status.map(|status| Self::Status { status, body })
            }
            "drop_before" => Some(Self::DropBefore),
            "drop_after" => Some(Self::DropAfter),
            "truncate" => {
                let whole = numbers.after_bytes.map(usize::try_from);
                if matches!(whole, Some(Err(_))) {
                    errors.add("after_bytes", "must be 0 or more");
                }
                let after_bytes = whole.and_then(Result::ok);
                Some(Self::Truncate { after_bytes })
            }
            "garbage" => Some(Self::Garbage),
            _ => {
                errors.add(
                    "kind",
                    "must be delay, status, drop_before, drop_after, truncate or garbage",
                );
                None
            }
        }
    }
}

/// Whether a path matches a pattern in which `{…}` stands for any one segment.
pub(crate) fn covers(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    pattern.split('/').all(|expected| {
        let is_any = expected.starts_with('{') && expected.ends_with('}');
        parts
            .next()
            .is_some_and(|part| part == expected || is_any && !part.is_empty())
    }) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &Value) -> Result<FaultRequest, ApiError> {
        FaultRequest::read(
            body.as_object().unwrap(),
            |method, path| method == "POST" && covers("/v1/bookings/{booking_id}/continue", path),
            7,
        )
    }

    #[test]
    fn a_pattern_covers_the_paths_of_its_shape() {
        let pattern = "/v1/bookings/{id}";
        assert!(covers(pattern, "/v1/bookings/bk_1"));
        assert!(covers(pattern, "/v1/bookings/{booking_id}"));
        for path in [
            "/v1/bookings",
            "/v1/bookings/",
            "/v1/bookings/bk_1/continue",
            "/v1/venues/x",
        ] {
            assert!(!covers(pattern, path), "{path}");
        }
    }

    #[test]
    fn a_fault_names_an_endpoint_and_what_its_kind_needs() {
        let on = "POST /v1/bookings/{id}/continue";
        let fault = read(&json!({"on": on, "kind": "status", "status": 503})).unwrap();
        let status = Fault::Status {
            status: 503,
            body: None,
        };
        assert_eq!((fault.fault, fault.times), (status, Some(1)));
        let unsaid = |kind: &str| read(&json!({"on": on, "kind": kind})).unwrap().fault;
        let unwell = Fault::Status {
            status: 500,
            body: None,
        };
        assert_eq!(unsaid("status"), unwell);
        assert_eq!(unsaid("delay"), Fault::Delay { delay_ms: 1000 });
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
        ] {
            assert!(matches!(read(&body), Err(ApiError::Invalid(_))), "{body}");
        }
    }

    #[test]
    fn a_preset_is_a_fault_whose_fields_can_be_replaced() {
        for name in ["flaky", "slow", "down", "rate_limited"] {
            let fault = read(&json!({ "preset": name })).unwrap();
            assert_eq!((fault.target, fault.times), (FaultTarget::AnyRequest, None));
        }
        let on = "POST /v1/bookings/{id}/continue";
        let fault = read(&json!({"preset": "flaky", "on": on, "seed": 4, "times": 3})).unwrap();
        assert_eq!(
            (fault.target.as_text(), fault.times),
            (on.to_owned(), Some(3))
        );
        let chance = Chance { rate: 0.2, seed: 4 };
        assert_eq!(fault.chance, Some(chance));
        let dropped = read(&json!({"preset": "flaky", "kind": "drop_before", "body": null}));
        assert_eq!(dropped.unwrap().fault, Fault::DropBefore);
        let unsaid = read(&json!({"preset": "flaky"})).unwrap().chance;
        assert_eq!(unsaid, Some(Chance { rate: 0.2, seed: 7 }));
    }

    #[test]
    fn a_rate_strikes_about_as_often_as_it_says_and_the_same_each_time() {
        let strikes = |seed| -> Vec<bool> {
            let chance = Chance { rate: 0.2, seed };
            (0..1_000).map(|number| chance.strikes(number)).collect()
        };
        let count = strikes(4).into_iter().filter(|it| *it).count();
        assert!((150..250).contains(&count), "{count}");
        assert_eq!(strikes(4), strikes(4));
        assert_ne!(strikes(4), strikes(5));
    }
}
