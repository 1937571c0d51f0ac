//! `webhook listen`: what it takes, what it shows, and what it does with an app that does not
//! answer as it should.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use crate::docs::has_described_fields;
use crate::harness::listening::{
    App, Courier, Listening, deliver, event, home_with_the_secret, home_without_a_service, lines,
    shell, signature, until,
};
use crate::harness::{GUEST, HANG, Home, Key, SOON, Served, Terminal, free_port, has, holds, text};

fn confirmed(number: u32, booking: &str) -> String {
    let id = format!("evt_{number}");
    event(&id, "booking.confirmed", booking, "confirmed")
}

/// The organization's webhook URL in the sandbox that a home talks to.
fn webhook_url(home: &Home) -> Option<String> {
    let settings = home.ok(["sandbox", "organization", "--json"]);
    settings.json()["webhook_url"].as_str().map(str::to_owned)
}

#[test]
fn delivery_reaches_handler_as_it_came() {
    let home = home_without_a_service();
    let app = App::start(|_| 204);
    let arguments = ["--forward-to", &app.url, "--header", "X-From: listener"];
    let listening = Listening::start(&home, &arguments);
    // As large as the service's limit.
    let event = confirmed(1, "bk_1");
    let body = " ".repeat(1024 * 1024 - event.len() - 1) + &event + "\n";
    let mut courier = Courier::to(&listening.url).unwrap();
    let signed = signature(&body);
    let headers = format!("Booking-Signature: {signed}\r\nX-Theirs: caf\u{e9}\r\n");
    assert_eq!(courier.post(&body, &headers), Some(200));
    // Again, and signed afresh: taken, and not forwarded.
    assert_eq!(courier.deliver(&body), Some(200));
    until("it is forwarded", || app.count() == 1);
    let (lines, summary) = lines(&listening.end());
    let delivered = &app.delivered()[0];
    assert!(delivered.body == body);
    for (name, value) in [
        ("booking-signature", signed.as_str()),
        ("booking-delivery-attempt", "1"),
        ("x-theirs", "café"),
        ("x-from", "listener"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(delivered.headers[name], value);
    }
    let forwarded = lines.iter().find(|line| line["outcome"] == "delivered").unwrap();
    holds!(forwarded, {"event_id": "evt_1", "type": "booking.confirmed"});
    holds!(forwarded, {"booking_id": "bk_1", "status": "confirmed"});
    assert_eq!(forwarded["attempt"]["status"], 204);
    assert!(forwarded["attempt"]["latency_ms"].is_u64());
    assert!(lines.iter().any(|line| line["outcome"] == "duplicate"));
    lines.iter().for_each(|line| has_described_fields(&home, "webhook listen", line));
    holds!(summary, {"received": 1, "duplicates": 1, "refused": 0});
    holds!(summary, {"forwarded": 1, "failed": 0, "waiting": 0});
}

#[test]
fn what_is_not_services_is_refused() {
    let home = home_without_a_service();
    let app = App::start(|_| 200);
    let listening = Listening::start(&home, &["--forward-to", &app.url]);
    let body = confirmed(1, "bk_1");
    let good = signature(&body);
    let mut courier = Courier::to(&listening.url).unwrap();
    #[rustfmt::skip]
    let cases = [
        (body.as_str(), String::new(), 400),
        (&body, format!("Booking-Signature: {}\r\n", signature("other")), 400),
        (&body, "Booking-Signature: t=1,v1=00\r\n".to_owned(), 400),
        (&body, format!("Booking-Signature: {good}\r\nBooking-Signature: {good}\r\n"), 400),
    ];
    for (body, headers, status) in cases {
        assert_eq!(courier.post(body, &headers), Some(status), "{headers}");
    }
    // A byte too large, however well it is signed.
    let large = body.clone() + &" ".repeat(1024 * 1024 + 1 - body.len());
    let mut courier = Courier::to(&listening.url).unwrap();
    let answer = courier.deliver(&large);
    // It may have closed before all of it was sent.
    assert!(matches!(answer, Some(413) | None), "{answer:?}");
    let mut get = TcpStream::connect(&listening.url[7..listening.url.len() - 1]).unwrap();
    get.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    get.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
    let (lines, summary) = lines(&listening.end());
    holds!(summary, {"refused": 5, "received": 0});
    assert!(lines.iter().all(|line| line["outcome"] == "refused" && line["reason"].is_string()));
    let reason = text(&lines[3], "reason");
    assert_eq!(reason, "the signature header is malformed: there is more than one such header");
    assert_eq!(app.count(), 0);
    assert!(home.list("webhook events list").is_empty());
}

#[test]
fn the_names_of_the_dialect_and_the_kinds_that_are_wanted() {
    let home = home_with_the_secret().with_profile(
        "own",
        "http://127.0.0.1:9",
        "dialect.service_name = 'Tables'\ndialect.event_id_field = 'uid'\ndialect.event_type_field = 'kind'\n",
    );
    let app = App::start(|_| 200);
    let arguments = ["--forward-to", &app.url, "--events", "a,b"];
    let listening = Listening::start(&home, &arguments);
    let mut courier = Courier::to(&listening.url).unwrap();
    // The duplicate of one that is not wanted is counted and not shown.
    for kind in ["a", "c", "c", "b"] {
        let body = format!(r#"{{"uid":"e_{kind}","kind":"{kind}"}}"#);
        let headers = format!("Tables-Signature: {}\r\n", signature(&body));
        assert_eq!(courier.post(&body, &headers), Some(200));
    }
    until("both are forwarded", || app.count() == 2);
    let (lines, summary) = lines(&listening.end());
    assert_eq!(lines.len(), 2, "{lines:?}");
    holds!(summary, {"received": 3, "duplicates": 1});
    // What was not wanted is kept, and the next listener does not forward it.
    let list = home.list("webhook events list --kind c");
    assert_eq!(list[0]["state"], "kept");
}

/// A real service may have other kinds than the documented ones, so none is refused.
#[test]
fn a_kind_of_event_that_is_not_documented_is_warned_of() {
    let home = home_without_a_service();
    let warning = "unknown kind of event: booking.foo; known kinds: booking.created, ";
    let list = ["webhook", "events", "list", "--kind", "booking.foo"];
    home.ok(list).says(warning);
    let known = ["webhook", "events", "list", "--kind", "booking.failed"];
    assert!(!home.ok(known).stderr.contains("unknown kind"));
    let listening = Listening::start(&home, &["--events", "booking.foo,confirmd"]);
    listening
        .end()
        .says(warning)
        .says("unknown kind of event: confirmd; known kinds: booking.created, ");
}

#[test]
fn handler_that_fails_gets_it_again_in_order() {
    let home = home_without_a_service();
    let app = App::start(|delivered| match delivered.id.as_str() {
        "evt_1" if delivered.headers["booking-delivery-attempt"] != "3" => 500,
        "evt_9" => 302,
        _ => 200,
    });
    let arguments = ["--forward-to", &app.url, "--retries", "30ms,30ms,30ms"];
    let listening = Listening::start(&home, &arguments);
    // The first of a booking holds up its second, and nothing of another booking.
    let bodies = [confirmed(1, "bk_1"), confirmed(2, "bk_1"), confirmed(9, "bk_9")];
    deliver(&listening.url, &bodies);
    until("all attempts are made", || app.count() == 3 + 1 + 4);
    until("they are noted", || home.list("webhook events list --state waiting").is_empty());
    let (_, summary) = lines(&listening.end());
    holds!(summary, {"forwarded": 2, "failed": 6, "abandoned": 1, "waiting": 0});
    let of = |booking: &str| -> Vec<String> {
        let mut delivered = app.delivered();
        delivered.retain(|it| it.booking == booking);
        let told = delivered.iter();
        told.map(|it| format!("{} {}", it.id, it.status)).collect()
    };
    assert_eq!(of("bk_1"), ["evt_1 500", "evt_1 500", "evt_1 200", "evt_2 200"]);
    assert_eq!(of("bk_9"), ["evt_9 302"; 4]);
    let shown = home.json("webhook events show evt_9");
    assert_eq!(shown["state"], "abandoned");
}

#[test]
fn what_a_closed_app_missed_the_next_listener_forwards() {
    let home = home_without_a_service();
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}/hooks");
    let listening = Listening::start(&home, &["--forward-to", &url]);
    deliver(&listening.url, &[confirmed(1, "bk_1"), confirmed(2, "bk_1")]);
    until("the failure is noted", || {
        let shown = home.run(["webhook", "events", "show", "evt_1", "--json"]);
        shown.json()["attempts"][0]["error"].is_string()
    });
    let (told, summary) = lines(&listening.end());
    holds!(summary, {"waiting": 2, "failed": 1});
    assert!(told.iter().any(|line| line["attempt"]["error"] == "connection refused"));
    // The pause of 30 s runs on while nobody listens; a listener without an app leaves it alone.
    let output = Listening::start(&home, &[]).end();
    assert_eq!(lines(&output).1["waiting"], 2);
    output.says("2 events from before: pass --forward-to");
    let app = App::listen(port, |_| 200);
    let rows = "UPDATE events SET next_attempt_at = 1 WHERE next_attempt_at IS NOT NULL";
    let webhooks = rusqlite::Connection::open(home.path().join("webhooks.db")).unwrap();
    webhooks.execute(rows, []).unwrap();
    drop(webhooks);
    let listening = Listening::start(&home, &["--forward-to", &url]);
    until("both are forwarded", || app.count() == 2);
    let ids: Vec<String> = app.delivered().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, ["evt_1", "evt_2"]);
    drop(listening);
}

#[test]
fn slow_handler_holds_up_own_booking_alone() {
    let home = home_without_a_service();
    let app = App::start(|delivered| {
        if delivered.booking == "bk_slow" {
            std::thread::sleep(HANG);
        }
        200
    });
    let listening = Listening::start(&home, &["--forward-to", &app.url]);
    let mut bodies = vec![confirmed(1, "bk_slow"), confirmed(2, "bk_slow")];
    bodies.extend((3..40).map(|number| confirmed(number, &format!("bk_{number}"))));
    deliver(&listening.url, &bodies);
    until("the others are forwarded", || app.count() == 37);
    let begun = Instant::now();
    let (_, summary) = lines(&listening.end());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert_eq!(summary["waiting"], 2);
}

#[test]
fn a_sandbox_is_told_the_address_and_gets_its_own_back() {
    let (_served, home) = Served::with_home();
    let set = |url: &str| {
        let setting = format!("webhook_url={url}");
        let set = ["sandbox", "organization", "-F", &setting];
        home.ok(set);
    };
    let app = "http://127.0.0.1:9/app";
    set(app);
    let listening = Listening::start(&home, &[]);
    assert_eq!(webhook_url(&home).as_deref(), Some(listening.url.as_str()));
    let id = home.booked("ven_confirms", &[], 0);
    let of_booking = format!("webhook events list --booking {id}");
    until("both came", || home.list(&of_booking).len() == 2);
    listening.signal("-TERM");
    until("its file goes", || !listening.is_ready());
    assert_eq!(lines(&listening.end()).1["received"], 2);
    assert_eq!(webhook_url(&home).as_deref(), Some(app));
    // What somebody sets meanwhile stays.
    let listening = Listening::start(&home, &["--expose", "0.0.0.0"]);
    assert!(listening.url.starts_with("http://127.0.0.1:"));
    set("http://127.0.0.1:9/new");
    listening.end().says("exposed on http://0.0.0.0:");
    let url = webhook_url(&home);
    assert_eq!(url.as_deref(), Some("http://127.0.0.1:9/new"));
}

#[test]
fn killed_and_unordered_listeners_leave_the_users_own_url() {
    let served = Served::unlimited();
    let [home, other] = [served.home(), served.home()];
    let own = "http://127.0.0.1:9/own";
    home.ok(["sandbox", "organization", "-F", &format!("webhook_url={own}")]);
    // Killed, and started again at another port.
    drop(Listening::start(&home, &[]));
    std::fs::remove_file(home.folder().join("ready")).unwrap();
    Listening::start(&home, &[]).end();
    assert_eq!(webhook_url(&home).as_deref(), Some(own));
    // Two, which end in any order, or are killed; then both killed, and a third.
    for (first_ends_first, kills) in [
        (true, [false; 2]),
        (false, [false; 2]),
        (true, [true, false]),
        (false, [true, false]),
        (true, [true; 2]),
    ] {
        let mut both = [Listening::start(&home, &[]), Listening::start(&other, &[])];
        if !first_ends_first {
            both.reverse();
        }
        for (listening, kill) in both.into_iter().zip(kills) {
            let _ = if kill { listening.kill() } else { listening.end() };
        }
        if kills == [true; 2] {
            Listening::start(&home, &[]).end();
        }
        let url = webhook_url(&home);
        assert_eq!(url.as_deref(), Some(own), "{first_ends_first} {kills:?}");
    }
}

/// What it writes is not read until it ends.
#[test]
fn a_listener_whose_log_is_not_read_takes_deliveries() {
    for flags in [&[][..], &["--verbose"]] {
        let home = home_without_a_service();
        let listening = Listening::start(&home, flags);
        let event = |number| " ".repeat(50_000) + &confirmed(number, "bk_1");
        deliver(&listening.url, &(0..20).map(event).collect::<Vec<_>>());
        let output = listening.end();
        let (_, summary) = lines(&output);
        assert_eq!(summary["received"], 20, "{summary}");
    }
}

#[test]
fn the_first_events_after_a_reset_reach_the_listener() {
    let (_served, home) = Served::unlimited_with_home();
    let listening = Listening::start(&home, &[]);
    home.ok(["sandbox", "reset"]);
    let id = home.booked("ven_confirms", &[], 0);
    let of_booking = format!("webhook events list --booking {id}");
    until("both came", || home.list(&of_booking).len() == 2);
    let output = listening.end();
    assert!(!output.stderr.contains("webhook URL was"), "{output}");
    assert_eq!(webhook_url(&home), None);
    home.ok(["sandbox", "reset"]);
    assert_eq!(webhook_url(&home), None);
}

/// What a killed listener left would pass for the next one's word, also where that one does not
/// come to listen.
#[test]
fn a_stale_ready_file_goes_before_anything_else() {
    let home = home_without_a_service().with("BOOKCTL_WEBHOOK_SECRET", "no\u{e9}secret");
    let file = home.folder().join("ready");
    std::fs::write(&file, "http://127.0.0.1:9/").unwrap();
    let listen = ["webhook", "listen", "--json", "--ready-file", "ready"];
    home.run(listen).refused(3, "config");
    assert!(!file.exists());
}

#[test]
fn what_was_kept_is_forwarded() {
    let home = home_without_a_service();
    let app = App::start(|_| 200);
    let listening = Listening::start(&home, &["--forward-to", &app.url]);
    for number in 0..150 {
        let mut courier = Courier::to(&listening.url).unwrap();
        let body = confirmed(number, &format!("bk_{number}"));
        courier.send(&body);
    }
    until("nothing waits any more", || {
        let rows = home.list("webhook events list --limit 0");
        !rows.is_empty() && rows.iter().all(|row| row["state"] == "delivered")
    });
}

#[test]
fn one_listener_a_service_and_no_loop() {
    let home = home_without_a_service();
    let listening = Listening::start(&home, &[]);
    let again = home.run(["webhook", "listen", "--port", "0", "--json"]);
    let error = again.refused(3, "config");
    has(&error, "message", "another `webhook listen`");
    listening.kill();
    let port = free_port().to_string();
    let itself = format!("http://localhost:{port}/");
    for arguments in
        [&["--port", &port, "--forward-to", &itself][..], &["--forward-to", "localhost:3000"]]
    {
        let listen = ["webhook", "listen", "--json"].iter().chain(arguments);
        home.run(listen).refused(2, "usage");
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_it() {
    let home = home_without_a_service();
    let port = free_port();
    let line = format!(
        "\"$BOOKCTL\" webhook listen --port {port} --json --ready-file up | head -1; rm -f up; echo over"
    );
    let mut child = shell(&home, &line);
    until("it listens", || home.folder().join("up").exists());
    deliver(&format!("http://127.0.0.1:{port}/"), &[confirmed(1, "bk_1")]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("evt_1"));
    assert_eq!(lines.next().unwrap().unwrap(), "over");
    assert!(child.wait().unwrap().success());
}

#[test]
fn terminal_listener_prints_a_line_for_each_event() {
    let home = Home::new();
    let app = App::start(|_| 200);
    let arguments = ["webhook", "listen", "--port", "0", "--forward-to", &app.url];
    let mut terminal = Terminal::of_width(&home, 80, &arguments);
    terminal.see("Ctrl-C");
    let mut book = vec!["book", "ven_otp", "--quiet", "--jq", ".id"];
    book.extend(GUEST);
    let id = home.run(book).exits(10).stdout.trim().to_owned();
    terminal.see("booking.created");
    terminal.see("booking.requires_action").see(&id);
    until("both are forwarded", || app.count() == 2);
    terminal.see("200 in");
    until("the listener's address is the organization's", || webhook_url(&home).is_some());
    terminal.press(Key::CtrlC).see("2 received");
    let ended = terminal.ends(0).says("2 forwarded, 0 failed attempts").fits();
    let of_event: Vec<&str> = ended.screen.lines().filter(|it| it.contains(&id)).collect();
    assert_eq!(of_event.len(), 2, "{}", ended.screen);
    let is_taken = |line: &&str| line.contains(" requires_action 200 in ");
    assert!(of_event.iter().all(is_taken), "{}", ended.screen);
    assert_eq!(webhook_url(&home), None);
}

#[test]
fn hostile_text_is_made_visible() {
    let home = home_without_a_service();
    let app = App::start(|_| 200);
    let port = free_port();
    let listen = format!("webhook listen --port {port} --forward-to {}", app.url);
    let listen: Vec<&str> = listen.split(' ').collect();
    let mut terminal = Terminal::of_width(&home, 80, &listen);
    terminal.see("Ctrl-C");
    let body = event("evt_1", "\\u001b[2Jkind", "bk_\\u202e1", "con\\nfirmed");
    deliver(&format!("http://127.0.0.1:{port}/"), &[body]);
    terminal.see(r"\u{1b}[2Jkind").see(r"bk_\u{202e}1");
    let ended = terminal.ctrl_c(0);
    assert!(!ended.raw.contains("\u{1b}[2J") && !ended.raw.contains('\u{202e}'));
}
