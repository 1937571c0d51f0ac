//! Faults: failures that a request meets on purpose, instead of or besides its response.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::api_error::ApiError;
use super::fields::{FieldErrors, Fields};

/// The delay of [`Fault::Delay`] if the request names none.
const DELAY_MS: i64 = 1000;
/// The status of [`Fault::Status`] if the request names none.
const STATUS: i64 = 500;

/// What happens to a request.
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
}

/// The request to add a fault.
#[derive(Debug, PartialEq)]
pub(crate) struct FaultRequest {
    pub(crate) method: String,
    /// A path in which `{…}` matches any one segment.
    pub(crate) path: String,
    pub(crate) fault: Fault,
    /// How many requests it applies to.
    pub(crate) times: u32,
}

impl FaultRequest {
    /// Reads the body. `is_served` says whether a method and path are an endpoint's.
    pub(crate) fn read(
        body: &Map<String, Value>,
        is_served: impl Fn(&str, &str) -> bool,
    ) -> Result<Self, ApiError> {
        let fields = Fields::of(body);
        let on = fields.text("on")?;
        let kind = fields.text("kind")?;
        let times = fields.whole("times")?;
        let numbers = Numbers {
            delay_ms: fields.whole("delay_ms")?,
            status: fields.whole("status")?,
            after_bytes: fields.whole("after_bytes")?,
        };

        let mut errors = FieldErrors::default();
        let target = errors
            .required("on", on)
            .and_then(|it| it.trim().split_once(' '))
            .map(|(method, path)| (method.to_uppercase(), path.trim().to_owned()))
            .filter(|(method, path)| is_served(method, path));
        if on.is_some() && target.is_none() {
            errors.add(
                "on",
                "must be the method and path of an endpoint, as POST /v1/bookings",
            );
        }
        let times = u32::try_from(times.unwrap_or(1)).ok().filter(|it| *it > 0);
        if times.is_none() {
            errors.add("times", "must be at least 1");
        }
        let fault = errors.required("kind", kind);
        let fault = fault.and_then(|kind| Fault::read(kind, body, numbers, &mut errors));
        let (((method, path), fault), times) = errors.finish(target.zip(fault).zip(times))?;
        Ok(Self {
            method,
            path,
            fault,
            times,
        })
    }
}

/// The numbers that some kinds of fault need.
struct Numbers {
    delay_ms: Option<i64>,
    status: Option<i64>,
    after_bytes: Option<i64>,
}

impl Fault {
    /// The word in `kind`.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Delay { .. } => "delay",
            Self::Status { .. } => "status",
            Self::DropBefore => "drop_before",
            Self::DropAfter => "drop_after",
            Self::Truncate { .. } => "truncate",
            Self::Garbage => "garbage",
        }
    }

    /// The fault of a kind; `None` after adding to `errors`.
    fn read(
        kind: &str,
        body: &Map<String, Value>,
        numbers: Numbers,
        errors: &mut FieldErrors,
    ) -> Option<Self> {
        match kind {
            "delay" => {
                let delay_ms = u64::try_from(numbers.delay_ms.unwrap_or(DELAY_MS)).ok();
                if delay_ms.is_none_or(|it| it > 600_000) {
                    errors.add("delay_ms", "must be 0 to 600000");
                }
                delay_ms.map(|delay_ms| Self::Delay { delay_ms })
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
        FaultRequest::read(body.as_object().unwrap(), |method, path| {
            method == "POST" && covers("/v1/bookings/{booking_id}/continue", path)
        })
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
        assert_eq!((fault.fault, fault.times), (status, 1));
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
            json!({"kind": "garbage"}),
        ] {
            assert!(matches!(read(&body), Err(ApiError::Invalid(_))), "{body}");
        }
    }
}
