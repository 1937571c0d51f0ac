//! What an attempt asks for, and when two requests ask for the same.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value as Json;

use crate::platform::crypto::sha256;
use crate::service::documents::wish::Wish;

pub(crate) trait ComparableRequest {
    /// Whether another request may be sent under the key of this one: it is the same, even if its
    /// guest was deleted here or it is written for the service in another way.
    fn is_same_request(&self, other: &Self) -> bool;

    /// Whether two requests are for the same booking: venue, time, party and name.
    fn is_same_booking(&self, other: &Self) -> bool;
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct RecordedRequest {
    /// As it was sent, and as it is sent again, byte for byte.
    #[serde(rename = "request")]
    pub(crate) body: Json,
    /// What was asked for in the contract's shape, where the body has another one.
    #[serde(rename = "asked", skip_serializing_if = "Option::is_none")]
    pub(crate) requested: Option<Json>,
    #[serde(skip)]
    pub(super) hash: String,
    #[serde(skip)]
    pub(super) asked_hash: Option<String>,
}

impl RecordedRequest {
    /// `requested` is what was asked for in the contract's shape.
    pub(crate) fn new(body: &Json, requested: &Json) -> Self {
        let requested = Some(requested).filter(|it| *it != body);
        RecordedRequest {
            body: body.clone(),
            requested: requested.cloned(),
            hash: request_hash(body),
            asked_hash: requested.map(request_hash),
        }
    }

    pub(crate) fn canonical(&self) -> &Json {
        self.requested.as_ref().unwrap_or(&self.body)
    }

    pub(crate) fn wish(&self) -> Wish {
        Wish::from_request(self.canonical())
    }

    /// Whether this is the request that was sent: it was not changed, and has its guest.
    pub(crate) fn is_intact(&self) -> bool {
        self.hash == request_hash(&self.body)
    }

    /// Whether this asks for exactly that, in the specification's shape.
    pub(crate) fn asks_for(&self, requested: &Json) -> bool {
        *self.asked_hash.as_ref().unwrap_or(&self.hash) == request_hash(requested)
    }
}

impl ComparableRequest for RecordedRequest {
    fn is_same_request(&self, other: &Self) -> bool {
        self.hash == other.hash || self.is_intact() && self.asks_for(other.canonical())
    }

    fn is_same_booking(&self, other: &Self) -> bool {
        self.wish().is_same_booking(&other.wish())
    }
}

/// Equal for equal requests, whose fields are in a fixed order: with the time in UTC, because
/// offsets spell the same instant in different ways.
fn request_hash(request: &Json) -> String {
    let mut request = request.clone();
    if let Some(Json::String(datetime)) = request.get_mut("datetime")
        && let Ok(moment) = datetime.parse::<Timestamp>()
    {
        *datetime = moment.to_string();
    }
    hex::encode(sha256([request.to_string().as_bytes()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn wish_is_venue_time_party_and_folded_name() {
        let of = |name: &str, party: u32, time: &str| {
            let body = json!({
                "venue_id": "v", "datetime": time, "party_size": party, "customer": {"name": name, "email": name},
            });
            RecordedRequest::new(&body, &body)
        };
        let wish = of("Ada Lovelace", 2, "2026-12-01T19:30:00Z");
        assert!(wish.is_same_booking(&of("  ADA   Lovélace ", 2, "2026-12-01T20:30:00+01:00")));
        assert!(!wish.is_same_booking(&of("Eve Lovelace", 2, "2026-12-01T19:30:00Z")));
        assert!(!wish.is_same_booking(&of("Ada Lovelace", 3, "2026-12-01T19:30:00Z")));
        assert!(!wish.is_same_booking(&of("Ada Lovelace", 2, "2026-12-01T19:30:01Z")));
    }
    #[test]
    fn request_is_same_with_time_in_any_offset() {
        let of = |datetime: &str| request_hash(&json!({"datetime": datetime, "party_size": 2}));
        assert_eq!(of("2026-12-01T19:30:00Z"), of("2026-12-01T20:30:00+01:00"));
        assert_ne!(of("2026-12-01T19:30:00Z"), of("2026-12-01T19:30:00+01:00"));
        assert_ne!(of("soon"), of("later"));
    }
}
