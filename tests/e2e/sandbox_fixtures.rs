//! Venues and bookings of one's own: `sandbox load`, and `--fixtures` of `serve` and `run`.

use serde_json::{Value, json};

use crate::harness::{Home, Output, Served, each, holds, text};

/// A venue with one table at each hour of the evening.
const SMALL: &str = r#"
[[venues]]
venue_id = "ven_small"
name = "The Small One"
vertical = "dining"
provider = "provider_a"
city = "Bath"
latitude = 51.38
longitude = -2.36
timezone = "Europe/London"
slots = { from = "18:00", to = "21:00", every_minutes = 60, capacity = 1, seating = ["window"] }
"#;

fn load(home: &Home, file: &str) -> Value {
    let output = home.feed(["sandbox", "load", "-", "--json"], file);
    output.exits(0).json()
}

/// A search at 19:00 tomorrow.
fn search(home: &Home, vertical: &str, place: &[&str]) -> Output {
    let search = ["search", vertical, "--at", "tomorrow 19:00", "--json"];
    home.run(search.iter().chain(place))
}

fn venues_near(home: &Home, place: &[&str]) -> Vec<String> {
    let found = search(home, "dining", place).exits(0).json();
    each(&found["venues"], "venue_id")
}

fn slots(home: &Home, venue: &str, at: &str) -> Output {
    home.run(["slots", venue, "--at", at, "--party", "2", "--json"])
}

fn book(home: &Home, venue: &str, at: &str, more: &[&str]) -> Output {
    let book = ["book", venue, "--at", at, "--party", "2", "--json"];
    let guest = ["--name", "Ada Lovelace"];
    home.run(book.iter().chain(&guest).chain(more))
}

/// "`load --example` prints one that works" (sandbox tools)
#[test]
fn example_loads_and_its_venues_are_found_offered() {
    let home = Home::new();
    let example = home.ok(["sandbox", "load", "--example"]).stdout;
    let example = example.replace("2026", "2037");
    let json = ["sandbox", "load", "--example", "--json"];
    let json = home.ok(json).stdout;
    assert_eq!(load(&home, &json)["venues"].as_array().unwrap().len(), 2);
    let loaded = load(&home, &example);
    assert_eq!(loaded["venues"], json!(["ven_old_mill", "ven_bath_spin"]));
    let rows = home.feed(["sandbox", "load", "-"], &example).exits(0);
    let row = "bk_0000000000001\trequires_action\t";
    rows.shows(row);
    rows.says("2 venues loaded");
    let waits = &loaded["bookings"][0];
    holds!(waits, {"id": "bk_0000000000001", "venue_name": "Bath Spin Club"});
    // The code of the booking that waits is in the inbox.
    let code = home.code();
    home.ok(["continue", "bk_0000000000001", "--otp", &code, "--json"]);

    assert_eq!(venues_near(&home, &["--near", "Bath, UK"]), ["ven_old_mill"]);
    for point in [&["--near", "51.4,-2.3"][..], &["--lat", "51.4", "--lon", "-2.3"]] {
        assert_eq!(venues_near(&home, point), ["ven_old_mill"]);
    }
    let found = search(&home, "fitness", &["--near", "Bath"]).exits(0);
    let providers = json!(["provider_b", "provider_c"]);
    assert_eq!(found.json()["venues"][0]["providers"], providers);

    let offered = |day: &str| {
        let slots = slots(&home, "ven_old_mill", day).exits(0).json();
        slots["slots"].as_array().unwrap().clone()
    };
    // Ten years of Christmas are closed no more than one, and Mondays always.
    assert_eq!(offered("2037-12-25 19:00"), Vec::<Value>::new());
    assert_eq!(offered("2037-12-28 19:00"), Vec::<Value>::new());
    let offered = offered("2037-12-26 19:00");
    assert_eq!(offered.len(), 16, "{offered:?}");
    let first = &offered[0];
    holds!(first, {"datetime": "2037-12-26T18:00:00+00:00", "seating": "indoor"});
    let terms = &first["cancellation_terms"];
    holds!(terms, {"fee_amount": 2000, "free_until": "2037-12-25T18:00:00+00:00"});

    let at = "2037-12-26 20:00";
    let booked = book(&home, "ven_old_mill", at, &[]).exits(0).json();
    holds!(booked, {"venue_name": "The Old Mill", "status": "confirmed"});
    let other = ["--provider", "provider_c"];
    let paused = book(&home, "ven_bath_spin", at, &other).exits(10).json();
    assert_eq!(paused["next_action"]["type"], "otp");
}

#[test]
fn slot_holds_as_many_bookings_as_its_capacity_says() {
    let home = Home::new();
    let table = "[[bookings]]\nvenue_id = 'ven_small'\ndatetime = '+1d 19:00'\nparty_size = 2\n\
                 customer = { name = 'Grace Hopper' }\n";
    load(&home, &format!("{SMALL}{table}"));
    let slots = slots(&home, "ven_small", "tomorrow 19:00").exits(0).json();
    let times: Vec<&str> = slots["slots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["datetime"].as_str().unwrap()[11..16])
        .collect();
    assert_eq!(times, ["18:00", "20:00", "21:00"]);
    let book = |hour: &str| book(&home, "ven_small", &format!("tomorrow {hour}"), &[]);
    let booked = book("20:00").exits(0).json();
    assert_eq!(booked["seating_preference"], "window");
    book("20:00").refused(7, "no_slot");
    // The one that was booked can be moved to a table that is free, and not to the one that is
    // taken.
    let id = text(&booked, "id");
    home.ok(["modify", &id, "--at", "21:00", "--yes", "--json"]);
    home.run(["modify", &id, "--at", "19:00", "--yes", "--json"]).exits(7);
}

#[test]
fn loading_twice_repeats_nothing_and_reset_removes_everything() {
    let (home, made_before) = Home::with_booking("ven_confirms", 0);
    let example = home.ok(["sandbox", "load", "--example"]).stdout;
    let example = example.replace("2026", "2037");
    let (first, second) = (load(&home, &example), load(&home, &example));
    assert_eq!(first["venues"], second["venues"]);
    let ids = |loaded: &Value| each(&loaded["bookings"], "id");
    assert_eq!(ids(&first), ids(&second));
    let all = || each(&home.json("sandbox bookings")["bookings"], "id");
    assert_eq!((all().len(), &all()[0]), (3, &made_before));
    assert_eq!(home.list("sandbox inbox").len(), 1);
    let events = ["api", "GET", "/sandbox/bookings/bk_0000000000001/events"];
    let events = home.ok(events).json();
    let kinds: Vec<String> = each(&events["events"], "type");
    assert_eq!(kinds, ["booking.created", "booking.requires_action"]);
    // A venue of the same id takes the place of the earlier one.
    load(&home, &example.replace("The Old Mill", "The New Mill"));
    let mill = || slots(&home, "ven_old_mill", "2037-12-26 19:00");
    mill().exits(0);
    home.ok(["sandbox", "reset"]);
    assert_eq!(all().len(), 0);
    mill().refused(6, "http_404");
}

#[test]
fn mistake_is_told_with_its_line_and_field() {
    let home = Home::new();
    let path = home.folder().join("mine.toml");
    let file = path.to_str().unwrap();
    let booking = "\n[[bookings]]\nvenue_id = 'ven_nowhere'\ndatetime = '+1d 19:00'\nparty_size = 2\n\
                   customer = { name = 'Ada Lovelace' }\n";
    let at_nowhere = format!("{SMALL}{booking}");
    let soon = at_nowhere.replace("+1d 19:00", "soon");
    #[rustfmt::skip]
    let cases = [
        (SMALL.replace("name =", "nmae ="), "mine.toml, line 4: venues[0].nmae is not understood: unknown field"),
        (SMALL.replace("capacity = 1", "capacity = 0"), "line 11: venues[0].slots.capacity must be 1 to 100000"),
        (soon, "line 15: bookings[0].datetime is not understood: it must be a time such as "),
        (at_nowhere, "line 14: bookings[0].venue_id is that of no venue"),
    ];
    for (toml, said) in cases {
        std::fs::write(&path, &toml).unwrap();
        let load = ["sandbox", "load", file, "--json"];
        let message = text(&home.run(load).refused(2, "usage"), "message");
        assert!(message.contains(said), "{message}");
        assert!(message.ends_with("; nothing was loaded"), "{message}");
    }
    let path = file;
    for server in [&["serve", "--ephemeral", "--port", "0"][..], &["run"]] {
        let mut words = vec!["sandbox"];
        words.extend(server);
        words.extend(["--fixtures", path]);
        if server[0] == "run" {
            words.extend(["--", "true"]);
        }
        home.run(words).exits(2).says("is that of no venue; nothing was loaded");
    }
    let json = "{\n\"venues\": [],\n\"booking\": []\n}";
    let one = home.feed(["sandbox", "load", "-", "--json"], json).refused(2, "usage");
    let message = "standard input, line 3: booking is not understood: unknown field `booking`, expected `venues` or \
                   `bookings`; nothing was loaded";
    assert_eq!(one["message"], message);
    let near = ["--near", "Bath"];
    search(&home, "dining", &near).refused(12, "http_400");
}

/// "`bookctl sandbox serve|run --fixtures FILE`" (sandbox tools)
#[test]
fn server_starts_with_fixtures_and_each_organization_has_own() {
    let home = Home::new();
    let path = home.folder().join("mine.toml");
    std::fs::write(&path, SMALL).unwrap();
    let path = path.to_str().unwrap();
    let server = Served::with(&home, &["--fixtures", path]);
    let client = server.home();
    assert_eq!(venues_near(&client, &["--near", "Bath"]), ["ven_small"]);
    let (_, added) = server.send("POST", "/sandbox/organizations", &[], "");
    let (id, key) = (text(&added, "id"), text(&added["keys"], "live"));
    let other = server.home_with(&key);
    let near = ["--near", "Bath"];
    search(&other, "dining", &near).refused(12, "http_400");
    let renamed = SMALL.replace("The Small One", "The Other One");
    let command = ["sandbox", "load", "-", "--organization", &id, "--json"];
    let loaded = client.feed(command, &renamed).exits(0).json();
    assert_eq!(loaded["organization"], id.as_str());
    let name = |home: &Home| {
        let found = search(home, "dining", &near).exits(0).json();
        text(&found["venues"][0], "name")
    };
    assert_eq!(name(&client), "The Small One");
    assert_eq!(name(&other), "The Other One");
    // Each has its own table.
    for home in [&client, &other] {
        let booked = book(home, "ven_small", "tomorrow 19:00", &[]);
        assert_eq!(booked.exits(0).json()["status"], "confirmed");
    }
    drop(server);
    // It keeps them in its file.
    assert_eq!(venues_near(&home, &["--near", "Bath"]), ["ven_small"]);
    let own = env!("CARGO_BIN_EXE_bookctl");
    let run = ["sandbox", "run", "--quiet", "--fixtures", path, "--", own];
    let slots = ["slots", "ven_small", "--at", "tomorrow 19:00", "--json"];
    let offered = home.ok(run.iter().chain(&slots)).json();
    assert_eq!(offered["venue_id"], "ven_small");
}

/// "A `datetime` may be relative to the sandbox's clock" (sandbox tools)
#[test]
fn relative_time_follows_sandboxs_clock() {
    let home = Home::new();
    home.advance("10d");
    let booking = "[[bookings]]\nvenue_id = 'ven_small'\ndatetime = '+1d 19:00'\nparty_size = 2\n\
                   customer = { name = 'Grace Hopper' }\nstatus = 'requires_action'\n";
    let loaded = load(&home, &format!("{SMALL}{booking}"));
    let clock = home.json("sandbox clock");
    let now: jiff::Timestamp = text(&clock, "now").parse().unwrap();
    let local = now.in_tz("Europe/London").unwrap();
    let expected = local.date().tomorrow().unwrap().at(19, 0, 0, 0);
    let booking = &loaded["bookings"][0];
    assert!(text(booking, "datetime").starts_with(&expected.to_string()), "{booking}");
    // It expires as one that was booked does.
    home.advance("21m");
    assert_eq!(home.booking(&text(booking, "id"))["status"], "expired");
}

/// What is too large is refused before it is read: it took 2.6 GB to say so of 400,000 venues.
#[test]
fn fixtures_of_more_than_a_megabyte_are_refused_in_one_sentence() {
    let venues =
        |count: usize| json!({"venues": vec![json!({"venue_id": "ven_x"}); count]}).to_string();
    let home = Home::new();
    let large = venues(400_000);
    let error = home.feed(["sandbox", "load", "-", "--json"], &large).refused(2, "usage");
    let message = "standard input has more than 1 MB; nothing was loaded";
    assert_eq!(text(&error, "message"), message);
    let served = Served::start();
    let (status, refused) = served.send("POST", "/sandbox/fixtures", &[], &large);
    assert_eq!(status, 413, "{refused}");
}
