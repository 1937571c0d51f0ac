//! Failures on purpose: what a call to an endpoint meets instead of, or besides, its answer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::{Complaints, Fields};
use super::refusal::Refusal;

/// How late an answer comes where that is not said.
const DELAY_MS: i64 = 1000;
/// What comes instead of the answer where that is not said: the service's own trouble.
const STATUS: i64 = 500;

/// What happens to the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Fault {
    /// The answer comes late.
    Delay { delay_ms: u64 },
    /// Another answer comes, and nothing is done.
    Status {
        status: u16,
        #[serde(skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
    },
    /// Nothing is done, and the connection is closed without an answer.
    DropBefore,
    /// It is done, and the connection is closed without an answer.
    DropAfter,
    /// It is done, and the connection is closed in the middle of the answer's body.
    Truncate {
        #[serde(skip_serializing_if = "Option::is_none")]
        after_bytes: Option<usize>,
    },
    /// It is done, and the answer is no JSON.
    Garbage,
}

/// A fault that was asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct FaultRequest {
    pub(crate) method: String,
    /// A path, where `{…}` stands for any one part.
    pub(crate) path: String,
    pub(crate) fault: Fault,
    /// Calls that it will happen to.
    pub(crate) times: u32,
}

impl FaultRequest {
    /// Reads the body. `is_served` says whether a method and path are an endpoint's.
    pub(crate) fn read(
        body: &Map<String, Value>,
        is_served: impl Fn(&str, &str) -> bool,
    ) -> Result<Self, Refusal> {
        let fields = Fields::of(body);
        let on = fields.text("on")?;
        let kind = fields.text("kind")?;
        let times = fields.whole("times")?;
        let delay_ms = fields.whole("delay_ms")?;
        let status = fields.whole("status")?;
        let after_bytes = fields.whole("after_bytes")?;

        let mut complaints = Complaints::default();
        let target = complaints
            .required("on", on)
            .and_then(|it| it.trim().split_once(' '))
            .map(|(method, path)| (method.to_uppercase(), path.trim().to_owned()))
            .filter(|(method, path)| is_served(method, path));
        if on.is_some() && target.is_none() {
            complaints.add(
                "on",
                "must be the method and path of an endpoint, as POST /v1/bookings",
            );
        }
        let times = u32::try_from(times.unwrap_or(1)).ok().filter(|it| *it > 0);
        if times.is_none() {
            complaints.add("times", "must be at least 1");
        }
        let fault = match complaints.required("kind", kind) {
            None => None,
            Some("delay") => {
                let delay_ms = u64::try_from(delay_ms.unwrap_or(DELAY_MS)).ok();
                if delay_ms.is_none_or(|it| it > 600_000) {
                    complaints.add("delay_ms", "must be 0 to 600000");
                }
                delay_ms.map(|delay_ms| Fault::Delay { delay_ms })
            }
            Some("status") => {
                let status = u16::try_from(status.unwrap_or(STATUS)).ok();
                let status = status.filter(|it| (200..=599).contains(it));
                if status.is_none() {
                    complaints.add("status", "must be 200 to 599");
                }
                let body = body.get("body").filter(|it| !it.is_null()).cloned();
                status.map(|status| Fault::Status { status, body })
            }
            Some("drop_before") => Some(Fault::DropBefore),
            Some("drop_after") => Some(Fault::DropAfter),
            Some("truncate") => {
                let whole = after_bytes.map(usize::try_from);
                if matches!(whole, Some(Err(_))) {
                    complaints.add("after_bytes", "must be 0 or more");
                }
                let after_bytes = whole.and_then(Result::ok);
                Some(Fault::Truncate { after_bytes })
            }
            Some("garbage") => Some(Fault::Garbage),
            Some(_) => {
                complaints.add(
                    "kind",
                    "must be delay, status, drop_before, drop_after, truncate or garbage",
                );
                None
            }
        };
        let (((method, path), fault), times) = complaints.settle(target.zip(fault).zip(times))?;
        Ok(Self {
            method,
            path,
            fault,
            times,
        })
    }
}

/// Whether a path is one of those that a pattern with `{…}` in it stands for.
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

    fn read(body: &Value) -> Result<FaultRequest, Refusal> {
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
        for body in [
            json!({"on": "POST /v1/bookngs", "kind": "garbage"}),
            json!({"on": "GET /v1/bookings/bk_1/continue", "kind": "garbage"}),
            json!({"on": on, "kind": "explode"}),
            json!({"on": on, "kind": "status", "status": 99}),
            json!({"on": on, "kind": "garbage", "times": 0}),
            json!({"on": on, "kind": "truncate", "after_bytes": -1}),
            json!({"kind": "garbage"}),
        ] {
            assert!(matches!(read(&body), Err(Refusal::Invalid(_))), "{body}");
        }
    }
}
