//! Faults that the sandbox has on purpose: always, at a rate that can be repeated, of webhooks, of
//! one organization.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use crate::harness::http::exchange;
use crate::harness::{HANG, Home, Reply, Request, Scripted, Served, has, holds, text};

/// A served sandbox that delivers at once, without limits.
fn quick(home: &Home) -> Served {
    let options = ["--ephemeral", "--no-limits", "--delivery-interval", "20ms"];
    Served::with(home, &options)
}

fn control(server: &Served, method: &str, path: &str, body: &Value) -> (u16, Value) {
    server.send(method, path, &[], &body.to_string())
}

fn add(server: &Served, fault: &Value) -> Value {
    let (status, added) = control(server, "POST", "/sandbox/faults", fault);
    assert_eq!(status, 201, "{added}");
    added
}

fn index(server: &Served, key: &str) -> u16 {
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str())];
    server.send("GET", "/v1/", &headers, "").0
}

const LIVE: &str = "sk_live_sandbox";

/// "`rate: 0.2` (seeded, `seed` shown, so that a run can be repeated)" (sandbox tools)
#[test]
fn rate_fails_same_requests_again_with_seed_that_it_showed() {
    let server = Served::unlimited();
    let run = |fault: &Value| -> (Value, Vec<u16>) {
        let added = add(&server, fault);
        let statuses = (0..60).map(|_| index(&server, LIVE)).collect();
        control(&server, "DELETE", "/sandbox/faults", &Value::Null);
        (added, statuses)
    };
    let (shown, first) = run(&json!({"preset": "flaky"}));
    holds!(shown, {"times": "always", "rate": 0.2});
    let failed = first.iter().filter(|it| **it == 503).count();
    assert!((1..30).contains(&failed), "{first:?}");
    let (_, again) = run(&json!({"preset": "flaky", "seed": shown["seed"]}));
    assert_eq!(again, first);
    let half = json!({"on": "GET /v1/", "kind": "status", "rate": 0.5, "times": 4, "seed": 1});
    let (_, four) = run(&half);
    assert_eq!(four.iter().filter(|it| **it == 500).count(), 4);
}

/// Nobody types the fields of the control's call, and a value that cannot work is an error of
/// usage.
#[test]
fn a_control_names_the_flag_whose_value_is_wrong() {
    let home = Home::new();
    let run = |words: &str| home.run(["sandbox", "--json"].into_iter().chain(words.split(' ')));
    #[rustfmt::skip]
    let cases = [
        ("faults add --kind delay", "--on"),
        ("faults add --on any", "--kind"),
        ("faults add --on any --kind status --times 0", "--times"),
        ("faults add --on any --kind status --rate 2", "--rate"),
        ("faults add --on any --kind status --status 99", "--status"),
        ("faults add --on any --kind status --seed 4", "--seed needs a rate"),
        ("faults add --on any --kind delay --delay 11m", "--delay"),
        ("faults add --on any --kind drop", "--kind drop is not for requests"),
        ("faults add --on webhook --kind status", "--kind status is not for webhooks"),
        ("faults add --on any --kind drop_before --status 503", "--status belongs to the kind status, not to "),
        ("faults add --on any --preset slow --after-bytes 3", "--after-bytes belongs to the kind truncate, not to "),
        ("clock --to 2020-01-01T00:00:00Z", "--to is before the sandbox's clock"),
        ("clock --to 9500-01-01T00:00:00Z", "--to leads past the year 9000"),
    ];
    for (words, said) in cases {
        let error = run(words).refused(2, "usage");
        has(&error, "message", said);
    }
    for words in [
        "faults add --preset slow --on any",
        "faults add --seed 4 --preset flaky",
        "faults add --seed 4 --on any --kind garbage --rate 0.5",
        "faults add --preset flaky --kind delay --delay 20ms",
    ] {
        run(words).exits(0);
    }
    for (words, list) in
        [("faults remove flt_0", "faults"), ("organization remove org_x", "organization")]
    {
        let error = run(words).refused(6, "http_404");
        let list = format!("bookctl sandbox {list}");
        has(&error, "hint", &list);
    }
}

/// The next response on the connection would lose what the cut had left.
#[test]
fn cut_that_response_does_not_reach_is_not_made_in_next_one() {
    let server = Served::start();
    add(&server, &json!({"on": "any", "kind": "truncate", "after_bytes": 5000}));
    let address = server.base_url().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    let mut answers = Vec::new();
    for connection in ["keep-alive", "keep-alive", "keep-alive", "close"] {
        let request = format!(
            "GET /v1/ HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {LIVE}\r\nConnection: {connection}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    stream.read_to_end(&mut answers).unwrap();
    let answers = String::from_utf8(answers).unwrap();
    assert_eq!(answers.matches("\"sandbox\":true").count(), 4, "{answers}");
}

/// A proxy's error page is no JSON, and no JSON string either.
#[test]
fn a_body_that_is_no_json_is_sent_as_the_text_that_it_is() {
    let served = Served::start();
    for (body, kind) in [
        ("tea", "text/plain; charset=utf-8"),
        ("<h1>502</h1>", "text/html; charset=utf-8"),
        ("{\"error\":\"busy\"}", "application/json"),
    ] {
        let add = ["sandbox", "faults", "add", "--on", "GET /v1/", "--kind", "status"];
        let more = ["--status", "502", "--body", body];
        served.home().ok(add.iter().chain(&more));
        let answer = exchange(served.base_url(), "GET", "/v1/", &[], "");
        assert_eq!(String::from_utf8_lossy(&answer.body), body);
        assert_eq!(answer.status(), 502);
        assert_eq!(answer.header("content-type"), Some(kind));
    }
}

/// A mistyped field would otherwise be ignored, and the test that it is for would show nothing.
#[test]
fn a_control_refuses_a_field_that_it_does_not_know() {
    let server = Served::start();
    let name = "is not understood: unknown field `nmae`, expected `name`";
    let by = "is not understood: unknown variant `by`, expected one of `advance`, `set`, `next`, `freeze`, `resume`";
    let status = "belongs to the kind status, not to drop_before";
    let fault = json!({"on": "any", "kind": "drop_before", "status": 503});
    for (path, body, field, why) in [
        ("/sandbox/organizations", json!({"nmae": "test 17"}), "nmae", name),
        ("/sandbox/clock", json!({"by": "1m"}), "body", by),
        ("/sandbox/faults", fault, "status", status),
    ] {
        let (status, refusal) = control(&server, "POST", path, &body);
        let expected = json!({"error": "validation failed", "fields": {field: why}});
        assert_eq!((status, refusal), (400, expected), "{path} {body}");
    }
}

#[test]
fn a_fault_that_always_happens_ends_when_it_is_removed() {
    let (server, home) = Served::unlimited_with_home();
    let added = home.json("sandbox faults add --preset rate_limited");
    let refused = exchange(server.base_url(), "GET", "/v1/", &[], "");
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.header("retry-after"), Some("30"));
    for _ in 0..5 {
        assert_eq!(index(&server, LIVE), 429);
    }
    // The sandbox's own surface goes on.
    let remove = ["sandbox", "faults", "remove", &text(&added, "id"), "--json"];
    assert_eq!(home.ok(remove).json(), json!({"faults": []}));
    assert_eq!(index(&server, LIVE), 200);
    home.run(remove).refused(6, "http_404");
    home.refuses("sandbox faults add --preset gloomy", 2, "usage");
    home.refuses("sandbox faults add", 2, "usage");
}

#[test]
fn a_fault_of_one_organization_spares_the_others() {
    let server = Served::unlimited();
    let (_, organization) = control(&server, "POST", "/sandbox/organizations", &json!({}));
    let key = text(&organization["keys"], "live");
    add(&server, &json!({"preset": "rate_limited", "organization": organization["id"]}));
    assert_eq!([index(&server, &key), index(&server, LIVE)], [429, 200]);
    let path = format!("/sandbox/organizations/{}", text(&organization, "id"));
    control(&server, "DELETE", &path, &Value::Null);
    let (_, faults) = control(&server, "GET", "/sandbox/faults", &Value::Null);
    assert_eq!(faults, json!({"faults": []}));
    let unknown = json!({"preset": "slow", "organization": "org_nobody"});
    assert_eq!(control(&server, "POST", "/sandbox/faults", &unknown).0, 404);
}

/// A consumer of webhooks, and a sandbox that delivers to it.
struct Delivered {
    server: Served,
    consumer: Scripted,
    home: Home,
}

impl Delivered {
    fn with(fault: &Value) -> Self {
        let server = quick(&Home::new());
        let consumer = Scripted::start(|_| Reply::json(200, &json!({})));
        let url = json!({"webhook_url": format!("{}/hook", consumer.base_url())});
        assert_eq!(control(&server, "PUT", "/sandbox/organization", &url).0, 200);
        add(&server, fault);
        let home = server.home();
        home.booked("ven_confirms", &[], 0);
        Delivered { server, consumer, home }
    }

    /// The types of the events that came, in their order, once `count` have come.
    fn came(&self, count: usize) -> Vec<String> {
        let deadline = Instant::now() + HANG;
        loop {
            let came = self.consumer.requests();
            if came.len() >= count {
                return came.iter().map(|it| text(&it.json(), "type")).collect();
            }
            assert!(Instant::now() < deadline, "{} came", came.len());
            std::thread::yield_now();
        }
    }

    fn deliveries(&self) -> Vec<Value> {
        let (_, list) = control(&self.server, "GET", "/sandbox/deliveries", &Value::Null);
        list["deliveries"].as_array().unwrap().clone()
    }

    fn wait_until(&self, condition: impl Fn(&[Value]) -> bool) {
        let deadline = Instant::now() + HANG;
        while !condition(&self.deliveries()) {
            assert!(Instant::now() < deadline, "{:?}", self.deliveries());
            std::thread::yield_now();
        }
    }

    fn advance(&self, by: &str) {
        let advance = ["sandbox", "clock", "--advance", by];
        self.home.ok(advance);
    }
}

const CREATED: &str = "booking.created";
const CONFIRMED: &str = "booking.confirmed";

#[test]
fn a_webhook_that_is_duplicated_arrives_twice() {
    let delivered = Delivered::with(&json!({"on": "webhook", "kind": "duplicate"}));
    // The second of them may come after the next event.
    let mut came = delivered.came(3);
    came.sort_unstable();
    assert_eq!(came, [CONFIRMED, CREATED, CREATED]);
    let requests = delivered.consumer.requests();
    let created = requests.iter().map(Request::json);
    let created: Vec<Value> = created.filter(|it| it["type"] == CREATED).collect();
    assert_eq!(created[0]["id"], created[1]["id"]);
}

#[test]
fn webhook_reordered_arrives_after_next_one_of_its_booking() {
    let delivered = Delivered::with(&json!({"on": "webhook", "kind": "reorder"}));
    assert_eq!(delivered.came(2), [CONFIRMED, CREATED]);
    delivered.wait_until(|all| all[0]["attempts"][0]["fault"] == "reorder");
}

#[test]
fn a_webhook_that_is_dropped_is_tried_again_later() {
    let delivered = Delivered::with(&json!({"on": "webhook", "kind": "drop", "times": 2}));
    delivered.wait_until(|all| {
        let failed = |it: &Value| it["attempts"][0]["error"] == "a fault dropped the webhook";
        all.len() == 2 && all.iter().all(failed)
    });
    assert_eq!(delivered.consumer.requests().len(), 0);
    delivered.advance("31s");
    delivered.came(2);
    delivered.wait_until(|all| all.iter().all(|it| it["state"] == "delivered"));
}

#[test]
fn webhook_delayed_waits_by_sandboxs_clock_even_if_each_is() {
    let hour = json!({"on": "webhook", "kind": "delay", "delay_ms": 600_000, "times": "always"});
    let delivered = Delivered::with(&hour);
    delivered.wait_until(|all| {
        let waits = |it: &Value| {
            let next = it["next_attempt_at"].as_str().and_then(|it| it.parse().ok());
            let in_five = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(5);
            next.is_some_and(|next: jiff::Timestamp| next > in_five)
        };
        all.len() == 2 && all.iter().all(waits)
    });
    assert_eq!(delivered.consumer.requests().len(), 0);
    delivered.advance("601s");
    delivered.came(2);
    delivered.wait_until(|all| all[1]["attempts"][0]["fault"] == "delay");
}

/// The command and the sandbox have a table each, because they share no code.
#[test]
fn command_takes_kinds_and_presets_that_sandbox_takes() {
    let (served, home) = Served::with_home();
    let document = include_str!("../../docs/sandbox-openapi.json");
    let document: Value = serde_json::from_str(document).unwrap();
    let described = |schema: &str| -> Vec<String> {
        let names = document["components"]["schemas"][schema]["enum"].as_array();
        let names = names.unwrap().iter().map(|it| it.as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    let add = ["sandbox", "faults", "add"];
    for (flag, schema) in [("--kind", "FaultKind"), ("--preset", "FaultPreset")] {
        let refused = home.run(add.iter().chain(&["--on", "any", flag, "none"]));
        let (_, listed) = refused.stderr.split_once("[possible values: ").unwrap();
        let (listed, _) = listed.split_once(']').unwrap();
        let mut listed: Vec<&str> = listed.split(", ").collect();
        let mut described = described(schema);
        listed.sort_unstable();
        described.sort_unstable();
        assert_eq!(listed, described, "{flag}");
    }
    for on in ["any", "webhook"] {
        for kind in described("FaultKind") {
            let output = home.run(add.iter().chain(&["--on", on, "--kind", &kind]));
            let body = json!({"on": on, "kind": kind}).to_string();
            let (status, _) = served.send("POST", "/sandbox/faults", &[], &body);
            let is_taken = status == 201;
            output.exits(if is_taken { 0 } else { 2 });
        }
    }
}
