//! What a person sees and is asked before a booking is changed or cancelled.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};

use serde_json::{Value, json};

use crate::harness::{
    Home, Key, Reply, Request, Scripted, Served, Terminal, has, holds, text, words,
};

/// A home with a booking in three days at 18:00, and the booking's id.
fn in_three_days(home: &Home, venue: &str) -> String {
    let book = words(format!(
        "book {venue} --at 'in 3 days 18:00' --party 2 --name 'Ada Lovelace' --json"
    ));
    text(&home.ok(book).json(), "id")
}

/// A confirmed booking at a service that is no sandbox, and what it was asked.
fn live_service() -> Scripted {
    let booking = json!({
        "id": "bk_1", "status": "confirmed", "venue_id": "ven_1", "party_size": 2,
        "customer": {"name": "Ada Lovelace"}, "datetime": "2031-12-01T18:00:00+00:00",
        "seating_preference": "terrace",
    });
    Scripted::start(move |request| answer(request, &booking))
}

fn answer(request: &Request, booking: &Value) -> Reply {
    let mut booking = booking.clone();
    match (request.method.as_str(), request.path.as_str()) {
        (_, "/sandbox/clock") => Reply::json(404, &json!({"error": "no such path"})),
        (_, "/v1/availability/search") => Reply::json(200, &json!({"slots": []})),
        (_, "/v1/bookings/bk_1/modify") => {
            booking["datetime"] = request.json()["datetime"].clone();
            Reply::json(200, &booking)
        }
        (_, "/v1/bookings/bk_1/cancel") => {
            booking["status"] = json!("cancelled");
            Reply::json(200, &booking)
        }
        _ => Reply::json(200, &booking),
    }
}

fn writes(service: &Scripted) -> usize {
    let of_booking = |request: &&Request| request.is("POST", "/v1/bookings/bk_1/modify");
    let is_cancel = |request: &&Request| request.is("POST", "/v1/bookings/bk_1/cancel");
    let requests = service.requests();
    requests.iter().filter(of_booking).count() + requests.iter().filter(is_cancel).count()
}

/// "On a terminal, `modify` without an argument opens a list to pick from": and asks what to
/// change.
#[test]
fn change_not_named_is_asked_for_on_terminal() {
    let home = Home::new();
    let id = in_three_days(&home, "ven_confirms");
    let mut terminal = Terminal::start(&home, &["modify"]);
    terminal.accept("1 booking");
    terminal.see("❯ time").press(Key::Down);
    terminal.accept("❯ party size");
    terminal.answer("? New party size?", "4");
    terminal.accept("❯ done").see("(no)").type_in("y\r");
    terminal.ends(0);
    assert_eq!(home.booking(&id)["party_size"], 4);
    home.run(["modify", &id]).exits(2).says("pass --at, --party or --seating");
}

/// "a time without a day keeps the booking's day" (command line, Command tree)
#[test]
fn a_time_without_a_day_stays_on_the_bookings_own_day() {
    let served = Served::start();
    for zone in ["UTC", "America/Los_Angeles", "Australia/Sydney"] {
        let home = served.home().with("TZ", zone);
        let id = in_three_days(&home, "ven_confirms");
        let day = text(&home.booking(&id), "datetime")[..10].to_owned();
        let changed = home.run(["modify", &id, "--at", "20:00", "--json"]);
        let changed = changed.exits(0).json();
        assert!(text(&changed, "datetime").starts_with(&day), "{changed}");
        assert!(text(&changed, "datetime").contains("T20:00:00+00:00"));
    }
}

#[test]
fn a_dry_run_of_a_change_shows_the_very_request_that_is_sent() {
    let service = live_service();
    for zone in ["UTC", "America/Los_Angeles", "Australia/Sydney"] {
        let home = Home::pointing_to(service.base_url(), "sk_live_x").with("TZ", zone);
        for at in ["20:00", "2031-12-02 20:00", "2031-12-02T20:00:00+09:00"] {
            let modify = ["modify", "bk_1", "--at", at];
            let shown = home.run(modify.iter().chain(&["--dry-run", "--json"]));
            let before = writes(&service);
            let shown = shown.exits(0).json();
            home.ok(modify);
            assert_eq!(writes(&service), before + 1, "a dry run sends no change");
            let sent = service.requests().pop().unwrap();
            holds!(shown, {"body": sent.json(), "path": sent.path});
        }
    }
}

#[test]
fn time_whose_zone_nothing_knows_is_refused_with() {
    let booking = json!({
        "id": "bk_1", "status": "confirmed", "venue_id": "ven_1", "party_size": 2,
        "datetime": "2031-12-01T02:00:00Z",
    });
    let (service, home) = Scripted::with_home(move |request| answer(request, &booking));
    for more in [&["--dry-run"][..], &[]] {
        for at in ["20:00", "2031-12-02 20:00"] {
            let modify = ["modify", "bk_1", "--json", "--at", at];
            let error = home.run(modify.iter().chain(more)).refused(2, "usage");
            has(&error, "hint", "--tz");
        }
        let zoned = "modify bk_1 --at 20:00 --tz America/New_York";
        let zoned = format!("{zoned} {}", more.join(" "));
        let output = home.ok(words(&zoned));
        assert_eq!(output.stderr.matches("error").count(), 0, "{output}");
    }
    let sent = service.requests().pop().unwrap();
    assert_eq!(sent.json()["datetime"], "2031-11-30T20:00:00-05:00");
}

/// A slot in UTC does not show the venue's clock either.
#[test]
fn a_new_time_beside_slots_in_utc_is_on_the_bookings_own_clock() {
    let service = service_with_slots(json!([
        {"availability_id": "a", "datetime": "2031-12-01T20:00:00Z"},
    ]));
    let home = Home::pointing_to(service.base_url(), "sk_live_x").with("TZ", "Asia/Tokyo");
    let modify = ["modify", "bk_1", "--json", "--at", "2031-12-02 20:00"];
    // The booking's own time shows it here.
    home.ok(modify);
    assert_eq!(writes(&service), 1);
    let sent = service.requests().into_iter();
    let mut sent = sent.filter(|it| it.path.ends_with("/modify"));
    let sent = sent.next().unwrap().json();
    assert_eq!(sent["datetime"], "2031-12-02T20:00:00+00:00");
}

#[test]
fn a_weekday_is_the_one_nearest_to_the_booking() {
    let booking = json!({
        "id": "bk_1", "status": "confirmed", "venue_id": "ven_1", "party_size": 2,
        "customer": {"name": "Ada Lovelace"}, "datetime": "2031-12-21T19:30:00+01:00",
    });
    let (_service, home) = Scripted::with_home(move |request| answer(request, &booking));
    // 21 December 2031 is a Sunday.
    for (at, sent) in [
        ("sat 20:00", "2031-12-20T20:00:00+01:00"),
        ("wed 20:00", "2031-12-24T20:00:00+01:00"),
        ("thu 20:00", "2031-12-18T20:00:00+01:00"),
        ("sun 20:00", "2031-12-21T20:00:00+01:00"),
    ] {
        let modify = ["modify", "bk_1", "--at", at, "--dry-run", "--json"];
        let shown = home.ok(modify).json();
        assert_eq!(shown["body"]["datetime"], sent, "{at}");
    }
}

/// "A live profile names itself before anything is booked, modified or cancelled." (command line)
#[test]
fn a_real_service_is_named_and_changes_nothing_by_enter_alone() {
    let (service, home) = live_service().beside_home();
    for (arguments, question) in [
        (&["modify", "bk_1", "--at", "20:00"][..], "Change this booking?"),
        (&["cancel", "bk_1", "-q"][..], "Cancel this booking?"),
    ] {
        let mut terminal = Terminal::start(&home, arguments);
        terminal.see(service.base_url()).see("not known");
        terminal.see(question);
        terminal.press(Key::Enter);
        terminal.ends(17);
    }
    assert_eq!(writes(&service), 0);
    home.ok(["cancel", "bk_1", "--yes"]).says(service.base_url());
}

/// A confirmed booking at 20:00 that says nothing of terms, at a venue that offers these slots.
fn service_with_slots(slots: Value) -> Scripted {
    let booking = json!({
        "id": "bk_1", "status": "confirmed", "venue_id": "ven_1", "party_size": 2,
        "customer": {"name": "Ada Lovelace"}, "datetime": "2031-12-01T20:00:00+00:00",
    });
    Scripted::start(move |request| match request.path.as_str() {
        "/v1/availability/search" => Reply::json(200, &json!({"slots": slots})),
        _ => answer(request, &booking),
    })
}

#[test]
fn a_change_that_changes_nothing_is_not_sent() {
    let (service, home) = live_service().beside_home();
    for same in [
        &["--at", "18:00"][..],
        &["--at", "2031-12-01T19:00:00+01:00"],
        &["--party", "2"],
        &["--at", "2031-12-01 18:00", "--party", "2"],
    ] {
        let modify = [&["modify", "bk_1"], same].concat();
        let shown = home.ok(modify.iter().chain(&["--json"]));
        assert_eq!(shown.json()["id"], "bk_1");
        shown.says("Nothing to change");
    }
    assert_eq!(writes(&service), 0);
    home.run(["modify", "bk_1", "--party", "3"]).exits(7);
    assert_eq!(writes(&service), 1, "one thing that differs is sent");
    home.ok(["modify", "bk_1", "-F", "note=null"]);
    for (flag, value, what) in [
        ("--seating", "", "seating_preference is terrace, not empty"),
        ("-F", "party_size=null", "party_size is 2, not empty"),
        ("-F", "tags[]=window", "does not show its tags"),
    ] {
        home.run(["modify", "bk_1", flag, value]).exits(7).says(what);
    }
    assert_eq!(writes(&service), 5, "what is not shown is sent");
}

/// Answers on a connection for as long as it is used, and tells each request with its place there.
fn answer_each(stream: TcpStream, seen: &Sender<(String, usize)>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let booking = r#"{"id": "bk_1", "status": "confirmed", "party_size": 3, "datetime": "2031-12-01T18:00:00Z"}"#;
    for place in 0.. {
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        if let Some((_, rest)) = head.to_lowercase().split_once("content-length: ") {
            length = rest.lines().next().unwrap().parse().unwrap();
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        seen.send((head.lines().next().unwrap().to_owned(), place)).unwrap();
        let head = format!("Content-Type: application/json\r\nContent-Length: {}", booking.len());
        write!(&stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n{booking}").unwrap();
    }
}

/// A service may close a used connection at any moment, and nobody would know what was done.
#[test]
fn a_change_is_never_sent_on_a_used_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}", listener.local_addr().unwrap());
    let (seen, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let seen = seen.clone();
            std::thread::spawn(move || answer_each(stream.unwrap(), &seen));
        }
    });
    let home = Home::pointing_to(&base_url, "sk_live_x");
    home.run(["modify", "bk_1", "--party", "2", "--json", "--yes"]);
    home.run(["cancel", "bk_1", "--json", "--yes"]);
    let requests: Vec<_> = requests.try_iter().collect();
    let writes = requests.iter().filter(|(line, _)| {
        line.starts_with("POST /v1/bookings/bk_1/modify") || line.contains("/cancel")
    });
    let places: Vec<_> = writes.map(|(_, place)| *place).collect();
    assert_eq!(places, [0, 0], "{requests:?}");
    assert!(requests.iter().any(|(_, place)| *place > 0), "{requests:?}");
}
