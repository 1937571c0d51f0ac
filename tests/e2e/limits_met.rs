//! Rate limits that a service answers with: what the person is told, and what is sent again.

use serde_json::{Value, json};

use crate::harness::{Home, Reply, Request, Scripted, has, text, words};

const SLOT_TIME: &str = "2030-01-01T19:30:00Z";

fn booking(status: &str) -> Value {
    let mut booking = json!({
        "id": "bk_1", "object": "booking", "status": status, "provider": "provider_a", "venue_id": "ven_1",
        "datetime": SLOT_TIME, "party_size": 2, "customer": {"name": "Ada Lovelace"},
    });
    if status == "requires_action" {
        // A kind that bookctl does not know may be waiting for any answer.
        booking["next_action"] = json!({"type": "approval_or_code", "message": "Approve it"});
    }
    booking
}

/// A refusal for the limit whose window is open again at once.
fn limited_for_no_time() -> Reply {
    let body =
        json!({"error": "rate_limited", "message": "Too many requests.", "retry_after_seconds": 0});
    Reply::headed(429, &["Retry-After: 0".to_owned()], &body)
}

/// A service whose first answer is `first`, and that then does what it is asked.
fn service(first: impl Fn() -> Reply + Send + 'static) -> Scripted {
    Scripted::start(move |request| match request.number {
        0 => first(),
        _ => Reply::json(200, &booking("confirmed")),
    })
}

#[test]
fn a_limit_that_is_over_at_once_is_told_with_a_wait_that_helps() {
    let book = format!("book ven_1 --at {SLOT_TIME} --party 2 --name 'Ada Lovelace'");
    for line in [
        "show bk_1",
        &book,
        "cancel bk_1 --yes",
        "continue bk_1 --otp 123456",
        "api GET /v1/x",
        "session verify ses_1 --code 123456",
    ] {
        let (_server, home) = service(limited_for_no_time).beside_home();
        let error = home.refuses(line, 9, "rate_limited");
        has(&error, "hint", "--max-wait 1s");
        assert!(!text(&error, "message").contains("in 0 s"), "{error}");
        // What the hint says helps.
        let (server, home) = service(limited_for_no_time).beside_home();
        let output = home.run(words(format!("{line} --json --max-wait 1s")));
        assert!(!output.stderr.contains("rate_limited"), "{output}");
        assert!(server.requests().len() >= 2, "{output}");
    }
}

/// A booking that waits for an answer. Its first answers are refused so; the answer of this number is
/// the one that the service takes, whatever it is told.
fn paused(refused: usize, refusal: fn() -> Reply, taken: usize) -> Scripted {
    Scripted::start(move |request: &Request| match request.method.as_str() {
        "GET" if request.posted >= taken => Reply::json(200, &booking("confirmed")),
        "GET" => Reply::json(200, &booking("requires_action")),
        _ if request.posted >= refused => Reply::json(200, &booking("confirmed")),
        _ => refusal(),
    })
}

fn answers(server: &Scripted) -> usize {
    let requests = server.requests();
    requests.iter().filter(|it| it.is("POST", "/v1/bookings/bk_1/continue")).count()
}

fn limited() -> Reply {
    Reply::json(
        429,
        &json!({"error": "rate_limited", "message": "Too many.", "retry_after_seconds": 1}),
    )
}

fn page() -> Reply {
    let page = "<html>slow down</html>";
    Reply::Bytes(format!(
        "HTTP/1.1 429 Slow Down\r\nRetry-After: 1\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{page}",
        page.len()
    ))
}

const ANSWERS: [[&str; 2]; 2] =
    [["--otp", "123456"], ["--psp-response", "{\"status\": \"approved\"}"]];

#[test]
fn answer_that_service_limits_is_waited_out() {
    for answer in ANSWERS {
        let answer_with = |more: &[&str], server: &Scripted| {
            let home = Home::pointing_to(server.base_url(), "sk_live_x");
            let arguments = ["continue", "bk_1", "--json"].into_iter().chain(answer);
            home.run(arguments.chain(more.iter().copied()))
        };
        let server = paused(2, limited, 3);
        let booking = answer_with(&["--max-wait", "30s"], &server).exits(0).json();
        assert_eq!(booking["status"], "confirmed");
        assert_eq!(answers(&server), 3);

        let server = paused(1, limited, 2);
        answer_with(&[], &server).refused(9, "rate_limited");
        assert_eq!(answers(&server), 1);

        let server = paused(9, limited, 10);
        answer_with(&["--max-wait", "1s"], &server).refused(9, "rate_limited");
        assert_eq!(answers(&server), 2);
    }
}

/// The service did nothing with an answer that it limited.
#[cfg(unix)]
#[test]
fn interrupt_while_a_limited_answer_waits_leaves_nothing_unknown() {
    use crate::harness::{Key, Terminal};
    let limited = || Reply::json(429, &json!({"error": "slow down", "retry_after_seconds": 90}));
    let (server, home) = paused(9, limited, 10).beside_home();
    let answer = words("continue bk_1 --otp 123456 --max-wait 2m");
    let mut terminal = Terminal::start(&home, &answer);
    terminal.see("rate limited; continuing in").press(Key::CtrlC);
    let screen = terminal.ends(130).screen;
    assert!(!screen.contains("unknown"), "{screen}");
    assert_eq!(answers(&server), 1);
}

/// Only the service's own document proves that the answer was not looked at. A gateway's page may
/// come after the gateway sent the answer on.
#[test]
fn answer_that_something_in_between_limits_is_not_sent_again() {
    for answer in ANSWERS {
        let (server, home) = paused(9, page, 1).beside_home();
        let arguments = ["continue", "bk_1", "--json", "--max-wait", "30s"];
        let booking = home.ok(arguments.into_iter().chain(answer)).json();
        // The booking is read, and shows that the service took the answer.
        assert_eq!(booking["status"], "confirmed");
        assert_eq!(answers(&server), 1);

        let (server, home) = paused(9, page, 10).beside_home();
        let error = home.run(arguments.into_iter().chain(answer)).refused(16, "outcome_unknown");
        has(&error, "hint", "bookctl show bk_1");
        assert_eq!(answers(&server), 1);
        // It still may wait for this answer, and the person decides.
        home.run(arguments.into_iter().chain(answer)).exits(16);
        assert_eq!(answers(&server), 2);
    }
}
