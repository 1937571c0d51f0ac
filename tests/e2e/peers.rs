//! What others make of the sandbox: their verifier of signatures on every delivery.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::clients::python_with;
use crate::harness::{HANG, Home, Served, text};

/// The secret that a fresh organization signs with.
const SECRET: &str = "whsec_sandbox";
const RECEIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/receiver.py");

/// `tests/peers/receiver.py` at work; it ends with this value.
struct Receiver {
    child: Child,
    stdout: BufReader<ChildStdout>,
    url: String,
}

impl Receiver {
    fn start(python: &str, more: &[&str]) -> Self {
        let mut command = Command::new(python);
        command.arg(RECEIVER).arg(SECRET).args(more);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut receiver = Receiver {
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            url: String::new(),
        };
        receiver.url = text(&receiver.line(), "url");
        receiver
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Every delivery that came, in the order in which they came.
    fn deliveries(mut self) -> Vec<Value> {
        drop(self.child.stdin.take());
        let summary = self.line();
        assert!(self.child.wait().unwrap().success());
        summary["deliveries"].as_array().unwrap().clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Books for tomorrow evening, with an exit code that says where the booking stands; its id.
fn book(home: &Home, venue: &str, guest: &str, more: &[&str], code: i32) -> String {
    let booking = ["book", venue, "--at", "tomorrow 19:30", "--party", "2"];
    let guest = ["--name", guest, "--json"];
    let output = home.run(booking.iter().chain(&guest).chain(more));
    text(&output.exits(code).json(), "id")
}

/// One booking of every kind, from beginning to end.
fn live_through_everything(home: &Home) {
    let changed = book(home, "ven_confirms", "Zoë Łukasiewicz-Ångström", &[], 0);
    let seating = "près de la fenêtre — 窓際 🌿";
    home.ok(["modify", &changed, "--party", "3", "--seating", seating]);
    let reason = "désolée, 来られません";
    home.ok(["cancel", &changed, "--reason", reason, "--yes"]);

    let asked = book(home, "ven_otp", "山田 太郎", &[], 10);
    home.ok(["continue", &asked, "--otp", &home.code()]);

    let pays = ["--payment", "vendor"];
    let abandoned = book(home, "ven_payment", "Σωκράτης Παπαδόπουλος", &pays, 10);
    home.run(["continue", &abandoned, "--psp-abort"]).exits(11);

    book(home, "ven_provider_fails", "Ahmed الزهراء", &[], 11);
    book(home, "ven_processing_b", "Nguyễn Thị Ánh", &[], 8);
    home.advance("5s");

    // What is left unanswered: a payment fails in time, a code expires without a word.
    book(home, "ven_payment", "Ada Lovelace", &pays, 10);
    book(home, "ven_otp_c", "O'Brien 👩‍🍳 \"Red\" <x>", &[], 10);
    home.advance("21m");
}

/// What the bookings of [`live_through_everything`] report, by kind.
const REPORTED: [(&str, u64); 7] = [
    ("booking.cancelled", 1),
    ("booking.confirmed", 3),
    ("booking.created", 7),
    ("booking.failed", 3),
    ("booking.modified", 1),
    ("booking.processing", 1),
    ("booking.requires_action", 4),
];

/// The sandbox's own record of its deliveries, once none is under way or due.
fn settled(home: &Home, condition: impl Fn(&Value) -> bool) -> Vec<Value> {
    let deadline = Instant::now() + HANG;
    loop {
        let record = home.ok(["sandbox", "deliveries", "--json"]);
        let record = record.json()["deliveries"].as_array().unwrap().clone();
        if record.iter().all(&condition) {
            return record;
        }
        assert!(Instant::now() < deadline, "{record:#?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// "Any 2xx answer within 10 seconds is delivered. Anything else is retried after 30 seconds"; "Every attempt is
/// signed afresh" ("Events", 5 and 6)
#[test]
#[ignore = "needs other languages' clients"]
fn stripes_verifier_accepts_every_delivery_and_nothing_that_was_changed() {
    let Some(python) = python_with("stripe") else {
        return;
    };
    let receiver = Receiver::start(&python, &["--busy-once", "booking.modified"]);
    let served = Served::start();
    let home = served.home();
    let url = format!("webhook_url={}", receiver.url);
    home.ok(["sandbox", "organization", "-F", &url]);

    live_through_everything(&home);
    settled(&home, |it| !it["attempts"].as_array().unwrap().is_empty());
    home.advance("30s");
    let record = settled(&home, |it| it["state"] != "pending");
    let deliveries = receiver.deliveries();

    let mut reported = BTreeMap::new();
    for it in &record {
        *reported.entry(text(it, "type")).or_insert(0) += 1;
        assert_eq!(it["state"], "delivered", "{it}");
        let answers: Vec<&Value> = deliveries
            .iter()
            .filter(|came| came["event_id"] == it["event_id"])
            .map(|came| &came["answer"])
            .collect();
        let expected = match it["type"].as_str() {
            Some("booking.modified") => vec![json!(503), json!(204)],
            _ => vec![json!(204)],
        };
        assert_eq!(answers, expected.iter().collect::<Vec<_>>(), "{it}");
    }
    let expected = REPORTED.map(|(kind, count)| (kind.to_owned(), count));
    assert_eq!(reported, BTreeMap::from(expected));
    assert_eq!(deliveries.len(), record.len() + 1);

    for delivery in &deliveries {
        assert_eq!(delivery["accepted"], true, "{delivery}");
        assert_eq!(delivery["signed_now"], true, "{delivery}");
        assert_eq!(delivery["forgeries_accepted"], json!([]), "{delivery}");
        assert!(delivery["forgeries"].as_u64() > Some(150), "{delivery}");
    }
    // Not all of it is ASCII, so that the bytes are signed, whatever stands for them.
    assert!(deliveries.iter().any(|it| it["ascii"] == false));
}
