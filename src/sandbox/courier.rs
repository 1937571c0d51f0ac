//! The delivery worker: takes events to the organizations' webhook URLs ("Events", 6).

use std::collections::HashSet;
use std::error::Error;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::{Client, redirect};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval_at};

use super::rules::delivery::{Attempt, sign};
use super::store::{Errand, Store};

/// How long an endpoint may take to answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// Attempts that are under way at once: about as many as the smallest queue of connections holds, that of Python's
/// server.
const AT_ONCE: usize = 8;
/// How often the sandbox's clock is looked at, whose ticks the worker goes by.
const LOOK: Duration = Duration::from_secs(1);

/// Delivers what is due at every tick of the sandbox's clock, for as long as it is polled: where that is moved on, the
/// next tick comes with it.
pub(crate) async fn deliver(store: &Store, every: Duration) {
    let look = every.min(LOOK);
    let mut looks = interval_at(tokio::time::Instant::now() + look, look);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last = store.recent_now();
    let mut courier = Courier {
        store,
        client: None,
        under_way: JoinSet::new(),
        busy: HashSet::new(),
    };
    loop {
        tokio::select! {
            _ = looks.tick() => {
                courier.busy.clear();
                // Asked for: it may have been moved by another process, too.
                let now = store.now().unwrap_or(last);
                if every <= look || now.duration_since(last).unsigned_abs() >= every {
                    last = now;
                    courier.set_out().await;
                }
            }
            Some(done) = courier.under_way.join_next() => {
                match done {
                    Ok((errand, attempt)) => courier.come_back(errand, attempt).await,
                    // An attempt that was lost is due again when its lease ends.
                    Err(_) => courier.busy.clear(),
                }
            }
        }
    }
}

struct Courier<'a> {
    store: &'a Store,
    /// Built for the first attempt: it reads the system's certificates.
    client: Option<Client>,
    under_way: JoinSet<(Errand, Attempt)>,
    /// The bookings whose events are under way: one at a time each, so that where nothing fails they come in order.
    /// Where an answer takes long, the next one does not wait for it.
    busy: HashSet<i64>,
}

impl Courier<'_> {
    /// Starts as many attempts as are due and can be under way. A store that does not answer is
    /// asked again at the next tick.
    async fn set_out(&mut self) {
        let most = AT_ONCE - self.under_way.len();
        let due = self.store.read(|ledger| Ok(ledger.has_errands()?)).await;
        if most == 0 || due != Ok(true) {
            return;
        }
        let busy = self.busy.clone();
        let taken = self
            .store
            .write(move |ledger| Ok(ledger.take_errands(most, busy)?));
        for errand in taken.await.unwrap_or_default() {
            self.busy.insert(errand.booking);
            let client = self.client();
            self.under_way.spawn(async move {
                let attempt = attempt(client, &errand).await;
                (errand, attempt)
            });
        }
    }

    /// Notes an attempt, and goes on with what is due besides.
    async fn come_back(&mut self, errand: Errand, attempt: Attempt) {
        self.busy.remove(&errand.booking);
        let noted = self
            .store
            .write(move |ledger| Ok(ledger.note_attempt(&errand, &attempt)?));
        if noted.await.is_ok() {
            self.set_out().await;
        }
    }

    fn client(&mut self) -> Option<Client> {
        if self.client.is_none() {
            self.client = Client::builder()
                .redirect(redirect::Policy::none())
                .timeout(DEADLINE)
                .no_proxy()
                .http1_title_case_headers()
                .build()
                .ok();
        }
        self.client.clone()
    }
}

/// Posts an event, signed afresh with the real time.
async fn attempt(client: Option<Client>, errand: &Errand) -> Attempt {
    let started = Instant::now();
    let answer = match client {
        None => Err("no HTTP client can be built here".to_owned()),
        Some(client) => client
            .post(&errand.url)
            .header("content-type", "application/json")
            .header(
                "booking-signature",
                sign(&errand.secret, Timestamp::now(), errand.body.as_bytes()),
            )
            .header("booking-delivery-attempt", errand.number)
            .body(errand.body.clone())
            .send()
            .await
            .map(|response| response.status().as_u16())
            .map_err(|error| reason(&error)),
    };
    Attempt {
        answer,
        latency_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

/// Why there was no answer: the innermost cause, which says it without the URL.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer within 10 seconds".to_owned();
    }
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
