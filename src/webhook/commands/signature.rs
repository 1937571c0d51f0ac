//! The signature of a delivery: made, and checked.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::webhook_secrets;
use crate::app::Parts;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::input::{Source, read_bytes};
use crate::secrets::Secret;
use crate::service::time::duration::duration;
use crate::terminal::output::{Draw, Page, TableCell, Terminals, Tone};
use crate::webhook::signature::{DEFAULT_TOLERANCE, Header, Unverified, diagnose, sign, verify};

/// The largest body that is included in the result, in bytes: the service sends no larger one.
const SHOWN: usize = 1024 * 1024;

/// Sign a body and print the signature header
///
/// Signs the raw bytes of the body, including a trailing line end. Prints the header as `curl -H
/// @-` reads it. The secret is BOOKCTL_WEBHOOK_SECRET, the stored one, or the sandbox's. If there
/// are several, the first one signs.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook sign event.json\n  \
    bookctl webhook sign event.json |\n    \
      curl -H @- --data-binary @event.json http://127.0.0.1:8080/webhooks\n  \
    printf '{}' | bookctl webhook sign - --timestamp 1795262400 --json")]
pub(crate) struct SignArgs {
    /// File with the body, or - for standard input
    #[arg(value_name = "FILE|-", value_parser = Source::parse)]
    body: Option<Source>,
    /// Sign with this time: seconds or RFC 3339 [default: now]
    #[arg(long, value_name = "TIME", value_parser = second)]
    timestamp: Option<i64>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(crate) async fn print_signature(
    Parts { api, ui, settings, .. }: &Parts,
    args: SignArgs,
) -> Result<Exit> {
    let body = source(args.body, args.secret_stdin)?;
    let secrets = webhook_secrets(api, ui, settings, args.secret_stdin).await?;
    let time = args.timestamp.unwrap_or_else(|| Timestamp::now().as_second());
    let body = read_body(body).await?;
    ui.emit(&Signed {
        header: api.facts.dialect().signature_header(),
        value: sign(secrets.signing(), time, &body),
        timestamp: time,
        body: String::from_utf8(body).ok().filter(|it| it.len() <= SHOWN),
    })
}

#[derive(Serialize)]
struct Signed {
    header: String,
    value: String,
    timestamp: i64,
    /// `None` if it is not text, or larger than [`SHOWN`].
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

impl Draw for Signed {
    fn draw(&self, page: &mut Page) {
        // A single cell, which is not wrapped: a line break would change the header.
        let line = format!("{}: {}", self.header, self.value);
        page.columns(vec![(TableCell::from(line), 0)]);
    }
}

/// The largest body that is read, in bytes: far beyond the service's own limit ("Limits", 3).
const LARGEST: u64 = 256 * 1024 * 1024;

/// The source of a body: `named`, else standard input, unless that is a terminal or has the secret.
fn source(named: Option<Source>, secret_stdin: bool) -> Result<Source> {
    if named.is_none() && Terminals::detect().stdin {
        return Err(Error::usage("the body is missing")
            .hint("pass a file name, pipe the body in, or pass - to type it"));
    }
    let source = named.unwrap_or(Source::Stdin);
    if secret_stdin && source == Source::Stdin {
        return Err(Error::usage("the body and the secret cannot both come from standard input")
            .hint("pass the body as a file, or set BOOKCTL_WEBHOOK_SECRET"));
    }
    Ok(source)
}

async fn read_body(source: Source) -> Result<Vec<u8>> {
    let name = source.name();
    read_bytes(source, LARGEST).await.map_err(|error| Error::unreadable(&name, error))
}

pub(crate) fn second(text: &str) -> Result<i64, String> {
    let second = if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        text.parse().ok().map(Timestamp::as_second)
    };
    second
        .ok_or_else(|| "use seconds since 1970, or a time such as 2026-12-01T19:30:00Z".to_owned())
}

/// Verify the signature of a delivery
///
/// Verifies the raw bytes of the body, including a trailing line end. The secret is
/// BOOKCTL_WEBHOOK_SECRET, the stored one, or the sandbox's. While you replace a secret, pass both,
/// separated by a space or a line end. The exit code is 19 if the signature is invalid.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook verify body.json --signature 't=1795262400,v1=f9f4…'\n  \
    bookctl webhook verify body.json --signature \"$HEADER\" --explain\n  \
    bookctl webhook verify body.json --signature \"$HEADER\" --tolerance 0\n  \
    pass show booking/webhook |\n    \
      bookctl webhook verify body.json --signature \"$HEADER\" --secret-stdin")]
pub(crate) struct VerifyArgs {
    /// File with the body, or - for standard input
    #[arg(value_name = "FILE|-", value_parser = Source::parse)]
    body: Option<Source>,
    /// Check this value of the signature header
    #[arg(long, value_name = "HEADER")]
    signature: String,
    /// Allow this time difference, or any with 0 [default: 5m]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    tolerance: Option<Duration>,
    /// Compare with this time: seconds or RFC 3339 [default: now]
    #[arg(long, value_name = "TIME", value_parser = second)]
    now: Option<i64>,
    /// Look for the likely cause of an invalid signature
    #[arg(long)]
    explain: bool,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(crate) async fn check(
    Parts { api, ui, settings, .. }: &Parts,
    args: VerifyArgs,
) -> Result<Exit> {
    let name = api.facts.dialect().signature_header();
    let source = source(args.body, args.secret_stdin)?;
    let tolerance = args.tolerance.unwrap_or(DEFAULT_TOLERANCE);
    if tolerance.is_zero() {
        ui.out.warn("--tolerance 0 also accepts old deliveries that an attacker replays");
    }
    let tolerance = Some(tolerance).filter(|it| !it.is_zero());
    let secrets = webhook_secrets(api, ui, settings, args.secret_stdin).await?;
    let body = read_body(source).await?;
    // The whole line may have been given.
    let value = args.signature.split_once(':');
    let value = value.filter(|(before, _)| before.trim().eq_ignore_ascii_case(&name));
    let header = value.map_or(&*args.signature, |(_, value)| value).trim().as_bytes();
    let now = args.now.unwrap_or_else(|| Timestamp::now().as_second());
    let verified = verify(&secrets.all, header, &body, now, tolerance);
    let verified = verified.map_err(|why| match Header::parse(header).ok() {
        Some(header) if args.explain && why == Unverified::Mismatch => {
            explain(&secrets.all, &header, &body)
        }
        header => unverified(why, header.as_ref()),
    })?;
    ui.emit(&Verdict {
        verified: true,
        timestamp: verified.time,
        signed_at: Timestamp::from_second(verified.time).ok(),
        age_seconds: now.saturating_sub(verified.time),
        tolerance_seconds: tolerance.map(|it| it.as_secs()),
        secret: verified.secret + 1,
    })
}

/// The error (19), with its cause as a word for scripts.
fn error(cause: &'static str, message: impl Into<String>, hint: &str) -> Error {
    let mut error = Error::new(Code::Signature, message).hint(hint);
    error.cause = Some(cause);
    error
}

fn unverified(why: Unverified, header: Option<&Header>) -> Error {
    let (cause, hint) = match why {
        Unverified::Malformed(_) => {
            ("malformed", "expected one line such as t=1795262400,v1=<64 hex digits>")
        }
        Unverified::Stale(_) => (
            "stale",
            "compare the clocks, or pass --tolerance 0 to check an old delivery; each attempt has a new signature",
        ),
        // In seconds such a time is after the year 5000; in milliseconds it is after 1973.
        Unverified::Future(_) if header.is_some_and(|it| it.time() >= 100_000_000_000) => {
            let what = "the signature's time is not in seconds";
            return error("wrong_unit", what, "the sender must sign with seconds since 1970");
        }
        Unverified::Future(_) => ("future", "compare the clocks of the sender and the receiver"),
        Unverified::Mismatch => ("mismatch", "run the command with --explain to find out which"),
    };
    error(cause, why.to_string(), hint)
}

fn explain(secrets: &[Secret], header: &Header, body: &[u8]) -> Error {
    let (cause, what) = diagnose(secrets, header, body)
        .unwrap_or_else(|| ("mismatch", Unverified::Mismatch.to_string()));
    let hint = match cause {
        "wrong_secret" => "store exactly the same secret on both sides, with nothing around it",
        "changed_body" => {
            "verify the raw bytes of the request, before anything parses, decodes or prints them"
        }
        _ => {
            "most likely the secret is different: compare your secret with the dashboard's, and pass both while you \
             replace one"
        }
    };
    error(cause, what, hint)
}

#[derive(Serialize)]
struct Verdict {
    verified: bool,
    timestamp: i64,
    /// `None` if no calendar has that time.
    signed_at: Option<Timestamp>,
    age_seconds: i64,
    tolerance_seconds: Option<u64>,
    /// The number of the secret that matches, from 1.
    secret: usize,
}

impl Draw for Verdict {
    fn draw(&self, page: &mut Page) {
        page.heading(Tone::Good, "verified", "the signature is valid");
        let at = self.signed_at.map_or(String::new(), |at| format!("{at}, "));
        let age = self.age_seconds.unsigned_abs();
        let when = if self.age_seconds < 0 { "in the future" } else { "ago" };
        page.field("signed", format!("{at}{age} s {when}"));
    }
}
