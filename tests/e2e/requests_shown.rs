//! What people see of requests and deliveries: in the log of `sandbox serve`, in `requests show`,
//! in `deliveries`, and in the notes of a listener.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::http::{KEY, send, send_many};
use crate::harness::listening::{Listening, SECRET, home_without_a_service, until};
use crate::harness::{Home, Reply, Scripted, Served, Terminal, free_port, full_pipe, holds, text};
use crate::requests::{create, last, order};

pub(crate) fn address(served: &Served) -> &str {
    served.base_url().trim_start_matches("http://")
}

/// Sends a request to this host, and reads whatever comes back until the connection is closed.
pub(crate) fn raw(served: &Served, host: &str, head: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(address(served)).unwrap();
    let length = body.len();
    let head =
        format!("{head}\r\nHost: {host}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn narrow_terminal_wraps_the_request_log_below_the_time() {
    for width in [50, 80] {
        let home = Home::new();
        let port = free_port().to_string();
        let serve = ["sandbox", "serve", "--ephemeral", "-v", "--port", &port];
        let mut terminal = Terminal::of_width(&home, width, &serve);
        terminal.see("Ctrl-C");
        let base = format!("http://127.0.0.1:{port}");
        let body = order(&json!({"party_size": 99}));
        send(&base, "POST", "/v1/bookings", &[KEY], &body);
        terminal.see("must be 1 to 20\" < } < }");
        let ended = terminal.ctrl_c(0).fits();
        let screen = ended.text();
        let (_, log) = screen.split_once("POST /v1/bookings 400 ").unwrap();
        let mut below = log.lines().skip(1).take_while(|it| !it.starts_with("  >"));
        let column = " ".repeat("12:00:00 ".len());
        assert!(below.clone().count() >= 3, "{screen}");
        assert!(below.all(|it| it.starts_with(&column)), "{screen}");
        assert!(screen.contains("\n  >   \"party_size\": 99,\n"), "{screen}");
    }
}

#[test]
fn a_body_that_is_no_text_is_said_to_be_base64() {
    let served = Served::start();
    let head = "POST /v1/bookings HTTP/1.1";
    raw(&served, address(&served), head, b"\xff\xfe\x01");
    let shown = served.home().ok(["sandbox", "requests", "show", "@last"]);
    let said = "(the body is not text; as Base64:)\n//4B\n";
    shown.shows(said);
    assert_eq!(shown.stdout.matches("Base64").count(), 1, "{shown}");
}

#[test]
fn curl_command_has_variable_for_key_in_query_and_works() {
    let served = Served::start();
    served.send("GET", "/v1/?key=sk_live_sandbox", &[KEY], "");
    let show = ["sandbox", "requests", "show", "@last", "--curl"];
    let curl = served.home().ok(show).stdout;
    let again =
        Command::new("sh").args(["-c", &curl]).env("BOOKCTL_API_KEY", "sk_live_sandbox").output();
    let index: Value = serde_json::from_slice(&again.unwrap().stdout).unwrap();
    assert_eq!(index["sandbox"], true, "{curl}");
    assert_eq!(last(&served)["query"], "key=sk_live_…dbox");
}

/// Nobody reads its stderr, as where a test harness starts it and looks elsewhere.
#[test]
fn a_log_that_nobody_reads_never_stops_the_server() {
    let home = Home::new();
    let mut command =
        home.command(["sandbox", "serve", "--port", "0", "--ephemeral", "--no-limits", "--json"]);
    let (unread, full) = full_pipe();
    let mut child = command.stdout(Stdio::piped()).stderr(full).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let base = text(&serde_json::from_str(&line).unwrap(), "base_url");
    // More than may wait for the log: a full queue, and as many that are being written.
    send_many(&base, "GET /v1/", b"", 2100);
    let mut log = BufReader::new(unread);
    let mut read = String::new();
    while !read.contains("entries are missing here") {
        assert!(log.read_line(&mut read).unwrap() > 0, "{read}");
    }
    let killed = Command::new("kill").arg(child.id().to_string()).status();
    assert!(killed.unwrap().success() && child.wait().unwrap().success());
}

/// "`--expose` … takes only IP literals, loopback names and `--host` names; what is refused is
/// counted, not kept"
#[test]
fn a_refused_request_is_counted_and_not_kept() {
    let served = Served::start();
    let body = vec![b'x'; 3 << 20];
    let head = format!("POST /v1/bookings HTTP/1.1\r\n{}: {}", KEY.0, KEY.1);
    for (host, status) in [("evil.example", "403"), (address(&served), "413")] {
        let answer = raw(&served, host, &head, &body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        let kept = last(&served);
        assert_eq!(
            (&kept["request"]["body"], &kept["request"]["truncated"]),
            (&json!(""), &json!(true))
        );
        assert!(kept.get("curl").is_none());
    }
}

#[test]
fn request_that_is_refused_for_its_host_is_told_flag_and_port() {
    let served = Served::start();
    let (_, port) = address(&served).rsplit_once(':').unwrap();
    let answer = raw(&served, "app.test", "GET /v1/ HTTP/1.1", b"");
    let said = format!(
        "the Host header is \"app.test\", and must be localhost, 127.0.0.1 or [::1], or a name that \
         `bookctl sandbox serve --host app.test` allows, with the port {port}"
    );
    let (_, body) = answer.rsplit_once("\r\n").unwrap();
    let refusal: Value = serde_json::from_str(body).unwrap();
    assert_eq!(refusal["error"], said);
}

/// "`sandbox serve` logs one line a request: … `-v` the bodies too" (sandbox tools, Requests)
#[test]
fn serve_logs_key_reason_and_fault_and_verbose_bodies_too() {
    let home = Home::new();
    for verbose in [false, true] {
        let more: &[&str] = if verbose { &["-v"] } else { &[] };
        let flags = ["--ephemeral", "--no-limits"].iter().chain(more).copied();
        let served = Served::with(&home, &flags.collect::<Vec<_>>());
        let leaking = json!({"party_size": 99, "customer": {"name": "sk_live_sandbox"}});
        create(&served, &[KEY], &order(&leaking));
        let keyed = [KEY, ("Idempotency-Key", "1")];
        create(&served, &keyed, &order(&json!({"venueId": 1})));
        served.home().fault("GET /v1/", "status", 1);
        served.send("GET", "/v1/", &[KEY], "");
        let log = served.log();
        for said in [
            " POST /v1/bookings 400 ",
            "sk_live_…dbox",
            "party_size must be 1 to 20",
            "         note: Idempotency-Key is missing",
            "note: unknown field venueId is ignored",
            "fault: status",
        ] {
            assert!(log.contains(said), "{said} is not in {log}");
        }
        assert_eq!(log.contains("\"party_size\": 99"), verbose, "{log}");
        assert!(!log.contains("sk_live_sandbox"), "{log}");
        assert!(log.lines().all(|line| line.chars().count() <= 100), "{log}");
    }
}

/// "`GET /sandbox/deliveries` (every attempt with status, latency and next try)" (wire contract)
#[test]
fn delivery_is_shown_with_what_was_sent_and_what_app_answered() {
    let app = Scripted::start(move |request| match request.number {
        0 => Reply::json(500, &json!({"error": "boom"})),
        _ => Reply::Whole(200, "text/plain", "é".repeat(10_000)),
    });
    let (_served, home) = Served::unlimited_with_home();
    let deliveries = |words: &[&str]| home.run(["sandbox", "deliveries"].iter().chain(words));
    let url = format!("webhook_url={}/hooks", app.base_url());
    home.ok(["sandbox", "organization", "-F", &url]);
    let id = home.booked("ven_otp", &[], 10);
    let all = || deliveries(&["--json"]).exits(0).json()["deliveries"].clone();
    until("two deliveries were tried", || {
        let all = all();
        let mut all = all.as_array().unwrap().iter();
        all.all(|it| it["attempts"] != json!([]))
    });
    let oldest = &all()[0];
    assert_eq!(oldest["type"], "booking.created");
    deliveries(&[]).exits(0);
    let shown = deliveries(&["show", "@2", "--json"]).exits(0).json();
    assert_eq!(shown["event_id"], oldest["event_id"]);
    let attempt = &shown["attempts"][0];
    assert_eq!(attempt["status"], 500);
    assert_eq!(attempt["request"]["body"], shown["body"]);
    assert!(attempt["request"]["headers"]["booking-signature"].is_string());
    let answer = json!({"error": "boom"}).to_string();
    holds!(attempt["response"], {"body": answer, "truncated": false});
    assert!(text(&shown, "body").contains(&id));
    deliveries(&["show", "@2"]).exits(0).prints("boom");
    let long = deliveries(&["show", "@1", "--json"]).exits(0).json();
    let response = &long["attempts"][0]["response"];
    assert_eq!(response["truncated"], true, "{response}");
    assert!((8_000..=8_193).contains(&text(response, "body").chars().count()));
    deliveries(&["show", "evt_nobody", "--json"]).refused(6, "http_404");
    for action in ["show", "resend"] {
        let newest = deliveries(&[action, "@last", "--json"]).exits(0).json();
        assert_eq!(newest["event_id"], long["event_id"]);
    }
}

/// "`webhook listen` … print the `export` line for the secret; … `-v` hides our own polling"
/// (issue)
#[test]
fn verbose_listener_shows_request_to_handler_and_its_answer() {
    let app = Scripted::start(|_| Reply::json(422, &json!({"error": "no such room"})));
    let (_served, home) = Served::unlimited_with_home();
    let url = format!("{}/hooks", app.base_url());
    let listening = Listening::start(&home, &["-v", "--forward-to", &url]);
    let id = home.booked("ven_confirms", &[], 0);
    app.wait_for_request();
    // The newest event waits behind the first one, which was not accepted.
    let first = || {
        let list = home.run(["webhook", "events", "list", "--json"]).json();
        text(list["events"].as_array().unwrap().last().unwrap(), "event_id")
    };
    until("the response is kept", || {
        let show = ["webhook", "events", "show", &first(), "--json"];
        let shown = home.run(show).json();
        shown["attempts"][0]["response"]["body"] == r#"{"error":"no such room"}"#
    });
    home.ok(["webhook", "events", "show", &first()]).prints("no such room");
    let output = listening.end();
    for shown in [
        "> booking-signature: t=",
        &format!("\"id\":\"{id}\""),
        "< 422",
        "< {\"error\":\"no such room\"}",
        "export BOOKCTL_WEBHOOK_SECRET=whsec_sandbox",
    ] {
        output.tells(shown);
    }
    assert!(!output.stderr.contains("/sandbox/"), "{output}");
}

#[test]
fn a_listener_never_shows_a_secret_that_is_no_sandboxs() {
    let home = home_without_a_service();
    let output = Listening::start(&home, &["-v"]).end();
    assert!(!output.stderr.contains(SECRET), "{output}");
    assert!(!output.stderr.contains("export"), "{output}");
}
