//! A server on loopback that answers what a test tells it to, byte for byte, and keeps what it was
//! sent.

use std::io::{BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::Home;
use super::accepting::Accepting;
use super::http::Message;
use super::listening::until;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// How many requests came before, how many of its method and path, and how many posted.
    pub(crate) number: usize,
    pub(crate) earlier: usize,
    pub(crate) posted: usize,
}

impl Request {
    /// A header by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn is(&self, method: &str, path: &str) -> bool {
        self.method == method && self.path == path
    }
}

/// What is sent back.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A whole answer with this status, content type and body.
    Whole(u16, &'static str, String),
    /// These bytes, then the end of the connection.
    Bytes(String),
    /// The same, no text.
    Raw(Vec<u8>),
    /// The first, then the second again and again with this pause, for as long as it is read.
    Endless(String, String, Duration),
    /// The end of the connection alone.
    Close,
    /// Nothing, on a connection that stays open.
    Silence,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Reply::Whole(status, "application/json", body.to_string())
    }

    /// A document with further headers, a line each.
    pub(crate) fn headed(status: u16, headers: &[String], body: &Value) -> Self {
        let body = body.to_string();
        let headers: String = headers.iter().map(|it| format!("{it}\r\n")).collect();
        Reply::Bytes(format!(
            "HTTP/1.1 {status} Status\r\n{headers}Content-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        ))
    }

    pub(crate) fn html() -> Self {
        let page = "<!doctype html><title>Welcome</title><h1>It works!</h1>";
        Reply::Whole(200, "text/html; charset=utf-8", page.to_owned())
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Reply::Whole(status, kind, body) => format!(
                "HTTP/1.1 {status} Status\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            )
            .into_bytes(),
            Reply::Bytes(bytes) => bytes.clone().into_bytes(),
            Reply::Raw(bytes) => bytes.clone(),
            Reply::Endless(first, ..) => first.clone().into_bytes(),
            Reply::Close | Reply::Silence => Vec::new(),
        }
    }
}

/// The server; it ends with this value.
pub(crate) struct Scripted {
    base_url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    _accepting: Accepting,
}

impl Scripted {
    /// One that answers each request with what `script` makes of it.
    pub(crate) fn start(script: impl Fn(&Request) -> Reply + Send + 'static) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, mut silent) = (requests.clone(), Vec::new());
        let accepting = Accepting::one_by_one(0, move |stream| {
            silent.extend(serve(stream, &seen, &script));
        });
        Scripted { base_url: accepting.url(), requests, _accepting: accepting }
    }

    /// The same, and a home that talks to it.
    pub(crate) fn with_home(script: impl Fn(&Request) -> Reply + Send + 'static) -> (Self, Home) {
        Self::start(script).beside_home()
    }

    pub(crate) fn beside_home(self) -> (Self, Home) {
        let home = Home::pointing_to(&self.base_url, "sk_live_x");
        (self, home)
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// What came so far, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until something came.
    #[track_caller]
    pub(crate) fn wait_for_request(&self) {
        until("a request comes", || !self.requests().is_empty());
    }

    /// Waits until a request came with this method.
    #[track_caller]
    pub(crate) fn wait_for(&self, method: &str) {
        until(method, || self.requests().iter().any(|it| it.method == method));
    }

    /// The booking requests among what came.
    pub(crate) fn creates(&self) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| request.is("POST", "/v1/bookings"));
        requests
    }
}

/// Answers one request; returns a connection that is to stay open.
fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    script: &impl Fn(&Request) -> Reply,
) -> Option<TcpStream> {
    // A client that connects and says nothing must not hold up the rest of the test.
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let message = Message::read(&mut BufReader::new(&stream))?;
    let mut start = message.start.split(' ').map(str::to_owned);
    let (method, path) = (start.next().unwrap_or_default(), start.next().unwrap_or_default());
    let (headers, body) = (message.headers, String::from_utf8(message.body).unwrap());
    let before = seen.lock().unwrap().clone();
    let earlier = before.iter().filter(|it| it.is(&method, &path)).count();
    let posted = before.iter().filter(|it| it.method == "POST").count();
    let request = Request { method, path, headers, body, number: before.len(), earlier, posted };
    let reply = script(&request);
    seen.lock().unwrap().push(request);
    if let Reply::Silence = reply {
        return Some(stream);
    }
    // The other side may have gone by now, which is its own affair.
    let mut written = stream.write_all(&reply.bytes());
    if let Reply::Endless(_, chunk, pause) = reply {
        while written.is_ok() {
            std::thread::sleep(pause);
            written = stream.write_all(chunk.as_bytes());
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
    None
}
