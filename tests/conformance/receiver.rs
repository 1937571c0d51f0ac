//! The organization's own webhook endpoint: a real HTTP server that keeps what it is sent.

use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::http::Message;
use crate::service::Service;

/// A fresh sandbox, and a receiver of its webhooks.
pub(crate) fn subscribed() -> (Service, Receiver) {
    let service = Service::start(&[]);
    let receiver = Receiver::start();
    service.settings(json!({"webhook_url": receiver.url}));
    (service, receiver)
}

/// What the endpoint says to an attempt: a status, after a while.
#[derive(Clone, Copy)]
pub(crate) struct Reply(pub(crate) u16, pub(crate) Duration);

/// An attempt as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) method: String,
    /// By their lower-case names.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) raw: Vec<u8>,
    pub(crate) event: Value,
    pub(crate) at: Timestamp,
}

impl Attempt {
    pub(crate) fn kind(&self) -> &str {
        self.event["type"].as_str().unwrap()
    }

    pub(crate) fn object(&self) -> &Value {
        &self.event["data"]["object"]
    }

    /// `t` and `v1` of the signature header.
    pub(crate) fn signature(&self) -> (String, String) {
        let header = &self.headers["booking-signature"];
        let (t, v1) = header.split_once(",v1=").expect("t=…,v1=…");
        let t = t.strip_prefix("t=").expect("t first");
        (t.to_owned(), v1.to_owned())
    }

    /// Whether the signature is the secret's, over the raw bytes.
    pub(crate) fn is_signed_with(&self, secret: &str) -> bool {
        let (t, v1) = self.signature();
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(t.as_bytes());
        mac.update(b".");
        mac.update(&self.raw);
        let own: String =
            mac.finalize().into_bytes().iter().map(|it| format!("{it:02x}")).collect();
        own == v1
    }
}

type Says = dyn Fn(&Attempt, usize) -> Reply + Send + Sync;

/// A receiver on a port of its own, for as long as the tests run.
pub(crate) struct Receiver {
    pub(crate) url: String,
    attempts: Arc<Mutex<Vec<Attempt>>>,
}

impl Receiver {
    /// One that takes everything.
    pub(crate) fn start() -> Self {
        Self::saying(|_, _| Reply(200, Duration::ZERO))
    }

    /// One that decides what it says by the attempt and by how many came before.
    pub(crate) fn saying(says: impl Fn(&Attempt, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let attempts: Arc<Mutex<Vec<Attempt>>> = Arc::default();
        let (kept, says): (_, Arc<Says>) = (Arc::clone(&attempts), Arc::new(says));
        spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, says) = (Arc::clone(&kept), Arc::clone(&says));
                spawn(move || take(stream, &kept, &*says));
            }
        });
        Self { url, attempts }
    }

    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        self.attempts.lock().unwrap().clone()
    }

    /// The kinds of the events that came about a booking, in the order in which they happened.
    pub(crate) fn kinds(&self, booking: &Value) -> Vec<String> {
        let mut attempts = self.attempts();
        attempts.retain(|it| it.object()["id"] == booking["id"]);
        attempts.sort_by_key(|it| it.event["id"].as_str().unwrap().to_owned());
        attempts.dedup_by_key(|it| it.event["id"].as_str().unwrap().to_owned());
        attempts.iter().map(|it| it.kind().to_owned()).collect()
    }

    /// The attempts, once so many of them satisfy the condition.
    pub(crate) fn wait(&self, number: usize, condition: impl Fn(&Attempt) -> bool) -> Vec<Attempt> {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let mut attempts = self.attempts();
            attempts.retain(&condition);
            if attempts.len() >= number {
                return attempts;
            }
            assert!(
                Instant::now() < deadline,
                "only {} of {number} attempts came: {:?}",
                attempts.len(),
                self.attempts().iter().map(|it| it.event.to_string()).collect::<Vec<_>>()
            );
            sleep(Duration::from_millis(20));
        }
    }

    /// The first attempt at an event of this kind about the booking.
    pub(crate) fn event(&self, kind: &str, booking: &Value) -> Attempt {
        let id = booking["id"].clone();
        let found = self.wait(1, |it| it.kind() == kind && it.object()["id"] == id);
        found[0].clone()
    }
}

fn take(mut stream: TcpStream, attempts: &Mutex<Vec<Attempt>>, says: &Says) {
    let Some(message) = Message::read(&mut BufReader::new(&stream)) else {
        return;
    };
    let attempt = Attempt {
        method: message.start.split(' ').next().unwrap().to_owned(),
        event: message.json(),
        headers: message.headers.into_iter().collect(),
        raw: message.body,
        at: Timestamp::now(),
    };
    let before = {
        let mut attempts = attempts.lock().unwrap();
        attempts.push(attempt.clone());
        attempts.len() - 1
    };
    let Reply(status, after) = says(&attempt, before);
    sleep(after);
    // The place is of no meaning but in a redirect, which would lead here again.
    let answer = format!(
        "HTTP/1.1 {status} Status\r\nLocation: /hook\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(answer.as_bytes());
}
