//! A listener that is killed again and again while deliveries come, some of them twice: nothing is
//! lost.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::harness::listening::{App, Courier, Listening, event, home_without_a_service};
use crate::harness::{free_port, text};

const DELIVERIES: usize = 700;
const KILLS: usize = 5;
const LONGEST: Duration = Duration::from_secs(60);

/// Deliveries of which 30 in 100 come again, shuffled; the same at every run.
fn deliveries(count: usize) -> Vec<String> {
    let kinds = ["created", "requires_action", "processing", "confirmed", "modified"];
    let distinct = count * 7 / 10;
    let mut deliveries: Vec<String> = (0..distinct)
        .map(|number| {
            let kind = kinds[number % kinds.len()];
            let (id, booking) = (format!("evt_{number}"), format!("bk_{}", number / kinds.len()));
            event(&id, &format!("booking.{kind}"), &booking, kind)
        })
        .collect();
    for number in 0..count - distinct {
        deliveries.push(deliveries[number * 2 % distinct].clone());
    }
    let mut random: u64 = 7;
    for place in (1..deliveries.len()).rev() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        deliveries.swap(place, (random >> 33) as usize % (place + 1));
    }
    deliveries
}

fn id_of(body: &str) -> String {
    text(&serde_json::from_str(body).unwrap(), "id")
}

/// Delivers until everything was taken, as the service does: whatever is not answered with 2xx,
/// again.
fn deliver_all(url: &str, waiting: &Mutex<VecDeque<String>>, taken: &AtomicUsize, over: Instant) {
    let mut courier = None;
    loop {
        assert!(Instant::now() < over, "the deliveries are not taken");
        let Some(body) = waiting.lock().unwrap().pop_front() else {
            return;
        };
        courier = courier.or_else(|| Courier::to(url));
        let status = courier.as_mut().and_then(|it: &mut Courier| it.deliver(&body));
        match status {
            Some(200) => {
                taken.fetch_add(1, Ordering::SeqCst);
            }
            Some(status) => panic!("answered {status}"),
            None => {
                courier = None;
                waiting.lock().unwrap().push_back(body);
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

#[test]
#[ignore = "a storm takes most of a minute"]
fn killed_listener_loses_nothing_and_resends_what_was_in_flight() {
    let over = Instant::now() + LONGEST;
    let home = home_without_a_service();
    let seen = Mutex::new(HashSet::new());
    // One event in eight fails at its first attempt.
    let app = App::start(move |delivered| {
        let number: usize = delivered.id.trim_start_matches("evt_").parse().unwrap();
        let is_new = seen.lock().unwrap().insert(number);
        if is_new && number.is_multiple_of(8) { 500 } else { 200 }
    });
    let port = free_port().to_string();
    let url = format!("http://127.0.0.1:{port}/");
    let listen = || {
        let forward = ["--forward-to", &app.url, "--retries", "20ms,20ms,20ms"];
        Listening::start(&home, &[&["--port", &port], &forward[..]].concat())
    };
    let mut listening = Some(listen());
    let bodies = deliveries(DELIVERIES);
    let waiting = Arc::new(Mutex::new(VecDeque::from(bodies.clone())));
    let taken = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| deliver_all(&url, &waiting, &taken, over));
        }
        for kill in 1..=KILLS {
            while taken.load(Ordering::SeqCst) < DELIVERIES * kill / (KILLS + 1) {
                assert!(Instant::now() < over, "the deliveries are not taken");
                std::thread::sleep(Duration::from_millis(1));
            }
            listening.take().unwrap().kill();
            listening = Some(listen());
        }
    });
    while !home.list("webhook events list --state waiting --limit 1").is_empty() {
        assert!(Instant::now() < over, "not everything is forwarded");
        std::thread::sleep(Duration::from_millis(50));
    }
    listening.unwrap().end();

    // Nothing lost, nothing abandoned.
    let kept = home.list("webhook events list --limit 0");
    let ids: HashSet<String> = bodies.iter().map(|body| id_of(body)).collect();
    assert_eq!(kept.len(), ids.len());
    for row in &kept {
        assert_eq!(row["state"], "delivered", "{row}");
    }
    // In the order of each booking: what the app took is what came, as if it had come one by one.
    let mut came: HashMap<String, Vec<String>> = HashMap::new();
    // The list begins with the newest.
    for row in kept.iter().rev() {
        let lane = came.entry(text(row, "booking_id")).or_default();
        lane.push(text(row, "event_id"));
    }
    let mut took: HashMap<String, Vec<String>> = HashMap::new();
    let mut again = Vec::new();
    for delivered in app.delivered().iter().filter(|it| it.status == 200) {
        let lane = took.entry(delivered.booking.clone()).or_default();
        // What it was sent twice, it was sent twice in a row.
        if lane.last() == Some(&delivered.id) {
            again.push(delivered.clone());
        } else {
            lane.push(delivered.id.clone());
        }
    }
    assert_eq!(took, came);
    // Twice only where the listener was killed between the app's answer and its note of it; and it
    // says so.
    for delivered in &again {
        let shown = home.json(&format!("webhook events show {}", delivered.id));
        let attempts = shown["attempts"].as_array().unwrap();
        let in_doubt =
            attempts.iter().any(|attempt| attempt["error"] == "no response was recorded");
        assert!(in_doubt, "{attempts:?}");
        assert!(delivered.headers["booking-delivery-attempt"] != "1");
    }
    // At most what was in flight at a kill.
    assert!(again.len() <= KILLS * 64, "{}", again.len());
}
