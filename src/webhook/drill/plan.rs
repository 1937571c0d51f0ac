//! The checks of a drill, in the order in which they run.

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use super::{Delivery, DrillCheck, Ordered};
use crate::secrets::Secret;
use crate::service::mapping::Dialect;
use crate::webhook::event::{KINDS, SampleEvent, new_id, status_of};
use crate::webhook::signature::{DEFAULT_TOLERANCE, sign, verify};

/// The size of the large body in bytes: the largest that the service accepts ("Limits", 3).
const LARGE: usize = 1024 * 1024;
const MANY: usize = 32;
const CONCURRENT_DUPLICATES: usize = 8;
/// A distance from now beyond every usual tolerance, in seconds.
const OUT_OF_TOLERANCE: i64 = 15 * 60;
const WRONG_SECRET: &str = "whsec_of_somebody_else";
const WRONG_V1: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The name of each check, its section of the specification, and what it expects.
#[rustfmt::skip]
const CHECKS: [[&str; 3]; 21] = [
    ["valid", "Events 4-6", "a valid event must get a 2xx within 10 seconds"],
    ["every_kind", "Events 2", "all seven kinds of events must be accepted, with fields that other kinds do not have"],
    ["raw_bytes", "Events 5", "the signature covers the raw bytes: JSON that was parsed and serialized again is a different body"],
    ["header_order", "Events 5, signature header grammar", "read the parts of the header by name: their order may change, and parts may be added"],
    ["two_signatures", "Events 5, signature header grammar", "while a secret is replaced, a delivery has two v1, and either of them may match"],
    ["clock_difference", "Events 5", "clocks differ and networks are slow: accept a signature that is a minute old"],
    ["missing_header", "Events 5", "anyone can send a delivery without a signature"],
    ["malformed_header", "Events 5, signature header grammar", "a malformed header must be rejected with a 4xx, and must not make the handler fail"],
    ["wrong_secret", "Events 5", "a signature with another secret comes from another sender; one with an empty secret means that the handler has no secret configured"],
    ["changed_body", "Events 5", "the body was changed after it was signed"],
    ["forged_first", "Events 5 and 7", "a forged event must not keep the genuine event with the same id from being processed"],
    ["stale", "Events 5", "each attempt has a new signature, so an old signature means a replay"],
    ["future", "Events 5", "reject a signature whose time is in the future: a recorded delivery could be sent again until then"],
    ["replayed", "Events 5", "a delivery that was recorded an hour ago must be rejected, although its event is known"],
    ["duplicate", "Events 7", "events may be delivered more than once: respond to a duplicate with a 2xx, and process the event once"],
    ["duplicates_at_once", "Events 7", "the same event may arrive twice at the same moment, and must be processed once"],
    ["unknown_kind", "Events 2 and 6", "accept and ignore unknown kinds of events; otherwise the service retries them in vain"],
    ["unknown_fields", "Events 4", "fields may be added: ignore those that you do not know"],
    ["large_body", "Limits 3", "a body may be as large as 1 MB, the service's limit"],
    ["many_at_once", "Events 6", "the service sends due events at the same time, and each needs a response within 10 seconds"],
    // Last, so that no later event changes the booking's status.
    ["out_of_order", "Events 7", "events may arrive out of order: read the booking instead of relying on the event's status"],
];

pub(crate) struct Subject<'a> {
    secret: &'a Secret,
    dialect: &'a Dialect,
    /// A booking of the service; `None` invents one for each event.
    booking: Option<&'a Value>,
    now: Timestamp,
    pub(crate) ordered: Ordered,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(
        secret: &'a Secret,
        dialect: &'a Dialect,
        booking: Option<&'a Value>,
        now: Timestamp,
    ) -> Self {
        let text = |field: &str| Some(booking?.get(field)?.as_str()?.to_owned());
        Subject {
            secret,
            dialect,
            booking,
            now,
            ordered: Ordered {
                id: text("id").unwrap_or_else(|| new_id("bk")),
                status: text("status").unwrap_or_else(|| "confirmed".to_owned()),
                is_invented: booking.is_none(),
            },
        }
    }

    pub(crate) fn checks(&self) -> Vec<DrillCheck> {
        let first = self.confirmed();
        let check = |[name, section, why]: [&'static str; 3]| DrillCheck {
            name,
            section,
            why,
            deliveries: self.deliveries(name, &first),
        };
        let mut checks = CHECKS.map(check);
        for delivery in checks.iter_mut().flat_map(|it| &mut it.deliveries) {
            delivery.is_genuine = self.verifies(delivery);
        }
        checks.into()
    }

    /// What a check sends. `first` is what the first one sends.
    fn deliveries(&self, check: &str, first: &Delivery) -> Vec<Delivery> {
        match check {
            "valid" => vec![first.clone()],
            "every_kind" => KINDS.map(|kind| self.valid(&self.event(kind))).into(),
            "raw_bytes" => {
                let written: [fn(&Value) -> String; 3] = [
                    |event| format!("{event:#}\n"),
                    |event| event.to_string().replace('é', "\\u00e9"),
                    |event| event.to_string() + "\n",
                ];
                let events = written.map(|written| {
                    let event = self.failed("Café / 満席");
                    self.with_body(&event, written(&event.document).into_bytes())
                });
                events.into()
            }
            "header_order" => vec![
                self.headed(|t, v1| format!("{v1},{t}")),
                self.headed(|t, v1| format!("{t},v0={WRONG_V1},{v1}")),
            ],
            "two_signatures" => vec![
                self.headed(|t, v1| format!("{t},v1={WRONG_V1},{v1}")),
                self.headed(|t, v1| format!("{t},{v1},v1={WRONG_V1}")),
            ],
            "clock_difference" => vec![self.signed_at(-60, self.confirmed())],
            "missing_header" => vec![Delivery { signature: None, ..self.confirmed() }],
            "malformed_header" => vec![
                self.headed(|_, _| String::new()),
                self.headed(|_, _| "no signature".to_owned()),
                self.headed(|_, _| "t=,v1=".to_owned()),
                self.headed(|t, v1| format!("{},{v1}", t.replacen("t=", "t=x", 1))),
                self.headed(|_, v1| v1.to_owned()),
                self.headed(|t, _| t.to_owned()),
                // A comparison that stops at the shorter value accepts it.
                self.headed(|t, v1| format!("{t},{}", &v1[..v1.len() - 56])),
            ],
            "wrong_secret" => {
                [WRONG_SECRET, ""].map(|secret| self.forged(secret, self.confirmed())).into()
            }
            "changed_body" => {
                let signed = self.confirmed();
                let text = String::from_utf8_lossy(&signed.body);
                // Of the same length, so that `Content-Length` does not give it away.
                let changed = text.replace("\"confirmed\"", "\"cancelled\"").into_bytes();
                vec![Delivery { body: changed, ..signed }]
            }
            "forged_first" => {
                let genuine = self.confirmed();
                vec![self.forged(WRONG_SECRET, genuine.clone()), genuine]
            }
            "stale" => vec![self.signed_at(-OUT_OF_TOLERANCE, self.confirmed())],
            "future" => vec![self.signed_at(OUT_OF_TOLERANCE, self.confirmed())],
            "replayed" => vec![self.signed_at(-3600, first.clone())],
            "duplicate" => {
                let twice = self.confirmed();
                vec![twice.clone(), twice.clone(), self.signed_at(-1, twice)]
            }
            "duplicates_at_once" => vec![self.at_once(); CONCURRENT_DUPLICATES],
            "unknown_kind" => {
                vec![Delivery { counts: false, ..self.valid(&self.event("booking.archived")) }]
            }
            "unknown_fields" => {
                let mut event = self.event("booking.confirmed");
                event.document["api_version"] = json!("2027-01-01");
                event.document["data"]["previous"] = json!({ "status": "processing" });
                event.document["data"]["object"]["loyalty"] = json!({ "points": [1, 2.5, null] });
                vec![self.valid(&event)]
            }
            "large_body" => {
                let filling = LARGE - self.failed("").body().len();
                vec![self.valid(&self.failed(&"x".repeat(filling)))]
            }
            "many_at_once" => (0..MANY).map(|_| self.at_once()).collect(),
            "out_of_order" => self.out_of_order(),
            _ => Vec::new(),
        }
    }

    /// Events of one booking, the newest first.
    fn out_of_order(&self) -> Vec<Delivery> {
        let newest = match self.ordered.status.as_str() {
            "cancelled" => "booking.cancelled",
            "failed" => "booking.failed",
            _ => "booking.confirmed",
        };
        let kinds = [newest, "booking.processing", "booking.created"];
        // A second apart, in order, for handlers that compare times or ids.
        let mut deliveries = Vec::new();
        for (kind, ago) in kinds.into_iter().zip([0, 1, 2]).rev() {
            let mut event = self.event(kind);
            let at = self.now.saturating_sub(ago.seconds());
            event.document["data"]["object"]["id"] = json!(self.ordered.id);
            event.document["created_at"] = json!(at.unwrap_or(self.now).to_string());
            deliveries.insert(0, self.valid(&event));
        }
        deliveries
    }

    fn verifies(&self, delivery: &Delivery) -> bool {
        let header = delivery.signature.as_deref().unwrap_or_default();
        let (secrets, now) = (std::slice::from_ref(self.secret), self.now.as_second());
        verify(secrets, header.as_bytes(), &delivery.body, now, Some(DEFAULT_TOLERANCE)).is_ok()
    }

    fn event(&self, kind: &str) -> SampleEvent {
        let mut event = SampleEvent::new(kind, self.booking, self.dialect, self.now);
        event.document["data"]["object"]["status"] = json!(status_of(kind));
        event
    }

    fn failed(&self, message: &str) -> SampleEvent {
        let mut event = self.event("booking.failed");
        event.document["data"]["object"]["error_message"] = json!(message);
        event
    }

    /// A delivery as it is with a signature of `seconds` from now.
    fn signed(&self, secret: &Secret, seconds: i64, delivery: Delivery) -> Delivery {
        let time = self.now.as_second() + seconds;
        Delivery { signature: Some(sign(secret, time, &delivery.body)), ..delivery }
    }

    fn signed_at(&self, seconds: i64, delivery: Delivery) -> Delivery {
        self.signed(self.secret, seconds, delivery)
    }

    fn forged(&self, secret: &str, delivery: Delivery) -> Delivery {
        self.signed(&Secret::new(secret.to_owned()), 0, delivery)
    }

    fn with_body(&self, event: &SampleEvent, body: Vec<u8>) -> Delivery {
        let delivery = Delivery {
            event_id: event.id().to_owned(),
            signature: None,
            body,
            is_genuine: false,
            at_once: false,
            counts: true,
        };
        self.signed_at(0, delivery)
    }

    fn valid(&self, event: &SampleEvent) -> Delivery {
        self.with_body(event, event.body())
    }

    fn confirmed(&self) -> Delivery {
        self.valid(&self.event("booking.confirmed"))
    }

    fn at_once(&self) -> Delivery {
        Delivery { at_once: true, ..self.confirmed() }
    }

    /// A delivery with the header that `header` makes of the parts of the right one.
    fn headed(&self, header: impl FnOnce(&str, &str) -> String) -> Delivery {
        let delivery = self.confirmed();
        let right = delivery.signature.as_deref().unwrap_or_default();
        let (t, v1) = right.split_once(',').unwrap_or_default();
        Delivery { signature: Some(header(t, v1)), ..delivery }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_check_expects_is_what_its_signatures_deserve() {
        let secret = Secret::new("whsec_a".to_owned());
        let now = Timestamp::from_second(1_795_262_400).unwrap();
        let checks = Subject::new(&secret, &Dialect::default(), None, now).checks();
        for DrillCheck { name, deliveries, .. } in &checks {
            let expected = match *name {
                "missing_header" | "malformed_header" | "wrong_secret" | "changed_body"
                | "stale" | "future" | "replayed" => vec![false; deliveries.len()],
                "forged_first" => vec![false, true],
                _ => vec![true; deliveries.len()],
            };
            let genuine: Vec<bool> = deliveries.iter().map(|it| it.is_genuine).collect();
            assert_eq!(genuine, expected, "{name}");
            assert!(!deliveries.is_empty(), "{name}");
            if *name == "large_body" {
                assert_eq!(deliveries[0].body.len(), LARGE);
            }
        }
    }
}
