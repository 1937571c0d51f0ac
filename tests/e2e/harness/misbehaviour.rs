//! The ways in which a service, or what stands before it, spoils an answer.

use std::io::Read;
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::misbehaving::{Act, Arrived, Commit, booking, written};
use super::random;

/// In what somebody else's booking differs from the one that was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Different {
    Guest,
    Venue,
    Time,
    Party,
    Everything,
}

impl Different {
    pub(crate) const ALL: [Self; 5] =
        [Self::Guest, Self::Venue, Self::Time, Self::Party, Self::Everything];
}

/// How a request is answered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// As the contract says it.
    Proper,
    /// A reset of the connection.
    Reset,
    /// The end of the connection.
    Close,
    /// The end of what the service says, on a connection that it goes on to read.
    HalfClose,
    /// The proper one, after this.
    Late(Duration),
    /// The proper one, and somebody else's right after it, on a connection that stays open.
    SurplusAfter,
    /// Somebody else's, and the proper one right after it.
    SurplusBefore,
    /// Somebody else's booking alone, with this status.
    Another(u16, Different),
    BrokenChunks,
    Truncated,
    /// The proper one after many answers that only promise one.
    PromisesBefore,
    /// Promises without an end.
    PromisesForEver,
    /// A page of HTML.
    Page(u16),
    /// A status and nothing else.
    Bare(u16),
    /// JSON that something else says than the service.
    ForeignJson(u16),
    /// A redirect to another path.
    Redirect(u16),
    /// One of the service's documents, with its status.
    Refused(u16),
    /// 429, with so many seconds to wait.
    Limited(u64),
    Garbage,
    /// Headers without an end, as far as they are read.
    EndlessHead,
    /// The proper one, byte by byte, all of it within this.
    Drip(Duration),
    TwoLengths,
    /// A 201 whose body is text.
    NotJson,
    /// A 201 whose document is no booking.
    NoBooking,
}

/// Sends it; whether the connection goes on.
pub(super) fn answer(client: &mut TcpStream, how: &Answer, status: u16, document: &Value) -> bool {
    let proper = whole(status, "application/json", "", &document.to_string());
    match *how {
        Answer::Proper => written(client, &proper),
        Answer::Reset | Answer::Close => false,
        Answer::HalfClose => {
            let _ = client.shutdown(Shutdown::Write);
            until_the_other_side_ends(client)
        }
        Answer::Late(pause) => {
            std::thread::sleep(pause);
            written(client, &proper)
        }
        Answer::SurplusAfter => {
            let sent = written(client, &proper);
            // In a segment of its own: one that comes along with the answer is noticed.
            std::thread::sleep(Duration::from_micros(500));
            sent && written(client, &somebody_elses(201, Different::Everything, document))
        }
        Answer::SurplusBefore => {
            let sent = written(client, &somebody_elses(201, Different::Everything, document));
            std::thread::sleep(Duration::from_micros(500));
            sent && written(client, &proper)
        }
        Answer::Another(status, different) => {
            written(client, &somebody_elses(status, different, document))
        }
        Answer::PromisesBefore => {
            let promises = b"HTTP/1.1 102 Processing\r\n\r\n".repeat(150);
            written(client, &promises) && written(client, &proper)
        }
        Answer::PromisesForEver => {
            let promises = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(4);
            again_and_again(client, &promises, Duration::from_millis(10))
        }
        Answer::Drip(longest) => {
            let began = Instant::now();
            let pause = longest / u32::try_from(proper.len()).unwrap();
            proper.iter().zip(1..).all(|(byte, number)| {
                // By the moment at which each is due, so that what one byte is late is not added to
                // the next.
                std::thread::sleep((pause * number).saturating_sub(began.elapsed()));
                written(client, &[*byte])
            })
        }
        Answer::EndlessHead => {
            let line = format!("X-Filler: {}\r\n", "x".repeat(200));
            written(client, b"HTTP/1.1 201 Created\r\n")
                && again_and_again(client, line.repeat(8).as_bytes(), Duration::from_millis(1))
        }
        Answer::Page(status) => {
            let page = format!("<!doctype html><title>{status}</title><h1>nginx</h1>");
            written(client, &whole(status, "text/html", "", &page))
        }
        Answer::Bare(status) => written(client, &whole(status, "", "", "")),
        Answer::ForeignJson(status) => {
            // To 408, 425 and 499 a document of the service's own shape proves nothing either.
            let body = match status {
                408 | 425 | 499 => json!({"error": "upstream request timeout"}),
                _ => json!({"message": "no Route matched with those values"}),
            };
            written(client, &whole(status, "application/json", "", &body.to_string()))
        }
        Answer::Redirect(status) => {
            written(client, &whole(status, "text/html", "Location: /elsewhere\r\n", ""))
        }
        Answer::Refused(status) => written(client, &refusal(status)),
        Answer::Limited(seconds) => {
            let body = json!({"error": "rate_limited"}).to_string();
            let wait = format!("Retry-After: {seconds}\r\n");
            written(client, &whole(429, "application/json", &wait, &body))
        }
        _ => {
            let _ = written(client, &broken(how, document));
            false
        }
    }
}

/// Bytes after which no connection can go on.
fn broken(how: &Answer, document: &Value) -> Vec<u8> {
    let body = document.to_string();
    let head = |more: &str| {
        format!("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n{more}\r\n\r\n")
    };
    let text = match how {
        Answer::BrokenChunks => format!(
            "{}{:x}\r\n{body}\r\nzz\r\n\r\n",
            head("Transfer-Encoding: chunked"),
            body.len()
        ),
        Answer::Truncated => {
            let sent = &body[..body.len() / 2];
            format!("{}{sent}", head(&format!("Content-Length: {}", body.len())))
        }
        Answer::TwoLengths => {
            let lengths = format!("Content-Length: 7\r\nContent-Length: {}", body.len());
            format!("{}{body}", head(&lengths))
        }
        Answer::NotJson => format!("{}created", head("Content-Length: 7")),
        Answer::NoBooking => {
            let body = json!({"ok": true}).to_string();
            format!("{}{body}", head(&format!("Content-Length: {}", body.len())))
        }
        _ => return (0..400u32).map(|it| (it * 197 % 251) as u8).collect(),
    };
    text.into_bytes()
}

fn whole(status: u16, kind: &str, more: &str, body: &str) -> Vec<u8> {
    let kind = match kind {
        "" => String::new(),
        kind => format!("Content-Type: {kind}\r\n"),
    };
    // An answer of this status has no body, and no length.
    if status == 204 {
        return b"HTTP/1.1 204 No Content\r\n\r\n".to_vec();
    }
    format!("HTTP/1.1 {status} Status\r\n{kind}{more}Content-Length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

/// A whole answer with the booking of somebody else.
fn somebody_elses(status: u16, different: Different, document: &Value) -> Vec<u8> {
    let mut other = match document.get("customer") {
        Some(_) => document.clone(),
        // After an answer that is no booking: there is nothing in it to be kept.
        None => booking("bk_x", &json!({})),
    };
    other["id"] = json!("bk_of_somebody_else");
    // What the service made before says so by its own time.
    if status == 200 {
        other["created_at"] = json!("2020-01-01T00:00:00Z");
    }
    let all = matches!(different, Different::Everything);
    if all || matches!(different, Different::Guest) {
        other["customer"] = json!({"name": "Eve Other"});
    }
    if all || matches!(different, Different::Venue) {
        other["venue_id"] = json!("ven_elsewhere");
    }
    if all || matches!(different, Different::Time) {
        other["datetime"] = json!("2040-02-03T18:00:00Z");
    }
    if all || matches!(different, Different::Party) {
        other["party_size"] = json!(13);
    }
    whole(status, "application/json", "", &other.to_string())
}

/// The service's documents for what it refuses (spec, Errors); none of them makes a booking.
fn refusal(status: u16) -> Vec<u8> {
    let more = if status == 429 { "Retry-After: 1\r\n" } else { "" };
    let body = match status {
        400 => r#"{"error": "validation failed", "fields": {"party_size": "too many"}}"#,
        402 => r#"{"error": "billing_required", "message": "set up billing"}"#,
        409 => r#"{"error": "reconnect", "error_code": "reconnect_required"}"#,
        422 => r#"{"error": "refused by the venue", "error_code": "venue_refused"}"#,
        429 => r#"{"error": "rate_limited"}"#,
        503 => r#"{"error": "retry shortly", "error_code": "billing_check_unavailable"}"#,
        _ => r#"{"error": "refused"}"#,
    };
    whole(status, "application/json", more, body)
}

fn until_the_other_side_ends(client: &mut TcpStream) -> bool {
    let mut rest = [0; 64];
    while client.read(&mut rest).is_ok_and(|read| read > 0) {}
    false
}

/// Sends it for as long as it is read, and not for ever.
fn again_and_again(client: &mut TcpStream, bytes: &[u8], pause: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(20) && written(client, bytes) {
        std::thread::sleep(pause);
    }
    false
}

/// A plan that misbehaves by chance, the same for the same seed, key and try; `timeout` is how long
/// its clients wait.
pub(crate) fn by_chance(seed: u64, timeout: Duration) -> impl Fn(&Arrived) -> Act + Send + Sync {
    move |arrived| {
        let mut draw = Draw::seeded(seed, &arrived.key, arrived.earlier);
        match arrived.is_create {
            true => create_by_chance(&mut draw, timeout),
            false => Act::new(Commit::Never, read_by_chance(&mut draw, timeout)),
        }
    }
}

/// Numbers that look like chance, from a seed and what they are for.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn seeded(seed: u64, what: &str, number: usize) -> Self {
        let bytes = what.bytes().chain(number.to_le_bytes());
        let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Draw(bytes.fold(start, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)))
    }

    /// From 0 to 1.
    pub(crate) fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        random(self.0)
    }

    pub(crate) fn of_these<T: Copy>(&mut self, these: &[T]) -> T {
        let place = (self.part() * these.len() as f64) as usize;
        these[place.min(these.len() - 1)]
    }
}

fn create_by_chance(draw: &mut Draw, timeout: Duration) -> Act {
    const PAGES: [u16; 9] = [408, 499, 425, 404, 407, 417, 421, 502, 504];
    const REFUSALS: [u16; 6] = [400, 402, 409, 422, 429, 503];
    let chosen = draw.part();
    if chosen < 0.2 {
        return Act::proper();
    }
    if chosen < 0.35 {
        return Act::refused(draw.of_these(&REFUSALS));
    }
    let commit = match draw.part() {
        part if part < 0.5 => Commit::BeforeTheAnswer,
        part if part < 0.75 => Commit::After(timeout.mul_f64(2.0 * draw.part())),
        _ => Commit::Never,
    };
    let answer = match (draw.part() * 19.0) as usize {
        0 => Answer::Reset,
        1 => Answer::Close,
        2 => Answer::HalfClose,
        3 => Answer::SurplusBefore,
        // Crossed on its way, or the service knows the key for another booking: who is answered
        // cannot tell.
        4 => Answer::Another(200, draw.of_these(&Different::ALL)),
        5 => Answer::Another(201, draw.of_these(&Different::ALL)),
        6 => Answer::BrokenChunks,
        7 => Answer::Truncated,
        8 => Answer::PromisesForEver,
        9..12 => Answer::Page(draw.of_these(&PAGES)),
        12 => Answer::Bare(draw.of_these(&PAGES)),
        13 => Answer::ForeignJson(draw.of_these(&PAGES)),
        14 => Answer::Garbage,
        15 => Answer::EndlessHead,
        16 => Answer::TwoLengths,
        17 => Answer::NotJson,
        _ => draw.of_these(&[Answer::NoBooking, Answer::Bare(204), Answer::Redirect(302)]),
    };
    // These may be taken for an answer, and then are one: the booking is made.
    let taken = [
        Answer::PromisesBefore,
        Answer::SurplusAfter,
        Answer::Drip(timeout / 3),
        Answer::Drip(timeout * 2),
        Answer::Late(timeout.mul_f64(1.0 + draw.part())),
    ];
    match draw.part() < 0.25 {
        true => Act::new(Commit::BeforeTheAnswer, draw.of_these(&taken)),
        false => Act::new(commit, answer),
    }
}

fn read_by_chance(draw: &mut Draw, timeout: Duration) -> Answer {
    let odd = [
        Answer::Reset,
        Answer::Close,
        Answer::Late(timeout * 2),
        Answer::SurplusAfter,
        Answer::SurplusAfter,
        Answer::Truncated,
        Answer::Page(502),
        Answer::Page(404),
        Answer::Garbage,
        Answer::Another(200, Different::Guest),
    ];
    match draw.part() < 0.6 {
        true => Answer::Proper,
        false => draw.of_these(&odd),
    }
}
