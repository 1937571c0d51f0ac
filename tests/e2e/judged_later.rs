//! One comparison: what is read of a booking later, and what a change of it shows, is judged like
//! the response that made it.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use serde_json::{Value, json};

use crate::harness::listening::until;
use crate::harness::{Key, Reply, Request, Scripted, Terminal, has, holds, words};
use crate::judged::{AT, book, booking, home, served};

const LATER: &str = "2031-12-05T20:30:00+01:00";

fn waiting(kind: &str) -> Value {
    let action = json!({"type": kind, "psp_request": {}});
    booking(&json!({"status": "requires_action", "next_action": action}))
}

fn posts(server: &Scripted) -> usize {
    server.requests().iter().filter(|it| it.method == "POST").count()
}

/// The service carries a change out, and answers it with the booking as it was.
fn late(before: Value, after: Value) -> impl Fn(&Request) -> Reply + Send + 'static {
    move |request| {
        let shows_it = request.posted > 0 && request.method == "GET";
        Reply::json(200, if shows_it { &after } else { &before })
    }
}

#[test]
fn change_that_the_response_does_not_show_is_read_once_more() {
    let confirmed = || booking(&json!({}));
    for (command, before, after) in [
        ("cancel bk_1 --yes", confirmed(), booking(&json!({"status": "cancelled"}))),
        ("modify bk_1 --party 4", confirmed(), booking(&json!({"party_size": 4}))),
        ("modify bk_1 --seating bar", confirmed(), booking(&json!({"seating_preference": "bar"}))),
        ("continue bk_1 --otp 123456", waiting("otp"), confirmed()),
        ("continue bk_1 --psp-response {}", waiting("payment_approval"), confirmed()),
    ] {
        let server = Scripted::start(late(before.clone(), after));
        let changed = home(&server).ok(words(command));
        assert!(!changed.stderr.contains("Not cancelled"), "{changed}");
        // Where it stays as it was, that is true, and no payment is sent twice.
        let server = Scripted::start(move |_| Reply::json(200, &before));
        let output = home(&server).run(words(command));
        assert!(matches!(output.code, Some(7 | 10)), "{command}: {output}");
        assert!(!output.stdout.contains("--psp-response"), "{output}");
        assert!(!output.stderr.contains("Call the venue"), "{output}");
        assert_eq!(posts(&server), 1, "{command}");
    }
}

/// "a continue, modify or cancel is not repeated blindly: the booking is read first" (design). Where
/// the first is carried out only then, the second is refused.
#[test]
fn repeated_change_ends_by_what_the_booking_shows() {
    use std::sync::atomic::AtomicUsize;
    let with = |more: Value| booking(&more);
    let failed = with(json!({"status": "failed"}));
    for (command, before, after, exit) in [
        ("cancel bk_1 --yes", with(json!({})), with(json!({"status": "cancelled"})), 0),
        ("modify bk_1 --party 4", with(json!({})), with(json!({"party_size": 4})), 0),
        ("continue bk_1 --otp 123456", waiting("otp"), with(json!({})), 0),
        ("continue bk_1 --otp 123456", waiting("otp"), waiting("payment_approval"), 10),
        ("continue bk_1 --psp-abort", waiting("payment_approval"), failed, 11),
    ] {
        for sent in [1, 2] {
            let count = AtomicUsize::new(0);
            let is_back = std::sync::Arc::new(AtomicBool::new(false));
            let (back, before, shown) = (is_back.clone(), before.clone(), after.clone());
            let (server, home) = served(move |request| match request.method.as_str() {
                "POST" if count.fetch_add(1, SeqCst) == 0 => Reply::Close,
                "POST" => Reply::json(409, &json!({"error": "not in this state"})),
                _ if count.load(SeqCst) == 1 && !back.load(SeqCst) => Reply::Close,
                _ if count.load(SeqCst) < sent => Reply::json(200, &before),
                _ => Reply::json(200, &shown),
            });
            home.refuses(command, 16, "outcome_unknown");
            is_back.store(true, SeqCst);
            home.run(words(format!("{command} --json"))).exits(exit);
            assert_eq!(posts(&server), sent, "{command}");
            assert_eq!(home.json("bookings")["bookings"][0], after, "{command}");
        }
    }
}

/// The booking was read a moment before.
#[test]
fn change_that_is_not_found_leads_to_the_booking() {
    let (_server, home) = served(|request| match request.path.contains("bk_1/") {
        true => Reply::json(404, &json!({"error": "no such path"})),
        false => Reply::json(200, &booking(&json!({}))),
    });
    home.ok(book());
    for change in ["modify bk_1 --party 4", "cancel bk_1 --yes", "continue bk_1 --otp 123456"] {
        let error = home.refuses(change, 6, "http_404");
        has(&error, "hint", "see the booking: bookctl show bk_1");
    }
}

#[test]
fn state_that_a_killed_wait_has_read_is_recorded() {
    let (server, home) = served(|request| {
        let step = if request.method == "GET" { "sent" } else { "begun" };
        Reply::json(201, &booking(&json!({"status": "processing", "step": step})))
    });
    let running = home.start([book(), words("--wait")].concat());
    until("the second read", || server.requests().len() > 2);
    running.kill();
    assert_eq!(home.json("bookings")["bookings"][0]["step"], "sent");
}

/// What nobody asked to change: a modify ends with it, a cancellation and an answer say it.
#[test]
fn change_that_shows_another_booking_says_so() {
    for (shown, modified, cancelled) in [
        (json!({"provider": "b"}), 16, 0),
        (json!({"end_user": "u_eve"}), 16, 0),
        (json!({"payment_collection": "card"}), 16, 0),
        (json!({"venue_id": "ven_2"}), 16, 16),
        (json!({"datetime": "2031-12-06T19:30:00+01:00"}), 7, 0),
        (json!({"notify": false}), 7, 0),
    ] {
        for (command, exit) in [
            ("modify bk_1 --party 4 -F notify=true", modified),
            ("cancel bk_1 --yes -F notify=true", cancelled),
            ("continue bk_1 -F notify=true", cancelled),
            ("continue bk_1 --otp 774411 -F notify=true", cancelled),
        ] {
            for is_recorded in [true, false] {
                let mut after = booking(&json!({"party_size": 4, "notify": true}));
                after["status"] =
                    if command.starts_with('c') { "cancelled" } else { "confirmed" }.into();
                let (name, value) = shown.as_object().unwrap().iter().next().unwrap();
                after[name] = value.clone();
                let is_changed = AtomicBool::new(false);
                let (_server, home) = served(move |request| {
                    let is_change = request.path.ends_with(command.split(' ').next().unwrap());
                    let is_late = is_changed.fetch_or(is_change, SeqCst);
                    let before = booking(&json!({}));
                    Reply::json(200, if is_change || is_late { &after } else { &before })
                });
                if is_recorded {
                    home.ok(book());
                }
                let exit = if command.starts_with("con") && exit == 0 { 11 } else { exit };
                let is_compared = is_recorded || command.starts_with('m') || name == "notify";
                if is_compared {
                    let ended = home.run(words(command)).exits(exit).says(format!("{name} is"));
                    assert!(
                        exit != 7
                            || name == "notify"
                            || ended.stderr.contains("that was not asked for")
                    );
                }
                if is_recorded && name == "venue_id" {
                    assert_eq!(home.json("bookings")["bookings"][0]["venue_id"], "ven_1");
                }
            }
        }
    }
}

#[test]
fn refresh_compares_whose_booking_it_is_too() {
    let changes = json!({"datetime": {"from": AT, "to": LATER}});
    let moved = json!({"datetime": LATER, "last_modification": {"changes": changes}});
    for (shown, field) in [
        (json!({"customer": {"name": "Eve Other"}}), "customer.name"),
        (json!({"provider": "b"}), "provider"),
        (json!({"venue_id": "ven_2"}), "venue_id"),
        (json!({"seating_preference": "bar"}), "seating_preference"),
        (json!({"status": "seated"}), "status"),
        (json!({"status": "cancelled"}), "status"),
        (moved, "datetime"),
    ] {
        let is_settled = field == "seating_preference" || shown["status"] == "seated";
        let is_cancelled = shown["status"] == "cancelled";
        let shown = booking(&shown);
        let (_server, home) = served(move |request| {
            let is_read = request.method == "GET";
            Reply::json(200, &if is_read { shown.clone() } else { booking(&json!({})) })
        });
        home.ok(book());
        let refresh = words("bookings --refresh --json");
        let changed = home.run(&refresh).exits(11).json();
        holds!(&changed["changed"][0], {"id": "bk_1", "as_booked": false});
        assert!(changed["changed"][0]["changes"].get(field).is_some(), "{changed}");
        let story = home.run(words("show bk_1 --timeline --json"));
        let change = format!("{field}\":{{\"from\":");
        assert!(story.stdout.contains(&change) || field == "status", "{story}");
        // What was stored is not what was asked for either, whoever read it.
        home.ok(["show", "bk_1"]);
        home.run(&refresh).exits(if is_settled { 0 } else { 11 });
        if is_cancelled {
            home.ok(words("cancel bk_1 --yes"));
            home.ok(&refresh);
        }
    }
}

/// What is not shown, or only written in another way, is no change.
#[test]
fn timeline_compares_what_was_seen_as_the_others_do() {
    let known = booking(&json!({}));
    for (shown, more, changes) in [
        (json!({"datetime": "2031-12-05T18:30:00Z", "party_size": "2"}), json!({}), 0),
        (json!({"datetime": 1_954_261_800, "party_size": 2.0, "provider": "A"}), json!({}), 0),
        (json!({"datetime": null, "party_size": null, "customer": null}), json!({}), 0),
        (json!({"datetime": null, "party_size": null}), json!({"party_size": 3}), 1),
        (json!({"datetime": "Friday"}), json!({}), 2),
        (json!({}), json!({"customer": {"name": "Eve"}, "venue_id": "ven_2"}), 1),
        (json!({"end_user": "u_eve", "payment_collection": "card"}), json!({}), 2),
        (json!({"end_user": {"id": "u"}}), json!({"end_user": {"id": "u"}}), 1),
    ] {
        let (first, second, known) = (booking(&shown), booking(&more), known.clone());
        let (_server, home) = served(move |request| {
            Reply::json(200, [&known, &first, &second][request.number.min(2)])
        });
        home.ok(book());
        home.run(["show", "bk_1"]);
        let story = home.run(words("show bk_1 --timeline --json")).json();
        let rows = story["timeline"].as_array().unwrap().iter();
        let rows: Vec<&Value> = rows.filter(|it| it["kind"] == "change").collect();
        assert_eq!(rows.len(), changes, "{shown}, {more}: {rows:?}");
    }
}

/// The desk reads the booking by itself.
#[cfg(unix)]
#[test]
fn desk_says_what_booking_shows_otherwise() {
    let eve = json!({"customer": {"name": "Eve"}});
    let gone = json!({"error": "gone", "error_code": "booking_not_found"});
    for (status, shown, said) in [
        (200, json!({"datetime": "2031-12-06T19:30:00+01:00"}), "in the booking datetime is 2031"),
        (200, eve, "Not up to date: customer.name is Eve, not Ada Lovelace"),
        (200, json!({"datetime": null}), "when asked for Fri 5 Dec 2031"),
        (200, json!({"datetime": "Friday evening"}), "in the booking datetime is `Friday evening`"),
        (404, gone, "Not up to date: gone (booking_not_found): bk_1"),
    ] {
        let (_server, home) = served(move |request| match request.method.as_str() {
            "GET" if status == 404 => Reply::json(404, &shown),
            "GET" => Reply::json(200, &booking(&shown)),
            _ => Reply::json(200, &booking(&json!({}))),
        });
        home.ok(book());
        let mut terminal = Terminal::of_width(&home, 80, &["desk"]);
        terminal.see("? keys").see("Coming").see(said).press(Key::Enter).see("Esc back").see(said);
        terminal.press(Key::Esc).see("Enter open").see(said);
        terminal.ctrl_c(0);
    }
}

#[test]
fn what_is_over_or_overdue_is_so_at_the_desk_and_in_show() {
    let waits = json!({"status": "requires_action", "next_action": {"type": "otp"}, "expires_at": "2024-01-01T10:00:00Z"});
    let over = json!({"datetime": "2024-01-01T19:30:00Z"});
    let expected = "The venue expected this guest.";
    for (shown, state, letter, why, cancel) in [
        (waits, "overdue bk_1", "a", "its status is overdue", "hint: see `bookctl show bk_1`"),
        (over, expected, "x", "the visit is over", "? Cancel this booking?"),
    ] {
        let (_server, home) = served(move |_| Reply::json(200, &booking(&shown)));
        let start = |command: &[&str]| Terminal::of_width(&home, 80, command);
        let card = start(&["show", "bk_1"]).ends(0).says(state).screen;
        assert!(!card.contains("bookctl continue") && !card.contains("bookctl cancel"), "{card}");
        let mut desk = start(&["desk"]);
        desk.see("Earlier and ended").see(state).press(Key::Enter);
        desk.see("Esc back · b book again · r refresh · c copy ID").type_in(letter).see(why);
        desk.ctrl_c(0);
        start(&["cancel", "bk_1"]).see(cancel).press(Key::CtrlC);
        if letter == "a" {
            let ended = start(&["continue", "bk_1"]).ends(10).says("The time to answer is up.");
            assert!(!ended.screen.contains('?'), "{}", ended.screen);
        }
    }
}

#[test]
fn refresh_reports_what_it_read_beside_a_failed_read() {
    let (_server, home) = served(move |request| {
        let mut shown = booking(&json!({}));
        if request.method == "GET" {
            shown["id"] = request.path.rsplit('/').next().unwrap().into();
            match (shown["id"].as_str().unwrap(), request.earlier) {
                ("bk_1", 1) => shown["status"] = json!("cancelled"),
                ("bk_2", 0) => return Reply::json(400, &json!({"error": "off"})),
                ("bk_2", 1) => shown["id"] = json!("bk_3"),
                ("bk_2", _) => return Reply::json(401, &json!({"error": "unauthorized"})),
                _ => {}
            }
        } else {
            shown["id"] = request.header("idempotency-key").unwrap().into();
        }
        Reply::json(201, &shown)
    });
    for key in ["bk_1", "bk_2"] {
        let mut book = book();
        *book.last_mut().unwrap() = key.to_owned();
        home.ok(book);
    }
    let refresh = || home.run(words("bookings --refresh --json"));
    has(&refresh().refused(12, "http_400"), "message", "booking bk_2 was not read: off");
    let refreshed =
        refresh().exits(11).says("bk_2 was not read: the service returned booking bk_3");
    holds!(&refreshed.json()["changed"][0], {"id": "bk_1"});
    refresh().exits(4);
}

#[test]
fn booking_moved_back_is_as_booked() {
    let (_server, home) = served(|request| {
        let is_moved = request.method == "GET" && request.earlier == 0;
        Reply::json(201, &booking(&json!({"party_size": if is_moved { 4 } else { 2 }})))
    });
    home.ok(book());
    home.run(words("bookings --refresh")).exits(11);
    home.ok(words("bookings --refresh --json")).prints("\"as_booked\":true");
}

#[test]
fn what_was_kept_as_it_is_counts_from_then_on() {
    let (_server, home) = served(|_| Reply::json(201, &booking(&json!({"party_size": 5}))));
    home.run(book()).exits(16);
    home.ok(words("attempts abandon k"));
    home.ok(words("bookings --refresh")).says("1 coming booking read, 0 changed");
}

#[test]
fn unproved_change_changes_nothing_in_the_journal() {
    let bare = booking(&json!({"datetime": null, "party_size": null}));
    let (_server, home) = served(move |_| Reply::json(200, &bare));
    home.ok(book());
    let error = home.run(words("modify bk_1 --party 4 --json")).refused(7, "change_not_shown");
    assert_eq!(error["body"]["id"], "bk_1");
    home.ok(["show", "bk_1"]).shows("asked for 2; not found in the response");
}

#[test]
fn modify_reads_the_booking_in_any_form() {
    for (time, exit) in [
        ("2031-12-06 8:30 PM", 0),
        ("Sat, 06 Dec 2031 20:30:00 +0100", 0),
        ("06/12/2031 20:30", 7),
        (AT, 7),
    ] {
        let before = booking(&json!({}));
        let server = Scripted::start(late(before, booking(&json!({ "datetime": time }))));
        let changed = home(&server).run(["modify", "bk_1", "--at", "2031-12-06T20:30:00+01:00"]);
        assert_eq!(changed.code, Some(exit), "{time}: {changed}");
    }
}

#[test]
fn time_is_on_the_venues_clock_where_a_search_showed_it() {
    let (_server, home) = served(|request| match request.path.as_str() {
        "/v1/venues/search" => {
            let venue = json!({"venue_id": "ven_1", "name": "Hut", "timezone": "America/Chicago"});
            Reply::json(200, &json!({ "venues": [venue] }))
        }
        _ => Reply::json(200, &booking(&json!({"datetime": "2031-12-06T00:30:00Z"}))),
    });
    home.ok(words("search dining --near Chicago --at 2031-12-05T19:30:00Z"));
    home.ok(["show", "bk_1"]).shows("Fri 5 Dec 2031, 18:30 (-06:00)");
    home.ok(["bookings"]).shows("2031-12-05T18:30:00-06:00");
}

/// A response that is older than the write, or shows another booking, and a booking that cannot be
/// read again, prove nothing.
#[test]
fn accepted_write_that_is_not_shown_nor_readable_is_unknown() {
    let paused = json!({"status": "requires_action", "next_action": {"type": "otp"}});
    for (command, before, id) in [
        ("cancel bk_1 --yes", json!({}), "bk_1"),
        ("modify bk_1 --party 4", json!({}), "bk_1"),
        ("continue bk_1 --otp 123456", paused.clone(), "bk_1"),
        ("cancel bk_1 --yes", json!({}), "bk_other"),
        ("continue bk_1 --otp 123456", paused, "bk_other"),
    ] {
        let before = booking(&before);
        let mut answered = before.clone();
        answered["id"] = id.into();
        let (_server, home) = served(move |request| match request.method.as_str() {
            "GET" if request.posted > 0 => Reply::Close,
            "GET" => Reply::json(200, &before),
            _ => Reply::json(200, &answered),
        });
        let output = home.run(words(command)).exits(16);
        assert!(!output.stderr.contains("Not cancelled"), "{output}");
        output.says("bookctl show bk_1");
    }
}

/// The same refusal was there before: of this request it shows nothing.
#[test]
fn lost_cancel_is_not_answered_by_an_older_refusal() {
    let refused = booking(&json!({"error_code": "cancellation_unsupported"}));
    let (_server, home) = served(move |request| match request.path.ends_with("cancel") {
        true => Reply::Close,
        false => Reply::json(200, &refused),
    });
    home.ok(["show", "bk_1"]);
    home.run(words("cancel bk_1 --yes")).exits(16).says("bookctl show bk_1");
}

/// While the provider works on it, or where its response was older, a change is not shown at once.
#[test]
fn own_change_that_is_shown_later_is_no_difference() {
    for (at_once, exit) in [
        (json!({"status": "processing", "party_size": 4}), 8),
        (json!({}), 7),
        (json!({"id": null}), 16),
    ] {
        let is_done = std::sync::Arc::new(AtomicBool::new(false));
        let (done, at_once) = (is_done.clone(), booking(&at_once));
        let (_server, home) = served(move |request| {
            let shown = match request.method.as_str() {
                _ if done.load(SeqCst) => booking(&json!({"party_size": 4})),
                "POST" if request.path.ends_with("modify") => at_once.clone(),
                _ => booking(&json!({})),
            };
            Reply::json(200, &shown)
        });
        home.ok(book());
        home.run(words("modify bk_1 --party 4")).exits(exit);
        is_done.store(true, SeqCst);
        let refreshed = home.ok(words("bookings --refresh"));
        assert!(!refreshed.stdout.contains("party_size"), "{refreshed}");
        let shown = home.ok(["show", "bk_1"]);
        assert!(!shown.stderr.contains("party_size"), "{shown}");
    }
}

#[cfg(unix)]
#[test]
fn accepted_answer_is_not_asked_for_again() {
    let paused = json!({"status": "requires_action", "next_action": {"type": "otp"}});
    let paused = booking(&paused);
    let (server, home) = served(move |_| Reply::json(200, &paused));
    let mut terminal = Terminal::start(&home, &words("continue bk_1"));
    terminal.answer("One-time code", "774411");
    terminal.ends(10).says("but the booking still waits for it");
    assert_eq!(posts(&server), 1);
}

#[cfg(unix)]
#[test]
fn question_about_another_guests_booking_says_so_before() {
    for (command, question) in
        [("cancel bk_1", "Cancel this booking?"), ("modify bk_1 --party 4", "Change this booking?")]
    {
        let (server, home) = served(|request| {
            let name = if request.method == "GET" { "Eve Other" } else { "Ada Lovelace" };
            Reply::json(200, &booking(&json!({"customer": {"name": name}})))
        });
        home.ok(book());
        let mut terminal = Terminal::start(&home, &words(command));
        terminal.see("is not the one that was asked for: customer.name is Eve Other");
        terminal.see(question).press(Key::Esc);
        terminal.ends(17);
        assert_eq!(posts(&server), 1);
    }
    let (_server, home) = served(|request| {
        let more = match request.path.rsplit('/').next() {
            Some("bookings") => json!({}),
            Some("cancel") => json!({"party_size": 3, "status": "cancelled"}),
            _ => json!({"party_size": 3}),
        };
        Reply::json(200, &booking(&more))
    });
    home.ok(book());
    let mut terminal = Terminal::start(&home, &words("cancel bk_1"));
    let difference = "in the booking party_size is 3, not 2";
    terminal.see(difference).answer("Cancel this booking?", "yes");
    assert_eq!(terminal.ends(0).text().matches(difference).count(), 1);
    assert_eq!(home.json("bookings")["bookings"][0]["status"], "cancelled");
}

#[test]
fn modify_of_a_cancelled_booking_is_recorded() {
    let cancelled = booking(&json!({"status": "cancelled"}));
    let (_server, home) = served(move |request| match request.number {
        0 => Reply::json(201, &booking(&json!({}))),
        _ => Reply::json(200, &cancelled),
    });
    home.ok(book());
    home.run(["modify", "bk_1", "--at", "20:00"]).exits(7).says("already cancelled");
    home.ok(["bookings"]).shows("cancelled");
}
