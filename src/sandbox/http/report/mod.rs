//! What a test suite never met, and what it got away with. It is worked out from the log of requests and from the deliveries
//! when somebody asks for it.

mod findings;
mod situations;
mod written;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use self::findings::{Seen, Sent, findings};
use super::exchanges::ExchangeLog;
use crate::sandbox::rules::fault::FaultKind;
use crate::sandbox::store::SentDelivery;
use crate::sandbox::wire::IdKind;

#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    pub(crate) situations: Vec<Situation>,
}

/// A rule that was broken, with the ids of the requests that show it: of the events, where it is the handler that broke it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) code: String,
    pub(crate) title: String,
    pub(crate) why: String,
    pub(crate) section: String,
    pub(crate) requests: Vec<String>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Situation {
    pub(crate) code: String,
    pub(crate) title: String,
    pub(crate) section: String,
    pub(crate) why: String,
    /// What brings it about.
    pub(crate) how: String,
    pub(crate) met: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remark: Option<String>,
    /// The first that met it.
    pub(crate) requests: Vec<String>,
}

/// How many requests show a situation.
const SHOWN: usize = 5;

impl Report {
    pub(crate) fn of(
        log: &ExchangeLog,
        deliveries: &[SentDelivery],
        organization: Option<&str>,
    ) -> Self {
        let (kept, earlier) = log.all();
        let is_wanted =
            |owner: Option<&str>| organization.is_none_or(|wanted| owner == Some(wanted));
        let sent = kept.iter().map(|it| Sent::of(it));
        let mut sent: Vec<_> = sent
            .filter(|it| is_wanted(it.organization.as_deref()))
            .collect();
        sent.sort_by_key(|it| it.exchange.came);
        let mut met: HashMap<&str, Vec<String>> = HashMap::new();
        for (_, code, number) in earlier.iter().filter(|it| is_wanted(it.0.as_deref())) {
            let id = IdKind::Request.id(*number);
            met.entry(code).or_default().push(id);
        }
        let mut processing = HashSet::new();
        for it in &sent {
            for code in &it.met {
                met.entry(code).or_default().push(it.id());
            }
            let Some(booking) = it.exchange.booking() else {
                continue;
            };
            if it.met.contains(&"processing") {
                processing.insert(booking);
            } else if it.exchange.method == "GET" && processing.remove(&booking) {
                met.entry("processed").or_default().push(it.id());
            }
        }
        for (code, event) in deliveries.iter().flat_map(of_delivery) {
            met.entry(code).or_default().push(event);
        }
        let findings = findings(&Seen {
            sent: &sent,
            deliveries,
            met: &met,
        });
        let mut remarks = given_up(&sent);
        let situations = situations::all().map(|(key, situation)| {
            let mut requests = met.remove(key).unwrap_or_default();
            requests.truncate(SHOWN);
            Situation {
                met: !requests.is_empty(),
                remark: remarks.remove(key),
                requests,
                ..situation
            }
        });
        Self {
            situations: situations.collect(),
            findings,
        }
    }
}

/// What a delivery met, with its event.
fn of_delivery(delivery: &SentDelivery) -> impl Iterator<Item = (&'static str, String)> {
    let attempts = &delivery.attempts;
    let is_good = |status: Option<u16>| matches!(status, Some(200..=299));
    let good = attempts.iter().filter(|it| is_good(it.status)).count();
    let met = |fault| attempts.iter().any(|it| it.fault == Some(fault));
    let is_late = attempts.len() > 1 || delivery.is_delayed && !attempts.is_empty();
    let mut by_handler = attempts.iter().filter(|it| it.fault.is_none());
    let found = [
        (good > 0, "webhook_delivered"),
        (is_late, "webhook_late"),
        (met(FaultKind::Duplicate) || good > 1, "webhook_twice"),
        (delivery.is_after_the_next, "webhook_reordered"),
        (met(FaultKind::Unsigned), "webhook_unsigned"),
        (met(FaultKind::Old), "webhook_old"),
        (by_handler.any(|it| !is_good(it.status)), "webhook_failed"),
        (delivery.is_abandoned, "webhook_abandoned"),
    ];
    let event = delivery.event.clone();
    let found = found.into_iter().filter(|(is_met, _)| *is_met);
    found.map(move |(_, code)| (code, event.clone()))
}

/// What the wire suggests and cannot prove: that a client gave up after a response of the network's.
fn given_up<'a>(sent: &[Sent<'a>]) -> HashMap<&'a str, String> {
    let mut remarks = HashMap::new();
    for (place, it) in sent.iter().enumerate() {
        let key = it.exchange.idempotency_key();
        // With another key it is a finding.
        let is_again = |other: &Sent<'_>| {
            other.organization == it.organization && other.exchange.idempotency_key() == key
                || other.exchange.is_create() && it.precedes(other) && other.body == it.body
        };
        let is_open = key.is_some() && !sent[place + 1..].iter().any(is_again);
        // The service's own 503 says that nothing was done.
        let is_harmless = it.exchange.status == 503 && it.exchange.fault_kind().is_none();
        if !it.exchange.is_create() || !it.exchange.is_in_doubt() || !is_open || is_harmless {
            continue;
        }
        for code in ["server_error", "lost_response", "cut_response", "garbage"] {
            if it.met.contains(&code) {
                let id = it.id();
                remarks.entry(code).or_insert(format!(
                    "After {id}, no request followed with its key: the client may have given up."
                ));
            }
        }
    }
    remarks
}
