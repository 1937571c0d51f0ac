//! `webhook drill`: the example's handler passes, and every classic mistake put into it
//! is found.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::docs::has_described_fields;
use crate::harness::listening::{SECRET, home_with_the_secret};
use crate::harness::{Home, Owned, Reply, Scripted, Served, skipped, text};

const HANDLER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/handler.py");

/// A Python of any kind, with a word to whoever runs the tests where there is none.
fn python() -> Option<String> {
    let python = std::env::var("BOOKCTL_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let probed = Command::new(&python).arg("--version").output();
    if probed.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    skipped(&format!("{python} cannot be run"));
    None
}

/// The example's handler at work, perhaps with a mistake in it; it ends with this
/// value.
struct Handler {
    _child: Owned,
    base: String,
}

impl Handler {
    fn start(python: &str, folder: &Path, mistake: &[(&str, &str)], service: Option<&str>) -> Self {
        let mut source = std::fs::read_to_string(HANDLER).unwrap();
        for (right, wrong) in mistake {
            assert_eq!(source.matches(right).count(), 1, "{right:?} is not there once");
            source = source.replace(right, wrong);
        }
        std::fs::create_dir_all(folder).unwrap();
        let file = folder.join("handler.py");
        std::fs::write(&file, source).unwrap();
        let mut command = Command::new(python);
        command.arg(file).args(["--port", "0"]);
        command.env("WEBHOOK_SECRET", SECRET);
        if let Some(base_url) = service {
            command.env("BOOKING_BASE_URL", base_url);
            command.env("BOOKING_API_KEY", "sk_live_sandbox");
        }
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut base = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut base).unwrap();
        let base = base.trim().to_owned();
        assert!(base.starts_with("http://"), "the handler does not start: {mistake:?}");
        Handler { _child: Owned(child), base }
    }

    /// The report of a drill, and its exit code.
    fn drilled(&self, home: &Home, more: &[&str]) -> (Value, i32) {
        let url = format!("{}/webhooks", self.base);
        let state = format!("{}/state", self.base);
        let drill = ["webhook", "drill", &url, "--state-url", &state, "--json"];
        let mut output = home.run(drill.iter().chain(more));
        let code = output.code.unwrap();
        if code == 18 && !more.contains(&"--booking") {
            output = output.says("If your handler reads them, pass --booking ID.");
        }
        let report = output.exits(code).json();
        has_described_fields(home, "webhook drill", &report);
        (report, code)
    }
}

/// The names of the checks that ended so.
fn checks(report: &Value, verdict: &str) -> BTreeSet<String> {
    let checks = report["checks"].as_array().unwrap().iter();
    let checks = checks.filter(|check| check["verdict"] == verdict);
    checks.map(|check| text(check, "check")).collect()
}

#[test]
fn example_handler_passes_and_one_that_trusts_event_order_fails() {
    let Some(python) = python() else { return };
    let served = Served::start();
    let home = served.home().with("BOOKCTL_WEBHOOK_SECRET", SECRET);
    let booking = home.booked("ven_confirms", &[], 0);
    let about = ["--booking", &booking];

    let right = Handler::start(&python, &home.folder().join("right"), &[], Some(served.base_url()));
    let (report, code) = right.drilled(&home, &about);
    assert_eq!((code, &report["failed"]), (0, &0.into()), "{report:#}");
    assert_eq!(report["state_checked"], true);

    let mistake =
        [("booking[\"id\"], status_of(booking))", "booking[\"id\"], booking[\"status\"])")];
    let trusting = Handler::start(&python, &home.folder().join("wrong"), &mistake, None);
    let (report, code) = trusting.drilled(&home, &about);
    assert_eq!(code, 18);
    assert_eq!(
        checks(&report, "failed"),
        BTreeSet::from(["out_of_order".to_owned()]),
        "{report:#}"
    );
}

/// What is wrong, how it is put into the handler, and the checks that find it.
type Mistake = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const CHECKED: &str =
    "        if not is_authentic(header, body, self.server.secrets, time.time()):";

#[rustfmt::skip]
const MISTAKES: &[Mistake] = &[
    (
        "no signature is checked",
        &[(CHECKED, "        if False:")],
        &[
            "changed_body",
            "forged_first",
            "future",
            "malformed_header",
            "missing_header",
            "replayed",
            "stale",
            "wrong_secret",
        ],
    ),
    (
        "the body is parsed and written again before it is verified",
        &[(
            "b\".\" + body",
            "b\".\" + json.dumps(json.loads(body), separators=(\",\", \":\"), ensure_ascii=False).encode()",
        )],
        &["raw_bytes"],
    ),
    (
        "the time is not looked at",
        &[("if abs(now - int(times[0])) > TOLERANCE:", "if False:")],
        &["future", "replayed", "stale"],
    ),
    ("only the first v1 is compared", &[("for it in signatures)", "for it in signatures[:1])")], &["two_signatures"]),
    (
        "events are acted on before they are verified",
        &[(
            CHECKED,
            "        early = json.loads(body)\n        \
             self.server.ledger.handle(early[\"id\"], \"bk\", \"confirmed\")\n        \
             if not is_authentic(header, body, self.server.secrets, time.time()):",
        )],
        &["changed_body", "future", "malformed_header", "missing_header", "stale", "wrong_secret"],
    ),
    (
        "ids are remembered before they are verified",
        &[
            (
                CHECKED,
                "        early = json.loads(body)[\"id\"]\n        \
                 if early in self.server.seen:\n            \
                 return self.respond(204)\n        \
                 self.server.seen.add(early)\n        \
                 if not is_authentic(header, body, self.server.secrets, time.time()):",
            ),
            ("        self.ledger = ledger", "        self.ledger = ledger\n        self.seen = set()"),
        ],
        &["forged_first", "replayed"],
    ),
    (
        "duplicates are handled again",
        &[
            ("if self.server.ledger.knows(event[\"id\"]):", "if False:"),
            ("            if not new:", "            if False:"),
        ],
        &["duplicate", "duplicates_at_once"],
    ),
    (
        "the last event that comes is believed",
        &[("booking[\"id\"], status_of(booking))", "booking[\"id\"], booking[\"status\"])")],
        &["out_of_order"],
    ),
    (
        "a kind that is not known is a failure",
        &[(
            "not in KINDS:\n            return self.respond(204)",
            "not in KINDS:\n            return self.respond(500)",
        )],
        &["unknown_kind"],
    ),
    (
        "a field that is not known is refused",
        &[(
            "        booking = event[\"data\"][\"object\"]",
            "        booking = event[\"data\"][\"object\"]\n        \
             if set(event) - {\"id\", \"object\", \"type\", \"created_at\", \"data\"}:\n            \
             return self.respond(400)",
        )],
        &["unknown_fields"],
    ),
    ("a body may be 64 KB at most", &[("LARGEST = 4 * 1024 * 1024", "LARGEST = 64 * 1024")], &["large_body"]),
    (
        "what has come so far is taken for the whole body",
        &[("self.rfile.read(int(length))", "self.rfile.read1(int(length))")],
        &["large_body"],
    ),
    (
        "one delivery is handled after the other, and each takes its time",
        &[
            ("class Server(ThreadingHTTPServer)", "class Server(__import__(\"http.server\").server.HTTPServer)"),
            ("    base = os.environ.get(\"BOOKING_BASE_URL\")", "    time.sleep(0.25)\n    base = None"),
        ],
        &["many_at_once"],
    ),
];

#[test]
fn drill_finds_every_classic_mistake() {
    let Some(python) = python() else { return };
    let home = home_with_the_secret();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let (home, python) = (&home, &python);
        let examined: Vec<_> = (0..3)
            .map(|part| {
                scope.spawn(move || {
                    let mistakes = MISTAKES.iter().enumerate().skip(part).step_by(3);
                    let found = mistakes.filter_map(|(place, (what, mistake, found_by))| {
                        let folder = home.folder().join(place.to_string());
                        let handler = Handler::start(python, &folder, mistake, None);
                        let (report, code) = handler.drilled(home, &["--timeout", "3s"]);
                        let failed = checks(&report, "failed");
                        let missed = found_by.iter().any(|check| !failed.contains(*check));
                        // What else a mistake breaks depends on the moment: that it is found does
                        // not.
                        (missed || code != 18).then(|| format!("{what}: {code}, {failed:?}"))
                    });
                    found.collect::<Vec<_>>()
                })
            })
            .collect();
        examined.into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn late_handler_fails_the_drill_and_absent_one_exits_15() {
    let Some(python) = python() else { return };
    let home = home_with_the_secret();
    let mistake =
        [("    base = os.environ.get(\"BOOKING_BASE_URL\")", "    time.sleep(1)\n    base = None")];
    let slow = Handler::start(&python, &home.folder().join("slow"), &mistake, None);
    let url = format!("{}/webhooks", slow.base);
    let drill = ["webhook", "drill", &url, "--timeout", "300ms", "--json"];
    home.run(drill).refused(15, "timeout");
    drop(slow);
    home.run(drill).refused(15, "network");
}

#[test]
fn drill_asks_for_the_secret_if_genuine_events_are_refused() {
    let home = home_with_the_secret();
    for (reply, is_asked) in [(401, true), (500, true), (200, false)] {
        let handler = Scripted::start(move |_| Reply::json(reply, &Value::Null));
        let output = home.run(["webhook", "drill", handler.base_url(), "--json"]);
        let output = output.exits(18);
        let asks = output.stderr.contains("check that it uses the same secret");
        assert_eq!(asks, is_asked, "{output}");
    }
}

#[test]
fn a_state_url_that_leads_to_no_ledger_is_a_usage_error() {
    let careless = Scripted::start(|_| Reply::json(200, &Value::Null));
    let home = home_with_the_secret();
    let url = careless.base_url();
    home.run(["webhook", "drill", url, "--state-url", "no address"]).exits(2);
    // A page of something else is no ledger.
    home.refuses(&format!("webhook drill {url} --state-url {url}"), 2, "usage");
}
