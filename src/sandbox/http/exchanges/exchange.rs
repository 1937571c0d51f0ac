//! One request and its answer, as bytes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use jiff::Timestamp;

use crate::sandbox::rules::fault::Fault;
use crate::sandbox::speak::Speech;

/// How much of a body is kept.
const KEPT: usize = 64 * 1024;

/// Why a request was refused: an extension of the response.
#[derive(Clone)]
pub(in super::super) struct Refusal(pub(in super::super) String);

/// What the handlers know of a request: an extension of the response.
#[derive(Clone, Default)]
pub(in super::super) struct Received {
    /// As much of the body as is kept.
    pub(super) body: Message,
    pub(super) fault: Option<Fault>,
    /// The booking or session that it is about, where the documents have other names than the contract's.
    pub(super) subject: Option<Box<Subject>>,
}

/// The contract's words for a request that came in others.
#[derive(Clone, Default)]
pub(super) struct Subject {
    pub(super) id: String,
    pub(super) answer: Bytes,
}

/// A body, up to 64 KB of it.
#[derive(Clone, Default)]
pub(super) struct Message {
    pub(super) body: Bytes,
    pub(super) truncated: bool,
}

impl Message {
    /// Copies what is kept, so that a small body does not hold on to the connection's large buffer.
    fn copy(body: &[u8]) -> Self {
        Self {
            body: Bytes::copy_from_slice(&body[..body.len().min(KEPT)]),
            truncated: body.len() > KEPT,
        }
    }

    /// Shares a body that has its own memory.
    fn share(body: &Bytes) -> Self {
        match body.len() {
            0..=KEPT => Self {
                body: body.clone(),
                truncated: false,
            },
            _ => Self::copy(body),
        }
    }
}

impl Received {
    /// A request with this body; `whole` is false if more of it came.
    pub(in super::super) fn new(body: &[u8], whole: bool) -> Self {
        let mut body = Message::copy(body);
        body.truncated |= !whole;
        Self {
            body,
            ..Self::default()
        }
    }

    /// The fault that the request met.
    pub(in super::super) fn met(&mut self, fault: Option<Fault>) {
        self.fault = fault;
    }

    /// The id in its path and its answer, in the contract's words.
    pub(in super::super) fn is_about(&mut self, id: String, answer: Bytes) {
        self.subject = Some(Box::new(Subject { id, answer }));
    }
}

/// A request on its way to the handlers.
pub(in super::super) struct Opening {
    began: Instant,
    method: Method,
    target: Box<str>,
    headers: Box<[u8]>,
    /// Whether it is a call of the service, whose bodies are kept.
    is_service: bool,
}

impl Opening {
    pub(in super::super) fn of(request: &Request, is_service: bool) -> Self {
        let target = request.uri().path_and_query();
        Self {
            began: Instant::now(),
            method: request.method().clone(),
            target: target.map_or("/", |it| it.as_str()).into(),
            headers: lines(request.headers()),
            is_service,
        }
    }

    /// Whether the request is kept.
    pub(in super::super) const fn is_service(&self) -> bool {
        self.is_service
    }

    /// The exchange, and the response as it is sent. `at` is the sandbox's time.
    pub(in super::super) async fn close(
        self,
        mut response: Response,
        at: Timestamp,
        speech: Option<(Arc<Speech>, bool)>,
    ) -> (Exchange, Response) {
        let extensions = response.extensions_mut();
        let received: Received = extensions.remove().unwrap_or_default();
        let refusal = extensions.remove().map(|Refusal(why)| why);
        let (parts, mut body) = response.into_parts();
        let mut answer = Message::default();
        if self.is_service {
            // The bodies of the service's answers are in memory.
            let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
            answer = Message::share(&bytes);
            body = Body::from(bytes);
        }
        let exchange = Exchange {
            number: 0,
            is_service: self.is_service,
            at,
            real: Timestamp::now(),
            duration: self.began.elapsed(),
            method: self.method,
            target: self.target,
            status: match received.fault {
                // Nothing was sent.
                Some(Fault::DropBefore) => 0,
                _ => parts.status.as_u16(),
            },
            request_headers: self.headers,
            request: received.body,
            response_headers: lines(&parts.headers),
            response: answer,
            refusal,
            fault: received.fault,
            subject: received.subject,
            is_spoken: speech.as_ref().is_some_and(|(_, is_spoken)| *is_spoken),
            speech: speech.map(|(speech, _)| speech),
        };
        (exchange, Response::from_parts(parts, body))
    }
}

/// One request and its answer.
pub(crate) struct Exchange {
    pub(super) number: i64,
    pub(super) is_service: bool,
    /// When it was answered, by the sandbox's clock.
    pub(super) at: Timestamp,
    /// The same in real time.
    pub(super) real: Timestamp,
    pub(super) duration: Duration,
    pub(super) method: Method,
    /// Path and query.
    pub(super) target: Box<str>,
    /// 0 if nothing was sent.
    pub(super) status: u16,
    pub(super) request_headers: Box<[u8]>,
    pub(super) request: Message,
    pub(super) response_headers: Box<[u8]>,
    pub(super) response: Message,
    pub(super) refusal: Option<String>,
    pub(super) fault: Option<Fault>,
    pub(super) subject: Option<Box<Subject>>,
    pub(super) speech: Option<Arc<Speech>>,
    /// Whether the request came in the names of the speech.
    pub(super) is_spoken: bool,
}

impl Exchange {
    /// Its number in the log.
    pub(crate) const fn number(&self) -> i64 {
        self.number
    }

    /// Whether it is a call of the service, not of the sandbox's own surface.
    pub(crate) const fn is_service(&self) -> bool {
        self.is_service
    }

    /// How its request and its answer speak; `None` for the contract itself.
    pub(super) fn spoken(&self) -> Option<&Speech> {
        self.speech.as_deref().filter(|_| self.is_spoken)
    }

    /// The bytes that it holds.
    pub(super) fn size(&self) -> usize {
        let subject = self.subject.as_ref().map_or(0, |it| it.answer.len());
        size_of::<Self>()
            + self.target.len()
            + self.request_headers.len()
            + self.request.body.len()
            + self.response_headers.len()
            + self.response.body.len()
            + subject
    }
}

/// Headers as one piece of memory, a line each. A value that is not text keeps its bytes.
fn lines(headers: &HeaderMap) -> Box<[u8]> {
    let mut lines = Vec::with_capacity(64 * headers.len());
    for (name, value) in headers {
        lines.extend_from_slice(name.as_str().as_bytes());
        lines.push(b':');
        lines.extend_from_slice(value.as_bytes());
        lines.push(b'\n');
    }
    lines.into()
}
