//! Checks the service: key, connection, certificate, our clock, and whether it accepts the key.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::Check;
use crate::account::limits as rate_limits;
use crate::app::{Api, Facts, Records, Settings};
use crate::config::{Service, Target};
use crate::outcome::{Exit, Result};
use crate::platform::shell;
use crate::secrets::{Secret, Storage, Vault, look_up};
use crate::service::client::{Answer, Call, Cause, Client, Failure, key_sent_as};
use crate::service::time::duration::in_units;

const LIMIT: Duration = Duration::from_secs(3);
const WAIT: &str = "pass --max-wait 5m to wait until then";
/// The largest clock difference without a warning. Signatures and deadlines depend on the clock.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_secs(30);

type KeyAndSource = (Secret, &'static str);

/// Checks the keyring, and finds the key of the service; that is an error if it cannot be read.
pub(crate) async fn credentials(
    target: &Target,
    vault: &Vault,
) -> (Check, Result<Option<KeyAndSource>>) {
    let Some(service) = target.service() else {
        return (keyring(vault, false).await, Ok(None));
    };
    let key = match (&target.key, service.account()) {
        (Some(key), _) => Ok(Some((key.clone(), "environment"))),
        (None, None) => Ok(None),
        (None, Some(account)) => {
            let found = look_up(vault, &account, service.settings.key_origin.as_deref()).await;
            found.map(|found| found.map(|it| (it.secret, it.storage.as_str())))
        }
    };
    let is_elsewhere =
        matches!(&key, Ok(Some((_, source))) if *source != Storage::Keyring.as_str());
    let is_needed = service.account().is_some() && !is_elsewhere;
    (keyring(vault, is_needed).await, key)
}

/// Whether the keyring answers, which matters only if the key has to come from it.
pub(crate) async fn keyring(vault: &Vault, is_needed: bool) -> Check {
    match vault.keyring.probe().await {
        Ok(()) => Check::ok("keyring", "available"),
        Err(error) if !is_needed => Check::ok("keyring", format!("not needed ({error})")),
        // A warning only, because the key may be in the environment or the file.
        Err(error) => {
            Check::warning("keyring", error.to_string()).fix("bookctl auth login --storage file")
        }
    }
}

/// Reachability, TLS, clock, key and limits, in this order: what an index that is asked for with
/// the key shows of them.
pub(crate) async fn examine(
    api: &Api,
    records: &Records,
    settings: &Settings,
    key: Result<Option<KeyAndSource>>,
) -> Vec<Check> {
    let target = api.facts.target();
    let client = match api.client() {
        Ok(client) => client,
        // TLS cannot be set up.
        Err(error) if error.exit == Exit::Network => return vec![Check::failed("tls", &error)],
        Err(error) => return vec![Check::failed("reachability", &error)],
    };
    let begun = Instant::now();
    let (key, mut described) = match (target.service(), key) {
        (None, _) => (None, Ok("the sandbox's own key".to_owned())),
        (Some(_), Ok(Some((key, source)))) => {
            let described = format!("{} key {} from the {source}", key.kind(), key.masked());
            (Some(key), Ok(described))
        }
        (Some(service), key) => {
            let missing = format!("there is no API key for {}", target.address());
            let missing = Check::problem("key", Exit::Unauthorized, missing);
            let check = key.map_or_else(|error| Check::failed("key", &error), |_| missing);
            (None, Err(check.fix(login(service))))
        }
    };
    let mut answer = ask(&api.facts, settings, client, key.as_ref()).await;
    if let Err(Failure::Failed(Cause::Key, error)) = &answer {
        described = Err(Check::failed("key", error));
        answer = ask(&api.facts, settings, client, None).await;
    }
    let mut checks = match answer.as_ref() {
        Err(failure) if !failure.is_answer() => unreached(target, failure),
        answered => {
            let took = begun.elapsed().as_millis();
            let detail = format!("{} responded in {took} ms", target.address());
            let reached = Check::ok("reachability", detail);
            vec![reached, tls(target), clock(client, answered.ok())]
        }
    };
    match described {
        Err(missing) => checks.push(missing),
        Ok(key) => checks.extend(judged(&api.facts, records, key, answer)),
    }
    checks
}

async fn ask(
    facts: &Facts,
    settings: &Settings,
    client: &Client,
    key: Option<&Secret>,
) -> Result<Answer, Failure> {
    let limit = settings.timeout.unwrap_or(LIMIT);
    let answer = async {
        match facts.target().service() {
            None => client.send(&Call::get("/v1/")).await,
            Some(_) => client.send_with(&Call::get("/v1/"), key).await,
        }
    };
    tokio::time::timeout(limit, answer).await.unwrap_or(Err(Failure::timed_out(limit)))
}

fn unreached(target: &Target, failure: &Failure) -> Vec<Check> {
    let origin = target.address();
    let (detail, hint) = match failure {
        Failure::Failed(Cause::NotReached { .. }, error) => {
            (error.message.clone(), error.hint.clone())
        }
        failure => (format!("cannot reach {origin}: {failure}"), None),
    };
    let problem = |name, fix| Check::problem(name, Exit::Network, &detail).fix(fix);
    vec![match (hint, target.service()) {
        (Some(hint), _) if detail.contains("TLS") => {
            let reached = format!("{origin} accepts connections");
            return vec![Check::ok("reachability", reached), problem("tls", hint)];
        }
        (Some(hint), _) => problem("reachability", hint),
        (None, Some(service)) if !service.base_url.is_loopback() => {
            let address = service.base_url.join("/v1/");
            problem("reachability", format!("curl -v {address}"))
        }
        _ => problem("reachability", "bookctl sandbox serve".to_owned()),
    }]
}

fn tls(target: &Target) -> Check {
    match target.service() {
        Some(service) if service.base_url.is_https() => {
            Check::ok("tls", "the certificate is trusted")
        }
        _ => Check::ok("tls", "not needed for http on this computer"),
    }
}

/// Compares the service's clock with ours. A sandbox's clock may be set to any time.
fn clock(client: &Client, index: Option<&Answer>) -> Check {
    let reported = index.and_then(|index| index.document.str("server_time")?.parse().ok());
    let theirs: Timestamp = reported.unwrap_or_else(|| client.service_now());
    let ahead = theirs.duration_since(Timestamp::now());
    let length = in_units(ahead.as_secs().unsigned_abs());
    let detail = match ahead.as_secs() {
        0 => "the same as the service's".to_owned(),
        1.. => format!("{length} behind the service's"),
        _ => format!("{length} ahead of the service's"),
    };
    let is_sandbox = |it: &Answer| it.document.value()["sandbox"] == true;
    if ahead.abs() <= CLOCK_TOLERANCE {
        Check::ok("clock", detail)
    } else if index.is_some_and(is_sandbox) {
        Check::ok("clock", format!("{detail}; a sandbox has its own clock"))
    } else {
        Check::warning("clock", detail).fix("sudo timedatectl set-ntp true")
    }
}

/// The rate limits that the journal knows. The request that was just answered has none.
fn limits(facts: &Facts, records: &Records) -> Check {
    let known = rate_limits::known(facts, records).unwrap_or_default();
    let exhausted: Vec<String> = known.iter().filter_map(|it| it.exhausted()).collect();
    if exhausted.is_empty() {
        return Check::ok("limits", "not rate limited");
    }
    Check::warning("limits", exhausted.join("; ")).fix(WAIT)
}

/// What the answer says of the key, and of the service's limits.
fn judged(
    facts: &Facts,
    records: &Records,
    key: String,
    answer: Result<Answer, Failure>,
) -> Vec<Check> {
    let not_checked = Check::warning("key", format!("{key}, not checked"));
    let error = match answer {
        Ok(_) => return vec![Check::ok("key", key), limits(facts, records)],
        Err(failure) if !failure.is_answer() => return vec![not_checked],
        Err(Failure::Refused(refusal)) if refusal.status == 429 => {
            let after = refusal.retry_after.unwrap_or_default().as_secs();
            let limited = format!("rate limited for {}", in_units(after));
            let limited = Check::warning("limits", limited).fix(WAIT);
            return vec![Check::ok("key", key), limited];
        }
        Err(failure) => failure.into_error(&Call::get("/v1/")),
    };
    if !matches!(error.exit, Exit::Unauthorized | Exit::NotAllowed) {
        return vec![Check::failed("service", &error), not_checked];
    }
    let mut check = Check::failed("key", &error);
    check.detail = format!("{key}: {}", check.detail);
    if let Some(service) = facts.target().service()
        && error.exit == Exit::Unauthorized
    {
        let sent = key_sent_as(facts.mapping());
        check.detail = format!("{}; sent as `{sent}`", check.detail);
        check = check.fix(login(service));
    }
    vec![check]
}

fn login(service: &Service) -> String {
    match &service.profile {
        Some(profile) => format!("bookctl auth login --profile {}", shell::word(profile)),
        None if cfg!(windows) => "$env:BOOKCTL_API_KEY = '…'".to_owned(),
        None => "export BOOKCTL_API_KEY=…".to_owned(),
    }
}
