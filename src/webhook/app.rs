//! The app under test: where deliveries are taken to, and what they carry.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::event::Names;
use super::post::{Endpoint, client, innermost};
use super::signature::sign;
use super::slate::{Slate, Taken};
use super::store::{Answer, Parcel};
use crate::outcome::Result;
use crate::secrets::Secret;

/// A signature that is older is made anew: an app that looks at its time would refuse it.
const FRESH: SignedDuration = SignedDuration::from_secs(60);
/// How much of an app's answer is read, so that its connection can be used again.
const LARGEST_ANSWER: usize = 256 * 1024;

/// Headers that are about one connection, and not about the delivery.
const OF_THE_CONNECTION: [&str; 11] = [
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

/// Whose signature a delivery carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signing {
    /// The one it came with, as long as it is fresh.
    WhileFresh,
    /// One that is made now.
    Afresh,
    /// The one it came with, however old.
    AsReceived,
}

/// Where to, and with what.
pub(crate) struct App {
    client: Client,
    endpoint: Endpoint,
    names: Names,
    secret: Option<Secret>,
    headers: Vec<(HeaderName, HeaderValue)>,
    deadline: Duration,
}

impl App {
    /// `secret` signs where that is needed; `headers` are added to every delivery.
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
        })
    }

    pub(crate) fn url(&self) -> &str {
        self.endpoint.as_str()
    }

    /// Posts a kept event once, and notes what the app answers on the slate as soon as that is read.
    pub(super) async fn take_noted(
        &self,
        parcel: Parcel,
        number: i64,
        slate: &Arc<Slate>,
    ) -> Answer {
        let slot = slate.slot();
        let (attempt, begun_at) = (parcel.attempt, parcel.begun_at.as_millisecond());
        let note = |status| {
            if let Some(slot) = &slot {
                slot.note(Taken {
                    number,
                    attempt,
                    status,
                    begun_at,
                });
            }
        };
        self.take(parcel, Signing::WhileFresh, note).await
    }

    /// Posts a delivery once. `on_status` hears of the answer as soon as it begins.
    pub(crate) async fn take(
        &self,
        parcel: Parcel,
        signing: Signing,
        on_status: impl FnOnce(u16),
    ) -> Answer {
        let begun = Instant::now();
        let headers = self.headers(&parcel, signing, Timestamp::now());
        let request = self.client.post(self.endpoint.url().clone());
        let request = request.headers(headers).timeout(self.deadline);
        let answer = request.body(parcel.body).send().await;
        let status = match answer {
            Ok(mut answer) => {
                let status = answer.status().as_u16();
                on_status(status);
                let mut read = 0;
                while let Ok(Some(chunk)) = answer.chunk().await {
                    read += chunk.len();
                    if read > LARGEST_ANSWER {
                        break;
                    }
                }
                Ok(status)
            }
            Err(error) if error.is_timeout() => Err("no answer in time".to_owned()),
            Err(error) => Err(innermost(&error)),
        };
        Answer {
            status,
            latency_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// The headers as they came, but for those of the connection; the attempt's number is ours, and the signature
    /// where that is called for.
    fn headers(&self, parcel: &Parcel, signing: Signing, now: Timestamp) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in &parcel.headers {
            // Each character is the byte of its number.
            let value: Vec<u8> = value.chars().filter_map(|c| u8::try_from(c).ok()).collect();
            let name = HeaderName::try_from(name.as_str());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&value))
                && !OF_THE_CONNECTION.contains(&name.as_str())
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
        set(self.names.attempt_header(), parcel.attempt.to_string());
        let is_old = now.duration_since(parcel.received_at) > FRESH;
        if let Some(secret) = &self.secret
            && (signing == Signing::Afresh || is_old)
        {
            let signature = sign(secret, now.as_second(), &parcel.body);
            set(self.names.signature_header(), signature);
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::event::Event;

    fn names() -> Names {
        Names {
            id: "id".into(),
            kind: "type".into(),
            service: "Booking".into(),
        }
    }

    fn sent(signing: Signing, seconds_later: i64) -> HeaderMap {
        let app = App::new(
            Endpoint::parse("http://127.0.0.1:9/").unwrap(),
            names(),
            Some(Secret::new("whsec".to_owned())),
            vec![(
                HeaderName::from_static("x-mine"),
                HeaderValue::from_static("yes"),
            )],
            Duration::from_secs(1),
        );
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let received_at = Timestamp::from_second(1_000).unwrap();
        let parcel = Parcel {
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
            begun_at: received_at,
        };
        let now = received_at + SignedDuration::from_secs(seconds_later);
        app.unwrap().headers(&parcel, signing, now)
    }

    #[test]
    fn a_delivery_goes_on_with_the_headers_it_came_with_but_those_of_the_connection() {
        let headers = sent(Signing::WhileFresh, 1);
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
    fn a_signature_that_an_app_would_find_too_old_is_made_anew() {
        let old = sent(Signing::WhileFresh, 61);
        assert!(
            old["booking-signature"]
                .to_str()
                .unwrap()
                .starts_with("t=1061,v1=")
        );
        let afresh = sent(Signing::Afresh, 0);
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
