//! Checks the service: the key, the connection, its certificate, our clock, and whether it accepts the key.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::check::Check;
use crate::app::Context;
use crate::client::{Answer, Call, Client, Failure};
use crate::commands::limits as rate_limits;
use crate::config::{Service, Target};
use crate::model::duration::in_units;
use crate::model::shell;
use crate::outcome::{Exit, Result};
use crate::secrets::{Secret, Storage, Vault, look_up};

/// The time limit of a request without `--timeout`.
const LIMIT: Duration = Duration::from_secs(3);
const WAIT: &str = "pass --max-wait 5m to wait until then";
/// The largest clock difference without a warning. Signatures and deadlines depend on the clock.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_secs(30);

/// The key that requests carry, and where it comes from.
type Key = (Secret, &'static str);

/// Checks the keyring, and finds the key of the service; that is an error if it cannot be read.
pub(super) async fn credentials(target: &Target, vault: &Vault) -> (Check, Result<Option<Key>>) {
    let Target::Remote(service) = target else {
        return (keyring(vault, false).await, Ok(None));
    };
    let key = match (&service.key, service.account()) {
        (Some(key), _) => Ok(Some((key.clone(), "environment"))),
        (None, None) => Ok(None),
        (None, Some(account)) => {
            let found = look_up(vault, &account, service.key_origin.as_deref()).await;
            found.map(|found| found.map(|it| (it.secret, it.storage.as_str())))
        }
    };
    let is_elsewhere =
        matches!(&key, Ok(Some((_, source))) if *source != Storage::Keyring.as_str());
    let is_needed = service.account().is_some() && !is_elsewhere;
    (keyring(vault, is_needed).await, key)
}

/// Whether the keyring answers, which matters only if the key has to come from it.
pub(super) async fn keyring(vault: &Vault, is_needed: bool) -> Check {
    match vault.keyring.probe().await {
        Ok(()) => Check::ok("keyring", "available"),
        Err(why) if !is_needed => Check::ok("keyring", format!("not needed ({why})")),
        // A warning only, because the key may be in the environment or the file.
        Err(why) => Check::warning("keyring", why).fix("bookctl auth login --storage file"),
    }
}

/// Sends a request without a key. Returns after how long the service answered, or the checks that say why it did not.
pub(super) async fn reach(context: &Context) -> Result<Duration, Vec<Check>> {
    let begun = Instant::now();
    let client = context.client().map_err(|error| {
        // TLS cannot be set up, or the embedded sandbox cannot be opened.
        let name = if error.exit == Exit::Network {
            "tls"
        } else {
            "reachability"
        };
        vec![Check::failed(name, &error)]
    })?;
    match ask(context, client, None).await {
        // A refusal is an answer too. Its content is judged when the key is sent.
        Ok(_)
        | Err(
            Failure::Refused(_)
            | Failure::Unusable(_)
            | Failure::Redirected { .. }
            | Failure::Unreadable { .. },
        ) => Ok(begun.elapsed()),
        Err(failure) => Err(unreached(context.target(), failure)),
    }
}

async fn ask(context: &Context, client: &Client, key: Option<&Secret>) -> Result<Answer, Failure> {
    let limit = context.timeout.unwrap_or(LIMIT);
    let answer = async {
        match context.target() {
            Target::Embedded { .. } => client.send(&Call::get("/v1/")).await,
            Target::Remote(_) => client.knock(key).await,
        }
    };
    let answer = tokio::time::timeout(limit, answer).await;
    answer.unwrap_or(Err(Failure::TimedOut(limit)))
}

/// Reachability, TLS, clock, key and limits, in this order.
pub(super) async fn examine(
    context: &Context,
    reached: Result<Duration, Vec<Check>>,
    key: Result<Option<Key>>,
) -> Vec<Check> {
    let target = context.target();
    let is_reached = reached.is_ok();
    let mut checks = reached.map_or_else(
        |checks| checks,
        |took| {
            let answered = format!("{} answered in {} ms", target.address(), took.as_millis());
            vec![Check::ok("reachability", answered), tls(target)]
        },
    );
    let key = match (target, key) {
        (Target::Remote(service), Ok(None)) => {
            let missing = format!("there is no API key for {}", target.address());
            let check = Check::problem("key", Exit::Unauthorized, missing);
            checks.push(check.fix(login(service)));
            return checks;
        }
        (Target::Remote(service), Err(error)) => {
            checks.push(Check::failed("key", &error).fix(login(service)));
            return checks;
        }
        (_, key) => key.ok().flatten(),
    };
    let described = match &key {
        Some((key, source)) => {
            let (kind, masked) = (key.kind(), key.masked());
            format!("{kind} key {masked} from the {source}")
        }
        None => "the embedded sandbox's own key".to_owned(),
    };
    match context.client() {
        Ok(client) if is_reached => {
            let answer = ask(context, client, key.as_ref().map(|it| &it.0)).await;
            checks.push(clock(client, answer.as_ref().ok()));
            checks.extend(judged(context, &described, answer));
        }
        _ if key.is_some() => checks.push(not_checked(&described)),
        _ => checks.push(Check::ok("key", described)),
    }
    checks
}

/// Why the service was not reached.
fn unreached(target: &Target, failure: Failure) -> Vec<Check> {
    let origin = target.address();
    let detail = match failure {
        Failure::NotReached { why, .. } if why.contains("certificate") => {
            return vec![
                Check::ok("reachability", format!("{origin} accepts connections")),
                Check::problem("tls", Exit::Network, why)
                    .fix("set ca_file in the profile to the certificate authority that signed it"),
            ];
        }
        Failure::NotReached { why, .. } => why,
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

fn tls(target: &Target) -> Check {
    match target {
        Target::Remote(service) if service.base_url.is_https() => {
            Check::ok("tls", "the certificate is trusted")
        }
        _ => Check::ok("tls", "not needed for http on this computer"),
    }
}

/// Compares the service's clock with ours. A sandbox's clock may be set to any time.
fn clock(client: &Client, index: Option<&Answer>) -> Check {
    let told = index.and_then(|index| index.document.str("server_time")?.parse().ok());
    let theirs: Timestamp = told.unwrap_or_else(|| client.service_now());
    let ahead = theirs.duration_since(Timestamp::now());
    let length = in_units(ahead.as_secs().unsigned_abs());
    let detail = match ahead.as_secs() {
        0 => "the same as the service's".to_owned(),
        1.. => format!("{length} behind the service's"),
        _ => format!("{length} ahead of the service's"),
    };
    let is_sandbox =
        index.is_some_and(|it| it.document.value().get("sandbox") == Some(&Value::Bool(true)));
    if ahead.abs() <= CLOCK_TOLERANCE {
        Check::ok("clock", detail)
    } else if is_sandbox {
        Check::ok("clock", format!("{detail}; a sandbox has its own clock"))
    } else {
        Check::warning("clock", detail).fix("sudo timedatectl set-ntp true")
    }
}

/// The rate limits that the journal knows. The request that was just answered has none.
fn limits(context: &Context) -> Check {
    let known = rate_limits::known(context).unwrap_or_default();
    let exhausted: Vec<String> = known.iter().filter_map(|it| it.exhausted()).collect();
    if exhausted.is_empty() {
        return Check::ok("limits", "not rate limited");
    }
    Check::warning("limits", exhausted.join("; ")).fix(WAIT)
}

fn judged(context: &Context, key: &str, answer: Result<Answer, Failure>) -> Vec<Check> {
    let error = match answer {
        Ok(_) => return vec![Check::ok("key", key), limits(context)],
        Err(Failure::Refused(refusal)) if refusal.status == 429 => {
            let after = refusal.retry_after.unwrap_or_default().as_secs();
            let limited = format!("rate limited for {}", in_units(after));
            return vec![
                Check::ok("key", key),
                Check::warning("limits", limited).fix(WAIT),
            ];
        }
        Err(failure) => failure.into_error(&Call::get("/v1/")),
    };
    if !matches!(error.exit, Exit::Unauthorized | Exit::NotAllowed) {
        return vec![Check::failed("service", &error), not_checked(key)];
    }
    let mut check = Check::failed("key", &error);
    check.detail = format!("{key}: {}", check.detail);
    if let Target::Remote(service) = context.target()
        && error.exit == Exit::Unauthorized
    {
        check = check.fix(login(service));
    }
    vec![check]
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
