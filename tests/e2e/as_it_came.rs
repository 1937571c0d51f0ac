//! Bytes, bodies, addresses and secrets as people and services have them: sent and shown as they
//! came, or refused by name.

use serde_json::json;

use crate::faults::{confirmed, creating};
use crate::harness::{Home, Output, Reply, Scripted, Terminal, has, text};

const KEY: &str = "sk_test_as_it_came_0001";
const BIG: &str = "12345678901234567890123";

fn home(server: &Scripted) -> Home {
    Home::pointing_to(server.base_url(), KEY)
}

fn whole(status: u16, kind: &str, body: &[u8]) -> Reply {
    let head = format!(
        "HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\nX-Request-Id: req_7\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    Reply::Raw([head.as_bytes(), body].concat())
}

#[test]
fn a_body_that_nobody_edits_is_sent_and_shown_byte_for_byte() {
    let body = format!("{{\"ref\":{BIG}, \"price\":10.00,\"k\":1,\"k\":2}}");
    let refusal = r#"{"error":"no","error_code":"odd","n":1e30,"m":1.10}"#;
    let server = Scripted::start(move |_| whole(422, "application/json", refusal.as_bytes()));
    let home = home(&server);
    let file = home.folder().join("body.json");
    std::fs::write(&file, &body).unwrap();
    let input = ["api", "POST", "/v1/x", "--input", file.to_str().unwrap()];
    home.ok([&input[..], &["--dry-run"]].concat()).prints(&body);
    let output = home.run([&input[..], &["--json"]].concat());
    assert_eq!(server.requests()[0].body, body);
    assert!(output.stderr.contains(&format!("\"body\":{refusal}")), "{output}");
    assert_eq!(output.error()["request_id"], "req_7");
    let verbose = home.run(["show", "bk_7", "-v"]).says("< x-request-id: req_7").stderr;
    let took = verbose.lines().find(|line| line.starts_with("< 422 (")).unwrap();
    assert!(took.ends_with(" ms)"), "{verbose}");
    let dry = ["api", "POST", "/v1/x", "--dry-run", "--json"];
    for (field, sent) in [
        (format!("n={BIG}"), format!("\"n\":{BIG}")),
        ("n=[1,2]".to_owned(), "\"n\":[1,2]".to_owned()),
        ("n={\"a\":1}".to_owned(), "\"n\":{\"a\":1}".to_owned()),
        ("n=\"1\"".to_owned(), "\"n\":\"1\"".to_owned()),
        ("n=007".to_owned(), "\"n\":\"007\"".to_owned()),
    ] {
        home.ok([&dry[..], &["-F", &field]].concat()).prints(&sent);
    }
    home.ok([&dry[..], &["-f", "n=12"]].concat()).prints("\"n\":\"12\"");
    let jq = ".body.n | ., type, . + 0";
    let field = format!("n={BIG}");
    let number = home.ok(["api", "POST", "/v1/x", "--dry-run", "-F", &field, "--jq", jq]);
    assert_eq!(number.stdout, format!("{BIG}\nnumber\n{BIG}\n"));
}

fn booking(name: &str) -> String {
    format!(
        r#"{{"id":"bk_7","object":"booking","status":"confirmed","provider":"a","venue_name":"{name}"}}"#
    )
}

#[test]
fn a_booking_is_read_in_every_charset_or_shown_raw() {
    let latin_1 = booking("Caf\u{e9}").chars().map(|c| c as u8).collect();
    let bodies = [
        ("application/json; charset=iso-8859-1", latin_1),
        ("application/json", [b"\xef\xbb\xbf", booking("Café").as_bytes()].concat()),
    ];
    for (kind, body) in bodies {
        let server = Scripted::start(move |_| whole(200, kind, &body));
        home(&server).ok(["show", "bk_7"]).prints("Café");
    }
    let deep = format!("{}{}", "[".repeat(400), "]".repeat(400));
    for (body, why) in [
        (booking("x").replace('}', ",\"fee\":NaN}"), "JSON has no `NaN`"),
        (deep, "127 levels"),
        (booking("x") + "<!-- -->", "more follows"),
    ] {
        let sent = body.clone();
        let server = Scripted::start(move |_| whole(200, "application/json", sent.as_bytes()));
        let error = home(&server).run(["show", "bk_7", "--json"]).refused(15, "unexpected_answer");
        has(&error, "message", why);
        assert!(!text(&error, "message").contains("does not come from"), "{error}");
        assert_eq!(error["body"], body);
        assert_eq!(error["request_id"], "req_7");
        let output = home(&server).run(["api", "GET", "/v1/bookings/bk_7"]).exits(15);
        assert_eq!(output.stdout.trim_end(), body);
    }
}

#[test]
fn timeline_and_attempts_show_the_request_id_of_the_service() {
    let headers = ["X-Request-Id: req_9".to_owned()];
    let server = creating(move |_| Reply::headed(201, &headers, &confirmed()));
    let home = home(&server);
    let id = text(&home.run(crate::faults::booking(&[])).exits(0).json(), "id");
    let attempts = home.json("attempts list --all");
    assert_eq!(attempts["attempts"][0]["runs"][0]["request_id"], "req_9", "{attempts}");
    // The service shows no booking: the journal alone tells the story.
    let story = home.run(["show", &id, "--timeline", "--json"]).exits(6);
    story.shows("\"request_id\":\"req_9\"");
    home.run(["show", &id, "--timeline"]).exits(6).shows("request req_9");
}

#[test]
fn a_refusal_is_read_to_64_kb_and_no_further() {
    let fields: Vec<_> =
        (0..100_000).map(|n| (format!("field_{n}"), json!("is required"))).collect();
    let body = json!({"error": "validation failed", "fields": fields.into_iter().collect::<serde_json::Map<_, _>>()});
    let hex = json!({"error": "6".repeat(8_000_000)});
    for body in [body, hex] {
        let server = Scripted::start(move |_| Reply::json(422, &body));
        let started = std::time::Instant::now();
        let output = home(&server).run(["slots", "v1", "--at", "2030-12-01T19:30:00Z", "--json"]);
        assert!(output.stderr.len() < 200_000, "{}", output.stderr.len());
        assert!(started.elapsed().as_secs() < 20);
    }
}

fn says(output: Output, exit: i32, part: &str) {
    output.exits(exit).says(part);
}

#[test]
fn an_address_and_a_proxy_are_named_as_they_were_dialled() {
    let server = Scripted::start(|request| match request.path.as_str() {
        "/v1/" => Reply::json(200, &json!({"object": "api", "name": "Acme", "version": "v1"})),
        _ => Reply::json(404, &json!({"error": "no such path"})),
    });
    let url = format!("{}/v1", server.base_url());
    let note = format!("the base URL is {}, without it", server.base_url());
    Home::pointing_to(&url, KEY).ok(["status"]).says(&note);
    let home = Home::new();
    home.ok(["profile", "add", "acme", "--base-url", &url]).says(&note);
    assert_eq!(
        home.ok(["profile", "show", "acme", "--json"]).json()["base_url"],
        server.base_url()
    );
    let wrong = Home::pointing_to(&format!("{}/api", server.base_url()), KEY);
    let error = wrong.run(["status", "--json"]).refused(6, "http_404");
    has(&error, "hint", "check the base URL");
    let broken =
        Home::pointing_to("https://svc.example", KEY).with("https_proxy", "http://127.0.0.1:9");
    let error = broken.run(["show", "bk_1", "--json"]).refused(15, "network");
    has(&error, "message", "through the proxy http://127.0.0.1:9 of https_proxy");
    has(&error, "hint", "NO_PROXY=svc.example");
    let plain = Home::pointing_to(&server.base_url().replace("http:", "https:"), KEY);
    let error = plain.run(["status", "--json"]).refused(15, "network");
    has(&error, "message", "TLS");
}

#[test]
fn a_secret_is_trimmed_or_refused_by_name() {
    let server = Scripted::start(|_| {
        Reply::json(200, &json!({"object": "api", "name": "Acme", "version": "v1"}))
    });
    for pasted in [KEY.to_owned(), format!("\u{feff}{KEY}\r\n"), format!(" {KEY}\u{a0}")] {
        Home::pointing_to(server.base_url(), &pasted).ok(["status"]);
        let sent = server.requests().pop().unwrap();
        assert_eq!(sent.header("authorization"), Some(&*format!("Bearer {KEY}")));
    }
    for (pasted, why) in [
        (format!("\"{KEY}\""), "quotes"),
        (format!("Bearer {KEY}"), "`Bearer`"),
        (format!("{KEY}ä"), "U+00E4"),
    ] {
        says(Home::pointing_to(server.base_url(), &pasted).run(["status"]), 4, why);
    }
    // A person is asked again, and what is pasted with blanks is the key.
    let login = ["auth", "login", "--storage", "file", "--base-url", server.base_url()];
    let mut terminal = Terminal::start(&Home::new(), &login);
    terminal.accept("? Profile name");
    terminal.answer("? API key for", &format!("\"{KEY}\"")).see("quotes around it");
    terminal.type_in("\x15").answer("? API key for", &format!("  {KEY} "));
    terminal.ends(0);
    let sent = server.requests().pop().unwrap();
    assert_eq!(sent.header("authorization"), Some(&*format!("Bearer {KEY}")));
    let home = Home::new().with("BOOKCTL_WEBHOOK_SECRET", "'whsec_1'");
    let signature = ["webhook", "verify", "-", "--signature", "t=1,v1=00"];
    says(home.feed(signature, "{}"), 3, "quotes");
}

#[test]
fn an_explanation_finds_the_usual_changes_of_a_body() {
    let home = Home::new().with("BOOKCTL_WEBHOOK_SECRET", "whsec_explained");
    let sign = |body: &str| {
        let signed = home.feed(["webhook", "sign", "-", "--json"], body).exits(0).json();
        text(&signed, "value")
    };
    for (signed, came, cause) in [
        ("{\"a\":1}\n", "{\"a\":1}", "line end"),
        ("{\"a\":1}\r\n", "{\"a\":1}\n", "CRLF"),
        ("{\"a\":1}\n", "{\"a\":1}\r\n", "CRLF"),
        ("\u{feff}{}", "{}", "byte order mark"),
        ("{}", "\u{feff}{}", "byte order mark"),
        ("{\"a\":\"\\u00eb\"}", "{\"a\":\"ë\"}", "escapes"),
        ("{\"a\":\"ë\"}", "{\"a\":\"\\u00eb\"}", "escapes"),
        ("{\"a\":1}", "{ \"a\": 1 }", "without spaces"),
    ] {
        let signature = sign(signed);
        let arguments =
            ["webhook", "verify", "-", "--signature", &signature, "--explain", "--json"];
        let error = home.feed(arguments, came).refused(19, "signature");
        assert_eq!(error["cause"], "changed_body", "{signed:?}: {error}");
        has(&error, "message", cause);
    }
}

#[test]
fn a_code_with_blanks_or_hyphens_is_the_code() {
    let home = Home::new();
    for code in ["12 34 56", "123-456", " 123456\n"] {
        let arguments = ["continue", "bk_1", "--otp", code, "--dry-run", "--json", "-v"];
        let sent = home.run(arguments);
        assert_eq!(sent.json()["body"]["otp"], "***", "{sent}");
    }
    let server =
        Scripted::start(|_| Reply::json(400, &json!({"error": "no", "error_code": "invalid_otp"})));
    let at = self::home(&server);
    at.run(["continue", "bk_1", "--otp", "014-894 ", "-F", "challengeId=c7", "--json"]);
    let sent = server.requests()[0].json();
    assert_eq!(sent, json!({"otp": "014894", "challengeId": "c7"}));
}

#[test]
fn a_wait_of_the_service_may_be_a_date_an_epoch_or_a_fraction() {
    for (value, seconds) in [("1.5", 2), ("7", 7), ("1893456060", 60)] {
        let headers =
            [format!("Retry-After: {value}"), "Date: Tue, 01 Jan 2030 00:00:00 GMT".to_owned()];
        let server = Scripted::start(move |_| {
            Reply::headed(429, &headers, &json!({"error": "rate_limited"}))
        });
        let error = home(&server).run(["show", "bk_1", "--json"]).refused(9, "rate_limited");
        assert_eq!(error["retry_after_seconds"], seconds, "{value}");
    }
}
