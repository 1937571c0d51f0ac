//! Checks the service: the connection, its certificate, our clock, whether it answers, and whether it accepts the key.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::check::Check;
use super::credentials::FoundKey;
use crate::app::Context;
use crate::client::{Answer, Call, Client, Failure};
use crate::commands::limits as rate_limits;
use crate::config::{Service, Target};
use crate::model::duration::in_units;
use crate::model::shell;
use crate::outcome::{Error, Exit, Result};

/// The time limit of a request without `--timeout`.
const LIMIT: Duration = Duration::from_secs(3);
/// The largest clock difference without a warning. Signatures and deadlines depend on the clock.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_secs(30);

/// Whether the service answered: after how long, or why not.
pub(super) struct Reached(Result<Duration, Unreached>);

enum Unreached {
    /// TLS cannot be set up, or the embedded sandbox cannot be opened.
    NoClient(Error),
    Failed(Failure),
}

/// Sends a request without a key.
pub(super) async fn knock(context: &Context) -> Reached {
    let begun = Instant::now();
    let client = match context.client() {
        Ok(client) => client,
        Err(error) => return Reached(Err(Unreached::NoClient(error))),
    };
    Reached(match ask(context, client, None).await {
        // A refusal is an answer too. Its content is judged when the key is sent.
        Ok(_)
        | Err(
            Failure::Refused(_)
            | Failure::Unusable(_)
            | Failure::Redirected { .. }
            | Failure::Unreadable { .. },
        ) => Ok(begun.elapsed()),
        Err(failure) => Err(Unreached::Failed(failure)),
    })
}

async fn ask(
    context: &Context,
    client: &Client,
    key: Option<&FoundKey>,
) -> Result<Answer, Failure> {
    let limit = context.timeout().unwrap_or(LIMIT);
    let answer = async {
        match (context.target(), key) {
            (Target::Embedded { .. }, _) => client.send(&Call::get("/v1/")).await,
            (Target::Remote(_), key) => client.knock(key.map(|key| &key.secret)).await,
        }
    };
    let answer = tokio::time::timeout(limit, answer).await;
    answer.unwrap_or(Err(Failure::TimedOut(limit)))
}

/// Reachability, TLS, clock, key and limits, in this order.
pub(super) async fn examine(
    context: &Context,
    reached: Reached,
    key: Result<Option<FoundKey>>,
) -> Vec<Check> {
    let took = match reached.0 {
        Ok(took) => took,
        Err(unreached) => {
            let mut checks = unreached.checks(context.target());
            checks.push(untried(context.target(), &key));
            return checks;
        }
    };
    let origin = context.target().address();
    let mut checks = vec![
        Check::ok(
            "reachability",
            format!("{origin} answered in {} ms", took.as_millis()),
        ),
        tls(context.target()),
    ];
    let found = match (context.target(), key) {
        (Target::Embedded { .. }, _) => None,
        (Target::Remote(_), Ok(Some(key))) => Some(key),
        (Target::Remote(service), Ok(None)) => {
            let missing = format!("there is no API key for {origin}");
            checks.push(Check::problem("key", Exit::Unauthorized, missing).fix(login(service)));
            return checks;
        }
        (Target::Remote(service), Err(error)) => {
            let check = Check::problem("key", error.exit, error.message.clone());
            checks.push(check.fix(login(service)));
            return checks;
        }
    };
    let answer = match context.client() {
        Ok(client) => ask(context, client, found.as_ref()).await,
        Err(_) => return checks,
    };
    checks.extend(clock(context, answer.as_ref().ok()));
    checks.extend(judged(context, found.as_ref(), answer));
    checks
}

impl Unreached {
    fn checks(self, target: &Target) -> Vec<Check> {
        let origin = target.address();
        match self {
            Unreached::NoClient(error) => {
                let name = if error.exit == Exit::Network {
                    "tls"
                } else {
                    "reachability"
                };
                let check = Check::problem(name, error.exit, error.message.clone());
                vec![match &error.hint {
                    Some(hint) => check.fix(hint.as_str()),
                    None => check,
                }]
            }
            Unreached::Failed(Failure::NotReached { why, .. }) if why.contains("certificate") => {
                vec![
                    Check::ok("reachability", format!("{origin} accepts connections")),
                    Check::problem("tls", Exit::Network, why).fix(
                        "set ca_file in the profile to the certificate authority that signed it",
                    ),
                ]
            }
            Unreached::Failed(failure) => {
                let detail = match &failure {
                    Failure::NotReached { why, .. } => why.clone(),
                    failure => format!("cannot reach {origin}: {failure}"),
                };
                let fix = match target {
                    Target::Remote(service) if !service.base_url.is_loopback() => {
                        format!("curl -v {}", service.base_url.join("/v1/"))
                    }
                    _ => "bookctl sandbox serve".to_owned(),
                };
                vec![Check::problem("reachability", Exit::Network, detail).fix(fix)]
            }
        }
    }
}

fn tls(target: &Target) -> Check {
    match target {
        Target::Remote(service) if service.base_url.is_https() => {
            Check::ok("tls", "the certificate is trusted")
        }
        _ => Check::ok("tls", "not needed for http on this computer"),
    }
}

/// Compares the service's clock with ours. A sandbox's clock may be set to any time.
fn clock(context: &Context, index: Option<&Answer>) -> Option<Check> {
    let told = index.and_then(|index| index.document.str("server_time")?.parse().ok());
    let theirs: Timestamp = match told {
        Some(time) => time,
        None => context.client().ok()?.service_now(),
    };
    let ahead = theirs.duration_since(Timestamp::now());
    let length = in_units(ahead.as_secs().unsigned_abs());
    let detail = match ahead.as_secs() {
        0 => "the same as the service's".to_owned(),
        1.. => format!("{length} behind the service's"),
        _ => format!("{length} ahead of the service's"),
    };
    let is_sandbox = index.is_some_and(is_sandbox);
    Some(if ahead.abs() <= CLOCK_TOLERANCE {
        Check::ok("clock", detail)
    } else if is_sandbox {
        Check::ok("clock", format!("{detail}; a sandbox has its own clock"))
    } else {
        Check::warning("clock", detail).fix("sudo timedatectl set-ntp true")
    })
}

fn is_sandbox(index: &Answer) -> bool {
    index.document.value().get("sandbox") == Some(&Value::Bool(true))
}

/// The rate limits that the journal knows. The request that was just answered has none.
fn limits(context: &Context) -> Check {
    let exhausted: Vec<String> = rate_limits::known(context)
        .unwrap_or_default()
        .iter()
        .filter_map(rate_limits::Seen::exhausted)
        .collect();
    if exhausted.is_empty() {
        return Check::ok("limits", "not rate limited");
    }
    Check::warning("limits", exhausted.join("; ")).fix("pass --max-wait 5m to wait until then")
}

fn judged(
    context: &Context,
    key: Option<&FoundKey>,
    answer: Result<Answer, Failure>,
) -> Vec<Check> {
    let described = match key {
        Some(key) => key.describe(),
        None => "the embedded sandbox's own key".to_owned(),
    };
    match answer {
        Ok(_) => vec![Check::ok("key", described), limits(context)],
        Err(Failure::Refused(refusal)) if refusal.status == 429 => {
            let after = refusal.retry_after.unwrap_or_default().as_secs();
            let limited = format!("rate limited for {}", in_units(after));
            vec![
                Check::ok("key", described),
                Check::warning("limits", limited).fix("pass --max-wait 5m to wait until then"),
            ]
        }
        Err(failure) => {
            let error = failure.into_error(&Call::get("/v1/"));
            let is_of_key = matches!(error.exit, Exit::Unauthorized | Exit::NotAllowed);
            let check = match is_of_key {
                true => {
                    let detail = format!("{described}: {}", error.message);
                    Check::problem("key", error.exit, detail)
                }
                false => Check::problem("service", error.exit, error.message.clone()),
            };
            let check = match (context.target(), &error.hint) {
                (Target::Remote(service), _) if error.exit == Exit::Unauthorized => {
                    check.fix(login(service))
                }
                (_, Some(hint)) => check.fix(hint.as_str()),
                _ => check,
            };
            if is_of_key {
                vec![check]
            } else {
                vec![check, not_checked(&described)]
            }
        }
    }
}

/// The check of the key if the service cannot be asked.
fn untried(target: &Target, key: &Result<Option<FoundKey>>) -> Check {
    match (target, key) {
        (Target::Embedded { .. }, _) => Check::ok("key", "the embedded sandbox's own key"),
        (_, Ok(Some(key))) => not_checked(&key.describe()),
        (Target::Remote(service), Ok(None)) => {
            Check::problem("key", Exit::Unauthorized, "there is no API key").fix(login(service))
        }
        (Target::Remote(service), Err(error)) => {
            Check::problem("key", error.exit, error.message.clone()).fix(login(service))
        }
    }
}

fn not_checked(key: &str) -> Check {
    Check::warning("key", format!("{key}, not checked"))
}

/// The command that stores another key.
fn login(service: &Service) -> String {
    match &service.profile {
        Some(profile) => format!("bookctl auth login --profile {}", shell::word(profile)),
        None if cfg!(windows) => "$env:BOOKCTL_API_KEY = '…'".to_owned(),
        None => "export BOOKCTL_API_KEY=…".to_owned(),
    }
}
