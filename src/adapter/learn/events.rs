//! What a recorded webhook delivery shows: the service's name, and where its id and its kind are.

use serde_json::{Map, Value};

use super::paths::paths;
use super::{Certainty, Finding};
use crate::adapter::dialect::signing_service;
use crate::adapter::find::{Search, shallowest};
use crate::adapter::names::{member, same_words};
use crate::adapter::shape::Shape;

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
    let mut headers = delivery.headers.iter();
    let signed = headers.find_map(|(name, _)| signing_service(name));
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
        ("event_id_field", "id", id(&delivery.body, &outside)),
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

/// A field outside of `data`.
struct Candidate<'a> {
    path: &'a [String],
    /// The objects that it stands in, the outermost first.
    around: Vec<&'a Map<String, Value>>,
}

impl<'a> Candidate<'a> {
    fn new(body: &'a Value, path: &'a [String]) -> Self {
        let outermost = body.as_object();
        let inner = path.iter().scan(body, |at, name| {
            *at = at.get(name)?;
            at.as_object()
        });
        Candidate {
            path,
            around: outermost.into_iter().chain(inner).collect(),
        }
    }

    fn is_named(&self, names: &[&str]) -> bool {
        let last = self.path.last();
        last.is_some_and(|last| names.iter().any(|name| same_words(name, last)))
    }

    /// Whether its name says that it is the event's id.
    fn names_event(&self) -> bool {
        match self.path {
            [.., event, id] if same_words("id", id) => same_words("event", event),
            _ => self.is_named(&["event_id"]),
        }
    }

    fn is_beside_a_status(&self) -> bool {
        let own = self.around.last();
        own.is_some_and(|it| member(it, "status").is_some())
    }
}

/// The path of the event's id. An id of the booking would make one event of all events of a booking.
fn id(body: &Value, outside: &[(Vec<String>, &Value)]) -> Option<Vec<String>> {
    let booking = match shallowest(body, Shape::Booking) {
        Search::Found(found) => found.objects.first().copied(),
        _ => None,
    };
    let is_booking =
        |it: &&Map<String, Value>| booking.is_some_and(|booking| std::ptr::eq(*it, booking));
    let candidates: Vec<Candidate> = outside
        .iter()
        .map(|(path, _)| Candidate::new(body, path))
        .collect();
    let only = |fits: &dyn Fn(&Candidate) -> bool| {
        let mut fitting = candidates.iter().filter(|it| fits(it));
        let first = fitting.next().map(|it| it.path.to_vec());
        first.filter(|_| fitting.next().is_none())
    };
    // Where the booking is the whole body, the event's id stands in it, and says so by its name.
    only(&|it| it.names_event() && !it.around.iter().skip(1).any(&is_booking))
        .or_else(|| {
            // An id beside a status is a booking's, even if too little else is there to know the booking by.
            only(&|it| {
                it.is_named(&["id"])
                    && !it.is_beside_a_status()
                    && !it.around.iter().any(&is_booking)
            })
        })
        .or_else(|| {
            let names = ["uuid", "no", "number", "delivery_id", "notification_id"];
            only(&|it| it.is_named(&names) && !it.around.iter().any(&is_booking))
        })
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
    #[test]
    fn the_events_id_is_never_one_of_the_booking() {
        let id = |body: &str| {
            let key = |it: &(String, String)| it.0 == "dialect.event_id_field";
            lines(body).into_iter().find(key).map(|(_, path)| path)
        };
        let booking = r#"{"id": "fx-1", "object": "booking", "status": "CONFIRMED", "provider": "p", "venue": {"id": "v"}}"#;
        for (meta, path) in [
            (r#""meta": {"eventId": "e"}"#, Some("meta.eventId")),
            (r#""meta": {"EVENT-ID": "e"}"#, Some("meta.EVENT-ID")),
            (
                r#""event": {"ID": "e"}, "trace": {"id": "t"}"#,
                Some("event.ID"),
            ),
            (r#""meta": {"id": "e"}"#, Some("meta.id")),
            // Its own name needs no line.
            (r#""id": "e""#, None),
            (r#""meta": {"sent": "now"}"#, None),
        ] {
            let body = format!("{{\"payload\": {booking}, {meta}}}");
            assert_eq!(id(&body).as_deref(), path, "{body}");
            let body =
                format!("{{\"payload\": {{\"id\": \"fx-1\", \"status\": \"CONFIRMED\"}}, {meta}}}");
            assert_eq!(id(&body).as_deref(), path, "{body}");
        }
        let whole = booking.replacen('{', r#"{"meta": {"event_id": "e"}, "#, 1);
        assert_eq!(id(&whole).as_deref(), Some("meta.event_id"));
        assert_eq!(id(booking), None);
        // An event that the booking is for, such as a concert.
        let concert = booking.replacen('{', r#"{"event_id": "c", "#, 1);
        assert_eq!(id(&format!("{{\"payload\": {concert}}}")), None);
    }
}
