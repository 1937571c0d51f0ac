//! Tests a handler with valid, forged, repeated, late, large and many deliveries.

pub(crate) mod plan;
pub(crate) mod report;

use tokio::task::JoinSet;

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
        let signature = self.signature.clone();
        let signature = signature.map(|value| (name.to_owned(), value));
        let content_type = ("Content-Type".to_owned(), "application/json".to_owned());
        signature.into_iter().chain([content_type]).collect()
    }
}

impl DrillCheck {
    /// Sends the deliveries; returns the responses in the same order.
    pub(crate) async fn run(&self, handler: &Handler, name: &str) -> Vec<HandlerVerdict> {
        let mut reactions = Vec::new();
        let mut under_way = JoinSet::new();
        for (place, delivery) in self.deliveries.iter().cloned().enumerate() {
            let (handler, headers) = (handler.clone(), delivery.headers(name));
            let sent = async move { (place, handler.post(&headers, delivery.body).await) };
            if delivery.at_once {
                under_way.spawn(sent);
            } else {
                reactions.push(sent.await);
            }
        }
        reactions.extend(under_way.join_all().await);
        reactions.sort_by_key(|(place, _)| *place);
        reactions
            .into_iter()
            .map(|(_, reaction)| reaction)
            .collect()
    }
}
