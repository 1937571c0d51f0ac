//! Sending received deliveries on to the app under development.

use jiff::{SignedDuration, Timestamp};

use super::handler::{Handler, HeaderLine};
use super::signature::sign;
use super::store::QueuedDelivery;
use crate::adapter::Dialect;
use crate::secrets::Secret;

/// The age at which a signature is replaced: an app that checks the time would refuse an older one.
const MAX_SIGNATURE_AGE: SignedDuration = SignedDuration::from_secs(60);

/// Headers that belong to a connection or are set by the HTTP client, and are not forwarded.
const HOP_BY_HOP: [&str; 11] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Which signature a received delivery carries when it is sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signing {
    /// The one it came with, or a new one once that is too old.
    IfExpired,
    /// A new one.
    Always,
    /// The one it came with, however old, with all other headers as they came.
    AsReceived,
}

/// How received deliveries are sent on to a handler.
pub(crate) struct App {
    pub(crate) handler: Handler,
    pub(crate) dialect: Dialect,
    /// Makes new signatures.
    pub(crate) secret: Option<Secret>,
    /// Added to every delivery.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) signing: Signing,
}

impl App {
    /// The headers of a delivery: as received without those of the connection, with our attempt number, a new signature
    /// where one is due, and the user's headers.
    pub(crate) fn headers(&self, delivery: &QueuedDelivery, now: Timestamp) -> Vec<HeaderLine> {
        let mut headers = delivery.headers.clone();
        headers.retain(|(name, _)| !HOP_BY_HOP.contains(&name.as_str()));
        let mut set = |name: &str, value: String| {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.to_owned(), value));
        };
        if self.signing != Signing::AsReceived {
            let service = &self.dialect.service_name;
            let attempt = delivery.attempt.to_string();
            set(&format!("{service}-Delivery-Attempt"), attempt);
            let is_expired = now.duration_since(delivery.received_at) > MAX_SIGNATURE_AGE;
            if let Some(secret) = &self.secret
                && (self.signing == Signing::Always || is_expired)
            {
                let signature = sign(secret, now.as_second(), &delivery.body);
                set(&self.dialect.signature_header(), signature);
            }
        }
        for (name, value) in &self.headers {
            set(name, value.clone());
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::event::Event;
    use crate::webhook::handler::{DEADLINE, endpoint};

    fn sent(signing: Signing, seconds_later: i64) -> Vec<HeaderLine> {
        let line = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let url = endpoint("http://127.0.0.1:9/").unwrap();
        let app = App {
            handler: Handler::new(url, DEADLINE).unwrap(),
            dialect: Dialect::default(),
            secret: Some(Secret::new("whsec".to_owned())),
            headers: vec![line("X-Mine", "yes")],
            signing,
        };
        let received_at = Timestamp::from_second(1_000).unwrap();
        let delivery = QueuedDelivery {
            event: Event::default(),
            headers: vec![
                line("host", "elsewhere"),
                line("content-length", "2"),
                line("booking-signature", "t=1000,v1=theirs"),
                line("booking-delivery-attempt", "7"),
                line("x-twice", "a"),
                line("x-twice", "b"),
            ],
            body: b"{}".to_vec(),
            received_at,
            attempt: 2,
            failures: 1,
        };
        app.headers(
            &delivery,
            received_at + SignedDuration::from_secs(seconds_later),
        )
    }

    fn values<'a>(headers: &'a [HeaderLine], name: &str) -> Vec<&'a str> {
        let of_name = headers
            .iter()
            .filter(|(it, _)| it.eq_ignore_ascii_case(name));
        of_name.map(|(_, value)| value.as_str()).collect()
    }

    #[test]
    fn headers_are_forwarded_but_for_those_of_the_connection() {
        let headers = sent(Signing::IfExpired, 1);
        for (name, expected) in [
            ("host", &[][..]),
            ("content-length", &[]),
            ("booking-signature", &["t=1000,v1=theirs"]),
            ("booking-delivery-attempt", &["2"]),
            ("x-mine", &["yes"]),
            ("x-twice", &["a", "b"]),
        ] {
            assert_eq!(values(&headers, name), expected, "{name}");
        }
    }

    #[test]
    fn a_signature_that_an_app_would_find_too_old_is_replaced() {
        for (signing, later, begins) in [
            (Signing::IfExpired, 61, "t=1061,v1="),
            (Signing::Always, 1, "t=1001,v1="),
            (Signing::AsReceived, 9_999, "t=1000,v1=theirs"),
        ] {
            let headers = sent(signing, later);
            let signatures = values(&headers, "booking-signature");
            assert_eq!(signatures.len(), 1);
            assert!(signatures[0].starts_with(begins), "{signatures:?}");
        }
        let received = sent(Signing::AsReceived, 9_999);
        assert_eq!(values(&received, "booking-delivery-attempt"), ["7"]);
    }
}
