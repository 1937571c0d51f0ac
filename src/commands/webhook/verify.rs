use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::doubt::{Doubt, explained};
use super::input::{blocking, body, one_stdin, unreadable};
use crate::app::Context;
use crate::flows::webhook_secrets;
use crate::json::Document;
use crate::model::duration::duration;
use crate::outcome::{Error, Exit, Result};
use crate::secrets::Secret;
use crate::terminal::output::{Page, Tone, View};
use crate::webhook::{
    DEFAULT_TOLERANCE, Header, RequestError, SavedRequest, Source, Unverified, Verified, Verifier,
    each_piece,
};

/// The largest body that `--explain` looks into.
const EXPLAINED: usize = 64 * 1024 * 1024;

/// Verify the signature of a delivery, as a consumer has to
///
/// The body is read as raw bytes, to its last line end, however large it is. The secret is the environment's
/// (BOOKCTL_WEBHOOK_SECRET), the stored one, or the sandbox's own; during a rotation several, with blanks or line
/// ends between them, and any will do. What does not verify ends with 19.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook verify body.json --signature 't=1795262400,v1=f9f4…'\n  \
    bookctl webhook verify --http request.txt --explain\n  \
    bookctl webhook verify body.json --signature \"$HEADER\" --tolerance 0\n  \
    pass show booking/webhook | bookctl webhook verify body.json --signature \"$HEADER\" --secret-stdin")]
pub(crate) struct Args {
    /// The body, or - for standard input
    #[arg(value_name = "FILE|-", value_parser = Source::parse)]
    body: Option<Source>,
    /// The signature header's value
    #[arg(long, value_name = "HEADER", required_unless_present = "http")]
    signature: Option<String>,
    /// A whole saved request instead: request line, headers, an empty line, the raw body
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["body", "signature"], value_parser = Source::parse)]
    http: Option<Source>,
    /// How far the signature's time may be from now, either way; 0 for any time
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    tolerance: Option<Duration>,
    /// Take this for now: seconds since 1970, or RFC 3339
    #[arg(long, value_name = "T", value_parser = super::input::second)]
    now: Option<i64>,
    /// Find out why it does not verify: the usual changes of body and secret are tried
    #[arg(long)]
    explain: bool,
    /// Read the secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let name = super::header_name(context);
    let source = match args.http {
        Some(request) => request,
        None => body(args.body)?,
    };
    one_stdin(&source, args.secret_stdin)?;
    let tolerance = match args.tolerance.unwrap_or(DEFAULT_TOLERANCE) {
        Duration::ZERO => {
            context
                .out
                .warn("without a tolerance an old delivery that is sent again verifies, too");
            None
        }
        tolerance => Some(tolerance),
    };
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let delivery = Delivery {
        source,
        signature: args.signature.map(|value| without_name(&value, &name)),
        name,
        secrets: secrets.clone(),
        keeps_body: args.explain,
    };
    let read = blocking(move || delivery.read()).await?;
    let now = args.now.unwrap_or_else(|| Timestamp::now().as_second());
    let verdict = match read.verifier {
        Ok(verifier) => verifier.finish(now, tolerance).map_err(Doubt::Unverified),
        Err(doubt) => Err(doubt),
    };
    match verdict {
        Ok(verified) => {
            context.out.emit(&Verdict {
                verified,
                secrets: secrets.len(),
                now,
                tolerance,
            })?;
            Ok(Exit::Done)
        }
        Err(doubt) => Err(explained(doubt, &read.evidence, &secrets, args.explain)),
    }
}

/// The header's value, also where the whole line was given.
fn without_name(value: &str, name: &str) -> String {
    let rest = value
        .split_once(':')
        .filter(|(before, _)| before.trim().eq_ignore_ascii_case(name));
    rest.map_or(value, |(_, rest)| rest).trim().to_owned()
}

/// What is to be read, and with what.
struct Delivery {
    source: Source,
    /// `None` where it stands in the request's head.
    signature: Option<String>,
    name: String,
    secrets: Vec<Secret>,
    keeps_body: bool,
}

/// What came of reading it.
struct Read {
    verifier: Result<Verifier, Doubt>,
    evidence: Evidence,
}

/// What an explanation is made from.
pub(super) struct Evidence {
    pub(super) signature: Option<Vec<u8>>,
    /// Where it was kept, and is not too large to be.
    pub(super) body: Option<Vec<u8>>,
    pub(super) length: u64,
    /// The names of the request's headers.
    pub(super) headers: Vec<String>,
    /// Bytes that the file lacks of what the request's `Content-Length` says.
    pub(super) missing: u64,
}

impl Delivery {
    fn read(self) -> Result<Read> {
        let from = self
            .source
            .open()
            .map_err(|error| unreadable(&self.source, &error))?;
        let Some(signature) = &self.signature else {
            let mut request = SavedRequest::read(from).map_err(|error| match error {
                RequestError::Io(error) => unreadable(&self.source, &error),
                RequestError::NotOne(why) => {
                    Error::usage(format!("{} {why}", self.source.name().escape_debug()))
                        .hint("a saved request is its request line, its headers, an empty line, and the raw body")
                }
            })?;
            let signature = request.header(&self.name);
            let headers = request
                .headers
                .iter()
                .map(|(name, _)| name.clone())
                .collect();
            let mut read = self.digest(signature, headers, request.body())?;
            read.evidence.missing = request.missing();
            return Ok(read);
        };
        self.digest(Some(signature.clone().into_bytes()), Vec::new(), from)
    }

    fn digest(
        &self,
        signature: Option<Vec<u8>>,
        headers: Vec<String>,
        body: impl std::io::Read,
    ) -> Result<Read> {
        let header = match &signature {
            None => Err(Doubt::Missing(self.name.clone())),
            Some(value) => {
                Header::parse(value).map_err(|why| Doubt::Unverified(Unverified::Malformed(why)))
            }
        };
        let mut verifier = header.map(|header| Verifier::new(&self.secrets, header));
        let mut kept = self.keeps_body.then(Vec::new);
        let mut length = 0;
        each_piece(body, |piece| {
            if let Ok(verifier) = &mut verifier {
                verifier.update(piece);
            }
            length += piece.len() as u64;
            kept = kept
                .take()
                .filter(|kept| kept.len() + piece.len() <= EXPLAINED);
            if let Some(kept) = &mut kept {
                kept.extend_from_slice(piece);
            }
        })
        .map_err(|error| unreadable(&self.source, &error))?;
        Ok(Read {
            verifier,
            evidence: Evidence {
                signature,
                body: kept,
                length,
                headers,
                missing: 0,
            },
        })
    }
}

struct Verdict {
    verified: Verified,
    secrets: usize,
    now: i64,
    tolerance: Option<Duration>,
}

impl Verdict {
    fn signed_at(&self) -> Option<String> {
        let time = Timestamp::from_second(self.verified.time).ok()?;
        Some(time.to_string())
    }
}

impl View for Verdict {
    fn json(&self) -> Document {
        json!({
            "verified": true,
            "timestamp": self.verified.time,
            "signed_at": self.signed_at(),
            "age_seconds": self.now.saturating_sub(self.verified.time),
            "tolerance_seconds": self.tolerance.map(|it| it.as_secs()),
            "secret": self.verified.secret + 1,
        })
        .into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.heading(Tone::Good, "verified", "the body is as it was signed");
        let age = self.now.saturating_sub(self.verified.time);
        let age = match age {
            0.. => format!("{age} s ago"),
            _ => format!("{} s ahead of now", age.saturating_abs()),
        };
        page.field(
            "signed",
            match self.signed_at() {
                Some(time) => format!("{time}, {age}"),
                None => age,
            },
        );
        if self.secrets > 1 {
            page.field(
                "secret",
                format!("{} of {}", self.verified.secret + 1, self.secrets),
            );
        }
        page
    }
}
