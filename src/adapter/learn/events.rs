//! What a recorded webhook delivery shows: the service's name, and where its id and its kind are.

use serde_json::Value;

use super::paths::paths;
use super::{Certainty, Finding};
use crate::adapter::names::same_words;

/// A delivery as it was recorded.
pub(crate) struct Delivery {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Delivery {
    /// Parses headers, a blank line and a body, as `curl -i` and many proxies write them; or a body alone.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.replace("\r\n", "\n");
        if let Ok(body) = serde_json::from_str(&text) {
            return Some(Delivery {
                headers: Vec::new(),
                body,
            });
        }
        let (head, body) = text.split_once("\n\n")?;
        let headers = head.lines().filter_map(|line| line.split_once(':'));
        Some(Delivery {
            headers: headers
                .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
                .collect(),
            body: serde_json::from_str(body).ok()?,
        })
    }
}

/// What a delivery shows.
pub(crate) fn of_delivery(delivery: &Delivery) -> Vec<Finding> {
    let mut findings = Vec::new();
    let signed = delivery.headers.iter().find_map(|(name, _)| {
        let at = name.len().checked_sub("-signature".len())?;
        let is_signature = name.get(at..)?.eq_ignore_ascii_case("-signature");
        name.get(..at)
            .filter(|service| is_signature && !service.is_empty())
    });
    if let Some(service) = signed.filter(|it| !it.eq_ignore_ascii_case("booking")) {
        let why = format!("the delivery is signed in `{service}-Signature`");
        findings.push(Finding::new(
            Certainty::Certain,
            "dialect.service_name",
            service,
            why,
        ));
    }
    let Some(body) = delivery.body.as_object() else {
        return findings;
    };
    let outside: Vec<(Vec<String>, &Value)> = paths(body)
        .into_iter()
        .filter(|(path, value)| path[0] != "data" && (value.is_string() || value.is_number()))
        .collect();
    let kinds: Vec<&(Vec<String>, &Value)> = outside
        .iter()
        .filter(|(_, value)| {
            value
                .as_str()
                .is_some_and(|text| text.starts_with("booking.") && !text.contains(' '))
        })
        .collect();
    for (key, own, found) in [
        (
            "event_type_field",
            "type",
            kinds.first().map(|(path, _)| path.clone()),
        ),
        ("event_id_field", "id", id(&outside)),
    ] {
        let name = match found {
            Some(path) => path.join("."),
            None => {
                let why = format!("the delivery's body does not show where {key} is");
                findings.push(Finding::new(Certainty::Open, "", "", why));
                continue;
            }
        };
        if name != own {
            let why = format!("the delivery has it in `{name}`");
            findings.push(Finding::new(
                Certainty::Likely,
                format!("dialect.{key}"),
                name,
                why,
            ));
        }
    }
    findings
}

/// The path of the event's id.
fn id(outside: &[(Vec<String>, &Value)]) -> Option<Vec<String>> {
    for words in [
        &["id"][..],
        &["event_id", "eventid"],
        &["uuid", "no", "number", "delivery_id"],
    ] {
        let mut fitting = outside.iter().filter(|(path, _)| {
            let last = path.last().map(String::as_str).unwrap_or_default();
            words.iter().any(|word| same_words(word, last))
        });
        if let (Some((path, _)), None) = (fitting.next(), fitting.next()) {
            return Some(path.clone());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(String, String)> {
        let findings = of_delivery(&Delivery::parse(text).unwrap());
        findings.into_iter().map(|it| (it.key, it.value)).collect()
    }

    #[test]
    fn a_delivery_shows_its_services_name_and_where_its_id_and_kind_are() {
        let own = "Booking-Signature: t=1,v1=x\n\n{\"id\": \"evt_1\", \"type\": \"booking.confirmed\", \"data\": {}}";
        assert_eq!(lines(own), []);
        let other = "POST / HTTP/1.1\r\nGrand-Tour-Signature: t=1,v1=x\r\n\r\n\
                     {\"event\": {\"id\": \"e\", \"kind\": \"booking.confirmed\"}, \"data\": {\"object\": {\"id\": \"b\"}}}";
        let found = lines(other);
        let line = |key: &str| found.iter().find(|it| it.0 == key).map(|it| it.1.as_str());
        assert_eq!(line("dialect.service_name"), Some("Grand-Tour"));
        assert_eq!(line("dialect.event_id_field"), Some("event.id"));
        assert_eq!(line("dialect.event_type_field"), Some("event.kind"));
    }
}
