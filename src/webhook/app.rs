//! Sending received deliveries on to the app under development.

use jiff::{SignedDuration, Timestamp};

use super::handler::{Handler, HeaderLine};
use super::signature::sign;
use super::store::QueuedDelivery;
use crate::secrets::Secret;
use crate::service::mapping::Dialect;

/// The age at which a listener replaces a signature: a handler would refuse an older one.
pub(crate) const MAX_SIGNATURE_AGE: SignedDuration = SignedDuration::from_secs(60);

/// Headers that belong to a connection or are set by the HTTP client, and are not forwarded.
const HOP_BY_HOP: &str = "connection content-length expect host keep-alive proxy-authenticate proxy-authorization te trailer \
                          transfer-encoding upgrade";

pub(crate) struct App {
    pub(crate) handler: Handler,
    pub(crate) dialect: Dialect,
    /// Makes a new signature if the received one is older than this; `None` forwards all headers.
    pub(crate) signing: Option<(Secret, SignedDuration)>,
    pub(crate) headers: Vec<HeaderLine>,
}

impl App {
    /// The headers as received, without the connection's, with our attempt number, a signature if
    /// due, and the user's.
    pub(crate) fn headers(&self, delivery: &QueuedDelivery, now: Timestamp) -> Vec<HeaderLine> {
        let mut headers = delivery.headers.clone();
        headers.retain(|(name, _)| !HOP_BY_HOP.split(' ').any(|it| it == name));
        let mut set = |name: &str, value: String| {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.to_owned(), value));
        };
        if let Some((secret, most)) = &self.signing {
            set(&self.dialect.attempt_header(), delivery.attempt.to_string());
            if now.duration_since(delivery.received_at) > *most {
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

    fn sent(most: Option<SignedDuration>, seconds_later: i64) -> Vec<HeaderLine> {
        let line = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let app = App {
            handler: Handler::new(endpoint("http://127.0.0.1:9/").unwrap(), DEADLINE, None, None)
                .unwrap(),
            dialect: Dialect::default(),
            signing: most.map(|most| (Secret::new("whsec".to_owned()), most)),
            headers: vec![line(("X-Mine", "yes"))],
        };
        let received_at = Timestamp::from_second(1_000).unwrap();
        let came = [
            ("host", "elsewhere"),
            ("content-length", "2"),
            ("booking-signature", "t=1000,v1=theirs"),
            ("booking-delivery-attempt", "7"),
            ("x-twice", "a"),
            ("x-twice", "b"),
        ];
        let delivery = QueuedDelivery {
            event: Event::default(),
            headers: came.map(line).into(),
            body: b"{}".to_vec(),
            received_at,
            attempt: 2,
            failures: 1,
        };
        let later = SignedDuration::from_secs(seconds_later);
        app.headers(&delivery, received_at + later)
    }

    fn values<'a>(headers: &'a [HeaderLine], name: &str) -> Vec<&'a str> {
        let of_name = headers.iter().filter(|(it, _)| it.eq_ignore_ascii_case(name));
        of_name.map(|(_, value)| value.as_str()).collect()
    }

    #[test]
    fn headers_are_forwarded_but_for_those_of_the_connection() {
        let headers = sent(Some(MAX_SIGNATURE_AGE), 1);
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
        for (most, later, begins) in [
            (Some(MAX_SIGNATURE_AGE), 61, "t=1061,v1="),
            (Some(SignedDuration::MIN), 1, "t=1001,v1="),
            (None, 9_999, "t=1000,v1=theirs"),
        ] {
            let headers = sent(most, later);
            let signatures = values(&headers, "booking-signature");
            assert_eq!(signatures.len(), 1);
            assert!(signatures[0].starts_with(begins), "{signatures:?}");
        }
        let received = sent(None, 9_999);
        assert_eq!(values(&received, "booking-delivery-attempt"), ["7"]);
    }
}
