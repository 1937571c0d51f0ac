//! What a test suite never met, and what it got away with. It is worked out from the log of requests and from the deliveries
//! when somebody asks for it.

mod findings;
mod situations;
mod written;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use self::findings::{Sent, findings};
use super::exchanges::{ExchangeLog, NO_KEY};
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
        let mut sent: Vec<Sent<'_>> = kept.iter().map(|it| Sent::of(it)).collect();
        sent.retain(|it| {
            organization.is_none_or(|wanted| it.organization.as_deref() == Some(wanted))
        });
        sent.sort_by_key(|it| it.exchange.came);
        let mut met: HashMap<String, Vec<String>> = HashMap::new();
        let mut earlier_without_key = None;
        for (owner, code, number) in earlier {
            if organization.is_some_and(|wanted| wanted != owner) {
                continue;
            }
            if code == NO_KEY {
                earlier_without_key = Some(number);
            }
            met.entry(code)
                .or_default()
                .push(IdKind::Request.id(number));
        }
        let mut processing = HashSet::new();
        for it in &sent {
            let codes = it.exchange.met();
            for code in &codes {
                met.entry((*code).to_owned()).or_default().push(it.id());
            }
            let Some(booking) = it.exchange.booking() else {
                continue;
            };
            if codes.contains(&"processing") {
                processing.insert(booking);
            } else if it.exchange.method == "GET" && processing.remove(&booking) {
                met.entry("processed".to_owned()).or_default().push(it.id());
            }
        }
        for (code, event) in deliveries.iter().flat_map(of_delivery) {
            met.entry(code.to_owned()).or_default().push(event);
        }
        let situations = situations::rows().map(|(key, code, title, section, why, how)| {
            let mut requests = met.remove(key).unwrap_or_default();
            requests.truncate(SHOWN);
            Situation {
                code,
                title,
                section: section.to_owned(),
                why: why.to_owned(),
                how,
                met: !requests.is_empty(),
                remark: remark(key, &sent),
                requests,
            }
        });
        Self {
            situations: situations.collect(),
            findings: findings(&sent, deliveries, earlier_without_key),
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

/// What the wire suggests and cannot prove: that a client gave up.
fn remark(code: &str, sent: &[Sent<'_>]) -> Option<String> {
    let is_of_doubt = matches!(
        code,
        "server_error" | "lost_response" | "cut_response" | "garbage"
    );
    let is_given_up = |it: &&Sent<'_>| {
        let key = it.exchange.idempotency_key();
        let again = |other: &Sent<'_>| {
            other.exchange.came > it.exchange.came
                && other.organization == it.organization
                && other.exchange.idempotency_key() == key
        };
        it.exchange.is_create()
            && it.exchange.met().contains(&code)
            && !(key.is_some() && sent.iter().any(again))
    };
    let given_up = sent.iter().filter(|_| is_of_doubt).find(is_given_up)?;
    let id = given_up.id();
    Some(format!(
        "After {id}, no request followed with its key: the client may have given up."
    ))
}
