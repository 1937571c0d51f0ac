//! A person's connected account: the code, the states of a session, the card.

use serde_json::{Value, json};

use crate::harness::{Home, Output, Reply, Scripted, Terminal, has, holds, text, words};

const PHONE: &str = "+44 20 7946 0018";
const CONNECT: [&str; 6] = ["session", "connect", "--end-user", "user_7", "--phone", PHONE];

fn connect(home: &Home, person: &str, phone: &str) -> Output {
    let arguments =
        words(format!("session connect --end-user '{person}' --phone '{phone}' --json"));
    home.run(&arguments)
}

/// A session that is connected; its id.
fn connected(home: &Home, person: &str, phone: &str) -> String {
    let id = text(&connect(home, person, phone).exits(0).json(), "id");
    let verify = ["session", "verify", &id, "--code", &home.code(), "--json"];
    assert_eq!(home.ok(verify).json()["state"], "active");
    id
}

/// "connects a person's own provider B account and texts them a code"; "POST verify with the
/// received code makes the session active" (spec, Endpoints; States and transitions)
#[test]
fn a_script_connects_in_two_steps() {
    let home = Home::new();
    let session = connect(&home, "user_7", PHONE).exits(0).json();
    holds!(session, {"state": "pending", "provider": "provider_b"});
    assert_eq!(home.list("limits")[0]["endpoint"], "POST /v1/sessions");
    let id = text(&session, "id");
    let message = &home.list("sandbox inbox")[0];
    holds!(message, {"session_id": id, "to": PHONE});

    for wrong in ["000000", "nonsense"] {
        let verify = ["session", "verify", &id, "--code", wrong, "--json"];
        let error = home.run(verify).refused(12, "invalid_code");
        assert_eq!(error["http_status"], 400);
    }
    let code = format!("{}\n", home.code());
    let active =
        home.feed(["session", "verify", &id, "--code-stdin", "--json"], &code).exits(0).json();
    assert_eq!(active["state"], "active");
    let shown = home.ok(["session", "show", &id, "--json"]).json();
    assert_eq!(shown, active);
}

#[test]
fn the_code_may_not_be_asked_for_in_a_pipe() {
    let home = Home::new();
    let id = text(&connect(&home, "user_7", PHONE).exits(0).json(), "id");
    let error = home.refuses(&format!("session verify {id}"), 2, "usage");
    has(&error, "hint", "--code");
    home.refuses(&format!("session verify {id} --code-stdin"), 2, "usage");
    let both = words(format!("session verify '{id}' --code 1 --code-stdin --json"));
    home.run(&both).refused(2, "usage");
    home.refuses("session connect", 2, "usage");
}

/// "confirmed by a code texted to the person" (spec, What the service does), in one go where a
/// person can be asked
#[test]
fn at_terminal_texted_code_is_asked_for() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &CONNECT);
    terminal.see(PHONE);
    terminal.answer("? Code from the text message", "000000");
    terminal.see("the code is wrong");
    let code = home.code();
    terminal.answer("? Code from the text message", &code);
    let ended = terminal.ends(0).says("active").says("user_7");
    assert!(!ended.screen.contains(&code), "{}", ended.screen);
    assert_eq!(home.list("sandbox inbox").len(), 1, "one text message");
}

/// A session's code has "5 tries" (wire contract, 10): after them no code can be right.
#[test]
fn a_code_that_was_wrong_too_often_is_not_asked_for_any_more() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &CONNECT);
    terminal.see("? Code from the text message");
    let id = text(&home.list("sandbox inbox")[0], "session_id");
    for _ in 0..4 {
        let verify = ["session", "verify", &id, "--code", "000000", "--json"];
        home.run(verify).refused(12, "invalid_code");
    }
    terminal.answer("? Code from the text message", "000000");
    terminal.ends(12).says("request a new code");
}

#[test]
fn a_connect_may_be_left_with_ctrl_c_and_goes_on_with_verify() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &CONNECT);
    terminal.see("? Code from the text message");
    terminal.ctrl_c(130).says("session verify ses_");
}

/// "lists sessions; query filters end_user, provider, state" (spec, Endpoints)
#[test]
fn sessions_are_listed_by_person_provider_and_state() {
    let home = Home::new();
    let active = connected(&home, "user_7", PHONE);
    let pending = text(&connect(&home, "user 8&x=y", PHONE).exits(0).json(), "id");
    let ids = |filters: &[&str]| -> Vec<String> {
        let list = ["session", "list", "--json"];
        let document = home.ok(list.iter().chain(filters)).json();
        let sessions = document["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|it| text(it, "id")).collect()
    };
    assert_eq!(ids(&["--end-user", "user_7"]), [active.as_str()]);
    assert_eq!(ids(&["--end-user", "user 8&x=y"]), [pending.as_str()]);
    assert_eq!(ids(&["--state", "pending"]), [pending.as_str()]);
    assert_eq!(ids(&["--provider", "provider_b"]).len(), 2);
    assert!(ids(&["--state", "active", "--end-user", "nobody"]).is_empty());
}

/// "disconnects the session; the saved sign-in is destroyed" (spec, Endpoints)
#[test]
fn a_session_is_disconnected_once_that_was_confirmed() {
    let home = Home::new();
    let id = connected(&home, "user_7", PHONE);
    home.refuses(&format!("session disconnect {id}"), 2, "usage");
    let terminal = Terminal::start(&home, &["session", "disconnect", &id]);
    terminal.accept_last("Disconnect", 17).says("Nothing was disconnected.");
    let gone = home.json(&format!("session disconnect {id} --yes"));
    assert_eq!(gone, json!({"id": id, "object": "session", "deleted": true}));
    for arguments in [
        &["session", "show", &id, "--json"][..],
        &["session", "disconnect", &id, "--yes", "--json"],
        &["card", &id, "--json"],
        &["session", "verify", "ses_nobody", "--code", "1", "--json"],
    ] {
        home.run(arguments).refused(6, "http_404");
    }
}

/// "One field: has_card" (spec, Card check result); false "where the phone ends in 0" (wire
/// contract, 10)
#[test]
fn the_card_is_asked_for_by_session_and_by_person() {
    let home = Home::new();
    for (person, phone, has_card) in
        [("user_7", PHONE, true), ("user_8", "+44 20 7946 0010", false)]
    {
        let id = connected(&home, person, phone);
        for arguments in [
            &["card", &id][..],
            &["card", "--end-user", person],
            &["card", "--end-user", person, "--provider", "provider_b"],
        ] {
            let document = home.ok(arguments.iter().chain(&["--json"])).json();
            assert_eq!(document, json!({"has_card": has_card}));
            let human = home.ok(arguments).stdout;
            assert!(human.starts_with(if has_card { "card\t" } else { "no card\t" }), "{human}");
        }
    }
    home.refuses("card --end-user nobody", 6, "http_404");
    for arguments in [
        &["card", "--json"][..],
        &["card", "ses_1", "--end-user", "u", "--json"],
        &["card", "ses_1", "--provider", "provider_b", "--json"],
    ] {
        home.run(arguments).refused(2, "usage");
    }
}

/// "an active session lapses after 30 days (`reconnect_required` on what uses it)" (wire contract,
/// 10); exit 7
#[test]
fn a_saved_sign_in_lapses_after_30_days_of_the_sandboxs_clock() {
    let home = Home::new();
    let id = connected(&home, "user_7", PHONE);
    let book = || home.book("ven_confirms_b", &["--end-user", "user_7"]);
    assert_eq!(book().exits(0).json()["end_user"], "user_7");
    home.advance("31d");
    let error = home.refuses(&format!("card {id}"), 7, "reconnect_required");
    assert_eq!(error["http_status"], 409);
    home.refuses("card --end-user user_7", 7, "reconnect_required");
    book().refused(7, "reconnect_required");
    let shown = home.ok(["session", "show", &id]);
    assert!(shown.stdout.starts_with("lapsed\t"), "{shown}");
    let next = "next\tbookctl session connect --end-user user_7\n";
    shown.shows(next);
    // As far as the service itself goes, and no further.
    home.advance("3660d");
    let clock = ["sandbox", "clock", "--json", "--advance"];
    home.run(clock.iter().chain(&["3661d"])).refused(2, "usage");
}

/// A connect is never repeated by itself: it would text twice.
#[test]
fn a_connect_whose_answer_is_lost_is_not_sent_again() {
    let home = Home::new();
    home.fault("POST /v1/sessions", "drop_after", 1);
    let error = connect(&home, "user_7", PHONE).refused(16, "outcome_unknown");
    has(&error, "hint", "bookctl session list");
    assert_eq!(home.list("sandbox inbox").len(), 1);
    assert_eq!(home.list("session list").len(), 1);

    for reply in [Reply::Close, Reply::html(), Reply::json(500, &json!({"error": "boom"}))] {
        let (server, home) = Scripted::with_home(move |_| reply.clone());
        connect(&home, "user_7", PHONE).refused(16, "outcome_unknown");
        assert_eq!(server.requests().len(), 1);
    }
}

/// The account is not connected, because its code was not entered: to connect again would send
/// another one.
#[test]
fn card_of_session_that_waits_for_its_code_leads_to_verify() {
    let home = Home::new();
    let id = text(&connect(&home, "user_7", PHONE).exits(0).json(), "id");
    let card = ["card", &id, "--json"];
    let error = home.run(card).refused(7, "reconnect_required");
    let verify = format!("bookctl session verify {id} --code CODE");
    has(&error, "hint", &verify);

    let code = home.code();
    let verify = ["session", "verify", &id, "--code", &code, "--json"];
    home.ok(verify);
    home.ok(card);
    let error = home.run(verify).refused(7, "http_409");
    let show = format!("bookctl session show {id}");
    has(&error, "hint", &show);

    let error = home.refuses("card", 2, "usage");
    for way in ["bookctl session list", "--end-user"] {
        has(&error, "hint", way);
    }
}

/// "POST verify with the received code makes the session active" (spec, States and transitions); a
/// response that does not show it is "an unreadable one" (command line, 16), and the session is read.
#[test]
fn session_not_shown_as_active_or_another_guests_is_no_success() {
    let session = |state: &str| json!({"id": "ses_1", "object": "session", "provider": "b", "state": state, "end_user": "eve"});
    for (answered, read, exit, says) in [
        (session("pending"), Value::Null, 7, "the session still waits for one"),
        (json!({}), session("pending"), 7, "the session still waits for one"),
        (session("locked"), Value::Null, 7, "the session is locked"),
        (json!({}), json!({}), 16, "hint: see it: bookctl session show ses_1"),
        (json!({}), session("active"), 0, ""),
    ] {
        let replies = [answered.clone(), read];
        let (_server, home) = Scripted::with_home(move |request| {
            Reply::json(200, &replies[usize::from(request.method == "GET")])
        });
        home.run(["session", "verify", "ses_1", "--code", "774411"]).exits(exit).says(says);
        if answered == json!({}) {
            let error = connect(&home, "user_7", PHONE).refused(16, "outcome_unknown");
            has(&error, "hint", "bookctl session list");
            continue;
        }
        let error = connect(&home, "user_7", PHONE).refused(16, "outcome_unknown");
        has(&error, "message", "end_user is eve, not user_7");
        assert_eq!(error["body"], answered);
        connect(&home, "eve", PHONE).exits(0);
    }
    let (_server, home) = Scripted::with_home(move |_| Reply::json(200, &session("pending")));
    home.run(CONNECT).exits(16).prints("ses_1");
    home.refuses("session show @last", 2, "usage");
    let (_server, home) = Scripted::with_home(|_| Reply::json(200, &json!({"has_card": "no"})));
    home.run(["card", "ses_1", "--json"]).refused(15, "unexpected_answer");
    let (_server, home) = Scripted::with_home(|_| Reply::json(409, &json!({"error": "too soon"})));
    let error = connect(&home, "user_7", PHONE).refused(7, "http_409");
    has(&error, "hint", "bookctl session list");
}
