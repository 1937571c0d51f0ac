//! A canonical text of a booking request, which is equal for equal requests.

use jiff::Timestamp;
use serde_json::Value;

/// The request with its time in UTC, because offsets spell the same instant in different ways. The
/// caller writes the fields in a fixed order.
pub(crate) fn canonical(request: &Value) -> String {
    let mut request = request.clone();
    if let Some(Value::String(datetime)) = request.get_mut("datetime")
        && let Ok(moment) = datetime.parse::<Timestamp>()
    {
        *datetime = moment.to_string();
    }
    request.to_string()
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use serde_json::json;

    #[test]
    fn a_moment_is_the_same_with_any_offset_and_what_is_none_stays() {
        let text = |datetime: &str| canonical(&json!({"datetime": datetime, "party_size": 2}));
        assert_eq!(text("2026-12-01T19:30:00Z"), text("2026-12-01T20:30:00+01:00"));
        assert_ne!(text("2026-12-01T19:30:00Z"), text("2026-12-01T19:30:00+01:00"));
        assert_eq!(text("soon"), r#"{"datetime":"soon","party_size":2}"#);
    }
}
