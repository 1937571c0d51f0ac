//! One comparison: whichever way a booking was asked for, what the response shows otherwise is
//! judged alike.

use serde_json::{Map, Value, json};

use crate::harness::{Home, Reply, Request, Scripted, has, holds, text, words};

pub(crate) const AT: &str = "2031-12-05T19:30:00+01:00";

/// A booking as it was asked for, with what the service shows otherwise; `null` takes a field away.
pub(crate) fn booking(more: &Value) -> Value {
    let mut booking = json!({
        "id": "bk_1", "object": "booking", "status": "confirmed", "provider": "a", "venue_id": "ven_1",
        "datetime": AT, "party_size": 2, "customer": {"name": "Ada Lovelace", "email": "ada@x.example"}, "end_user": "u_ada",
        "payment_collection": "vendor_external", "seating_preference": "terrace", "children": 2,
    });
    for (name, value) in more.as_object().unwrap() {
        booking[name] = value.clone();
    }
    let fields = booking.as_object().unwrap().clone();
    Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
}

pub(crate) fn home(server: &Scripted) -> Home {
    Home::new()
        .with_profile("acme", server.base_url(), "")
        .with("BOOKCTL_API_KEY", "sk_test_judged_0001")
}

pub(crate) fn served(script: impl Fn(&Request) -> Reply + Send + 'static) -> (Scripted, Home) {
    let server = Scripted::start(script);
    let home = home(&server);
    (server, home)
}

pub(crate) fn book() -> Vec<String> {
    words(format!(
        "book ven_1 --slot s --at {AT} --party 2 --name 'Ada Lovelace' --email ada@x.example --provider a --end-user u_ada --payment vendor \
         -F seating_preference=terrace -F children=2 --yes --json --idempotency-key k"
    ))
}

fn row() -> String {
    let mut row = booking(
        &json!({"id": null, "object": null, "status": null, "seating_preference": null, "children": null}),
    );
    (row["availability_id"], row["idempotency_key"]) = ("s".into(), "k".into());
    row.to_string()
}

const BATCH: [&str; 5] = ["batch", "-", "--name", "b", "--json"];

/// The exit code of each way to a booking that is always shown so, at a service of its own. The
/// row's line has it, too.
#[track_caller]
fn ends_everywhere(shown: &Value, exit: i32) {
    let serve = || {
        let shown = booking(shown);
        Scripted::start(move |request| {
            Reply::json(if request.method == "POST" { 201 } else { 200 }, &shown)
        })
    };
    let server = serve();
    let home = home(&server);
    for command in [book(), book(), words("attempts resume k --json")] {
        let output = home.run(&command);
        assert_eq!(output.code, Some(exit), "{shown} {command:?}: {output}");
    }
    let server = serve();
    let home = self::home(&server);
    for more in [&[][..], &[], &["--results"]] {
        let output = home.feed([&BATCH[..], more].concat(), &row());
        let line: Value = serde_json::from_str(output.stdout.lines().next().unwrap()).unwrap();
        assert_eq!(line["exit_code"], exit, "{shown} {more:?}: {output}");
        assert_eq!(output.code, Some(if exit == 0 { 0 } else { 18 }), "{shown} {more:?}: {output}");
    }
    let is_another = shown.get("venue_id").or(shown.get("customer")).is_some();
    assert!(is_another || server.creates().len() == 1, "{shown}: its booking is read");
}

#[test]
fn time_in_any_form_is_judged_alike_everywhere() {
    for (time, exit) in [
        (json!("2031-12-05T18:30:00Z"), 0),
        (json!("2031-12-05T19:30:00"), 0),
        (json!(1_954_261_800), 0),
        (json!("1954261800000"), 0),
        (json!("Fri, 05 Dec 2031 19:30:00 +0100"), 0),
        (json!("Fri, 05 Dec 2031 18:30:00 GMT"), 0),
        (json!("2031-12-05 7:30 PM"), 0),
        (json!("2031-12-06 8:30 PM"), 16),
        (json!("Sat, 06 Dec 2031 20:30:00 +0100"), 16),
        (json!("2031-12-05T18:30:00"), 16),
        (json!("06/12/2031 20:30"), 16),
        (json!("9 March 2035 20:30"), 16),
        (json!("2031-12-05T24:00:00+01:00"), 16),
        (json!("2031-12-05"), 16),
        (json!({"start": AT}), 16),
        (json!(null), 0),
    ] {
        ends_everywhere(&json!({ "datetime": time }), exit);
    }
}

#[test]
fn other_fields_are_judged_alike_everywhere() {
    for (shown, exit) in [
        (json!({"provider": "b"}), 16),
        (json!({"provider": {"id": "b"}}), 16),
        (json!({"end_user": "u_eve"}), 16),
        (json!({"customer": [{"name": "Ada Lovelace"}]}), 16),
        (json!({"payment_collection": "card"}), 16),
        (json!({"party_size": 3}), 16),
        (json!({"party_size": "two"}), 16),
        (json!({"venue_id": "ven_2"}), 16),
        (json!({"customer": {"name": "Eve Other"}}), 16),
        (json!({"customer": {"name": "Eve Other", "email": "ada@x.example"}}), 16),
        (
            json!({"venue_id": "ven_2", "last_modification": {"changes": {"venue_id": {"from": "ven_1"}}}}),
            16,
        ),
        (json!({"venue_id": "opentable:ven_1"}), 0),
        (json!({"party_size": "2", "customer": {"name": "LOVELACE/ADA MRS"}, "provider": "A"}), 0),
        (json!({"venue_id": null, "venue": {"id": "ven_2", "object": "venue"}}), 0),
        (json!({"datetime": null, "start_time": "2031-12-05T20:30:00+01:00"}), 16),
        (json!({"customer": null, "guest": {"name": "Eve Other"}}), 16),
        (json!({"end_user": "u_a***"}), 0),
    ] {
        ends_everywhere(&shown, exit);
    }
}

#[test]
fn chosen_scalar_shown_otherwise_is_a_loud_warning() {
    for (shown, clause) in [
        (json!({"seating_preference": "bar"}), "seating_preference is bar, not terrace"),
        (json!({"children": 0}), "children is 0, not 2"),
    ] {
        let answered = booking(&shown);
        let (_server, home) = served(move |_| Reply::json(201, &answered));
        home.run([book(), words("-q")].concat()).exits(0).says(clause);
    }
}

/// Also where an earlier start of the batch lost the response.
#[test]
fn row_that_is_booked_by_a_later_start_says_how_it_differs() {
    let (_server, home) = served(move |request| {
        let contact = json!({"customer": {"name": "Ada Lovelace", "email": "eve@x.example"}});
        let made = json!({"data": booking(&contact)});
        if request.number < 3 { Reply::Close } else { Reply::json(201, &made) }
    });
    let starts = [18, 0, 0].map(|exit| home.feed(BATCH, &row()).exits(exit));
    let says = starts.each_ref().map(|it| it.stderr.contains("email is eve@x.example"));
    assert_eq!(says, [false, true, false]);
    // The service's own document, each time.
    assert_eq!(starts[1].stdout, starts[2].stdout);
}

#[test]
fn field_not_shown_is_a_note_with_its_setting() {
    let answered = booking(&json!({"datetime": null, "party_size": null}));
    let (_server, home) = served(move |_| Reply::json(201, &answered));
    let mut human = book();
    human.retain(|word| word != "--json");
    let booked = home.ok(&human);
    let booked = booked.says("Not shown in the response: datetime, party_size");
    let booked = booked.says("bookctl profile set acme read.booking=EXPRESSION");
    let second = booked.stdout.lines().nth(1).unwrap_or_default();
    assert!(second.contains("Not shown in the response"), "{booked}");
    let shown = home.ok(["show", "bk_1"]);
    shown.shows("asked for Fri 5 Dec 2031, 19:30 (+01:00)");
    shown.shows(
        "; not found in the response (map it: bookctl profile set acme read.booking=EXPRESSION)",
    );
}

#[test]
fn marked_booking_is_listed_and_closed_by_a_read() {
    let answered = booking(&json!({"datetime": "06/12/2031 20:30"}));
    let server = Scripted::start(move |_| Reply::json(201, &answered));
    for close in ["attempts resume k --json", "show bk_1", "bookings --refresh", "batch"] {
        let home = home(&server);
        let before = server.creates().len();
        let error = home.run(book()).refused(16, "outcome_unknown");
        has(&error, "message", "bk_1 (confirmed)");
        has(&error, "hint", "profile set acme read.booking=EXPRESSION");
        let listed = home.ok(["bookings"]).prints("bk_1").says("06/12/2031 20:30");
        assert!(!listed.stderr.contains("may be missing"), "{listed}");
        let story = home.ok(words("show bk_1 --timeline"));
        story.shows("request sent");
        let marked = &home.json("bookings")["marked"][0];
        holds!(marked, {"id": "bk_1", "status": "confirmed", "idempotency_key": "k"});
        has(marked, "why", "06/12/2031 20:30");
        for list in ["attempts", "attempts list --all"] {
            holds!(home.json(list)["attempts"][0], {"idempotency_key": "k", "booking_id": "bk_1"});
        }
        home.run(words("attempts resume k --json")).exits(16);
        home.run(words("show bk_1 --exit-status")).exits(16);
        home.ok(["profile", "set", "acme", &format!("read.booking=.datetime = \"{AT}\"")]);
        match close {
            "batch" => _ = home.ok(book()),
            close => _ = home.ok(words(close)),
        }
        assert!(home.json("attempts")["attempts"].as_array().unwrap().is_empty(), "{close}");
        let sent = server.creates().len() - before;
        assert_eq!(sent, if close == "batch" { 2 } else { 1 }, "{close}");
        home.ok(["bookings"]).shows("19:30");
    }
    let home = home(&server);
    home.run(book()).exits(16);
    for forget in ["bookings forget bk_1", "bookings forget --before tomorrow --yes"] {
        assert_eq!(home.json(forget), json!({"forgotten": 0, "unresolved": 1}));
        home.ok(["bookings"]).shows("Ada Lovelace");
    }
    home.ok(["attempts", "abandon", "k"]);
    let listed = home.ok(["bookings"]);
    assert!(listed.stdout.contains("bk_1") && !listed.stderr.contains("resume"), "{listed}");
    home.ok(words("show bk_1 --timeline")).shows("request sent");
}

#[test]
fn batch_stops_at_the_first_response_it_cannot_read() {
    for (is_booking, creates) in [(true, [1, 2]), (false, [1, 3])] {
        let (server, home) = served(move |request| {
            let mut made = booking(&json!({"datetime": "06/12/2031 20:30"}));
            if request.method == "POST" {
                made["id"] = request.json()["customer"]["name"].clone();
                made["customer"] = request.json()["customer"].clone();
            } else {
                made["id"] = request.path.rsplit('/').next().unwrap().into();
                made["customer"] = Value::Null;
            }
            Reply::json(201, &if is_booking { made } else { json!({"reservationId": "r1"}) })
        });
        let rows = ["Ada", "Bob", "Cy"].map(|name| {
            let mut row: Value = serde_json::from_str(&row()).unwrap();
            (row["customer"]["name"], row["idempotency_key"]) = (name.into(), name.into());
            row.to_string()
        });
        for (creates, codes) in creates.into_iter().zip([
            ["outcome_unknown", "unsent", "unsent"],
            ["outcome_unknown", "outcome_unknown", "unsent"],
        ]) {
            let output = home.feed(BATCH, &rows.join("\n")).exits(18);
            let lines =
                output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let found: Vec<String> = lines.map(|line| text(&line["error"], "code")).collect();
            assert_eq!(found, codes, "{output}");
            assert_eq!(server.creates().len(), creates);
            let results = home.feed([&BATCH[..], &["--results"]].concat(), &rows.join("\n"));
            assert_eq!(results.exits(18).stdout, output.stdout);
        }
    }
}

/// A corrected row is done only if its booking is by now as the row asks, in each field.
#[test]
fn corrected_row_is_done_by_a_booking_that_agrees_alone() {
    const LATER: &str = "2031-12-05T20:30:00+01:00";
    let as_asked = || json!({ "datetime": LATER });
    for (more, exit, hint) in [
        (json!({}), 0, ""),
        (json!({"provider": "b"}), 7, "bookctl show bk_1"),
        (json!({"venue_id": "ven_2"}), 7, "bookctl show bk_1"),
        (json!({"customer": {"name": "Eve Other"}}), 7, "bookctl show bk_1"),
        (json!({"party_size": 3}), 7, "bookctl modify bk_1 --party 2"),
        (json!({"party_size": 3, "status": "on_hold"}), 7, "bookctl show bk_1"),
        (json!({"datetime": null}), 7, &format!("bookctl modify bk_1 --at {LATER}")),
    ] {
        let mut changed = as_asked();
        changed.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (server, home) = served(move |request| {
            let created = json!({});
            let shown = if request.method == "GET" { &changed } else { &created };
            Reply::json(200, &booking(shown))
        });
        let mut row: Value = serde_json::from_str(&row()).unwrap();
        row.as_object_mut().unwrap().remove("idempotency_key");
        home.feed(BATCH, &row.to_string()).exits(0);
        row["datetime"] = LATER.into();
        let output = home.feed(BATCH, &row.to_string());
        let line: Value = serde_json::from_str(output.stdout.lines().next().unwrap()).unwrap();
        assert_eq!(line["exit_code"], exit, "{more}: {output}");
        assert_eq!(line["booking"]["id"], "bk_1", "{output}");
        output.says(hint);
        assert_eq!(server.creates().len(), 1);
    }
}

/// Also where a wait, or an earlier start, has read what was booked.
#[test]
fn row_is_judged_alike_whoever_has_read_its_booking() {
    let changes = json!({"changes": {"party_size": {"from": 2, "to": 5}}});
    for (modification, started, resumed) in [(Value::Null, 18, 16), (changes, 0, 0)] {
        let (server, home) = served(move |request| {
            let now = json!({"party_size": 5, "last_modification": modification});
            let made = json!({"status": "processing"});
            Reply::json(201, &booking(if request.method == "GET" { &now } else { &made }))
        });
        for more in [&["--wait"][..], &[], &["--results"]] {
            home.feed([&BATCH[..], more].concat(), &row()).exits(started);
        }
        home.run(words("attempts resume k --json")).exits(resumed);
        let last = home.feed(BATCH, &row()).exits(started);
        assert_eq!(last.stderr.contains("not 2: changed since"), started == 0, "{last}");
        assert_eq!(server.creates().len(), 1);
    }
}
