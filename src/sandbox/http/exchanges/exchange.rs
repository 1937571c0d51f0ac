//! One request and its answer, as bytes.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use jiff::Timestamp;

use crate::sandbox::rules::fault::{Fault, FaultKind};

/// How much of a body is kept.
const MOST_OF_BODY: usize = 64 * 1024;

/// Why a request was refused: an extension of the response.
#[derive(Clone)]
pub(in super::super) struct Refusal(pub(in super::super) String);

/// What the handlers know of a request: an extension of the response.
#[derive(Clone, Default)]
pub(in super::super) struct Received {
    /// As much of the body as came.
    body: Bytes,
    /// Whether there was more.
    is_cut: bool,
    fault: Option<Fault>,
}

impl Received {
    /// A request with this body; `whole` is false if more of it came.
    pub(in super::super) fn new(body: Bytes, whole: bool) -> Self {
        Self {
            body,
            is_cut: !whole,
            ..Self::default()
        }
    }

    /// The fault that the request met. Its body is the answer's.
    pub(in super::super) fn met(&mut self, fault: Option<&Fault>) {
        self.fault = fault.map(|fault| Fault {
            body: None,
            ..fault.clone()
        });
    }

    /// Whether it says no more than the lack of it would.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.body.is_empty() && !self.is_cut && self.fault.is_none()
    }
}

/// A request on its way to the handlers.
pub(in super::super) struct Opening {
    began: Instant,
    method: Method,
    target: String,
    headers: Vec<u8>,
    /// Whether it is a call of the service, whose bodies are kept.
    is_service: bool,
}

impl Opening {
    pub(in super::super) fn of(request: &Request, is_service: bool) -> Self {
        let target = request.uri().path_and_query();
        Self {
            began: Instant::now(),
            method: request.method().clone(),
            target: target.map_or("/", |it| it.as_str()).to_owned(),
            headers: lines(request.headers()),
            is_service,
        }
    }

    /// The exchange, and the response as it is sent. `at` is the sandbox's time.
    pub(in super::super) async fn close(
        self,
        mut response: Response,
        at: Timestamp,
    ) -> (Exchange, Response) {
        let extensions = response.extensions_mut();
        let received: Received = extensions.remove().unwrap_or_default();
        let refusal = extensions.remove().map(|Refusal(why)| why);
        let (head, mut body) = response.into_parts();
        let mut answer = Bytes::new();
        if self.is_service {
            answer = whole(body).await;
            body = Body::from(answer.clone());
        }
        let exchange = Exchange {
            number: 0,
            is_service: self.is_service,
            at,
            real: SystemTime::now(),
            duration: self.began.elapsed(),
            method: self.method,
            target: self.target,
            status: match received.fault.as_ref().map(|it| it.kind) {
                // Nothing was sent.
                Some(FaultKind::DropBefore) => 0,
                _ => head.status.as_u16(),
            },
            request_headers: self.headers,
            request: Message::of_request(&received.body, received.is_cut),
            response_headers: lines(&head.headers),
            response: Message::of_answer(&answer),
            response_length: answer.len(),
            refusal,
            fault: received.fault,
        };
        (exchange, Response::from_parts(head, body))
    }
}

/// Headers, a line each. A value that is not text keeps its bytes.
fn lines(headers: &HeaderMap) -> Vec<u8> {
    let mut lines = Vec::with_capacity(256);
    for (name, value) in headers {
        lines.extend_from_slice(name.as_str().as_bytes());
        lines.push(b':');
        lines.extend_from_slice(value.as_bytes());
        lines.push(b'\n');
    }
    lines
}

/// The bytes of a body. Those of the service's answers are in memory, in one piece.
async fn whole(mut body: Body) -> Bytes {
    let frame = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
    let first = frame.and_then(|it| it.ok()?.into_data().ok());
    let first = first.unwrap_or_default();
    if body.is_end_stream() {
        return first;
    }
    let rest = to_bytes(body, usize::MAX).await.unwrap_or_default();
    [first, rest].concat().into()
}

/// A body, up to 64 KB of it.
pub(super) struct Message {
    pub(super) body: Bytes,
    pub(super) truncated: bool,
}

impl Message {
    /// The body of a request: a copy, because it came as a part of the connection's buffer. `is_cut` if there was more of
    /// it.
    fn of_request(body: &Bytes, is_cut: bool) -> Self {
        Self {
            body: Bytes::copy_from_slice(body.get(..MOST_OF_BODY).unwrap_or(body)),
            truncated: is_cut || body.len() > MOST_OF_BODY,
        }
    }

    /// The body of an answer: itself, if all of it is kept.
    fn of_answer(body: &Bytes) -> Self {
        let first = body.get(..MOST_OF_BODY).map(Bytes::copy_from_slice);
        Self {
            truncated: body.len() > MOST_OF_BODY,
            body: first.unwrap_or_else(|| body.clone()),
        }
    }
}

pub(crate) struct Exchange {
    /// Its number in the log.
    pub(crate) number: i64,
    /// Whether it is a call of the service, not of the sandbox's own surface.
    pub(crate) is_service: bool,
    /// When it was answered, by the sandbox's clock.
    pub(crate) at: Timestamp,
    /// The same in real time.
    pub(super) real: SystemTime,
    pub(super) duration: Duration,
    pub(crate) method: Method,
    /// Path and query.
    pub(super) target: String,
    /// 0 if a fault closed the connection before anything was sent.
    pub(crate) status: u16,
    /// The headers of the request, a line each.
    pub(super) request_headers: Vec<u8>,
    pub(super) request: Message,
    /// The headers of the answer, a line each.
    pub(super) response_headers: Vec<u8>,
    pub(super) response: Message,
    /// How many bytes the body of the answer has, of which not all may be kept.
    response_length: usize,
    /// The rule that refused the request.
    pub(super) refusal: Option<String>,
    /// The fault that the request met.
    pub(super) fault: Option<Fault>,
}

impl Exchange {
    pub(super) fn size(&self) -> usize {
        size_of::<Self>()
            + self.target.len()
            + self.request_headers.len()
            + self.request.body.len()
            + self.response_headers.len()
            + self.response.body.len()
            + self.refusal.as_ref().map_or(0, String::len)
    }

    /// What the fault did, as one sentence.
    pub(super) fn fault_in_words(&self) -> Option<String> {
        Some(self.fault.as_ref()?.in_words(self.response_length))
    }

    /// The body of the service's own answer: empty if a fault answered instead.
    pub(super) fn service_answer(&self) -> &[u8] {
        match self.fault.as_ref().map(|it| it.kind) {
            Some(FaultKind::Status) => &[],
            _ => &self.response.body,
        }
    }
}

/// The names and values of header lines.
pub(super) fn fields(lines: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines.split(|it| *it == b'\n').filter_map(|line| {
        let colon = line.iter().position(|it| *it == b':')?;
        Some((&line[..colon], &line[colon + 1..]))
    })
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
