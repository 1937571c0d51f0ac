//! Answers as networks give them: pages, nothing, too much, too slowly, and documents with an odd
//! value.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::faults::{booking, confirmed, creating};
use crate::harness::{Home, Output, Reply, Running, SOON, Scripted, has, text};

fn show(reply: Reply) -> Output {
    let server = Scripted::start(move |_| reply.clone());
    Home::pointing_to(server.base_url(), "sk_live_x").run(["show", "bk_1", "--json"])
}

fn whole(head: &str, body: &str) -> Reply {
    Reply::Bytes(format!(
        "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    ))
}

const PAGE: &str = "<html><h1>No</h1></html>";

/// The status itself says what is wrong, whoever wrote the page around it (command line, Exit
/// codes).
#[test]
fn a_4xx_without_a_document_is_judged_by_its_status() {
    for (status, exit) in [
        (400, 12),
        (401, 4),
        (403, 5),
        (404, 6),
        (405, 15),
        (409, 7),
        (413, 12),
        (422, 7),
        (429, 9),
    ] {
        for (kind, body) in
            [("text/html", PAGE), ("text/plain", ""), ("application/json", "\"no\"")]
        {
            let error = show(Reply::Whole(status, kind, body.to_owned()))
                .refused(exit, &format!("http_{status}"));
            assert_eq!(error["http_status"], status, "{error}");
            assert_eq!(error.get("body").is_none(), body.is_empty(), "{error}");
            let message = text(&error, "message");
            assert!(message.contains(&status.to_string()), "{error}");
            assert!(message.len() > 20, "{error}");
        }
    }
}

#[test]
fn a_429_without_a_document_is_waited_out_all_the_same() {
    let (_server, home) = Scripted::with_home(move |request| match request.number {
        0 => whole("429 Slow down\r\nRetry-After: 1\r\nContent-Type: text/html", PAGE),
        _ => Reply::json(200, &confirmed()),
    });
    home.ok(["show", "bk_1", "--max-wait", "30s"]);
}

/// "a 4xx is a refusal only where it carries one of the service's documents (JSON with `error`) …;
/// a page, an empty body, 408, 425, 499 or anything from something in between proves nothing (16)"
/// (design, Policies)
#[test]
fn booking_4xx_without_a_service_document_stays_open() {
    let document = json!({"error": "no"}).to_string();
    let nothing_done = json!({"error": "off", "error_code": "vendor_disabled"}).to_string();
    let no_provider = json!({"error": "none", "error_code": "no_search_provider"}).to_string();
    let of_something_else = json!({"message": "no route"}).to_string();
    // A page comes from something in between. A document that proves nothing is the service's, and
    // may be about a request that is still under way: it is sent again as after a 5xx.
    for (status, kind, body, is_open, creates) in [
        (400, "text/html", PAGE, true, 1),
        (401, "text/html", PAGE, true, 1),
        (404, "text/html", PAGE, true, 1),
        (404, "text/plain", "", true, 1),
        (407, "text/html", PAGE, true, 1),
        (413, "text/html", PAGE, true, 1),
        (417, "text/plain", "", true, 1),
        (421, "text/plain", "", true, 1),
        (429, "text/html", PAGE, true, 1),
        (404, "application/json", &of_something_else, true, 3),
        (407, "application/json", &document, true, 3),
        (408, "application/json", &document, true, 3),
        (423, "application/json", &document, true, 3),
        (425, "application/json", &document, true, 3),
        (499, "application/json", &document, true, 3),
        (404, "application/json", &document, false, 1),
        (405, "application/json", &document, false, 1),
        (502, "application/json", &no_provider, false, 1),
        (503, "application/json", &nothing_done, false, 1),
    ] {
        let reply = Reply::Whole(status, kind, body.to_owned());
        let (server, home) = creating(move |_| reply.clone()).beside_home();
        let output = home.run(booking(&[]));
        match is_open {
            true => {
                let error = output.refused(16, "outcome_unknown");
                assert_eq!(error["http_status"], status, "{error}");
                has(&error, "hint", "attempts resume");
            }
            false => drop(output.exits(match status {
                404 => 6,
                502 => 13,
                503 => 14,
                _ => 12,
            })),
        }
        assert_eq!(server.creates().len(), creates, "{status} {kind}");
        let open = home.list("attempts");
        assert_eq!(open.len(), usize::from(is_open), "{status} {kind}");
    }
}

/// One odd value does not cost the rest of a document, and is passed on as it came.
#[test]
fn half_surrogate_number_beyond_all() {
    let document = r#"{"id":"bk_1","status":"confirmed","venue_name":"Caf\ud83d","amount":1e999999,"low":-1e400}"#;
    let (_server, home) = Scripted::with_home(move |_| {
        Reply::Whole(200, "application/json", format!("\u{feff}{document}"))
    });
    let output = home.ok(["show", "bk_1", "--json"]);
    assert_eq!(output.stdout, format!("{document}\n"));
    home.ok(["show", "bk_1"]).shows("Caf\u{fffd}");
    let filtered = home.ok(["show", "bk_1", "--jq", "[.venue_name, .amount]"]);
    assert_eq!(filtered.stdout, "[\"Caf\u{fffd}\",1e+999999]\n");
}

#[test]
fn a_document_that_is_too_deep_is_refused_at_once() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let depth = 100_000;
        let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        for body in [deep, open.repeat(depth)] {
            let begun = Instant::now();
            show(Reply::Whole(200, "application/json", body)).refused(15, "unexpected_answer");
            assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        }
    }
}

/// We ask for no compression, and read what comes compressed all the same.
#[test]
fn an_answer_that_is_compressed_is_read() {
    let body =
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0];
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut bytes = head.into_bytes();
    bytes.extend(body);
    let (server, home) = Scripted::with_home(move |_| Reply::Raw(bytes.clone()));
    let error = home.refuses("show bk_1", 15, "unexpected_answer");
    assert_eq!(error["body"], serde_json::json!({}), "{error}");
    for request in server.requests() {
        assert_eq!(request.header("accept-encoding"), None);
    }
}

/// "every wait has a deadline" (design): the whole answer has one, not each of its parts.
#[test]
fn an_answer_that_drips_without_end_ends_with_the_timeout() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n";
    let slow = Duration::from_millis(20);
    for reply in [
        Reply::Endless(head.to_owned(), "1\r\n \r\n".to_owned(), slow),
        Reply::Endless("HTTP/1.1 200 OK\r\n".to_owned(), "X-A: b\r\n".to_owned(), slow),
    ] {
        let (_server, home) = Scripted::with_home(move |_| reply.clone());
        let begun = Instant::now();
        home.refuses("show bk_1 --timeout 1s", 15, "timeout");
        let took = begun.elapsed();
        assert!(took > Duration::from_millis(900) && took < SOON, "{took:?}");
    }
}

/// Shows a booking in 128 MB of address space, the program itself included.
fn show_in_128_mb(home: &Home) -> Output {
    let mut shell = home.program("bash");
    let script = "ulimit -v 131072; exec \"$0\" show bk_1 --json";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_bookctl")]);
    shell.stdin(Stdio::null());
    Running::start(shell).end()
}

/// However much comes, only so much is held: in 128 MB of address space the command still says why.
#[test]
fn an_answer_without_end_is_cut_off() {
    let megabyte = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (_server, home) = Scripted::with_home(move |_| {
        Reply::Endless(head.to_owned(), megabyte.clone(), Duration::ZERO)
    });
    let error = show_in_128_mb(&home).refused(15, "unexpected_answer");
    // It was reached: what it says is the trouble.
    assert_eq!(text(&error, "message"), "cannot use the response: it is larger than 16 MB");
}

/// A small text may stand for a large tree: it is counted before any room is made for it.
#[test]
fn an_answer_of_too_many_values_is_refused_before_it_is_read() {
    let many = format!(
        "{{\"id\":\"bk_1\",\"status\":\"confirmed\",\"all\":[{}0]}}",
        "0,".repeat(1_000_000)
    );
    let (_server, home) =
        Scripted::with_home(move |_| Reply::Whole(200, "application/json", many.clone()));
    let error = show_in_128_mb(&home).refused(15, "unexpected_answer");
    has(&error, "message", "values");
    // Strings may hold what separates values elsewhere.
    let long =
        json!({"id": "bk_1", "status": "confirmed", "note": ",[{\"".repeat(200_000)}).to_string();
    let (_server, home) =
        Scripted::with_home(move |_| Reply::Whole(200, "application/json", long.clone()));
    home.ok(["show", "bk_1", "--json"]);
}
