//! `sandbox requests`: what is kept of each request, and the commands that show it.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::http::{KEY, send_many};
use crate::harness::{Home, Served, has, holds, text, words};
use crate::requests_shown::{address, raw};

fn requests(served: &Served, query: &str) -> Vec<Value> {
    let (status, document) = served.send("GET", &format!("/sandbox/requests{query}"), &[], "");
    assert_eq!(status, 200, "{document}");
    document["requests"].as_array().unwrap().clone()
}

/// The request that came last.
pub(crate) fn last(served: &Served) -> Value {
    requests(served, "?limit=1").remove(0)
}

pub(crate) fn order(more: &Value) -> String {
    let mut order = json!({
        "venue_id": "ven_confirms",
        "datetime": "2038-05-01T19:00:00Z",
        "party_size": 2,
        "customer": {"name": "Ada Lovelace"},
    });
    for (name, value) in more.as_object().unwrap() {
        order[name] = value.clone();
    }
    order.to_string()
}

pub(crate) fn create(served: &Served, headers: &[(&str, &str)], body: &str) -> u16 {
    served.send("POST", "/v1/bookings", headers, body).0
}

/// Sends a booking request whose answer may be none.
fn send_and_forget(served: &Served, body: &str) {
    let (name, key) = KEY;
    let head = format!("POST /v1/bookings HTTP/1.1\r\n{name}: {key}");
    raw(served, address(served), &head, body.as_bytes());
}

#[test]
fn server_without_request_log_answers_and_keeps_nothing() {
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

/// "`{id, at, duration_ms, method, path, query?, status, organization?, key?, …}`" (sandbox tools,
/// Requests)
#[test]
fn a_request_is_kept_with_both_bodies_and_without_its_key() {
    let served = Served::unlimited();
    let body = order(&json!({"note": "key sk_live_sandbox"}));
    let key = ("Idempotency-Key", "key-1");
    assert_eq!(create(&served, &[KEY, key], &body), 201);
    let kept = last(&served);
    let booking = served.bookings()[0]["id"].clone();
    holds!(kept, {"method": "POST", "path": "/v1/bookings", "status": 201, "booking_id": booking});
    holds!(kept, {"organization": "org_sandbox", "key": "sk_live_…dbox"});
    holds!(kept, {"idempotency_key": "key-1"});
    assert!(kept["duration_ms"].is_f64() && kept["at"].is_string());
    assert!(text(&kept, "id").starts_with("req_"));
    for absent in ["query", "session_id", "reason", "fault"] {
        assert!(kept.get(absent).is_none(), "{absent}: {kept}");
    }
    let sent = &kept["request"];
    assert_eq!(text(sent, "body"), body.replace("sk_live_sandbox", "sk_live_…dbox"));
    assert_eq!(sent["truncated"], false);
    assert_eq!(sent["headers"]["authorization"], "Bearer sk_live_…dbox");
    let answer: Value = serde_json::from_str(&text(&kept["response"], "body")).unwrap();
    assert_eq!(answer["id"], booking);
    assert!(kept["response"]["headers"]["content-type"].is_string());
    assert!(!kept.to_string().contains("sk_live_sandbox"));
    let alone = |id: &str| served.send("GET", &format!("/sandbox/requests/{id}"), &[], "");
    let (status, mut one) = alone(&text(&kept, "id"));
    assert!(one.as_object_mut().unwrap().remove("curl").is_some());
    assert_eq!((status, one), (200, kept));
    assert_eq!(alone("req_0").0, 404);
    let mixed_up = ("Idempotency-Key", "sk_live_sandbox");
    create(&served, &[KEY, mixed_up], &body);
    assert_eq!(last(&served)["idempotency_key"], "sk_live_…dbox");
}

/// "`reason` says in one sentence which rule answered a refusal …; for a 401 what came instead of a
/// key" (sandbox tools)
#[test]
fn every_refusal_has_the_rule_that_answered_it() {
    let served = Served::start();
    let ask = |header: (&str, &str), method: &str, path: &str, body: &str, expected: &str| {
        let (status, _) = served.send(method, path, &[header], body);
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
    #[rustfmt::skip]
    let cases = [
        (readonly, "POST", bookings, "{}", "lacks the scope bookings:create (Authentication, 3)"),
        (KEY, "POST", bookings, "{}", "venue_id is required"),
        (KEY, "POST", bookings, "[", "body is not valid JSON"),
        (KEY, "GET", "/v1/bookings/bk_1", "", "no booking with this id"),
        (KEY, "GET", "/v1/nothing", "", "no such path (Endpoints)"),
        (KEY, "PATCH", bookings, "", "does not accept this method"),
        (("Host", "evil.example"), "GET", "/v1/", "", "Host header"),
    ];
    for (header, method, path, body, expected) in cases {
        ask(header, method, path, body, expected);
    }
    let kept = ask(KEY, "POST", bookings, &large, "larger than 1 MB (Limits, 3)");
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
    let note =
        "Idempotency-Key a1 was used before: the response is that booking; no new one was made";
    assert_eq!(create(&json!({})), (200, json!([note])));
    let note = "Idempotency-Key a1 was used before, for another booking: the response is that one, \
                and no new one was made; other values: party_size";
    assert_eq!(create(&json!({"party_size": 4})), (200, json!([note])));
}

#[test]
fn what_a_lenient_service_ignores_is_noted() {
    let served = Served::unlimited();
    let body = order(&json!({
        "datetime": "2038-05-01T21:00:00+02:00", "paymentCollection": "vendor_external",
        "customer": {"name": "Ada Lovelace", "e_mail": "a@b"},
    }));
    let (status, _) = served.send("POST", "/v1/bookings?verbose=1", &[KEY], &body);
    assert_eq!(status, 201);
    let notes = last(&served)["notes"].as_array().unwrap().clone();
    for expected in [
        "unknown field paymentCollection is ignored; did you mean payment_collection?",
        "unknown field customer.e_mail is ignored; did you mean customer.email?",
        "unknown query parameter verbose is ignored",
        "Idempotency-Key is missing",
        "there it is 2038-05-01T19:00:00+00:00",
    ] {
        let has = |note: &Value| note.as_str().unwrap().contains(expected);
        assert!(notes.iter().any(has), "{expected}: {notes:?}");
    }
    assert_eq!(notes.len(), 5, "{notes:?}");
    let plain = [KEY, ("Idempotency-Key", "k")];
    assert_eq!(create(&served, &plain, &order(&json!({}))), 201);
    assert_eq!(last(&served)["notes"], json!([]));
}

#[test]
fn fault_is_told_by_what_it_did() {
    let served = Served::start();
    let add = |fault: &Value| {
        let added = served.send("POST", "/sandbox/faults", &[], &fault.to_string());
        assert_eq!(added.0, 201, "{}", added.1);
    };
    let on = "POST /v1/bookings";
    add(&json!({"on": on, "kind": "delay", "delay_ms": 7}));
    assert_eq!(create(&served, &[KEY], &order(&json!({}))), 201);
    has(&last(&served), "reason", "7 ms");
    let list = served.home().ok(["sandbox", "requests"]);
    list.prints("fault delay: A fault held the response back for 7 ms.");
    add(&json!({"on": on, "kind": "truncate", "after_bytes": 100_000}));
    assert_eq!(create(&served, &[KEY], &order(&json!({}))), 201);
    has(&last(&served), "reason", "100000 bytes");
    has(&last(&served), "reason", "was sent whole");
    while create(&served, &[KEY], &order(&json!({}))) != 429 {}
    for (kind, status, said) in [
        ("truncate", 429, "in the middle of this response"),
        ("garbage", 429, "A fault sent this page"),
        ("status", 500, "instead of the service"),
        ("drop_before", 0, "before the request was handled"),
    ] {
        add(&json!({"on": on, "kind": kind}));
        send_and_forget(&served, &order(&json!({})));
        let kept = last(&served);
        holds!(kept, {"fault": kind, "status": status});
        has(&kept, "reason", said);
        let is_refused = text(&kept, "reason").contains("more than 10 such requests");
        assert_eq!(is_refused, status == 429, "{kept}");
    }
    // One that loses what was done waits for a request that does something.
    add(&json!({"on": on, "kind": "drop_after"}));
    assert_eq!(create(&served, &[KEY], &order(&json!({}))), 429);
    let advance = json!({"advance": "6m"}).to_string();
    served.send("POST", "/sandbox/clock", &[], &advance);
    send_and_forget(&served, &order(&json!({})));
    has(&last(&served), "reason", "this response was not sent");
}

#[test]
fn request_list_holds_the_last_thousand_without_controls() {
    let served = Served::unlimited();
    let get = |path: &str| served.send("GET", path, &[KEY], "").0;
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
    for wrong in words("limit=0 status=abc status=6xx status=700 after=bk_1") {
        assert_eq!(get(&format!("/sandbox/requests?{wrong}")), 400, "{wrong}");
    }
    let wrong = "sandbox requests --status 6xx";
    let error = served.home().refuses(wrong, 2, "usage");
    has(&error, "message", "--status must be");
    send_many(served.base_url(), "GET /v1/", b"", 1000);
    let all = requests(&served, "?limit=1000");
    assert_eq!(all.len(), 1000);
    assert!(all.iter().all(|it| it["path"] == "/v1/"), "{}", all[999]);
}

/// "The last 1,000 (16 MB at most)" (sandbox tools, Requests)
#[test]
fn large_bodies_are_cut_at_64_kb_and_the_oldest_give_way() {
    let served = Served::unlimited();
    send_many(served.base_url(), "GET /v1/", &[b'x'; 66_000], 300);
    let all = requests(&served, "?limit=1000");
    assert!((100..300).contains(&all.len()), "{}", all.len());
    assert_eq!(all[0]["request"]["truncated"], true);
    assert_eq!(text(&all[0]["request"], "body").len(), 64 * 1024);
    create(&served, &[KEY, ("X", "y")], "");
    assert_eq!(served.send("GET", "/v1/", &[KEY], "").0, 200);
}

#[test]
fn the_command_lists_shows_follows_and_makes_a_curl_command() {
    let (served, home) = Served::unlimited_with_home();
    create(&served, &[KEY], "{}");
    let key = ("Idempotency-Key", "it's");
    assert_eq!(create(&served, &[KEY, key], &order(&json!({}))), 201);
    home.ok(["sandbox", "requests", "--status", "4xx"]);
    // Row 1 is that of the list that was shown last.
    let show = |row: &str| home.ok(["sandbox", "requests", "show", row]);
    show("@1").prints("venue_id is required");
    show("@last").prints("it's");
    let mut shown = home.json("sandbox requests show @last");
    let curl = shown.as_object_mut().unwrap().remove("curl").unwrap();
    assert_eq!(shown, last(&served));
    assert!(curl.as_str().unwrap().starts_with("curl --globoff -X POST "), "{curl}");
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
    assert_eq!(again["id"], shown["booking_id"], "one key, one booking");
    assert_eq!(served.bookings().len(), before);
}

/// A command under way, and the lines that it prints.
fn following(home: &Home, line: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = home.command(words(line));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

#[test]
fn follow_prints_each_request_as_it_comes() {
    let (served, home) = Served::unlimited_with_home();
    create(&served, &[KEY], "{}");
    let (child, mut lines) = following(&home, "sandbox requests --follow --json --status 4xx");
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["path"], "/v1/bookings");
    served.send("GET", "/v1/", &[KEY], "");
    served.send("GET", "/v1/bookings/bk_1", &[KEY], "");
    assert_eq!(next()["path"], "/v1/bookings/bk_1");
    let kill = ["-INT", &child.id().to_string()];
    assert!(Command::new("kill").args(kill).status().unwrap().success());
    // "until Ctrl-C": it has done what it was asked for, as `sandbox serve` and `webhook listen`
    // have.
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!((ended.status.code(), &*said), (Some(0), "stopped\n"));
}

#[test]
fn follow_ends_well_when_the_sandbox_stops() {
    let mut served = Served::unlimited();
    create(&served, &[KEY], "{}");
    let (mut child, mut lines) = following(&served.home(), "sandbox requests --follow --json");
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

/// "The embedded sandbox takes `--no-limits` too" (sandbox tools)
#[test]
fn the_embedded_sandbox_has_no_limits_if_it_is_told_so() {
    let home = Home::new();
    for _ in 0..10 {
        home.booked("ven_confirms", &[], 0);
    }
    let error = home.book("ven_confirms", &[]).refused(9, "rate_limited");
    has(&error, "hint", "sandbox clock --advance");
    home.booked("ven_confirms", &["--no-limits"], 0);
    let home = home.with("BOOKCTL_SANDBOX_NO_LIMITS", "1");
    home.booked("ven_confirms", &[], 0);
}
