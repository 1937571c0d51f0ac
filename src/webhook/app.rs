//! Posting stored deliveries to the app under development.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};

use super::event::Names;
use super::post::{Endpoint, client};
use super::signature::sign;
use super::store::{AppAnswer, Content, QueuedDelivery};
use crate::outcome::{Result, reason};
use crate::platform::http_client::header_fields;
use crate::secrets::Secret;

/// The age at which a signature is replaced: an app that checks the time would refuse an older one.
const MAX_SIGNATURE_AGE: SignedDuration = SignedDuration::from_secs(60);
/// How many bytes of an answer are read so that its connection can be reused.
const MAX_DRAINED: usize = 256 * 1024;
/// How many bytes of an answer's body are kept.
const MAX_KEPT: usize = 16 * 1024;

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

/// Which signature a forwarded delivery carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signing {
    /// The one it came with, or a new one once that is too old.
    IfExpired,
    /// A new one.
    Always,
    /// The one it came with, however old.
    AsReceived,
}

pub(crate) struct App {
    client: Client,
    endpoint: Endpoint,
    names: Names,
    secret: Option<Secret>,
    headers: Vec<(HeaderName, HeaderValue)>,
    deadline: Duration,
    shows_requests: bool,
}

impl App {
    /// An app at `endpoint` that has `deadline` to answer. `secret` makes new signatures; `headers` are added to every
    /// delivery.
    ///
    /// # Errors
    /// `network` if TLS cannot be set up.
    pub(crate) fn new(
        endpoint: Endpoint,
        names: Names,
        secret: Option<Secret>,
        headers: Vec<(HeaderName, HeaderValue)>,
        deadline: Duration,
    ) -> Result<Self> {
        let client = client(&endpoint)?;
        Ok(App {
            client,
            endpoint,
            names,
            secret,
            headers,
            deadline,
            shows_requests: false,
        })
    }

    pub(crate) const fn showing_requests(mut self, shows: bool) -> Self {
        self.shows_requests = shows;
        self
    }

    pub(crate) fn url(&self) -> &str {
        self.endpoint.as_str()
    }

    pub(crate) async fn post(&self, delivery: QueuedDelivery, signing: Signing) -> AppAnswer {
        let begun = Instant::now();
        let headers = self.headers(&delivery, signing, Timestamp::now());
        let shown = self
            .shows_requests
            .then(|| Content::new(header_fields(&headers), &delivery.body, delivery.body.len()));
        let request = self.client.post(self.endpoint.url().clone());
        let request = request.headers(headers).timeout(self.deadline);
        let answer = request.body(delivery.body).send().await;
        let mut response = None;
        let status = match answer {
            Ok(answer) => {
                let status = answer.status().as_u16();
                response = Some(read(answer).await);
                Ok(status)
            }
            Err(error) if error.is_timeout() => Err("no answer in time".to_owned()),
            Err(error) => Err(reason(&error)),
        };
        AppAnswer {
            status,
            latency_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            request: shown,
            response,
        }
    }

    /// The headers as received without those of the connection, and with our attempt number, a new signature where
    /// `signing` asks for one, and the user's headers.
    fn headers(&self, delivery: &QueuedDelivery, signing: Signing, now: Timestamp) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in &delivery.headers {
            // See `HeaderLine`: each character is a byte.
            let value: Vec<u8> = value.chars().filter_map(|c| u8::try_from(c).ok()).collect();
            let name = HeaderName::try_from(name.as_str());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&value))
                && !HOP_BY_HOP.contains(&name.as_str())
            {
                headers.append(name, value);
            }
        }
        if signing == Signing::AsReceived {
            headers.extend(self.headers.iter().cloned());
            return headers;
        }
        let mut set = |name: String, value: String| {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                headers.insert(name, value);
            }
        };
        set(self.names.attempt_header(), delivery.attempt.to_string());
        let is_expired = now.duration_since(delivery.received_at) > MAX_SIGNATURE_AGE;
        if let Some(secret) = &self.secret
            && (signing == Signing::Always || is_expired)
        {
            let signature = sign(secret, now.as_second(), &delivery.body);
            set(self.names.signature_header(), signature);
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        headers
    }
}

/// Reads an answer and keeps its headers and the beginning of its body. Only the status counts, so that a body that
/// breaks off is no error.
async fn read(mut answer: Response) -> Content {
    let headers = header_fields(answer.headers());
    let mut body = Vec::new();
    let mut length = 0;
    while let Ok(Some(chunk)) = answer.chunk().await {
        length += chunk.len();
        let room = MAX_KEPT - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if length > MAX_DRAINED {
            break;
        }
    }
    Content::new(headers, &body, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Adapter;
    use crate::webhook::event::Event;

    fn sent(signing: Signing, seconds_later: i64) -> HeaderMap {
        let app = App::new(
            Endpoint::parse("http://127.0.0.1:9/").unwrap(),
            Names::new(&Adapter::default()),
            Some(Secret::new("whsec".to_owned())),
            vec![(
                HeaderName::from_static("x-mine"),
                HeaderValue::from_static("yes"),
            )],
            Duration::from_secs(1),
        );
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let received_at = Timestamp::from_second(1_000).unwrap();
        let delivery = QueuedDelivery {
            number: 1,
            event: Event::default(),
            headers: vec![
                header("host", "elsewhere"),
                header("content-length", "2"),
                header("booking-signature", "t=1000,v1=theirs"),
                header("booking-delivery-attempt", "7"),
                header("x-twice", "a"),
                header("x-twice", "caf\u{e9}"),
            ],
            body: b"{}".to_vec(),
            received_at,
            attempt: 2,
        };
        let now = received_at + SignedDuration::from_secs(seconds_later);
        app.unwrap().headers(&delivery, signing, now)
    }

    #[test]
    fn headers_are_forwarded_but_for_those_of_the_connection() {
        let headers = sent(Signing::IfExpired, 1);
        assert!(!headers.contains_key("host") && !headers.contains_key("content-length"));
        assert_eq!(headers["booking-signature"], "t=1000,v1=theirs");
        assert_eq!(headers["booking-delivery-attempt"], "2");
        assert_eq!(headers["x-mine"], "yes");
        let twice: Vec<&[u8]> = headers
            .get_all("x-twice")
            .iter()
            .map(|it| it.as_bytes())
            .collect();
        assert_eq!(twice, [&b"a"[..], b"caf\xe9"]);
    }

    #[test]
    fn a_signature_that_an_app_would_find_too_old_is_replaced() {
        let old = sent(Signing::IfExpired, 61);
        assert!(
            old["booking-signature"]
                .to_str()
                .unwrap()
                .starts_with("t=1061,v1=")
        );
        let afresh = sent(Signing::Always, 0);
        assert!(
            !afresh["booking-signature"]
                .to_str()
                .unwrap()
                .contains("theirs")
        );
        let received = sent(Signing::AsReceived, 9_999);
        assert_eq!(received["booking-signature"], "t=1000,v1=theirs");
        assert_eq!(received["booking-delivery-attempt"], "7");
    }
}
