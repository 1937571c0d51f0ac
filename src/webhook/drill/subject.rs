//! Building deliveries and checks.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::check::{Check, Delivery, Expect};
use crate::adapter::Dialect;
use crate::secrets::Secret;
use crate::webhook::sample_event::{SampleEvent, status_of, summary_of};
use crate::webhook::signature::sign;

/// The booking that the events are about, and how they are signed.
pub(crate) struct Subject<'a> {
    pub(crate) secret: &'a Secret,
    pub(crate) dialect: &'a Dialect,
    /// A booking of the service; `None` invents one for each event.
    pub(crate) booking: Option<&'a Value>,
    pub(crate) now: Timestamp,
}

impl Subject<'_> {
    pub(super) fn event(&self, kind: &str) -> SampleEvent {
        let Some(booking) = self.booking else {
            return SampleEvent::invented(kind, self.dialect, self.now);
        };
        let mut summary = summary_of(booking);
        summary["status"] = json!(status_of(kind));
        SampleEvent::new(kind, summary, self.dialect, self.now)
    }

    /// The header's value for a body signed `seconds` from now.
    pub(super) fn signature(&self, body: &[u8], seconds: i64) -> String {
        sign(self.secret, self.now.as_second() + seconds, body)
    }

    pub(super) fn valid(&self, event: &SampleEvent) -> Delivery {
        self.with_body(event, event.body())
    }

    pub(super) fn with_body(&self, event: &SampleEvent, body: Vec<u8>) -> Delivery {
        Delivery {
            event_id: event.id().to_owned(),
            signature: Some(self.signature(&body, 0)),
            body,
            expect: Expect::Taken,
            slowly: false,
            counts: true,
        }
    }

    /// A delivery of a new event, with the header that `header` makes of the right value and the body.
    pub(super) fn headed(
        &self,
        expect: Expect,
        header: impl FnOnce(&str, &[u8]) -> Option<String>,
    ) -> Delivery {
        let delivery = self.valid(&self.event("booking.confirmed"));
        let right = delivery.signature.clone().unwrap_or_default();
        Delivery {
            signature: header(&right, &delivery.body),
            expect,
            ..delivery
        }
    }

    pub(super) fn refused(&self, header: impl FnOnce(&str, &[u8]) -> Option<String>) -> Delivery {
        self.headed(Expect::Refused, header)
    }

    pub(super) fn taken(&self, header: impl FnOnce(&str) -> String) -> Delivery {
        self.headed(Expect::Taken, |right, _| Some(header(right)))
    }
}

pub(super) fn one(
    name: &'static str,
    section: &'static str,
    why: &'static str,
    it: Delivery,
) -> Check {
    several(name, section, why, vec![it])
}

/// A check with several deliveries, sent one after the other.
pub(super) fn several(
    name: &'static str,
    section: &'static str,
    why: &'static str,
    deliveries: Vec<Delivery>,
) -> Check {
    Check {
        name,
        section,
        why,
        deliveries,
        at_once: false,
        booking: None,
    }
}
