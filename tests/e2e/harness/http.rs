//! Just enough HTTP/1.1 to look at both sides of the wire without any code of the product.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Start line, headers with lower-case names, body.
#[derive(Debug)]
pub(crate) struct Message {
    pub(super) start: String,
    pub(super) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    /// Reads one message; `None` where the other side closed instead.
    pub(super) fn read(reader: &mut impl BufRead) -> Option<Self> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let mut lines = lines.into_iter();
        let start = lines.next()?;
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| {
                let (name, value) = line.split_once(':')?;
                Some((name.to_ascii_lowercase(), value.trim().to_owned()))
            })
            .collect();
        let length = headers
            .iter()
            .find(|(name, _)| name == "content-length")
            .and_then(|(_, length)| length.parse().ok())
            .unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        Some(Message { start, headers, body })
    }

    /// The status of an answer.
    pub(crate) fn status(&self) -> u16 {
        self.start.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// A header by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map(|(_, value)| value.as_str())
    }

    /// The document in the body; `null` where that is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// The header with the sandbox's key that may do everything.
pub(crate) const KEY: (&str, &str) = ("Authorization", "Bearer sk_live_sandbox");

/// Sends a request with these headers; the status and the document that came.
pub(crate) fn send(
    base_url: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, Value) {
    let answer = exchange(base_url, method, path, headers, body);
    (answer.status(), answer.json())
}

/// Sends a request with these headers; the whole answer that came. A path in the base URL stands
/// before `path`.
pub(crate) fn exchange(
    base_url: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Message {
    try_exchange(base_url, method, path, headers, body.as_bytes()).unwrap()
}

/// Sends a request without a key `count` times over one connection, and waits for the last
/// response.
pub(crate) fn send_many(base_url: &str, start: &str, body: &[u8], count: usize) {
    let address = base_url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let length = body.len();
    let head = format!("{start} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n");
    let mut writer = stream.try_clone().unwrap();
    let mut responses = String::new();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for left in (0..count).rev() {
                let last = if left == 0 { "Connection: close\r\n" } else { "" };
                writer.write_all(format!("{head}{last}\r\n").as_bytes()).unwrap();
                writer.write_all(body).unwrap();
            }
        });
        stream.read_to_string(&mut responses).unwrap();
    });
    assert_eq!(responses.matches("HTTP/1.1 ").count(), count);
}

/// The same; `None` where no answer came, or half of one.
pub(crate) fn try_exchange(
    base_url: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<Message> {
    let address = base_url.strip_prefix("http://").unwrap();
    let (address, base_path) = match address.split_once('/') {
        Some((address, path)) => (address, format!("/{path}")),
        None => (address, String::new()),
    };
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let names_host = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
    let own = [("Host", address)];
    let own = own.iter().filter(|_| !names_host);
    let headers: String =
        own.chain(headers).map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "{method} {base_path}{path} HTTP/1.1\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // Who refuses a request may answer before all of it was read.
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
    Message::read(&mut BufReader::new(stream))
}
