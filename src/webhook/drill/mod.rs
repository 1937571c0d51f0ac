//! Tests a handler with valid, forged, repeated, late, large and many deliveries.

pub(crate) mod plan;
pub(crate) mod report;

use futures_util::stream::{self, StreamExt};

use super::handler::{Handler, HandlerVerdict, HeaderLine};

/// One test: the deliveries to send.
#[derive(Debug, Default)]
pub(crate) struct DrillCheck {
    pub(crate) name: &'static str,
    /// The section of the service's specification.
    pub(crate) section: &'static str,
    /// Why it matters, as a sentence without a full stop.
    pub(crate) why: &'static str,
    pub(crate) deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) event_id: String,
    /// The signature header's value; `None` sends no header.
    pub(crate) signature: Option<String>,
    pub(crate) body: Vec<u8>,
    /// Whether the signature verifies: the handler should accept it with any 2xx, and refuse others with any 4xx.
    pub(crate) is_genuine: bool,
    /// Whether it is sent at the same time as the others of its check.
    pub(crate) at_once: bool,
    /// Whether the handler's state is checked for the event. With an unknown kind it may do what it likes.
    pub(crate) counts: bool,
}

impl Delivery {
    /// The headers, with the signature in the one of this name.
    pub(crate) fn headers(&self, name: &str) -> Vec<HeaderLine> {
        let signature = self.signature.as_deref().map(|value| (name, value));
        let headers = signature
            .into_iter()
            .chain([("Content-Type", "application/json")]);
        headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }
}

impl DrillCheck {
    /// Sends the deliveries; returns the responses in the same order.
    pub(crate) async fn run(&self, handler: &Handler, name: &str) -> Vec<HandlerVerdict> {
        let at_once = self.deliveries.iter().filter(|it| it.at_once).count();
        let posts = stream::iter(&self.deliveries).map(|delivery| async move {
            handler.post(&delivery.headers(name), &delivery.body).await
        });
        posts.buffered(at_once.max(1)).collect().await
    }
}
