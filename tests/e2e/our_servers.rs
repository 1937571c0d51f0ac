//! Our own servers, the listener and the sandbox, as a stranger meets them: HTTP/1 alone, and no
//! page of another site.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::harness::http::send;
use crate::harness::listening::{Listening, home_without_a_service};
use crate::harness::{HANG, Home, Served, skipped, text};

/// What a client of HTTP/2 that expects HTTP/2 sends first: the preface and an empty SETTINGS
/// frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// What the server answers to these bytes until it closes the connection, and how long that takes.
fn answer(url: &str, bytes: &[u8]) -> (Vec<u8>, Duration) {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    let begun = Instant::now();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => answer.extend(&buffer[..length]),
            // Bytes that the server did not read before it closed make a reset of its close.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("the connection stays open: {error}"),
        }
    }
    (answer, begun.elapsed())
}

/// "a request that takes more than 10 seconds to come in is cut off" (docs/webhooks.md) could not
/// hold for HTTP/2, and neither could a fault that cuts a connection.
#[test]
fn a_server_of_ours_refuses_http_2_at_once() {
    let home = home_without_a_service();
    let listening = Listening::start(&home, &[]);
    let served = Served::start();
    for url in [listening.url.as_str(), served.base_url()] {
        let (answer, took) = answer(url, PREFACE);
        // A server of HTTP/2 answers with a SETTINGS frame. Ours closes, with or without an HTTP/1
        // refusal.
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400 "), "{url}: {answer:?}");
        assert!(took < Duration::from_secs(5), "{url}: {took:?}");
    }
    let (status, _) = served.send("GET", "/sandbox/clock", &[], "");
    assert_eq!(status, 200);
}

/// "a request that takes more than 10 seconds to come in is cut off" (docs/webhooks.md)
#[test]
#[ignore = "waits for ten seconds"]
fn stalled_delivery_is_cut_off_after_ten_seconds() {
    let home = home_without_a_service();
    let listening = Listening::start(&home, &[]);
    let head = "POST / HTTP/1.1\r\nHost: l\r\nContent-Length: 9\r\n";
    let requests =
        [head.to_owned(), format!("{head}\r\n1234"), format!("{head}Expect: 100-continue\r\n\r\n")];
    let mut all: Vec<_> = requests.iter().map(|it| (listening.url.as_str(), it.as_str())).collect();
    // Nor does a connection that sends no head hold a place of either server.
    let served = Served::start();
    let urls = [listening.url.as_str(), served.base_url()];
    all.extend(urls.into_iter().flat_map(|url| [(url, ""), (url, "GET / HTTP/1.1\r\n")]));
    std::thread::scope(|scope| {
        for (url, request) in all {
            scope.spawn(move || {
                let (answer, took) = answer(url, request.as_bytes());
                let answer = String::from_utf8_lossy(&answer);
                assert!(!answer.contains(" 200 "), "{request}: {answer}");
                let seconds = took.as_secs_f32();
                assert!((9.5..16.0).contains(&seconds), "{request}: {took:?}");
            });
        }
    });
}

/// Browsers send `Origin` with every write of a page. A request without it that says it comes from
/// another site, or with two of them, is no tool's request either.
#[test]
fn page_of_another_site_cannot_write_to_the_controls() {
    let served = Served::start();
    let own = served.base_url().to_owned();
    let post = |headers: &[(&str, &str)]| {
        let (status, _) = send(&own, "POST", "/sandbox/reset", headers, "");
        status
    };
    assert_eq!(post(&[("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(post(&[("Sec-Fetch-Site", "same-site")]), 403);
    assert_eq!(post(&[("Origin", &own), ("Origin", "https://evil.example")]), 403);
    assert_eq!(post(&[("Origin", &own), ("Origin", &own)]), 403);
    assert_eq!(post(&[("Sec-Fetch-Site", "same-origin")]), 200);
    assert_eq!(post(&[("Origin", &own)]), 200);
    assert_eq!(post(&[]), 200);
}

/// Else a client that keeps its connections finds this one closed at its next request.
#[test]
fn a_connection_goes_on_after_a_refusal_whatever_its_body() {
    let served = Served::start();
    let own = served.base_url().trim_start_matches("http://");
    let (refused, body) = ("POST /sandbox/reset HTTP/1.1\r\nOrigin: null", "x".repeat(300_000));
    let next = "GET /sandbox/clock HTTP/1.1\r\nConnection: close";
    let both = format!(
        "{refused}\r\nHost: {own}\r\nContent-Length: 300000\r\n\r\n{body}{next}\r\nHost: {own}\r\n\r\n"
    );
    let (answers, _) = answer(own, both.as_bytes());
    let answers = String::from_utf8_lossy(&answers);
    assert!(answers.contains(" 403 "), "{answers}");
    assert!(answers.contains(" 200 "), "{answers}");
}

/// bookctl itself takes no http to another host than this, and 0.0.0.0 is an address that nobody
/// can connect to.
#[test]
fn sandbox_on_every_address_prints_a_reachable_one() {
    for (address, own) in [("0.0.0.0", "http://127.0.0.1:"), ("::", "http://[::1]:")] {
        if address == "::" && std::net::TcpListener::bind("[::1]:0").is_err() {
            skipped("this machine has no IPv6");
            continue;
        }
        let served = Served::with(&Home::new(), &["--ephemeral", "--expose", address]);
        for field in ["base_url", "openapi_url", "page"] {
            let shown = text(served.ready(), field);
            assert!(shown.starts_with(own), "{field}: {shown}");
        }
        served.home().ok(["status"]);
    }
    let serve = ["sandbox", "serve", "--port", "0", "--ephemeral"];
    let exposed = ["--expose", "0.0.0.0"];
    let home = Home::new();
    let served = home.start(serve.iter().chain(&exposed));
    served.signal("-TERM");
    let run = served.end();
    assert!(!run.stdout.contains("0.0.0.0"), "{run}");
    run.prints("export BOOKCTL_BASE_URL=http://127.0.0.1:")
        .prints("other computers reach it at this computer's address");
}

/// Idle and half-sent connections take no more than their share; who comes later waits for a place.
#[cfg(target_os = "linux")]
#[test]
fn a_served_sandbox_holds_512_connections_at_most() {
    let served = Served::start();
    let address = served.base_url().trim_start_matches("http://");
    let connect = |_| TcpStream::connect(address.trim_end_matches('/')).unwrap();
    let mut connections: Vec<TcpStream> = (0..560).map(connect).collect();
    for connection in &mut connections[1..550] {
        connection.write_all(b"GET /sandbox/clock HTTP/1.1\r\n").unwrap();
    }
    let address = address.trim_end_matches('/');
    let request = format!("GET /sandbox/clock HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let request = request.as_bytes();
    let mut answer = [0; 12];
    for _ in 0..50 {
        connections[0].write_all(request).unwrap();
        connections[0].read_exact(&mut answer).unwrap();
    }
    let descriptors = std::fs::read_dir(format!("/proc/{}/fd", served.id())).unwrap();
    let sockets = descriptors.filter(|descriptor| {
        let target = std::fs::read_link(descriptor.as_ref().unwrap().path());
        target.is_ok_and(|target| target.to_string_lossy().starts_with("socket:"))
    });
    let sockets = sockets.count();
    assert!((512..520).contains(&sockets), "{sockets}");
    let mut last = connections.pop().unwrap();
    last.set_read_timeout(Some(HANG)).unwrap();
    last.write_all(request).unwrap();
    drop(connections);
    last.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
}
