//! `sandbox requests`, the log of `sandbox serve`, and what an app answered to a delivery.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::http::send;
use crate::harness::listening::{Listening, SECRET, home_without_a_service, until};
use crate::harness::{GUEST, Home, Reply, Scripted, Served, has, text, words};

const KEY: (&str, &str) = ("Authorization", "Bearer sk_live_sandbox");

fn requests(served: &Served, query: &str) -> Vec<Value> {
    let path = format!("/sandbox/requests{query}");
    let (status, document) = send(served.base_url(), "GET", &path, &[], "");
    assert_eq!(status, 200, "{document}");
    document["requests"].as_array().unwrap().clone()
}

/// The request that came last.
fn last(served: &Served) -> Value {
    requests(served, "?limit=1").remove(0)
}

fn order(more: &Value) -> String {
    let mut order = json!({
        "venue_id": "ven_confirms",
        "datetime": "2027-05-01T19:00:00Z",
        "party_size": 2,
        "customer": {"name": "Ada Lovelace"},
    });
    for (name, value) in more.as_object().unwrap() {
        order[name] = value.clone();
    }
    order.to_string()
}

fn create(served: &Served, headers: &[(&str, &str)], body: &str) -> u16 {
    send(served.base_url(), "POST", "/v1/bookings", headers, body).0
}

/// Sends a booking request and reads whatever comes back until the connection is closed.
fn send_and_forget(served: &Served, body: &str) {
    let address = served.base_url().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let request = format!(
        "POST /v1/bookings HTTP/1.1\r\nHost: {address}\r\nAuthorization: {}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}",
        KEY.1
    );
    stream.write_all(request.as_bytes()).unwrap();
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn a_server_without_a_request_log_answers_and_keeps_nothing_and_the_command_says_so() {
    let served = Served::with(&Home::new(), &["--no-request-log"]);
    assert_eq!(create(&served, &[KEY], &order(&json!({}))), 201);
    assert_eq!(requests(&served, ""), [] as [Value; 0]);
    for command in [
        &["sandbox", "requests"][..],
        &["sandbox", "requests", "--follow"],
        &["sandbox", "requests", "show", "@last"],
    ] {
        let run = served.home().run(command);
        run.tells("--no-request-log");
        run.exits(3);
    }
}

/// "`{id, at, duration_ms, method, path, query?, status, organization?, key?, …}`" (sandbox tools, Requests)
#[test]
fn a_request_is_kept_with_both_bodies_and_without_its_key() {
    let served = Served::unlimited();
    let body = order(&json!({"note": "key sk_live_sandbox"}));
    let key = ("Idempotency-Key", "key-1");
    assert_eq!(create(&served, &[KEY, key], &body), 201);
    let kept = last(&served);
    let booking = served.bookings()[0]["id"].clone();
    for (field, value) in [
        ("method", json!("POST")),
        ("path", json!("/v1/bookings")),
        ("status", json!(201)),
        ("organization", json!("org_sandbox")),
        ("key", json!("sk_live_…dbox")),
        ("idempotency_key", json!("key-1")),
        ("booking_id", booking.clone()),
    ] {
        assert_eq!(kept[field], value, "{field}: {kept}");
    }
    assert!(kept["duration_ms"].is_f64() && kept["at"].is_string());
    assert!(text(&kept, "id").starts_with("req_"));
    for absent in ["query", "session_id", "reason", "fault"] {
        assert!(kept.get(absent).is_none(), "{absent}: {kept}");
    }
    let sent = &kept["request"];
    assert_eq!(
        text(sent, "body"),
        body.replace("sk_live_sandbox", "sk_live_…dbox")
    );
    assert_eq!(sent["truncated"], false);
    assert_eq!(sent["headers"]["authorization"], "Bearer sk_live_…dbox");
    let answer: Value = serde_json::from_str(&text(&kept["response"], "body")).unwrap();
    assert_eq!(answer["id"], booking);
    assert!(kept["response"]["headers"]["content-type"].is_string());
    assert!(!kept.to_string().contains("sk_live_sandbox"));
    let id = text(&kept, "id");
    let (status, alone) = send(
        served.base_url(),
        "GET",
        &format!("/sandbox/requests/{id}"),
        &[],
        "",
    );
    assert_eq!((status, alone), (200, kept));
    let (status, _) = send(served.base_url(), "GET", "/sandbox/requests/req_0", &[], "");
    assert_eq!(status, 404);
}

/// "`reason` says in one sentence which rule answered a refusal …; for a 401 what came instead of a key" (sandbox tools)
#[test]
fn every_refusal_has_the_rule_that_answered_it() {
    let served = Served::start();
    let ask = |header: (&str, &str), method: &str, path: &str, body: &str, expected: &str| {
        let (status, _) = send(served.base_url(), method, path, &[header], body);
        let kept = last(&served);
        assert_eq!(kept["status"], status, "{kept}");
        let reason = text(&kept, "reason");
        assert!(reason.contains(expected), "{expected}: {reason}");
        kept
    };
    let bearer = |key: &'static str| ("Authorization", key);
    #[rustfmt::skip]
    let cases = [
        (("X", "y"), "/v1/", "Authorization is missing"),
        (bearer("sk_live_sandbox"), "/v1/", "the word Bearer is missing"),
        (bearer("Bearer sk_live_nobody"), "/v1/", "has no key sk_live_…body"),
        (bearer("Basic abcdefgh"), "/v1/", "the scheme is Basic"),
        (bearer("bearer  "), "/v1/", "nothing follows the word Bearer"),
        (bearer("Bearer Bearer sk_live_sandbox"), "/v1/", "came twice"),
        (bearer("Bearer whsec_sandbox"), "/v1/", "a webhook secret came"),
        (("X-Api-Key", "sk_live_sandbox"), "/v1/", "in the header x-api-key: send"),
        (("Token", "Bearer sk_live_sandbox"), "/v1/", "in the header token: send"),
        (("X", "y"), "/v1/?api_key=sk_live_sandbox", "parameter api_key: send"),
    ];
    for (header, path, expected) in cases {
        let kept = ask(header, "GET", path, "", expected);
        assert_eq!(kept["status"], 401, "{kept}");
        assert!(!kept.to_string().contains("live_sandbox"), "{kept}");
    }
    let readonly = bearer("Bearer sk_live_readonly");
    let large = "x".repeat(1_100_000);
    let bookings = "/v1/bookings";
    ask(
        readonly,
        "POST",
        bookings,
        "{}",
        "lacks the scope bookings:create (Authentication, 3)",
    );
    ask(KEY, "POST", bookings, "{}", "venue_id is required");
    ask(KEY, "POST", bookings, "[", "body is not valid JSON");
    ask(
        KEY,
        "GET",
        "/v1/bookings/bk_1",
        "",
        "no booking with this id",
    );
    ask(KEY, "GET", "/v1/nothing", "", "no such path (Endpoints)");
    ask(KEY, "PATCH", bookings, "", "does not accept this method");
    ask(("Host", "evil.example"), "GET", "/v1/", "", "Host header");
    let kept = ask(
        KEY,
        "POST",
        bookings,
        &large,
        "larger than 1 MB (Limits, 3)",
    );
    assert_eq!(kept["request"]["truncated"], true);
    for _ in 0..11 {
        create(&served, &[KEY], "{}");
    }
    ask(KEY, "POST", bookings, "{}", "--no-limits");
    ask(KEY, "POST", bookings, "{}", "sandbox clock --advance");
}

/// The worst mistake of a client, because the answer looks right.
#[test]
fn an_idempotency_key_that_was_used_before_is_noted() {
    let served = Served::unlimited();
    let create = |body: &Value| {
        let headers = [KEY, ("Idempotency-Key", "a1")];
        let status = create(&served, &headers, &order(body));
        (status, last(&served)["notes"].clone())
    };
    assert_eq!(create(&json!({})), (201, json!([])));
    let note = "Idempotency-Key a1 was used before: the response is the booking that was made then, and no new one";
    assert_eq!(create(&json!({"party_size": 4})), (200, json!([note])));
}

#[test]
fn what_a_lenient_service_ignores_is_noted() {
    let served = Served::unlimited();
    let body = order(&json!({
        "datetime": "2027-05-01T21:00:00+02:00", "paymentCollection": "vendor_external",
        "customer": {"name": "Ada Lovelace", "e_mail": "a@b"},
    }));
    let path = "/v1/bookings?verbose=1";
    let (status, _) = send(served.base_url(), "POST", path, &[KEY], &body);
    assert_eq!(status, 201);
    let kept = last(&served);
    let notes = kept["notes"].as_array().unwrap();
    let has = |said: &str| notes.iter().any(|it| it.as_str().unwrap().contains(said));
    for expected in [
        "unknown field paymentCollection is ignored; did you mean payment_collection?",
        "unknown field customer.e_mail is ignored; did you mean customer.email?",
        "unknown query parameter verbose is ignored",
        "Idempotency-Key is missing",
        "there it is 2027-05-01T19:00:00+00:00",
    ] {
        assert!(has(expected), "{expected}: {notes:?}");
    }
    assert_eq!(notes.len(), 5, "{notes:?}");
    let plain = [KEY, ("Idempotency-Key", "k")];
    assert_eq!(create(&served, &plain, &order(&json!({}))), 201);
    assert_eq!(last(&served)["notes"], json!([]));
}

#[test]
fn a_fault_is_told_by_what_it_did_and_beside_the_rule_that_refused_the_request() {
    let served = Served::start();
    let add = |fault: &Value| {
        let fault = fault.to_string();
        let added = send(served.base_url(), "POST", "/sandbox/faults", &[], &fault);
        assert_eq!(added.0, 201, "{}", added.1);
    };
    let on = "POST /v1/bookings";
    add(&json!({"on": on, "kind": "delay", "delay_ms": 7}));
    assert_eq!(create(&served, &[KEY], &order(&json!({}))), 201);
    let reason = text(&last(&served), "reason");
    assert!(reason.contains("7 ms"), "{reason}");
    let list = served.home().ok(["sandbox", "requests"]);
    list.prints("fault delay: A fault held the request back for 7 ms.");
    add(&json!({"on": on, "kind": "truncate", "after_bytes": 100_000}));
    assert_eq!(create(&served, &[KEY], &order(&json!({}))), 201);
    let reason = text(&last(&served), "reason");
    assert!(reason.contains("100000 bytes"), "{reason}");
    assert!(reason.contains("was sent whole"), "{reason}");
    while create(&served, &[KEY], &order(&json!({}))) != 429 {}
    for (kind, status, said) in [
        ("truncate", 429, "in the middle of this response"),
        ("garbage", 429, "A fault sent this page"),
        ("drop_after", 429, "this response was not sent"),
        ("status", 500, "instead of the service"),
        ("drop_before", 0, "before the request was handled"),
    ] {
        add(&json!({"on": on, "kind": kind}));
        send_and_forget(&served, &order(&json!({})));
        let kept = last(&served);
        let reason = text(&kept, "reason");
        assert_eq!(
            (&kept["fault"], &kept["status"]),
            (&json!(kind), &json!(status))
        );
        assert!(reason.contains(said), "{kept}");
        let is_refused = reason.contains("more than 10 such requests");
        assert_eq!(is_refused, status == 429, "{kept}");
    }
}

#[test]
fn the_list_is_filtered_and_holds_the_last_thousand_without_calls_of_the_sandbox() {
    let served = Served::unlimited();
    let get = |path: &str| send(served.base_url(), "GET", path, &[KEY], "").0;
    assert_eq!(create(&served, &[KEY], &order(&json!({}))), 201);
    let booking = text(&served.bookings()[0], "id");
    get(&format!("/v1/bookings/{booking}"));
    get("/v1/bookings/bk_1");
    get("/openapi.json");
    let paths = |query: &str| requests(&served, query).len();
    for (query, count) in [
        ("", 3),
        ("?status=4xx", 1),
        ("?status=201", 1),
        ("?method=post", 1),
        ("?path=/v1/bookings/", 2),
        ("?path=v1/bookings/", 2),
        ("?limit=2", 2),
        ("?organization=org_other", 0),
        ("?organization=org_sandbox", 3),
        (&format!("?booking={booking}"), 2),
    ] {
        assert_eq!(paths(query), count, "{query}");
    }
    let all = requests(&served, "");
    let after = format!("?after={}", text(&all[1], "id"));
    assert_eq!(requests(&served, &after), all[..1]);
    for wrong in [
        "?limit=0",
        "?status=abc",
        "?status=6xx",
        "?status=700",
        "?after=bk_1",
    ] {
        assert_eq!(get(&format!("/sandbox/requests{wrong}")), 400, "{wrong}");
    }
    let wrong = ["sandbox", "requests", "--status", "6xx", "--json"];
    let error = served.home().run(wrong).refused(2, "usage");
    assert!(text(&error, "message").starts_with("--status must be"));
    for _ in 0..1000 {
        get("/v1/");
    }
    let all = requests(&served, "?limit=1000");
    assert_eq!(all.len(), 1000);
    assert!(all.iter().all(|it| it["path"] == "/v1/"), "{}", all[999]);
}

/// "The last 1,000 (16 MB at most)" (sandbox tools, Requests)
#[test]
fn large_bodies_are_cut_at_64_kb_and_the_oldest_give_way() {
    let served = Served::unlimited();
    let large = json!({"venue_id": "x".repeat(100_000)}).to_string();
    for _ in 0..300 {
        create(&served, &[KEY], &large);
    }
    let all = requests(&served, "?limit=1000");
    assert!((100..300).contains(&all.len()), "{}", all.len());
    assert_eq!(all[0]["request"]["truncated"], true);
    assert_eq!(text(&all[0]["request"], "body").len(), 64 * 1024);
    create(&served, &[KEY, ("X", "y")], "");
    let (status, _) = send(served.base_url(), "GET", "/v1/", &[KEY], "");
    assert_eq!(status, 200);
}

#[test]
fn the_command_lists_shows_follows_and_makes_a_curl_command() {
    let served = Served::unlimited();
    let home = served.home();
    home.ok(["sandbox", "requests"]).says("No requests found");
    create(&served, &[KEY], "{}");
    assert_eq!(
        create(
            &served,
            &[KEY, ("Idempotency-Key", "it's")],
            &order(&json!({}))
        ),
        201
    );
    let list = home.ok(["sandbox", "requests"]);
    let rows: Vec<&str> = list.stdout.lines().collect();
    assert!(
        rows[0].starts_with("@1\t") && rows[0].contains("\t201\tPOST\t/v1/bookings\t"),
        "{list}"
    );
    assert!(
        rows[1].contains("venue_id is required")
            && rows[1].contains("note: Idempotency-Key is missing"),
        "{list}"
    );
    home.ok(["sandbox", "requests", "--status", "4xx"]);
    // Row 1 is that of the list that was shown last.
    home.ok(["sandbox", "requests", "show", "@1"])
        .prints("venue_id is required");
    home.ok(["sandbox", "requests", "show", "@last"])
        .prints("it's");
    let shown = home.json("sandbox requests show @last");
    assert_eq!(shown, last(&served));
    home.refuses("sandbox requests show req_0", 6, "http_404");

    let curl = home.ok(["sandbox", "requests", "show", "@last", "--curl"]);
    curl.shows("Bearer '\"$BOOKCTL_API_KEY\"");
    let before = served.bookings().len();
    let again = Command::new("sh")
        .args(["-c", &curl.stdout])
        .env("BOOKCTL_API_KEY", "sk_live_sandbox")
        .output()
        .unwrap();
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(
        again["id"], shown["booking_id"],
        "the same key is the same booking"
    );
    assert_eq!(served.bookings().len(), before);
}

#[test]
fn follow_prints_each_request_as_it_comes() {
    let served = Served::unlimited();
    let home = served.home();
    create(&served, &[KEY], "{}");
    let mut command = home.command(words("sandbox requests --follow --json --status 4xx"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["path"], "/v1/bookings");
    send(served.base_url(), "GET", "/v1/", &[KEY], "");
    send(served.base_url(), "GET", "/v1/bookings/bk_1", &[KEY], "");
    assert_eq!(next()["path"], "/v1/bookings/bk_1");
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    // "until Ctrl-C": it has done what it was asked for, as `sandbox serve` and `webhook listen` have.
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!((ended.status.code(), &*said), (Some(0), "stopped\n"));
}

#[test]
fn follow_ends_well_when_the_sandbox_stops() {
    let mut served = Served::unlimited();
    create(&served, &[KEY], "{}");
    let home = served.home();
    let mut command = home.command(["sandbox", "requests", "--follow", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("/v1/bookings"));
    served.terminate();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_embedded_sandbox_says_that_it_keeps_none_and_what_does() {
    let home = Home::new();
    for more in [&[][..], &["show", "@1"], &["--follow"]] {
        let command = ["sandbox", "requests", "--json"].iter().chain(more);
        let error = home.run(command).refused(3, "config");
        has(&error, "hint", "bookctl sandbox serve");
    }
}

#[test]
fn a_base_url_with_v1_is_told_without_it() {
    let served = Served::start();
    let home = Home::pointing_to(&format!("{}/v1", served.base_url()), "sk_live_sandbox");
    let error = home.refuses("sandbox requests", 3, "config");
    let hint = text(&error, "hint");
    assert!(
        hint.contains("leave /v1 out") && hint.ends_with(served.base_url()),
        "{hint}"
    );
}

/// "`sandbox serve` logs one line a request: … `-v` the bodies too" (sandbox tools, Requests)
#[test]
fn serve_logs_the_key_the_reason_and_the_fault_and_verbose_the_bodies_too() {
    let home = Home::new();
    for verbose in [false, true] {
        let more: &[&str] = if verbose { &["-v"] } else { &[] };
        let flags = ["--ephemeral", "--no-limits"].iter().chain(more).copied();
        let served = Served::with(&home, &flags.collect::<Vec<_>>());
        create(
            &served,
            &[KEY],
            &order(&json!({"party_size": 99, "customer": {"name": "sk_live_sandbox"}})),
        );
        create(
            &served,
            &[KEY, ("Idempotency-Key", "1")],
            &order(&json!({"venueId": 1})),
        );
        served.home().fault("GET /v1/", "status", 1);
        send(served.base_url(), "GET", "/v1/", &[KEY], "");
        let log = served.log();
        assert!(
            log.contains(" POST /v1/bookings 400 ") && log.contains("sk_live_…dbox"),
            "{log}"
        );
        assert!(log.contains("party_size must be 1 to 20"), "{log}");
        assert!(
            log.contains("         note: Idempotency-Key is missing"),
            "{log}"
        );
        assert!(
            log.contains("note: unknown field venueId is ignored"),
            "{log}"
        );
        assert!(log.contains("fault: status"), "{log}");
        assert_eq!(log.contains("\"party_size\": 99"), verbose, "{log}");
        assert!(!log.contains("sk_live_sandbox"), "{log}");
        assert!(log.lines().all(|line| line.chars().count() <= 100), "{log}");
    }
}

/// "The embedded sandbox takes `--no-limits` too" (sandbox tools)
#[test]
fn the_embedded_sandbox_has_no_limits_if_it_is_told_so() {
    let home = Home::new();
    let book = |home: &Home, more: &[&str]| {
        let words = ["book", "ven_confirms", "--json"]
            .iter()
            .chain(&GUEST)
            .chain(more);
        home.run(words)
    };
    for _ in 0..10 {
        book(&home, &[]);
    }
    let error = book(&home, &[]).refused(9, "rate_limited");
    has(&error, "hint", "--no-limits");
    has(&error, "hint", "sandbox clock --advance");
    let home = Home::new().with("BOOKCTL_SANDBOX_NO_LIMITS", "1");
    for _ in 0..12 {
        let output = book(&home, &[]);
        assert!(output.code != Some(9), "{output}");
    }
    let home = Home::new();
    for _ in 0..12 {
        let output = book(&home, &["--no-limits"]);
        assert!(output.code != Some(9), "{output}");
    }
}

/// "`GET /sandbox/deliveries` (every attempt with status, latency and next try)" (wire contract)
#[test]
fn a_delivery_is_shown_with_what_was_sent_and_what_the_app_answered() {
    let answers = Cell::new(0);
    let app = Scripted::start(move |_| {
        answers.set(answers.get() + 1);
        match answers.get() {
            1 => Reply::json(500, &json!({"error": "boom"})),
            _ => Reply::Whole(200, "text/plain", "é".repeat(10_000)),
        }
    });
    let served = Served::unlimited();
    let home = served.home();
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
    let list = deliveries(&[]).exits(0);
    let rows: Vec<&str> = list.stdout.lines().collect();
    assert!(rows[0].contains("requires_action"), "newest first: {list}");
    assert!(rows[1].contains("\tcreated\t"), "{list}");
    let shown = deliveries(&["show", "@2", "--json"]).exits(0).json();
    assert_eq!(shown["event_id"], oldest["event_id"]);
    let attempt = &shown["attempts"][0];
    assert_eq!(attempt["status"], 500);
    assert_eq!(attempt["request"]["body"], shown["body"]);
    assert!(attempt["request"]["headers"]["booking-signature"].is_string());
    let answer = json!({"error": "boom"}).to_string();
    assert_eq!(attempt["response"]["body"], answer);
    assert_eq!(attempt["response"]["truncated"], false);
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

/// "`webhook listen` … print the `export` line for the secret; … `-v` hides our own polling" (issue)
#[test]
fn a_verbose_listener_shows_the_request_to_the_app_and_its_answer_and_no_calls_of_its_own() {
    let app = Scripted::start(|_| Reply::json(422, &json!({"error": "no such room"})));
    let served = Served::unlimited();
    let home = served.home();
    let url = format!("{}/hooks", app.base_url());
    let listening = Listening::start(&home, &["-v", "--forward-to", &url]);
    let id = home.booked("ven_confirms", &[], 0);
    app.wait_for_request();
    // The newest event waits behind the first one, which was not accepted.
    let first = || {
        let list = home.run(["webhook", "events", "list", "--json"]).json();
        text(
            list["events"].as_array().unwrap().last().unwrap(),
            "event_id",
        )
    };
    until("the response is kept", || {
        let show = ["webhook", "events", "show", &first(), "--json"];
        let shown = home.run(show).json();
        shown["attempts"][0]["response"]["body"] == r#"{"error":"no such room"}"#
    });
    home.ok(["webhook", "events", "show", &first()])
        .prints("no such room");
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
    assert!(
        !output.stderr.contains(SECRET) && !output.stderr.contains("export"),
        "{output}"
    );
}
