//! Tests a handler with valid, forged, repeated, late, large and many deliveries.

pub(crate) mod ledger;
pub(crate) mod plan;
pub(crate) mod report;

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep};

use self::plan::{Delivery, PlannedCheck};
use super::handler::{Handler, HeaderLine, Reaction};

/// The size of the pieces of a slow client's body, in bytes, and the pause between them.
const PIECE: usize = 32;
const PAUSE: Duration = Duration::from_millis(20);

/// The headers of a delivery, whose signature header has this name.
pub(crate) fn headers(delivery: &Delivery, name: &str) -> Vec<HeaderLine> {
    let content_type = ("Content-Type".to_owned(), "application/json".to_owned());
    let signature = delivery.signature.clone();
    let signature = signature.map(|value| (name.to_owned(), value));
    signature.into_iter().chain([content_type]).collect()
}

/// Sends the deliveries of a check; returns the responses in the same order.
pub(crate) async fn run(check: &PlannedCheck, handler: &Handler, name: &str) -> Vec<Reaction> {
    let mut reactions = Vec::new();
    let mut under_way = JoinSet::new();
    for (place, delivery) in check.deliveries.iter().cloned().enumerate() {
        let (at_once, headers) = (delivery.at_once, headers(&delivery, name));
        let handler = handler.clone();
        let sent = async move { (place, send(delivery, &handler, &headers).await) };
        if at_once {
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

async fn send(delivery: Delivery, handler: &Handler, headers: &[HeaderLine]) -> Reaction {
    if delivery.slowly {
        let rest = delivery.body.into();
        let pause = Box::pin(sleep(Duration::ZERO));
        let body = reqwest::Body::wrap(Pieces { rest, pause });
        handler.post(headers, body).await
    } else {
        handler.post(headers, delivery.body).await
    }
}

/// A body that comes a few bytes at a time.
struct Pieces {
    rest: Bytes,
    pause: Pin<Box<Sleep>>,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        ready!(self.pause.as_mut().poll(context));
        self.pause.as_mut().reset(Instant::now() + PAUSE);
        let length = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
