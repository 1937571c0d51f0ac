//! One request and its answer, as bytes.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::Method;
use axum::response::Response;
use jiff::Timestamp;

use super::parts::{Layout, Message, Part, Parts};
use crate::sandbox::rules::fault::Fault;

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
        self.fault = fault.map(|fault| match fault {
            Fault::Status { status, .. } => Fault::Status {
                status: *status,
                body: None,
            },
            other => other.clone(),
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
    parts: Parts,
    /// Whether it is a call of the service, whose bodies are kept.
    is_service: bool,
}

impl Opening {
    /// `memory` may be what an older exchange was kept in.
    pub(in super::super) fn of(request: &Request, is_service: bool, memory: Vec<u8>) -> Self {
        let mut parts = Parts::in_memory(memory);
        let target = request.uri().path_and_query();
        parts.add(
            Part::Target,
            target.map_or("/", |it| it.as_str()).as_bytes(),
        );
        parts.add_headers(Part::RequestHeaders, request.headers());
        Self {
            began: Instant::now(),
            method: request.method().clone(),
            parts,
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
    ) -> (Exchange, Response) {
        let extensions = response.extensions_mut();
        let received: Received = extensions.remove().unwrap_or_default();
        let refusal = extensions.remove().map(|Refusal(why)| why);
        let (head, mut body) = response.into_parts();
        let mut kept = self.parts;
        kept.add_body(Part::Request, &received.body, received.is_cut);
        kept.add_headers(Part::ResponseHeaders, &head.headers);
        let mut length = 0;
        if self.is_service {
            let answer = whole(body).await;
            length = answer.len();
            kept.add_body(Part::Response, &answer, false);
            body = Body::from(answer);
        }
        let metadata = Metadata {
            number: 0,
            is_service: self.is_service,
            at,
            real: SystemTime::now(),
            duration: self.began.elapsed(),
            method: self.method,
            status: match received.fault {
                // Nothing was sent.
                Some(Fault::DropBefore) => 0,
                _ => head.status.as_u16(),
            },
            rare: Rare::of(refusal, received.fault, length),
        };
        let exchange = Exchange {
            metadata,
            parts: kept,
        };
        (exchange, Response::from_parts(head, body))
    }
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

/// One request and its answer.
pub(crate) struct Exchange {
    pub(super) metadata: Metadata,
    pub(super) parts: Parts,
}

/// What is known of an exchange besides its bytes.
#[derive(Clone)]
pub(super) struct Metadata {
    pub(super) number: i64,
    is_service: bool,
    /// When it was answered, by the sandbox's clock.
    pub(super) at: Timestamp,
    /// The same in real time.
    pub(super) real: SystemTime,
    pub(super) duration: Duration,
    pub(super) method: Method,
    /// 0 if nothing was sent.
    pub(super) status: u16,
    rare: Option<Box<Rare>>,
}

/// What few exchanges have.
#[derive(Clone)]
struct Rare {
    refusal: Option<String>,
    fault: Option<Fault>,
    /// How many bytes the body of the answer has, of which not all may be kept.
    length: usize,
}

impl Rare {
    fn of(refusal: Option<String>, fault: Option<Fault>, length: usize) -> Option<Box<Self>> {
        let is_any = refusal.is_some() || fault.is_some();
        is_any.then(|| {
            Box::new(Self {
                refusal,
                fault,
                length,
            })
        })
    }
}

impl Metadata {
    /// The memory that it takes.
    pub(super) fn size(&self) -> usize {
        let rare = self.rare.as_ref().map_or(0, |it| {
            let refusal = it.refusal.as_ref().map_or(0, String::len);
            size_of::<Rare>() + refusal
        });
        size_of::<(Self, Layout)>() + rare
    }
}

impl Exchange {
    /// Its number in the log.
    pub(crate) const fn number(&self) -> i64 {
        self.metadata.number
    }

    /// Whether it is a call of the service, not of the sandbox's own surface.
    pub(crate) const fn is_service(&self) -> bool {
        self.metadata.is_service
    }

    /// The rule that refused the request.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.metadata.rare.as_ref()?.refusal.as_deref()
    }

    /// The fault that the request met.
    pub(super) fn fault(&self) -> Option<&Fault> {
        self.metadata.rare.as_ref()?.fault.as_ref()
    }

    /// What the fault did, as one sentence.
    pub(super) fn fault_in_words(&self) -> Option<String> {
        let rare = self.metadata.rare.as_ref()?;
        Some(rare.fault.as_ref()?.in_words(rare.length))
    }

    /// The body of the service's own answer: empty if a fault answered instead.
    pub(super) fn service_answer(&self) -> &[u8] {
        match self.fault() {
            Some(Fault::Status { .. }) => &[],
            _ => self.response().body,
        }
    }

    /// Path and query.
    pub(super) fn target(&self) -> &str {
        str::from_utf8(self.parts.part(Part::Target)).unwrap_or_default()
    }

    /// The headers of the request, a line each.
    pub(super) fn request_lines(&self) -> &[u8] {
        self.parts.part(Part::RequestHeaders)
    }

    /// The body of the request.
    pub(super) fn request(&self) -> Message<'_> {
        self.parts.request()
    }

    /// The headers of the answer, a line each.
    pub(super) fn response_lines(&self) -> &[u8] {
        self.parts.part(Part::ResponseHeaders)
    }

    /// The body of the answer.
    pub(super) fn response(&self) -> Message<'_> {
        self.parts.response()
    }
}
