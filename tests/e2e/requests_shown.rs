//! What people see of requests: in the log of `sandbox serve`, in `requests show`, and in the notes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::http::send;
use crate::harness::{Home, Key, Served, Terminal, free_port, text};

const KEY: (&str, &str) = ("Authorization", "Bearer sk_live_sandbox");

fn order(venue: &str, party: u32) -> String {
    json!({
        "venue_id": venue,
        "datetime": "2027-05-01T19:00:00Z",
        "party_size": party,
        "customer": {"name": "Ada Lovelace"},
    })
    .to_string()
}

/// The end of a request's headers.
const END: &[u8] = b"\r\nConnection: close\r\n\r\n";

fn address(served: &Served) -> &str {
    served.base_url().trim_start_matches("http://")
}

/// Sends bytes, and reads whatever comes back until the connection is closed.
fn raw(address: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn last(served: &Served) -> Value {
    let (_, document) = send(
        served.base_url(),
        "GET",
        "/sandbox/requests?limit=1",
        &[],
        "",
    );
    document["requests"][0].clone()
}

#[test]
fn a_narrow_terminal_breaks_the_log_of_requests_between_words_below_the_time() {
    for width in [50, 80] {
        let home = Home::new();
        let port = free_port().to_string();
        let serve = ["sandbox", "serve", "--ephemeral", "-v", "--port", &port];
        let mut terminal = Terminal::of_width(&home, width, &serve);
        terminal.see("Ctrl-C");
        let base = format!("http://127.0.0.1:{port}");
        send(
            &base,
            "POST",
            "/v1/bookings",
            &[KEY],
            &order("ven_confirms", 99),
        );
        terminal.see("must be 1 to 20\" < } < }");
        terminal.press(Key::CtrlC);
        let ended = terminal.end().exits(0);
        assert_eq!(ended.broken, Vec::<String>::new());
        let screen = ended.text();
        let (_, log) = screen.split_once("POST /v1/bookings 400 ").unwrap();
        let mut below = log.lines().skip(1).take_while(|it| !it.starts_with("  >"));
        let column = " ".repeat("12:00:00 ".len());
        assert!(
            below.clone().count() >= 4 && below.all(|it| it.starts_with(&column)),
            "{screen}"
        );
        assert!(screen.contains("\n  >   \"party_size\": 99,\n"), "{screen}");
    }
}

#[test]
fn a_body_that_is_no_text_is_said_to_be_base64() {
    let served = Served::start();
    let address = address(&served);
    let head = format!("POST /v1/bookings HTTP/1.1\r\nHost: {address}\r\nContent-Length: 3");
    raw(address, &[head.as_bytes(), END, b"\xff\xfe\x01"].concat());
    let shown = served.home().run(["sandbox", "requests", "show", "@last"]);
    let shown = shown.exits(0);
    let said = "(the body is not text; as Base64:)\n//4B\n";
    shown.shows(said);
    assert_eq!(shown.stdout.matches("Base64").count(), 1, "{shown}");
}

#[test]
fn a_curl_command_has_the_variable_for_a_key_in_the_query_and_works() {
    let served = Served::start();
    let path = "/v1/?key=sk_live_sandbox";
    send(served.base_url(), "GET", path, &[KEY], "");
    let show = ["sandbox", "requests", "show", "@last", "--curl"];
    let curl = served.home().ok(show).stdout;
    let again = Command::new("sh")
        .args(["-c", &curl])
        .env("BOOKCTL_API_KEY", "sk_live_sandbox")
        .output();
    let index: Value = serde_json::from_slice(&again.unwrap().stdout).unwrap();
    assert_eq!(index["sandbox"], true, "{curl}");
    assert_eq!(last(&served)["query"], "key=sk_live_…dbox");
}

#[test]
fn a_request_that_is_refused_for_its_host_is_told_the_flag_and_the_port() {
    let served = Served::start();
    let address = address(&served);
    let (_, port) = address.rsplit_once(':').unwrap();
    let head = b"GET /v1/ HTTP/1.1\r\nHost: app.test";
    let answer = raw(address, &[head, END].concat());
    let said = format!(
        "the Host header is \"app.test\", and must be localhost, 127.0.0.1 or [::1], or a name that \
         `bookctl sandbox serve --host app.test` allows, with the port {port}"
    );
    let (_, body) = answer.rsplit_once("\r\n").unwrap();
    let refusal: Value = serde_json::from_str(body).unwrap();
    assert_eq!(text(&refusal, "error"), said);
}
