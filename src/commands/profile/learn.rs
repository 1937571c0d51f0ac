use std::path::{Path, PathBuf};

use serde_json::Value;

use super::learned::{Learned, Written, review};
use super::set::known;
use crate::adapter::ReadKind;
use crate::adapter::WriteKind;
use crate::adapter::learn::{
    Delivery, Finding, Recorded, of_delivery, of_har, of_openapi, of_request,
};
use crate::app::{Context, Startup};
use crate::config::{Setting, edit};
use crate::flows::Confirmation;
use crate::flows::learn::{
    Lookout, MOST_CALLS, OtherWays, misread, not_found, survey, with_findings,
};
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::{private_file, regular_file};
use crate::terminal::output::View;

/// The largest file that is read.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Learn by reading how a service names what the specification leaves open
///
/// Sends at most 25 reads (the index, both searches, the sessions, this machine's own bookings) and uses at most half
/// of what a rate limit leaves. It never creates, answers, changes or cancels anything. What only writes show is
/// learned from recorded answers. After a yes it writes names, never values, keeps the old file as config.toml.bak,
/// and makes the profile read-only until `bookctl profile set NAME read_only=false`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl profile learn live\n  \
    bookctl profile learn live --openapi openapi.json --har recorded.har\n  \
    bookctl profile learn live --example booking=booking.json --out review.toml\n  \
    bookctl profile learn live --check")]
pub(crate) struct Args {
    /// Profile
    name: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Write nothing; exit with 3 if the service differs from what the profile says
    #[arg(long, conflicts_with_all = ["yes", "out"])]
    check: bool,
    /// Write the settings to this file instead of the profile
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The service's OpenAPI document, as JSON: a file, or a URL at the profile's origin
    #[arg(long, value_name = "FILE|URL")]
    openapi: Option<String>,
    /// Recorded calls in a HAR file
    #[arg(long, value_name = "FILE")]
    har: Vec<PathBuf>,
    /// A recorded webhook delivery: its headers, a blank line, its body
    #[arg(long, value_name = "FILE")]
    delivery: Vec<PathBuf>,
    /// A recorded document: an answer such as booking, or a request such as otp (`write.slots` for the slots' request)
    #[arg(long, value_name = "KIND=FILE", value_parser = Example::parse)]
    example: Vec<Example>,
    /// A place where the service has venues
    #[arg(long, value_name = "PLACE")]
    near: Option<String>,
    /// What kind of venue to look for
    #[arg(long, value_name = "KIND", default_value = "dining")]
    vertical: String,
}

/// A recorded document of a kind.
#[derive(Clone, Debug)]
struct Example {
    kind: Kind,
    file: PathBuf,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Read(ReadKind),
    Write(WriteKind),
}

impl Example {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, file) = text
            .split_once('=')
            .ok_or_else(|| "write it as KIND=FILE".to_owned())?;
        let read = name.strip_prefix("read.").unwrap_or(name);
        let write = name.strip_prefix("write.").unwrap_or(name);
        let kind = ReadKind::parse(read)
            .map(Kind::Read)
            .filter(|_| !name.starts_with("write."));
        let kind = kind.or_else(|| WriteKind::parse(write).map(Kind::Write));
        let kind = kind.ok_or_else(|| {
            let answers = ReadKind::TABLE.iter().map(|(_, name, _)| *name);
            let requests = WriteKind::TABLE.iter().map(|(_, name, _)| *name);
            format!(
                "the kinds are {}",
                answers.chain(requests).collect::<Vec<_>>().join(", ")
            )
        })?;
        Ok(Example {
            kind,
            file: file.into(),
        })
    }
}

pub(super) async fn run(mut setup: Startup, args: Args) -> Result<Exit> {
    known(&setup, &args.name)?;
    let recorded = recorded(&args)?;
    setup.options.profile = Some(args.name.clone());
    let config_file = setup.paths.config_file.clone();
    let mut context = Context::new(setup)?;
    let address = match context.target() {
        crate::config::Target::Remote(service) => service.base_url.join(""),
        crate::config::Target::Embedded { .. } => String::new(),
    };
    let openapi = args.openapi.as_deref().filter(|it| is_url(it));
    let openapi = openapi.map(|url| below(url, &address)).transpose()?;
    let question = format!("Send at most {MOST_CALLS} reads to {address}?");
    if !args.yes && !args.check {
        let confirmation = Confirmation {
            action: "learning",
            question,
            declined: "nothing was sent",
        };
        confirmation.ask(&context.prompter).await?;
    }
    let own = context.adapter().clone();
    let lookout = Lookout {
        near: args.near.clone(),
        vertical: args.vertical.clone(),
        openapi,
        other_ways: match (args.check, args.yes) {
            (true, _) => OtherWays::Never,
            (false, true) => OtherWays::Allowed,
            (false, false) => OtherWays::AfterAsking,
        },
    };
    let survey = {
        let _progress = context.out.progress("reading");
        survey(&mut context, &lookout, recorded).await?
    };
    let sure: Vec<Finding> = survey
        .findings
        .iter()
        .filter(|it| it.is_sure())
        .cloned()
        .collect();
    let new = with_findings(&own, &sure)?;
    let mut learned = Learned {
        profile: args.name.clone(),
        calls: survey.calls,
        misread: misread(&new, &survey.documents),
        not_found: not_found(&new, &survey.documents),
        findings: survey.findings,
        refused: survey.refused,
        is_check: args.check,
        written: None,
    };
    if args.check {
        context.out.emit(&learned)?;
        return Ok(if learned.is_drifted() {
            Exit::Config
        } else {
            Exit::Done
        });
    }
    if !sure.is_empty() {
        learned.written = write(&context, &args, &learned, &sure, &config_file).await?;
    }
    context.out.emit(&learned)?;
    Ok(Exit::Done)
}

/// Writes what is sure, to the profile or to a file for review. Returns where.
async fn write(
    context: &Context,
    args: &Args,
    learned: &Learned,
    sure: &[Finding],
    config_file: &Path,
) -> Result<Option<Written>> {
    if let Some(out) = &args.out {
        let text = review(&args.name, &learned.findings)?;
        std::fs::write(out, text)
            .map_err(|error| Error::io(format!("cannot write {}", out.display()), error))?;
        return Ok(Some(Written::ForReview(out.display().to_string())));
    }
    if !args.yes {
        context.out.show(&learned.page());
        let confirmation = Confirmation {
            action: "writing the profile",
            question: match sure.len() {
                1 => format!("Write 1 setting to profile {}?", args.name),
                count => format!("Write {count} settings to profile {}?", args.name),
            },
            declined: "nothing was written",
        };
        confirmation.ask(&context.prompter).await?;
    }
    let backup = PathBuf::from(format!("{}.bak", config_file.display()));
    let before = private_file::read(config_file)
        .ok()
        .flatten()
        .unwrap_or_default();
    private_file::update(&backup, |_| Ok(Some(before))).map_err(|error| {
        Error::caused(
            Code::Config,
            format!("cannot write {}", backup.display()),
            error,
        )
    })?;
    edit(config_file, |draft| {
        for finding in sure {
            let setting = Setting::parse(&finding.key).map_err(Error::config)?;
            setting.set(draft, &args.name, &finding.value)?;
        }
        Setting::ReadOnly.set(draft, &args.name, "true")
    })?;
    Ok(Some(Written::Profile(config_file.display().to_string())))
}

/// What recorded files show.
fn recorded(args: &Args) -> Result<Recorded> {
    let mut all = Recorded::default();
    let mut add = |more: Recorded| {
        all.documents.extend(more.documents);
        all.add(more.findings);
    };
    let file = args.openapi.as_deref().filter(|it| !is_url(it));
    if let Some(file) = file.map(Path::new) {
        add(of_openapi(&document(file)?)
            .ok_or_else(|| unusable(file, "it is no OpenAPI document"))?);
    }
    for file in &args.har {
        add(of_har(&document(file)?).ok_or_else(|| unusable(file, "it is no HAR file"))?);
    }
    for file in &args.delivery {
        let delivery = Delivery::parse(&text(file)?);
        let delivery = delivery.ok_or_else(|| {
            unusable(
                file,
                "it is no delivery: headers, a blank line and a JSON body",
            )
        })?;
        add(Recorded {
            documents: Vec::new(),
            findings: of_delivery(&delivery),
        });
    }
    for example in &args.example {
        let value = document(&example.file)?;
        add(match example.kind {
            Kind::Read(kind) => Recorded {
                documents: vec![(kind, value)],
                findings: Vec::new(),
            },
            Kind::Write(kind) => Recorded {
                documents: Vec::new(),
                findings: of_request(kind, &value),
            },
        });
    }
    Ok(all)
}

fn is_url(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// A URL of the profile's origin as a path below the profile's address: the key goes nowhere else.
fn below(url: &str, address: &str) -> Result<String> {
    let address = address.trim_end_matches('/');
    let after_scheme = address.find("://").map_or(0, |at| at + 3);
    let host = address.get(after_scheme..).unwrap_or_default();
    let (host, base) = host.split_at(host.find('/').unwrap_or(host.len()));
    let origin = format!("{}{host}", address.get(..after_scheme).unwrap_or_default());
    let path = url.strip_prefix(&origin).filter(|it| it.starts_with('/'));
    let path = path.ok_or_else(|| {
        Error::usage(format!(
            "--openapi {url} is not at {origin}, where the key is used"
        ))
        .hint("download it, and give the file")
    })?;
    let inside = path.strip_prefix(base).filter(|it| it.starts_with('/'));
    Ok(match inside {
        Some(path) => path.to_owned(),
        None => format!("{}{path}", "/..".repeat(base.matches('/').count())),
    })
}

fn unusable(file: &Path, why: &str) -> Error {
    Error::usage(format!("{} cannot be used: {why}", file.display()))
}

fn text(file: &Path) -> Result<String> {
    let bytes = regular_file::read(file, LARGEST)
        .map_err(|error| Error::unreadable(&file.display().to_string(), error))?;
    String::from_utf8(bytes).map_err(|_| unusable(file, "it is not UTF-8"))
}

fn document(file: &Path) -> Result<Value> {
    serde_json::from_str(&text(file)?)
        .map_err(|error| unusable(file, &format!("it is not JSON: {error}")))
}
