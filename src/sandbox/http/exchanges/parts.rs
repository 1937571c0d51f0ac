//! The bytes of an exchange in one piece of memory: to allocate and to free five pieces would cost more than all else that
//! is done to keep a request.

use axum::http::HeaderMap;

/// How much of a body is kept.
const MOST_OF_BODY: usize = 64 * 1024;
/// The largest memory that goes from one exchange to the next.
const MOST_REUSED: usize = 4096;
/// What most exchanges have room in.
const USUAL: usize = 2048;

/// The parts, in the order in which they are added.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// Path and query.
    Target,
    RequestHeaders,
    Request,
    ResponseHeaders,
    Response,
}

/// The parts of an exchange.
pub(super) struct Parts {
    bytes: Vec<u8>,
    layout: Layout,
}

/// Where the parts of an exchange stand in its bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Layout {
    /// Where each part ends.
    ends: [usize; 5],
    request_is_cut: bool,
    response_is_cut: bool,
}

impl Layout {
    /// The length of all parts.
    pub(super) const fn length(&self) -> usize {
        let [.., length] = self.ends;
        length
    }
}

/// A body, up to 64 KB of it.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) body: &'a [u8],
    pub(super) truncated: bool,
}

impl Parts {
    /// Nothing yet.
    pub(super) fn in_memory(mut memory: Vec<u8>) -> Self {
        memory.clear();
        memory.reserve(USUAL);
        Self {
            bytes: memory,
            layout: Layout::default(),
        }
    }

    /// The parts that have this layout in these bytes.
    pub(super) const fn new(bytes: Vec<u8>, layout: Layout) -> Self {
        Self { bytes, layout }
    }

    /// All parts, one after the other.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where each part stands in them.
    pub(super) const fn layout(&self) -> Layout {
        self.layout
    }

    /// The memory, for the next exchange.
    pub(super) fn into_memory(self) -> Vec<u8> {
        match self.bytes.capacity() {
            0..=MOST_REUSED => self.bytes,
            _ => Vec::new(),
        }
    }

    pub(super) fn add(&mut self, part: Part, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.end(part);
    }

    /// Adds headers, a line each. A value that is not text keeps its bytes.
    pub(super) fn add_headers(&mut self, part: Part, headers: &HeaderMap) {
        for (name, value) in headers {
            self.bytes.extend_from_slice(name.as_str().as_bytes());
            self.bytes.push(b':');
            self.bytes.extend_from_slice(value.as_bytes());
            self.bytes.push(b'\n');
        }
        self.end(part);
    }

    /// Adds as much of a body as is kept; `is_cut` if there was more of it.
    pub(super) fn add_body(&mut self, part: Part, body: &[u8], is_cut: bool) {
        let is_cut = is_cut || body.len() > MOST_OF_BODY;
        match part {
            Part::Request => self.layout.request_is_cut = is_cut,
            _ => self.layout.response_is_cut = is_cut,
        }
        self.add(part, &body[..body.len().min(MOST_OF_BODY)]);
    }

    fn end(&mut self, part: Part) {
        self.layout.ends[part as usize] = self.bytes.len();
    }

    /// A part.
    pub(super) fn part(&self, part: Part) -> &[u8] {
        let before = (part as usize).checked_sub(1);
        let start = before.map_or(0, |it| self.layout.ends[it]);
        self.bytes
            .get(start..self.layout.ends[part as usize])
            .unwrap_or_default()
    }

    /// The body of the request.
    pub(super) fn request(&self) -> Message<'_> {
        Message {
            body: self.part(Part::Request),
            truncated: self.layout.request_is_cut,
        }
    }

    /// The body of the answer.
    pub(super) fn response(&self) -> Message<'_> {
        Message {
            body: self.part(Part::Response),
            truncated: self.layout.response_is_cut,
        }
    }
}
