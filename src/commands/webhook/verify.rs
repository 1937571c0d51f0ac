use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::input::{body, one_stdin, read};
use super::verify_error::{Evidence, VerifyFailure, error_for};
use crate::app::Context;
use crate::flows::webhook_secrets;
use crate::json::Document;
use crate::model::duration::duration;
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::Source;
use crate::terminal::output::{Page, Tone, View};
use crate::webhook::{DEFAULT_TOLERANCE, Header, SavedRequest, verify};

/// Verify the signature of a delivery
///
/// Verifies the raw bytes of the body, including a trailing line end. The secret is BOOKCTL_WEBHOOK_SECRET, the
/// stored one, or the sandbox's. While you replace a secret, pass both, separated by a space or a line end. The exit
/// code is 19 if the signature is invalid.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook verify body.json --signature 't=1795262400,v1=f9f4…'\n  \
    bookctl webhook verify --http request.txt --explain\n  \
    bookctl webhook verify body.json --signature \"$HEADER\" --tolerance 0\n  \
    pass show booking/webhook |\n    \
      bookctl webhook verify body.json --signature \"$HEADER\" --secret-stdin")]
pub(crate) struct Args {
    /// File with the body, or - for standard input
    #[arg(value_name = "FILE|-", value_parser = Source::parse)]
    body: Option<Source>,
    /// Value of the signature header
    #[arg(long, value_name = "HEADER", required_unless_present = "http")]
    signature: Option<String>,
    /// Read a saved request instead: request line, headers, an empty line, the raw body
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["body", "signature"], value_parser = Source::parse)]
    http: Option<Source>,
    /// Largest difference between the signature's time and now; 0 accepts any time [default: 5m]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    tolerance: Option<Duration>,
    /// Time to compare with, as seconds since 1970 or RFC 3339 [default: now]
    #[arg(long, value_name = "T", value_parser = super::input::second)]
    now: Option<i64>,
    /// If the signature is invalid, find out why by trying common changes to the body and the secret
    #[arg(long)]
    explain: bool,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let name = context.dialect().signature_header();
    let source = match args.http {
        Some(request) => request,
        None => body(args.body)?,
    };
    one_stdin(&source, args.secret_stdin)?;
    let tolerance = match args.tolerance.unwrap_or(DEFAULT_TOLERANCE) {
        Duration::ZERO => {
            context
                .out
                .warn("--tolerance 0 also accepts old deliveries that somebody replays");
            None
        }
        tolerance => Some(tolerance),
    };
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let file = source.name();
    let bytes = read(source).await?;
    let (signature, body, missing) = match args.signature {
        Some(value) => (Some(without_name(&value, &name).into_bytes()), bytes, 0),
        None => {
            let request = SavedRequest::parse(&bytes).map_err(|why| {
                Error::usage(format!("{} {why}", file.escape_debug())).hint(
                    "a saved request has a request line, headers, an empty line, and the raw body",
                )
            })?;
            (request.header(&name), request.body, request.missing)
        }
    };
    let now = args.now.unwrap_or_else(|| Timestamp::now().as_second());
    let verdict = match &signature {
        Some(header) => {
            verify(&secrets.all, header, &body, now, tolerance).map_err(VerifyFailure::Unverified)
        }
        None => Err(VerifyFailure::Missing(name)),
    };
    let evidence = Evidence {
        header: signature.and_then(|value| Header::parse(&value).ok()),
        body,
        missing,
    };
    match verdict {
        Ok(verified) => {
            let signed_at = Timestamp::from_second(verified.time).ok();
            context.out.emit(&Verdict {
                verified: true,
                timestamp: verified.time,
                signed_at: signed_at.map(|at| at.to_string()),
                age_seconds: now.saturating_sub(verified.time),
                tolerance_seconds: tolerance.map(|it| it.as_secs()),
                secret: verified.secret + 1,
                secrets: secrets.all.len(),
            })?;
            Ok(Exit::Done)
        }
        Err(failure) => Err(error_for(failure, &evidence, &secrets.all, args.explain)),
    }
}

/// The header's value, without its name if the whole line was given.
fn without_name(value: &str, name: &str) -> String {
    let rest = value
        .split_once(':')
        .filter(|(before, _)| before.trim().eq_ignore_ascii_case(name));
    rest.map_or(value, |(_, rest)| rest).trim().to_owned()
}

#[derive(Serialize)]
struct Verdict {
    verified: bool,
    timestamp: i64,
    /// `None` if no calendar has that time.
    signed_at: Option<String>,
    age_seconds: i64,
    tolerance_seconds: Option<u64>,
    /// The number of the secret that matches, from 1.
    secret: usize,
    #[serde(skip)]
    secrets: usize,
}

impl View for Verdict {
    fn json(&self) -> Document {
        Document::serialized(self)
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.heading(Tone::Good, "verified", "the signature is valid");
        let age = match self.age_seconds {
            age @ 0.. => format!("{age} s ago"),
            age => format!("{} s in the future", age.saturating_abs()),
        };
        page.field(
            "signed",
            match &self.signed_at {
                Some(time) => format!("{time}, {age}"),
                None => age,
            },
        );
        if self.secrets > 1 {
            page.field("secret", format!("{} of {}", self.secret, self.secrets));
        }
        page
    }
}
