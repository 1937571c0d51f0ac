//! What a person writes for a time, whose clock it is read from, and what of it travels.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};

use crate::harness::{
    GUEST, Home, Key, Reply, Request, Scripted, Served, Terminal, has, text, words,
};

/// The sandbox's own now.
fn now(home: &Home) -> Timestamp {
    let clock = home.json("sandbox clock");
    text(&clock, "now").parse().unwrap()
}

/// Moves the sandbox's clock to the next noon in UTC, so that no test runs across midnight.
fn at_noon(home: &Home) -> Zoned {
    let zoned = now(home).to_zoned(TimeZone::UTC);
    let noon = zoned.tomorrow().unwrap().with().hour(12).minute(0).second(0).subsec_nanosecond(0);
    let noon = noon.build().unwrap();
    let seconds = noon.timestamp().duration_since(zoned.timestamp()).as_secs() + 1;
    home.advance(&format!("{seconds}s"));
    noon
}

/// The time that would be sent for `--at`, as `--dry-run` shows it.
fn meant(home: &Home, at: &str) -> String {
    let request = home.json(&format!(
        "book ven_confirms --slot slot_of_another_list --dry-run --tz UTC --at '{at}' --party 2 --name 'Ada L'"
    ));
    text(&request["body"], "datetime")
}

/// "`WHEN` (relative to the sandbox's clock where the sandbox is embedded): RFC 3339, `2026-12-01
/// 19:30`, `19:30`, `today|tomorrow 19:30`, `fri 8pm`, `in 3 days 19:30`." (command line, Command
/// tree)
#[test]
fn a_time_is_read_by_the_sandboxs_clock() {
    let home = Home::new();
    home.advance("240h");
    let noon = at_noon(&home);
    let (today, tomorrow) = (noon.date(), noon.date().tomorrow().unwrap());
    for (at, expected) in [
        ("19:30", format!("{today}T19:30:00+00:00")),
        ("Tomorrow 7:30pm", format!("{tomorrow}T19:30:00+00:00")),
        ("2031-12-01 19:30", "2031-12-01T19:30:00+00:00".to_owned()),
    ] {
        assert_eq!(meant(&home, at), expected, "{at}");
    }
}

fn search(home: &Home, place: &str) -> Value {
    let search = words(format!("search dining --near '{place}' --at 'tomorrow 19:30' --json"));
    home.ok(search).json()
}

/// A venue near that place, one of its slots tomorrow, and its provider.
fn slot_near(home: &Home, place: &str) -> (String, Value, String) {
    let venues = search(home, place);
    for venue in venues["venues"].as_array().unwrap() {
        let id = text(venue, "venue_id");
        let mut slots = vec!["slots", &id, "--at", "tomorrow 19:30", "--json"];
        if let Some(provider) = venue["providers"][0].as_str() {
            slots.extend(["--provider", provider]);
        }
        let slots = home.ok(slots).json();
        if let Some(slot) = slots["slots"].as_array().unwrap().last() {
            return (id, slot.clone(), text(&slots, "provider"));
        }
    }
    panic!("no venue near {place} offers anything")
}

/// "Without an offset it is the venue's local time where a venue is known, else `--tz`, else the
/// system's zone."
#[test]
fn a_bare_time_is_read_from_the_clock_of_the_remembered_venue() {
    for (place, zone) in
        [("London", "Europe/London"), ("Tokyo", "Asia/Tokyo"), ("New York", "America/New_York")]
    {
        let home = Home::new().with("TZ", "Pacific/Auckland");
        let (venue, slot, provider) = slot_near(&home, place);
        let offered = text(&slot, "datetime");
        let local = offered[..16].replace('T', " ");
        let instant: Timestamp = offered.parse().unwrap();
        let there = instant.to_zoned(TimeZone::get(zone).unwrap());
        assert_eq!(
            there.strftime("%Y-%m-%d %H:%M").to_string(),
            local,
            "slots are in the venue's zone"
        );

        // Neither the system's zone nor --tz has a say where the venue's is known.
        for more in ["", "--tz UTC"] {
            let book = "--party 2 --name 'Ada L' --dry-run --json";
            let output = home.run(words(format!(
                "book {venue} --provider {provider} --at '{local}' {book} {more}"
            )));
            let output = output.exits(0);
            let request = output.json();
            let sent: Timestamp = text(&request["body"], "datetime").parse().unwrap();
            assert_eq!(sent, instant, "{place} {more}");
        }
    }
}

/// "`--dry-run` may read (the venue's slots)" (command line, Output 5): the time, the slot and the
/// provider are those that are sent.
#[test]
fn dry_run_shows_slot_booked_in_whichever_zone_this_computer_is() {
    for zone in ["Europe/Berlin", "Asia/Kathmandu", "America/Los_Angeles"] {
        let home = Home::new().with("TZ", zone);
        let shown = home.book("ven_confirms", &["--dry-run"]).exits(0).json();
        let booking = home.book("ven_confirms", &[]).exits(0).json();
        let shown = &shown["body"];
        for field in ["datetime", "provider", "venue_id", "party_size"] {
            assert_eq!(shown[field], booking[field], "{zone}: {shown}");
        }
        assert!(shown["availability_id"].is_string(), "{shown}");
        // It refuses as the command does.
        let closed = ["--at", "tomorrow 03:00", "--party", "2", "--name", "Ada L"];
        let book = ["book", "ven_confirms", "--json", "--dry-run"];
        home.run(book.iter().chain(&closed)).refused(7, "no_slot");
    }
}

/// A service whose slots, at 17:30 and 19:30 UTC, have no offset of the venue.
fn service_without_zones(datetimes: [Value; 2]) -> Scripted {
    Scripted::start(move |request| match request.path.as_str() {
        "/v1/availability/search" => {
            let slots = datetimes.iter().enumerate();
            let slots = slots.map(|(row, at)| json!({"availability_id": row, "datetime": at}));
            Reply::json(200, &json!({"slots": slots.collect::<Vec<_>>()}))
        }
        _ => {
            let mut booking = request.json();
            booking["id"] = "bk_1".into();
            booking["status"] = "confirmed".into();
            Reply::json(201, &booking)
        }
    })
}

#[test]
fn time_is_refused_if_neither_search_nor_slot_shows_venues_zone() {
    for datetimes in [
        [json!("2031-12-01T17:30:00Z"), json!("2031-12-01T19:30:00Z")],
        [json!(1_953_912_600), json!(1_953_919_800)],
    ] {
        let (service, home) = service_without_zones(datetimes.clone()).beside_home();
        let at = ["--at", "2031-12-01 19:30"];
        let book = ["book", "702", "--party", "2", "--name", "Ada Lovelace"];
        for more in [&[][..], &["--dry-run"], &["--slot", "unseen"]] {
            let arguments = book.iter().chain(&at).chain(more).chain(&["--json"]);
            let error = home.run(arguments).refused(2, "usage");
            has(&error, "hint", "--tz");
        }
        let writes = |it: &&Request| it.path == "/v1/bookings";
        assert_eq!(service.requests().iter().filter(writes).count(), 0);
        // A person chooses one of the slots, and is told why.
        let mut terminal = Terminal::start(&home, &[&book[..], &at].concat());
        terminal.see("warning: the venue's time zone is not known");
        terminal.see("Which slot");
        terminal.press(Key::Esc);
        terminal.ends(17);
        let athens = ["--tz", "Europe/Athens", "--json"];
        home.ok(book.iter().chain(&at).chain(&athens));
        let sent = service.requests().pop().unwrap();
        assert_eq!(sent.json()["datetime"], datetimes[0], "17:30 UTC");
    }
    // On the venue's clock a date is enough, and "tomorrow" is the computer's.
    let local = ["2031-12-01T19:30:00", "2031-12-01T20:30:00"].map(Value::from);
    let (_service, home) = service_without_zones(local).beside_home();
    let book = "book 702 --party 2 --name 'Ada Lovelace' --json --at";
    let refused = home.run(words(format!("{book} 'tomorrow 19:30'")));
    has(&refused.refused(2, "usage"), "hint", "--tz");
    home.ok(words(format!("{book} '2031-12-01 19:30'")));
    // Slots on both sides of a change of the clock show no zone on that day.
    let sides = ["2031-03-30T01:30:00+01:00", "2031-03-30T03:30:00+02:00"].map(Value::from);
    let (_service, home) = service_without_zones(sides).beside_home();
    let row = r#"{"venue_id":"702","datetime":"2031-03-30 02:30","party_size":2,"customer":{"name":"Ada"}}"#;
    let batch = home.feed(words("batch - --json"), row);
    for refused in [home.run(words(format!("{book} '2031-03-30 02:30'"))), batch] {
        has(&refused.refused(2, "usage"), "hint", "--tz");
    }
}

#[test]
fn zone_from_command_line_is_used_where_venues_is_not_known() {
    let home = Home::new();
    let book = |zone: &str| {
        home.run(words(format!(
            "book ven_confirms --json --at 'tomorrow 21:30' --tz {zone} --party 2 --name 'Ada Lovelace'"
        )))
    };
    for (zone, hour) in [("+03:00", "T18:30:00"), ("UTC", "T21:30:00"), ("Asia/Kolkata", "")] {
        let output = book(zone);
        if hour.is_empty() {
            // 21:30 in Kolkata is 16:00 in UTC, before the first slot.
            output.refused(7, "no_slot");
        } else {
            let booking = output.exits(0).json();
            has(&booking, "datetime", hour);
        }
    }
    book("Mars/Olympus").refused(2, "usage");
}

#[test]
fn a_search_reads_a_bare_time_from_the_flag_or_the_systems_zone() {
    let server = Scripted::start(|_| Reply::json(200, &json!({"venues": []})));
    let home = Home::pointing_to(server.base_url(), "sk_live_x").with("TZ", "Asia/Tokyo");
    let search = "search dining --near x --at '2031-12-01 19:30' --json";
    home.ok(words(search));
    home.ok(words(format!("{search} --tz America/New_York")));
    let sent: Vec<Timestamp> = server
        .requests()
        .iter()
        .map(|request| text(&request.json(), "datetime").parse().unwrap())
        .collect();
    let expected = ["2031-12-01T19:30:00+09:00", "2031-12-01T19:30:00-05:00"];
    assert_eq!(sent, expected.map(|time| time.parse::<Timestamp>().unwrap()));
}

/// "A slot's `datetime` is sent back byte for byte as it was offered." (command line, Command tree)
#[test]
fn slot_spelled_unusually_is_found_by_its_moment() {
    for offered in [
        "2031-12-01T19:30:00.000+01:00",
        "2031-12-01T18:30:00Z",
        "2031-12-02T00:15:00+05:45",
        "2031-12-01T18:30:00-00:00",
    ] {
        let slot = json!({"availability_id": "slot_1", "datetime": offered});
        let slots = json!({"slots": [slot], "provider": "provider_a"});
        let (server, home) = Scripted::with_home(move |request| match request.path.as_str() {
            "/v1/bookings" => Reply::json(201, &crate::faults::confirmed()),
            _ => Reply::json(200, &slots),
        });
        let book = ["book", "ven_1", "--at", "2031-12-01T20:30:00+02:00"];
        home.ok(book.iter().chain(&GUEST[2..]));
        assert_eq!(server.creates()[0].json()["datetime"], json!(offered));
    }
}

/// "Without an offset it is the venue's local time where a venue is known" (command line): a slot
/// shows the venue's offset.
#[test]
fn time_beside_slot_is_on_slots_own_clock() {
    let served = Served::start();
    let search = ["search", "dining", "--near", "London", "--json"];
    served.home().ok(search);
    // Another computer, which has not seen the venue.
    let home = served.home();
    let venue = "ven_london_copper_kettle";
    let slots = ["slots", venue, "--at", "2038-07-01 12:00", "--json"];
    let slots = home.ok(slots).json();
    let slot = &slots["slots"][1];
    let offered = text(slot, "datetime");
    assert!(offered.ends_with("+01:00"), "{offered}");
    let local = offered[..16].replace('T', " ");
    let id = text(slot, "availability_id");
    let guest = "--party 2 --name 'Ada Lovelace'";
    let book = format!("book {venue} --slot {id} --at '{local}' {guest}");
    let preview = home.json(&format!("{book} --dry-run"));
    assert_eq!(preview["body"]["datetime"], offered.as_str());
    let booked = home.json(&book);
    assert_eq!(booked["datetime"], offered.as_str());
    let elsewhen = home.run(words(book.replace(&local, "2038-07-02 12:00")));
    elsewhen.exits(2).says("which is not the time to book");
}
