//! What a create asks for, as a text that is the same for the same request.

use jiff::Timestamp;
use serde_json::Value;

/// The request's text, its time in UTC: the same moment may be spelled with another offset. Its fields are written in
/// one order by whoever makes a request.
pub(crate) fn canonical(request: &Value) -> String {
    let mut request = request.clone();
    if let Some(datetime) = request.get_mut("datetime")
        && let Some(moment) = datetime
            .as_str()
            .and_then(|text| text.parse::<Timestamp>().ok())
    {
        *datetime = Value::from(moment.to_string());
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
        assert_eq!(
            text("2026-12-01T19:30:00Z"),
            text("2026-12-01T20:30:00+01:00")
        );
        assert_ne!(
            text("2026-12-01T19:30:00Z"),
            text("2026-12-01T19:30:00+01:00")
        );
        assert_eq!(text("soon"), r#"{"datetime":"soon","party_size":2}"#);
    }
}
