//! The answer to a booking request is cut, reset or held up after every byte, and spoiled in the
//! ways of networks and proxies: never a false success, never a false failure, never a second
//! booking.

use std::sync::Arc;

use crate::harness::{Home, Proxy, Served, Spoil, run_traced, strace_is_missing};
use crate::promise::{Intent, Kept, sample, try_each};

/// Most cases wait for the pauses between tries, not for the machine.
const WORKERS: usize = 12;
/// More than a run tries.
const EVERY_TRY: usize = 100;

fn home_behind(proxy: &Proxy) -> Home {
    Home::pointing_to(proxy.base_url(), "sk_live_sandbox")
}

/// The length of the answer to a booking request, head and body, and a little more for a longer
/// time stamp.
fn longest_answer() -> usize {
    let served = Served::unlimited();
    let length = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let seen = length.clone();
    let look = Spoil::changed(move |answer| {
        seen.store(answer.len(), std::sync::atomic::Ordering::SeqCst);
        answer.to_vec()
    });
    let proxy = Proxy::start(served.base_url(), look, 1);
    home_behind(&proxy).ok(Intent::number(0).arguments());
    length.load(std::sync::atomic::Ordering::SeqCst) + 3
}

/// Books through a proxy that spoils the first `times` answers, then settles with a network that is
/// well.
fn book_through(served: &Served, number: usize, spoil: Spoil, times: usize, more: &[&str]) -> Kept {
    let proxy = Proxy::start(served.base_url(), spoil, times);
    let (home, intent) = (home_behind(&proxy), Intent::number(number));
    let ended = home.run(intent.arguments().iter().chain(more));
    match proxy.passed_a_whole_answer() {
        true => assert_eq!(ended.code, Some(0), "a false failure: {ended}"),
        false => assert_eq!(ended.code, Some(16), "a false success or failure: {ended}"),
    }
    proxy.behave();
    intent.is_kept(served, &home, &ended)
}

/// What is spoiled after which byte, on how many tries, of how many bytes, and every how many of
/// them are tried.
type Case = (&'static str, fn(usize) -> Spoil, usize, usize, usize);

#[test]
#[ignore = "samples of every moment take minutes"]
fn response_cut_at_any_byte_is_requested_again_with_its_key() {
    let longest = longest_answer() + 1;
    #[rustfmt::skip]
    let cases: [Case; 7] = [
        ("answers cut once", Spoil::Cut, 1, longest, 47),
        ("answers reset once", Spoil::Reset, 1, longest, 47),
        ("answers cut on every try", Spoil::Cut, EVERY_TRY, longest, 101),
        ("answers reset on every try", Spoil::Reset, EVERY_TRY, longest, 101),
        ("answers held up", Spoil::Stall, EVERY_TRY, longest, 67),
        ("answers of no length cut", cut_without_length, EVERY_TRY, longest - 1, 67),
        ("requests lost on every try", Spoil::LostRequest, EVERY_TRY, 430, 97),
    ];
    for (what, spoil, times, bytes, stride) in cases {
        let places = sample((0..bytes).collect(), stride);
        let more: &[&str] = if what == "answers held up" { &["--timeout", "600ms"] } else { &[] };
        try_each(what, WORKERS, &places, |served, number, place| {
            book_through(served, number, spoil(*place), times, more)
        });
    }
}

/// Without a length an answer ends with its connection: half of it looks whole to whoever only
/// counts.
fn cut_without_length(place: usize) -> Spoil {
    Spoil::changed(move |answer| {
        let answer = without_length(answer);
        // All but its last byte at most.
        answer[..place.min(answer.len() - 1)].to_vec()
    })
}

/// An answer's head and body.
fn parts(answer: &[u8]) -> (String, String) {
    let text = String::from_utf8(answer.to_vec()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn without_length(answer: &[u8]) -> Vec<u8> {
    let (head, body) = parts(answer);
    let head: Vec<&str> = head
        .split("\r\n")
        .filter(|line| !line.to_ascii_lowercase().starts_with("content-length"))
        .collect();
    format!("{}\r\nConnection: close\r\n\r\n{body}", head.join("\r\n")).into_bytes()
}

fn as_it_is(body: &str) -> Vec<u8> {
    body.as_bytes().to_vec()
}

/// What is said of a body in place of its length, `BYTES` being how many it has, and what then
/// comes for it.
type Change = (&'static str, fn(&str) -> Vec<u8>);

/// Answers that say what they are in a way that does not hold.
const BROKEN: [Change; 12] = [
    ("Content-Length: 60", as_it_is),
    ("Content-Length: BYTES9", as_it_is),
    ("Content-Length: 0", as_it_is),
    ("Content-Length: many", as_it_is),
    ("Content-Length: 5\r\nContent-Length: BYTES", as_it_is),
    // Chunks without an end, one that is shorter than it says, and sizes that are no numbers.
    (CHUNKED, |body| chunk(body.len(), body, "")),
    (CHUNKED, |body| chunk(body.len() + 9, body, "0\r\n\r\n")),
    (CHUNKED, |body| format!("zz\r\n{body}\r\n0\r\n\r\n").into()),
    ("X-Proxy: 1", |body| format!("{body}<!-- cached -->").into()),
    ("X-Proxy: 1", |body| [&body.as_bytes()[..20], b"\xff", &body.as_bytes()[21..]].concat()),
    ("X-Proxy: 1", |body| [&body.as_bytes()[..body.len() - 30], &[0; 30]].concat()),
    ("Content-Encoding: gzip", |_| b"\x1f\x8b\x08\x00\x00\x00".to_vec()),
];

const CHUNKED: &str = "Transfer-Encoding: chunked";
const PROMISE: &[u8] = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";

fn chunk(length: usize, body: &str, end: &str) -> Vec<u8> {
    format!("{length:x}\r\n{body}\r\n{end}").into()
}

/// The answer, changed so.
fn changed((header, body): Change) -> Spoil {
    Spoil::changed(move |answer| {
        let whole = without_length(answer);
        let (head, text) = parts(&whole);
        let header = header.replace("BYTES", &text.len().to_string());
        [format!("{head}\r\n{header}\r\n\r\n").into(), body(&text)].concat()
    })
}

#[test]
fn answer_not_what_it_says_is_no_success() {
    let alone = [PROMISE, b"HTTP/1.1 204 No Content\r\n\r\n"];
    let alone = alone.map(|bytes| Spoil::changed(|_| bytes.to_vec()));
    let cases: Vec<Spoil> = BROKEN.map(changed).into_iter().chain(alone).collect();
    try_each("broken answers", WORKERS, &cases, |served, number, spoil| {
        book_through(served, number, spoil.clone(), EVERY_TRY, &[])
    });
}

/// Odd, and whole all the same.
fn odd_and_whole() -> [Spoil; 5] {
    let two_chunks = |body: &str| {
        let (first, rest) = body.split_at(7);
        let length = rest.len();
        format!("7\r\n{first}\r\n{length:x};x=y\r\n{rest}\r\n0\r\nTrailer: 1\r\n\r\n").into()
    };
    let of_an_older_http = |answer: &[u8]| {
        let text = String::from_utf8(without_length(answer)).unwrap();
        text.replacen("HTTP/1.1", "HTTP/1.0", 1).into_bytes()
    };
    [
        changed((CHUNKED, two_chunks)),
        Spoil::changed(without_length),
        Spoil::changed(|answer| [PROMISE, answer].concat()),
        Spoil::changed(of_an_older_http),
        Spoil::Drip,
    ]
}

#[test]
fn answer_odd_and_whole_or_that_drips_is_success_on_first_try() {
    let cases = odd_and_whole();
    try_each("odd answers", WORKERS, &cases, |served, number, spoil| {
        let proxy = Proxy::start(served.base_url(), spoil.clone(), EVERY_TRY);
        let (home, intent) = (home_behind(&proxy), Intent::number(number));
        let ended = home.run(intent.arguments());
        assert_eq!(ended.code, Some(0), "case {number}: {ended}");
        intent.is_kept(served, &home, &ended)
    });
}

/// The intent is on the disk before the first byte leaves: the order of the calls shows it.
#[test]
fn the_intent_is_synced_before_the_request_leaves() {
    if strace_is_missing() {
        return;
    }
    let (_served, home) = Served::unlimited_with_home();
    let (output, calls) = run_traced(&home, Intent::number(0).arguments(), &[]);
    output.exits(0);
    let create = calls.iter().position(|call| call.concerns("POST /v1/bookings"));
    let before = &calls[..create.unwrap()];
    let last = |name: &str, of: &str| {
        let found =
            before.iter().rposition(|call| call.name.starts_with(name) && call.concerns(of));
        found.unwrap_or_else(|| panic!("no {name} of {of}"))
    };
    assert!(last("pwrite64", "journal.db>") < last("fsync", "journal.db>"));
}
