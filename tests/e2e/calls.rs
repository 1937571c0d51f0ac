//! `api`: any call of the service, and nothing but the service.

use std::time::Instant;

use serde_json::json;

use crate::harness::{Home, Reply, Running, SOON, Scripted, Served, fifo, has, holds, text, words};

/// Answers whatever comes with a document; a home that talks to it.
fn anything() -> (Scripted, Home) {
    Scripted::with_home(|_| Reply::json(200, &json!({"ok": true})))
}

fn home_of(server: &Scripted) -> Home {
    Home::pointing_to(server.base_url(), "sk_live_x")
}

#[test]
fn fields_are_typed_or_raw_and_make_the_body() {
    let (server, home) = anything();
    std::fs::write(home.folder().join("note.txt"), "from a file").unwrap();
    let fields = words(
        "api post /v1/x -F n=1 -F yes=true -F none=null -F 'text=two words' -F \
             note=@note.txt -f raw=1 -f at=@note.txt --json",
    );
    let output = home.ok(&fields);
    assert_eq!(output.json(), json!({"ok": true}));
    let request = &server.requests()[0];
    assert!(request.is("POST", "/v1/x"));
    assert_eq!(
        request.json(),
        json!({"n": 1, "yes": true, "none": null, "text": "two words", "note": "from a file", "raw": "1", "at": "@note.txt"})
    );
    assert_eq!(request.header("authorization"), Some("Bearer sk_live_x"));
    for wrong in ["-F novalue", "-f =x"] {
        home.refuses(&format!("api POST /v1/x {wrong}"), 2, "usage");
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_body_comes_from_a_file_or_standard_input_as_it_stands() {
    let (server, home) = anything();
    let body = r#"{"zebra":1,"a":[1,2],"é":null}"#;
    std::fs::write(home.folder().join("body.json"), body).unwrap();
    home.ok(["api", "POST", "/v1/x", "--input", "body.json"]);
    home.feed(["api", "PUT", "/v1/x", "--input", "-"], body).exits(0);
    for request in server.requests() {
        assert_eq!(request.body, body);
    }
    home.feed(["api", "POST", "/v1/x", "--input", "-", "--json"], "{nonsense").refused(2, "usage");
    home.refuses("api POST /v1/x --input - -F a=1", 2, "usage");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn headers_travel_and_are_shown_where_they_are_asked_for() {
    let (server, home) = Scripted::with_home(|_| {
        Reply::Bytes(
            "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nX-Trace: abc\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
                .to_owned(),
        )
    });
    let call = words("api POST /v1/x -H 'Idempotency-Key: table-7' -H X-A:b");
    let with = |more: &str| home.ok([&call[..], &words(more)].concat());
    let output = with("-i");
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert!(lines[0].starts_with("HTTP 201"), "{output}");
    assert!(lines.contains(&"x-trace: abc"), "{output}");
    assert_eq!(lines[lines.len() - 2..], ["", "{}"], "{output}");
    let request = &server.requests()[0];
    assert_eq!(request.header("idempotency-key"), Some("table-7"));
    assert_eq!(request.header("x-a"), Some("b"));
    // Under --json stdout is one document still, with the head in it.
    let json = with("-i --json").json();
    assert_eq!(json["status"], 201);
    assert_eq!(json["headers"]["x-trace"], "abc");
    assert_eq!(json["body"], json!({}));
    let filtered = with("--include --jq .headers[\"x-trace\"]");
    assert_eq!(filtered.stdout, "abc\n");
    with("-H 'Content-Type: application/vnd.api+json' -F a=1");
    let headers = server.requests().remove(3).headers;
    let kinds = headers.iter().filter(|(name, _)| name == "content-type");
    let kinds: Vec<&String> = kinds.map(|(_, kind)| kind).collect();
    assert_eq!(kinds, ["application/vnd.api+json"]);
}

#[test]
fn an_answer_without_a_body_is_no_failure() {
    let (_server, home) = Scripted::with_home(|_| {
        Reply::Bytes("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".to_owned())
    });
    home.ok(["api", "DELETE", "/v1/x"]);
    let output = home.ok(["api", "DELETE", "/v1/x", "--json"]);
    assert_eq!(output.stdout, "null\n");
    let gone = ["session", "disconnect", "ses_1", "--yes", "--json"];
    let gone = home.ok(gone).json();
    assert_eq!(gone, json!({"id": "ses_1", "object": "session", "deleted": true}));
    // What is no booking is none.
    home.refuses("show bk_1", 15, "unexpected_answer");
    home.refuses("cancel bk_1 --yes", 16, "outcome_unknown");
}

/// "Ctrl-C at any point ends with …" (command line, Interactive): never that nothing happened once
/// something was sent.
#[test]
fn an_interrupted_write_is_never_said_to_have_changed_nothing() {
    for (arguments, harmless) in [
        ("api POST /v1/x", false),
        ("api GET /v1/x", true),
        ("session verify ses_1 --code 1", false),
        ("session connect --end-user u --phone +442079460018", false),
    ] {
        let server = Scripted::start(|_| Reply::Silence);
        let running = home_of(&server).start(arguments.split(' '));
        server.wait_for_request();
        running.signal("-INT");
        let output = running.ends(130);
        let says_nothing = output.stderr.contains("nothing was changed");
        assert_eq!(says_nothing, harmless, "{output}");
    }
}

/// "every wait … ends within 200 ms of Ctrl-C" (design)
#[test]
fn a_body_that_never_comes_is_no_trap() {
    let (server, home) = anything();
    fifo(&home.folder().join("fifo"));
    for line in [
        "api POST /v1/x --input -",
        "api POST /v1/x -F a=@-",
        "api POST /v1/x --input fifo",
        "continue bk_1 --psp-response @fifo",
    ] {
        let mut command = home.command(words(line));
        // Held open until the command has ended, so that only the signal can end it.
        let (reader, _writer) = std::io::pipe().unwrap();
        command.stdin(reader);
        let running = Running::start(command);
        let begun = Instant::now();
        running.signal("-INT");
        running.ends(130);
        assert!(begun.elapsed() < SOON, "{line}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_file_without_end_is_refused_in_a_sentence() {
    let (server, home) = anything();
    for line in [
        "api POST /v1/x --input /dev/zero",
        "api POST /v1/x -F a=@/dev/zero",
        "continue bk_1 --psp-response @/dev/zero",
    ] {
        let error = home.refuses(line, 2, "usage");
        has(&error, "message", "larger than 16 MB");
    }
    assert!(server.requests().is_empty());
}

/// "An API key never travels to another origin …, and no flag takes one" (command line,
/// Environment)
#[test]
fn the_key_cannot_be_given_nor_led_elsewhere() {
    let (server, home) = anything();
    for path in ["https://evil.example/v1/", "/v1/../sandbox/reset"] {
        home.run(["api", "GET", path, "--json"]).refused(2, "usage");
    }
    for header in
        ["Authorization: Bearer sk_live_y", "authorization:x", "nonsense", ": x", "X: a\r\nY: b"]
    {
        let call = ["api", "GET", "/v1/", "-H", header, "--json"];
        let output = home.run(call).exits(2);
        output.error();
        assert!(!output.stderr.contains("sk_live_y"), "{output}");
    }
    home.refuses("api TRACE /v1/", 2, "usage");
    assert!(server.requests().is_empty());
}

/// "An answer that is no 2xx ends with its exit code", and with the service's own body.
#[test]
fn what_is_no_success_ends_with_its_exit_code_and_body() {
    let plain = json!({"error": "no"});
    let coded = |code: &str| json!({"error": "no", "error_code": code});
    let limited = json!({"error": "rate_limited", "retry_after_seconds": 9});
    #[rustfmt::skip]
    let cases = [
        ("GET", 400, plain.clone(), 12, "http_400"),
        ("GET", 401, json!({"error": "unauthorized"}), 4, "unauthorized"),
        ("GET", 402, coded("billing_required"), 5, "billing_required"),
        ("GET", 404, plain.clone(), 6, "http_404"),
        ("POST", 405, plain.clone(), 12, "http_405"),
        ("POST", 409, plain.clone(), 7, "http_409"),
        ("POST", 422, coded("party_too_large"), 7, "party_too_large"),
        ("GET", 429, limited, 9, "rate_limited"),
        ("GET", 503, plain.clone(), 14, "http_503"),
        ("POST", 503, plain, 16, "outcome_unknown"),
        ("DELETE", 503, coded("vendor_disabled"), 14, "vendor_disabled"),
    ];
    for (method, status, body, exit, code) in cases {
        let answer = body.clone();
        let (_server, home) = Scripted::with_home(move |_| Reply::json(status, &answer));
        let call = ["api", method, "/v1/x"];
        let error = home.run(call.iter().chain(&["--json"]));
        let error = error.refused(exit, code);
        holds!(error, {"http_status": status, "body": body});
        assert_eq!(error["request"], format!("{method} /v1/x"));
        // A person is shown what came, as `gh api` does.
        let human = home.run(call).exits(exit);
        assert_eq!(human.stdout, format!("{body}\n"), "{human}");
        human.tells("error: ");
        let human = home.run(call.iter().chain(&["-i"])).exits(exit);
        let (head, rest) = human.stdout.split_once("\n\n").unwrap();
        assert!(head.starts_with(&format!("HTTP {status}")), "{human}");
        assert_eq!(rest, format!("{body}\n"), "{human}");
        if exit == 16 {
            // A call of `api` is no attempt that can be resumed.
            let hint = text(&error, "hint");
            assert!(hint.contains("bookctl bookings --open"), "{error}");
        }
    }
}

/// A read-only profile is not talked round by what stands behind the path.
#[test]
fn a_read_only_profile_sends_no_write() {
    let read_only = |base_url: &str| {
        Home::new()
            .configured(&format!("[profiles.support]\nbase_url = '{base_url}'\nread_only = true\n"))
            .with("BOOKCTL_PROFILE", "support")
            .with("BOOKCTL_API_KEY", "sk_live_sandbox")
    };
    let (server, _) = anything();
    let home = read_only(server.base_url());
    for line in [
        "api POST /v1/bookings",
        "api POST /v1/bookings?x=/search",
        "api POST /v1/bookings#/search",
        "api DELETE /v1/things/search",
        "api PUT /v1/venues/search",
        "api POST /v1/venues/search/",
        "api POST /v1/x/availability/search",
        "modify bk_1 --party 3",
        "cancel bk_1 --yes",
        "continue bk_1 --otp 123456",
        "session connect --end-user u",
        "session verify ses_1 --code 1",
        "session disconnect ses_1 --yes",
    ] {
        home.refuses(line, 3, "config");
    }
    assert!(server.requests().is_empty());
    for path in ["/v1/venues/search", "/v1/availability/search"] {
        home.ok(["api", "POST", path, "--json"]);
    }
    // A service that is no sandbox may mean something else by the path of a sandbox's control.
    let reset = "api POST /sandbox/reset";
    home.refuses(reset, 3, "config");
    let requests = server.requests();
    assert!(!requests.iter().any(|it| it.path == "/sandbox/reset"));

    let served = Served::start();
    let home = read_only(served.base_url());
    home.json(reset);
    home.book("ven_confirms", &[]).refused(3, "config");
}

/// "where this page is silent, do what a user of `gh` … would expect" (command line)
#[test]
fn brackets_in_fields_name_nest_and_fields_of_get_are_its_query() {
    let (server, home) = anything();
    let fields = ["-F", "customer[name]=Ada", "-F", "n=2", "-f", "tags[]=7"];
    let call = ["api", "POST", "/v1/x"];
    home.ok(call.iter().chain(&fields));
    home.ok(["api", "GET", "/v1/x"].iter().chain(&fields));
    home.ok(words("api GET v1/x?state=active -F 'user=a b&c=d' -f é=1"));
    let requests = server.requests();
    assert_eq!(requests[0].json(), json!({"customer": {"name": "Ada"}, "n": 2, "tags": ["7"]}));
    assert!(requests[1].is("GET", "/v1/x?customer%5Bname%5D=Ada&n=2&tags%5B%5D=7"));
    assert!(requests[2].is("GET", "/v1/x?state=active&user=a+b%26c%3Dd&%C3%A9=1"), "{requests:?}");
    assert!(requests[1].body.is_empty());
    for wrong in ["-F customer=1 -F customer[name]=Ada", "-F customer[name=Ada"] {
        home.refuses(&format!("api POST /v1/x {wrong}"), 2, "usage");
    }
    assert_eq!(server.requests().len(), 3);
}
