//! What a test suite never met, and what it got away with. What a request shows is counted when it
//! is answered; which rules requests broke, and what deliveries show, is worked out when somebody
//! asks for it, and before they are deleted.

mod findings;
mod situations;
mod written;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::findings::{Seen, Sent, find_broken_rules, findings};
pub(crate) use self::written::Format;
use super::exchanges::{Evidence, Exchange, ExchangeLog};
use crate::sandbox::rules::fault::FaultKind;
use crate::sandbox::store::SentDelivery;

#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    pub(crate) situations: Vec<Situation>,
}

/// A rule that was broken, with the ids of the requests that show it: of the events, where it is
/// the handler that broke it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) code: String,
    pub(crate) title: String,
    pub(crate) why: String,
    pub(crate) section: String,
    pub(crate) requests: Vec<String>,
    /// Method and path of those requests that are still there, with the organization's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) calls: BTreeMap<String, String>,
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
    /// `None` if the log keeps none.
    pub(crate) fn from_log(
        log: &ExchangeLog,
        deliveries: &[SentDelivery],
        organization: Option<&str>,
        names: &HashMap<String, String>,
    ) -> Option<Self> {
        let (stored, mut displayed, judge) = log.all()?;
        displayed.extend(judge(&stored, deliveries));
        let is_wanted =
            |owner: Option<&str>| organization.is_none_or(|wanted| owner == Some(wanted));
        let mut met: HashMap<String, BTreeSet<String>> = HashMap::new();
        for (_, code, id) in displayed.into_iter().filter(|it| is_wanted(it.0.as_deref())) {
            met.entry(code).or_default().insert(id);
        }
        // One that it takes shows that it can verify.
        if met.contains_key("webhook_delivered") {
            met.remove("genuine_rejected");
        }
        let mut sent = in_order(&stored);
        sent.retain(|it| is_wanted(it.exchange.organization.as_deref()));
        let mut remarks = given_up(&sent);
        let situations: Vec<_> = situations::all()
            .map(|(key, situation)| {
                let requests = met.get(key).into_iter().flatten();
                let requests: Vec<_> = requests.take(SHOWN).cloned().collect();
                Situation {
                    met: !requests.is_empty(),
                    remark: remarks.remove(key),
                    requests,
                    ..situation
                }
            })
            .collect();
        let mut findings = findings(&mut met);
        for it in &sent {
            let owner = it.exchange.organization.as_deref().unwrap_or_default();
            let name = names.get(owner).map_or(owner, String::as_str);
            let call = format!("{} {} ({name})", it.exchange.method, it.exchange.shown_path());
            for finding in findings.iter_mut().filter(|finding| finding.requests.contains(&it.id()))
            {
                finding.calls.insert(it.id(), call.clone());
            }
        }
        Some(Self { situations, findings })
    }
}

fn in_order(stored: &[Arc<Exchange>]) -> Vec<Sent<'_>> {
    let mut sent: Vec<_> =
        stored.iter().map(|it| Sent { exchange: it, read_body: OnceCell::new() }).collect();
    sent.sort_by_key(|it| it.exchange.came);
    sent
}

/// The rules that requests and deliveries broke, and the situations that deliveries met.
pub(crate) fn judge(stored: &[Arc<Exchange>], deliveries: &[SentDelivery]) -> Vec<Evidence> {
    let mut owners: HashMap<Option<String>, Seen<'_>> = HashMap::new();
    for it in in_order(stored) {
        owners.entry(it.exchange.organization.clone()).or_default().sent.push(it);
    }
    for it in deliveries {
        owners.entry(Some(it.organization.clone())).or_default().deliveries.push(it);
    }
    let mut displayed = Vec::new();
    for (owner, seen) in owners {
        let met =
            seen.deliveries.iter().flat_map(|it| of_delivery(it)).chain(find_broken_rules(&seen));
        displayed.extend(met.map(|(code, id)| (owner.clone(), code.to_owned(), id)));
    }
    displayed
}

fn of_delivery(delivery: &SentDelivery) -> impl Iterator<Item = (&'static str, String)> {
    let attempts = &delivery.attempts;
    let is_good = |status: Option<u16>| matches!(status, Some(200..=299));
    let good = attempts.iter().filter(|it| is_good(it.status)).count();
    let met = |fault| attempts.iter().any(|it| it.fault == Some(fault));
    let is_held_back = met(FaultKind::Delay) || met(FaultKind::Reorder);
    let is_late = attempts.len() > 1 || is_held_back;
    let mut by_handler = attempts.iter().filter(|it| it.fault.is_none() || is_held_back);
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
    found.into_iter().filter(|(is_met, _)| *is_met).map(move |(_, code)| (code, event.clone()))
}

/// What the wire only suggests: that a client gave up after the network's response.
fn given_up(sent: &[Sent<'_>]) -> HashMap<&'static str, String> {
    let mut remarks = HashMap::new();
    for (place, it) in sent.iter().enumerate() {
        let key = it.exchange.idempotency_key();
        // With another key it is a finding.
        let is_again = |other: &Sent<'_>| {
            let is_repeated = it.precedes(other) && other.body() == it.body();
            other.exchange.organization == it.exchange.organization
                && (other.exchange.idempotency_key() == key
                    || other.exchange.is_create() && is_repeated)
        };
        let is_open = key.is_some() && !sent[place + 1..].iter().any(is_again);
        // The service's own 503 says that nothing was done.
        let is_harmless = it.exchange.status == 503 && it.exchange.fault_kind().is_none();
        if !it.exchange.is_create() || !it.exchange.is_in_doubt() || !is_open || is_harmless {
            continue;
        }
        for code in ["server_error", "lost_response", "cut_response", "garbage"] {
            if it.exchange.shows(code) {
                let id = it.id();
                remarks.entry(code).or_insert(format!(
                    "After {id}, no request followed with its key: the client may have given up."
                ));
            }
        }
    }
    remarks
}
