//! `watch`: what it prints, and where it ends.

use serde_json::{Value, json};

use crate::harness::{Home, Reply, Scripted, Served, text, words};

/// Time for one answer, where nothing else comes. A command of a Windows that is emulated takes
/// longer to be answered.
const SHORT: &str = if cfg!(windows) { "15s" } else { "300ms" };

/// "Streams … print one document a line." (command line, Output 3)
#[test]
fn each_change_is_one_document_line_and_end_decides_exit_code() {
    let (_served, home) = Served::with_home();
    let id = home.booked("ven_processing", &[], 8);
    let watching = home.start(["watch", &id, "--json"]);
    home.advance("5s");
    let output = watching.ends(0);
    let documents: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.last().unwrap(), &home.booking(&id), "{output}");
    assert!(documents.len() <= 2, "{output}");
    for document in &documents {
        assert_eq!(text(document, "id"), id);
    }
}

/// "tab-separated, full width, when stdout is not a terminal" (command line, Output 2)
#[test]
fn several_watched_bookings_are_rows_of_a_list_in_a_pipe() {
    let home = Home::new();
    let (one, two) = (home.booked("ven_confirms", &[], 0), home.booked("ven_otp", &[], 10));
    let watched = home.run(["watch", &one, &two]).exits(10).stdout;
    let listed = home.ok(["show", &one, &two]).stdout;
    let cells = |text: &str| -> Vec<Vec<String>> {
        let rows = text.lines().map(|row| row.split('\t').take(6).map(str::to_owned).collect());
        rows.collect()
    };
    assert_eq!(cells(&watched), cells(&listed));
    // All that are known leave out what is final.
    let three = home.booked("ven_otp", &[], 10);
    let watched = home.run(["watch", "--all"]).exits(10).stdout;
    let listed = home.ok(["show", &three, &two]).stdout;
    assert_eq!(cells(&watched), cells(&listed));
}

/// "`watch` ends at a final status or at `requires_action`." (command line, Exit codes)
#[test]
fn it_ends_at_once_where_nothing_more_comes_by_itself() {
    let home = Home::new();
    let watched = |venue, code, status| {
        let id = home.booked(venue, &[], code);
        let output = home.run(["watch", &id, "--json"]).exits(code);
        assert_eq!(output.json()["status"], status);
        id
    };
    watched("ven_confirms", 0, "confirmed");
    let paused = watched("ven_otp", 10, "requires_action");
    let failed = watched("ven_provider_fails", 11, "failed");
    home.refuses("watch bk_nobody", 6, "http_404");
    home.ok(["watch", &paused, "--until", "requires_action"]);
    home.ok(words(format!("watch '{failed}' --until confirmed --until failed")));
    // It can no longer come: the end as it is.
    home.run(["watch", &failed, "--until", "confirmed"]).exits(11);
    home.refuses(&format!("watch '{paused}' --until lost"), 2, "usage");
}

/// Exit 8: "still processing when the wait ended" (command line, Exit codes)
#[test]
fn a_timeout_ends_it_with_the_state_that_the_booking_then_has() {
    let home = Home::new();
    // So that nothing changes, however long the wait is.
    home.ok(["sandbox", "clock", "--freeze"]);
    let id = home.booked("ven_processing", &[], 8);
    let output = home.run(["watch", &id, "--timeout", SHORT, "--json"]).exits(8);
    assert_eq!(output.json()["status"], "processing");
    // A pause that was not to end the watch.
    let paused = home.booked("ven_otp", &[], 10);
    let until = ["watch", &paused, "--until", "confirmed", "--timeout", SHORT];
    home.run(until).exits(10);
}

/// `watch <BOOKING> [--until STATUS]`: what is confirmed can still be cancelled, and that may be
/// what is waited for. (command line, Command tree)
#[test]
fn confirmed_booking_is_watched_on_until_status_that_was_named() {
    let (_server, home) = Scripted::with_home(move |request| {
        // Another guest is no other booking.
        let (status, guest) =
            if request.number == 0 { ("confirmed", "Ada") } else { ("cancelled", "Eve") };
        Reply::json(200, &json!({"id": "bk_1", "status": status, "customer": {"name": guest}}))
    });
    let until = ["watch", "bk_1", "--until", "cancelled", "--jq", ".status"];
    let output = home.ok(until);
    assert_eq!(output.stdout, "confirmed\ncancelled\n");
    home.run(["watch", "bk_1", "--until", "confirmed"]).exits(11);
    // What cannot come any more is not waited for.
    let (home, stays) = Home::with_booking("ven_confirms", 0);
    home.ok(["watch", &stays, "--until", "failed", "--jq", ".status"]);
    let until = words(format!("watch '{stays}' --until cancelled --timeout '{SHORT}' --json"));
    let output = home.run(until).exits(8);
    assert_eq!(output.json()["status"], "confirmed");
    home.ok(["watch", &stays]);
}

/// "`watch` waits out 5xx, lost connections and 429 within its own time" (command line, Exit codes)
#[test]
fn what_passes_by_itself_is_waited_out_with_note() {
    let booking = |status: &str| Reply::json(200, &json!({"id": "bk_1", "status": status}));
    let off = json!({"error": "off", "error_code": "vendor_disabled"});
    let limited = json!({"error": "rate_limited", "retry_after_seconds": 1});
    let (_server, home) = Scripted::with_home(move |request| match request.number {
        0..2 => Reply::json(503, &off),
        // More than the tries of one read.
        2..8 => Reply::Close,
        8 => booking("processing"),
        9 => Reply::json(429, &limited),
        10 => Reply::Whole(502, "text/html", "<h1>Bad gateway</h1>".to_owned()),
        _ => booking("confirmed"),
    });
    let output = home.ok(["watch", "bk_1", "--jq", ".status"]);
    assert_eq!(output.stdout, "processing\nconfirmed\n");
    let noted = output.stderr.matches("booking bk_1 is read again").count();
    assert_eq!(noted, 2, "{output}");

    for (status, code) in [(401, 4), (404, 6)] {
        let (server, home) =
            Scripted::with_home(move |_| Reply::json(status, &json!({"error": "no"})));
        home.run(["watch", "bk_1"]).exits(code);
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn trouble_that_outlasts_the_time_of_a_watch_is_its_result() {
    let down = json!({"error": "off", "error_code": "vendor_disabled"});
    let (server, home) = Scripted::with_home(move |_| Reply::json(503, &down));
    home.refuses(&format!("watch bk_1 --timeout '{SHORT}'"), 14, "vendor_disabled");
    assert!(server.requests().len() > 1);

    // Neither a read that the end of the time cuts off nor one that fails takes anything away from
    // what was read before.
    for later in [|| Reply::Silence, || Reply::json(500, &json!({}))] {
        let (_server, home) = Scripted::with_home(move |request| match request.number {
            0 => Reply::json(200, &json!({"id": "bk_1", "status": "processing"})),
            _ => later(),
        });
        home.run(["watch", "bk_1", "--timeout", SHORT]).exits(8);
    }
}

/// The rule of `watch` holds for `book --wait` as well.
#[test]
fn a_booking_that_is_waited_for_is_read_again_after_trouble() {
    let (_server, home) = Scripted::with_home(move |request| {
        let (code, status) = match request.method.as_str() {
            "POST" => (201, "processing"),
            _ if request.earlier < 9 => {
                return Reply::json(503, &json!({"error": "deploy"}));
            }
            _ => (200, "confirmed"),
        };
        let booking = json!({"id": "bk_1", "object": "booking", "status": status});
        Reply::json(code, &booking)
    });
    let book = words(
        "book ven_1 --at 2031-05-01T19:30:00Z --party 2 --name 'Ada Lovelace' --slot slot_1 --wait=1m --json",
    );
    assert_eq!(home.ok(book).json()["status"], "confirmed");
    // The journal knows how it ended.
    let list = home.json("bookings");
    assert_eq!(list["bookings"][0]["status"], "confirmed");
}
