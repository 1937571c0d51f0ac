//! `bookctl webhook listen` as a process of its own, an app that it forwards to, and a service that
//! delivers to it.

use std::collections::HashMap;
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use super::accepting::Accepting;
use super::http::Message;
use super::{HANG, Home};
use super::{Output, Running};

/// The secret of a listener that no sandbox tells one.
pub(crate) const SECRET: &str = "whsec_of_the_tests";

/// A home whose webhook secret is known.
pub(crate) fn home_with_the_secret() -> Home {
    Home::new().with("BOOKCTL_WEBHOOK_SECRET", SECRET)
}

/// One whose service cannot be reached besides.
pub(crate) fn home_without_a_service() -> Home {
    home_with_the_secret().with("BOOKCTL_BASE_URL", "http://127.0.0.1:9")
}

/// Waits until something holds; what is waited for is said where it never does.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + HANG;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A listener; it is killed with this value.
pub(crate) struct Listening {
    running: Option<Running>,
    ready: PathBuf,
    /// `http://127.0.0.1:PORT/`.
    pub(crate) url: String,
}

impl Listening {
    /// Starts one, and waits until it can take deliveries.
    pub(crate) fn start(home: &Home, arguments: &[&str]) -> Self {
        let ready = home.folder().join("ready");
        let ready_file = ready.to_str().unwrap().to_owned();
        let always = ["webhook", "listen", "--json", "--ready-file", &ready_file];
        let port: &[&str] = match arguments.contains(&"--port") {
            true => &[],
            false => &["--port", "0"],
        };
        let all = always.iter().chain(port).chain(arguments);
        let mut listening = Listening {
            running: Some(Running::start(home.command(all))),
            ready,
            url: String::new(),
        };
        let deadline = Instant::now() + HANG;
        while !listening.ready.exists() {
            let running = listening.running.as_mut().unwrap();
            if running.has_ended() || Instant::now() > deadline {
                panic!("it does not listen: {}", listening.running.take().unwrap().end());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        listening.url = std::fs::read_to_string(&listening.ready).unwrap();
        listening
    }

    pub(crate) fn signal(&self, signal: &str) {
        self.running.as_ref().unwrap().signal(signal);
    }

    /// Ends it as Ctrl-C does: what it wrote.
    pub(crate) fn end(mut self) -> Output {
        self.signal("-INT");
        self.running.take().unwrap().ends(0)
    }

    /// Kills it.
    pub(crate) fn kill(mut self) -> Output {
        self.signal("-KILL");
        let output = self.running.take().unwrap().end();
        let _ = std::fs::remove_file(&self.ready);
        output
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ready.exists()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.signal("-KILL");
            running.end();
        }
    }
}

/// The lines of a listener, and its summary.
pub(crate) fn lines(output: &Output) -> (Vec<Value>, Value) {
    let lines = output.stdout.lines();
    let mut lines: Vec<Value> = lines.map(|it| serde_json::from_str(it).unwrap()).collect();
    let summary = lines.pop().expect("it ends with a summary");
    (lines, summary["summary"].clone())
}

/// A delivery as an app gets it.
#[derive(Clone, Debug)]
pub(crate) struct Delivered {
    pub(crate) id: String,
    pub(crate) booking: String,
    pub(crate) body: String,
    pub(crate) headers: HashMap<String, String>,
    /// What the app answered.
    pub(crate) status: u16,
}

/// An app that takes deliveries; connections are kept.
pub(crate) struct App {
    pub(crate) url: String,
    delivered: Arc<Mutex<Vec<Delivered>>>,
    _accepting: Accepting,
}

impl App {
    pub(crate) fn start(answer: impl Fn(&Delivered) -> u16 + Send + Sync + 'static) -> Self {
        Self::listen(0, answer)
    }

    /// One that listens at this port, and answers each delivery with the status that is said.
    pub(crate) fn listen(
        port: u16,
        answer: impl Fn(&Delivered) -> u16 + Send + Sync + 'static,
    ) -> Self {
        let delivered = Arc::new(Mutex::new(Vec::new()));
        let seen = delivered.clone();
        let accepting = Accepting::at_once(port, move |stream| serve(stream, &seen, &answer));
        App { url: accepting.url() + "/hooks", delivered, _accepting: accepting }
    }

    /// Everything that it was sent so far.
    pub(crate) fn delivered(&self) -> Vec<Delivered> {
        self.delivered.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.delivered.lock().unwrap().len()
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Delivered>>, answer: &dyn Fn(&Delivered) -> u16) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(message) = Message::read(&mut reader) {
        let event = message.json();
        let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut delivered = Delivered {
            id: said(&event["id"]),
            booking: said(&event["data"]["object"]["id"]),
            body: String::from_utf8(message.body).unwrap(),
            headers: message.headers.into_iter().collect(),
            status: 0,
        };
        delivered.status = answer(&delivered);
        let status = delivered.status;
        seen.lock().unwrap().push(delivered);
        let head = format!("HTTP/1.1 {status} Status\r\nContent-Length: 0\r\n\r\n");
        if writer.write_all(head.as_bytes()).is_err() {
            return;
        }
    }
}

/// The signature header's value, as the service makes it now.
pub(crate) fn signature(body: impl AsRef<[u8]>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let t = now.as_secs();
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(format!("{t}.").as_bytes());
    mac.update(body.as_ref());
    let digest = mac.finalize().into_bytes();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={t},v1={hex}")
}

/// An event as the service words it.
pub(crate) fn event(id: &str, kind: &str, booking: &str, status: &str) -> String {
    format!(
        r#"{{"id":"{id}","object":"event","type":"{kind}","created_at":"2026-11-21T12:00:00Z","data":{{"object":{{"id":"{booking}","object":"booking","status":"{status}","provider":"provider_a"}}}}}}"#
    )
}

/// A connection of the service's delivery worker.
pub(crate) struct Courier(BufReader<TcpStream>);

impl Courier {
    pub(crate) fn to(url: &str) -> Option<Self> {
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        let stream = TcpStream::connect(address).ok()?;
        stream.set_nodelay(true).ok()?;
        stream.set_read_timeout(Some(HANG)).ok()?;
        Some(Courier(BufReader::new(stream)))
    }

    /// Posts a body with these header lines; the status of the answer, where one came.
    pub(crate) fn post(&mut self, body: impl AsRef<[u8]>, headers: &str) -> Option<u16> {
        let length = body.as_ref().len();
        let request = format!(
            "POST / HTTP/1.1\r\nHost: listener\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\r\n"
        );
        let request = [request.as_bytes(), body.as_ref()].concat();
        self.0.get_mut().write_all(&request).ok()?;
        Some(Message::read(&mut self.0)?.status())
    }

    /// Sends an event, signed, and hangs up.
    pub(crate) fn send(&mut self, body: &str) {
        let (length, signature) = (body.len(), signature(body));
        let request = format!(
            "POST / HTTP/1.1\r\nHost: listener\r\nBooking-Signature: {signature}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let _ = self.0.get_mut().shutdown(std::net::Shutdown::Both);
    }

    /// Delivers an event, signed.
    pub(crate) fn deliver(&mut self, body: &str) -> Option<u16> {
        let headers = format!("Booking-Signature: {}\r\n", signature(body));
        self.post(body, &headers)
    }
}

/// Delivers events over one connection; each must be taken.
pub(crate) fn deliver(url: &str, bodies: &[String]) {
    let mut courier = Courier::to(url).unwrap();
    for body in bodies {
        assert_eq!(courier.deliver(body), Some(200), "{body}");
    }
}

/// Lets a listener of this home take events, and ends it.
pub(crate) fn received(home: &Home, bodies: &[String]) {
    let listening = Listening::start(home, &[]);
    deliver(&listening.url, bodies);
    listening.end();
}

/// Runs a line of a shell in a home, with the binary as `$BOOKCTL`.
pub(crate) fn shell(home: &Home, line: &str) -> Child {
    let mut command = home.program("sh");
    command
        .env("BOOKCTL", env!("CARGO_BIN_EXE_bookctl"))
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}
