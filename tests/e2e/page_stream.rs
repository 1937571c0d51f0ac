//! The stream of events that keeps the sandbox's page current.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{HANG, Reply, Scripted, Served};
use crate::page::{book, control};

/// A stream as a script reads it.
pub(crate) struct Stream(BufReader<TcpStream>);

impl Stream {
    pub(crate) fn open(served: &Served, last: Option<&str>) -> Self {
        let address = served.base_url().strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        let last = last.map(|it| format!("Last-Event-ID: {it}\r\n")).unwrap_or_default();
        write!(stream, "GET /sandbox/stream HTTP/1.1\r\nHost: {address}\r\n{last}\r\n").unwrap();
        let mut stream = Self(BufReader::new(stream));
        stream.until("id: ");
        stream
    }

    /// The rest of the next line that begins so.
    pub(crate) fn until(&mut self, start: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended before {start:?}");
            if let Some(rest) = line.trim_end().strip_prefix(start) {
                return rest.to_owned();
            }
        }
    }

    /// The next event of that name: its id and its document.
    pub(crate) fn event(&mut self, name: &str) -> (String, Value) {
        loop {
            let id = self.until("id: ");
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            if line.trim_end() == format!("event: {name}") {
                return (id, serde_json::from_str(&self.until("data: ")).unwrap());
            }
        }
    }
}

/// "server-sent events `request booking message delivery clock fault organization`, each with the
/// id and the new state; `Last-Event-ID` resumes" (sandbox tools, The page)
#[test]
fn stream_tells_each_change_with_its_new_state_and_resumes() {
    let mut served = Served::start();
    let app = Scripted::start(|_| Reply::json(200, &json!({})));
    let mut stream = Stream::open(&served, None);
    let url = json!({"webhook_url": app.base_url()});
    control(&served, "PUT", "/sandbox/organization", &url);
    let (_, settings) = stream.event("organization");
    assert!(settings.to_string().contains(app.base_url()), "{settings}");
    let booking = book(&served, "ven_otp", "Ada Lovelace", &json!({}));
    let mut told = Stream::open(&served, None);
    assert_eq!(stream.event("booking").1["id"], booking["id"]);
    control(&served, "POST", "/sandbox/clock", &json!({"advance": "20m"}));
    let (before, clock) = told.event("clock");
    assert_eq!(clock["offset_seconds"], 1200);
    let fault = json!({"on": "GET /v1/", "kind": "garbage"});
    control(&served, "POST", "/sandbox/faults", &fault);
    assert_eq!(told.event("fault").1["faults"][0]["kind"], "garbage");
    control(&served, "DELETE", "/sandbox/faults", &json!({}));
    assert_eq!(told.event("fault").1, json!({"faults": []}));

    let mut resumed = Stream::open(&served, Some(&before));
    let missed = book(&served, "ven_confirms", "Grace Hopper", &json!({}));
    assert_eq!(resumed.event("fault").1, json!({"faults": []}));
    assert_eq!(resumed.event("booking").1["id"], missed["id"]);
    let mut lost = Stream::open(&served, Some("1"));
    lost.until("event: reset");
    control(&served, "POST", "/sandbox/reset", &json!({}));
    lost.event("clock");
    assert_eq!(served.terminate(), Some(0));
}

/// An open stream does not hold up the server's end, nor does a client that reads nothing hold up
/// others.
#[test]
fn stream_ends_with_server_and_slow_reader_holds_nothing_up() {
    let mut served = Served::unlimited();
    let mut reader = Stream::open(&served, None);
    let _slow = Stream::open(&served, None);
    for number in 0..300 {
        let guest = format!("Guest {number} {}", "x".repeat(200));
        book(&served, "ven_processing", &guest, &json!({}));
    }
    let last = served.bookings().last().unwrap()["id"].clone();
    while reader.event("booking").1["id"] != last {}
    let began = Instant::now();
    assert_eq!(served.terminate(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}
