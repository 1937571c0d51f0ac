use std::path::{Path, PathBuf};

use super::change::known;
use crate::app::input::read_file;
use crate::app::{Parts, Startup};
use crate::config::{ServiceNeed, edit};
use crate::json::parsed;
use crate::outcome::{Error, Exit, Result};
use crate::platform::{private_file, shell};
use crate::service::documents::plural;
use crate::service::mapping::{ReadKind, set_command};
use crate::setup::learn::{LearnOptions, MOST_CALLS, Reads, Sample};
use crate::terminal::output::View;

/// Show what a service sends, and save what is certain
///
/// Sends at most 25 reads (the index, both searches, the sessions, this computer's own bookings)
/// and uses at most half of what a rate limit leaves. It never creates, answers, changes or cancels
/// anything. For each document it shows whether bookctl reads it, and the paths in it with the kind
/// of each value, never the value. Where something is not read, it prints the command that you
/// complete: put the service's name for each `<?>`. After you confirm, it writes what is certain
/// (how the key is sent, what the searches ask for), keeps the old file as config.toml.bak, and
/// reads again. It makes the profile read-only, unless the profile has read_only=false.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl profile learn live --near Reykjavik\n  \
    bookctl profile learn live --example booking=booking.json\n  \
    bookctl profile learn live --check")]
pub(crate) struct Args {
    /// Profile
    name: String,
    #[command(flatten)]
    options: LearnOptions,
    /// Write the command for what is certain to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Read a recorded delivery: headers, a blank line, body
    #[arg(long, value_name = "FILE")]
    delivery: Vec<String>,
    /// Read a recorded document, such as booking=booking.json
    #[arg(long, value_name = "KIND=FILE", value_parser = example)]
    example: Vec<(ReadKind, String)>,
}

fn example(text: &str) -> Result<(ReadKind, String), String> {
    let (name, file) = text.split_once('=').ok_or("write it as KIND=FILE")?;
    let kind = ReadKind::parse(name).ok_or("the kinds are those of `bookctl help mapping`")?;
    Ok((kind, file.to_owned()))
}

pub(crate) async fn run(mut setup: Startup, args: Args) -> Result<Exit> {
    known(&setup, &args.name)?;
    let recorded = read_samples(&args).await?;
    setup.settings.options.profile = Some(args.name.clone());
    let config_file = setup.settings.paths.config_file.clone();
    let mut parts = Parts::new(setup, ServiceNeed::Profile, false)?;
    let mut reads = Reads::new(&mut parts, &args.options, recorded);
    let address = reads.parts.api.facts.target().address();
    let question = format!("Send at most {MOST_CALLS} reads to {address}?");
    reads.confirm("learning", &question, "nothing was sent").await?;
    reads.look().await?;
    if !args.options.check && !reads.report.settings.is_empty() {
        let written = match &args.out {
            Some(out) => {
                let settings = reads.report.settings.iter().map(|it| shell::word(&it.to_string()));
                let settings = settings.collect::<Vec<_>>().join(" ");
                std::fs::write(out, set_command(Some(&args.name), &settings) + "\n")
                    .map_err(|error| Error::io(format!("cannot write {}", out.display()), error))?;
                out
            }
            None => {
                write(&mut reads, &args.name, &config_file).await?;
                &config_file
            }
        };
        reads.report.written = Some(written.display().to_string());
    }
    reads.conclude()
}

/// Writes what is certain to the profile, keeps the old file, and reads again.
async fn write(reads: &mut Reads<'_>, name: &str, config_file: &Path) -> Result<()> {
    if !reads.options.yes {
        reads.parts.ui.out.show(&reads.report.page());
    }
    let settings = plural(reads.report.settings.len(), "setting", "settings");
    let question = format!("Write {settings} to profile {name}?");
    reads.confirm("writing the profile", &question, "nothing was written").await?;
    let backup = private_file::add_suffix(config_file, ".bak");
    std::fs::copy(config_file, &backup)
        .map_err(|error| Error::io(format!("cannot write {}", backup.display()), error))?;
    edit(config_file, |draft| {
        // Whoever has allowed changes has looked at the profile.
        if draft.before.profile(name)?.read_only.is_none() {
            draft.set(name, "read_only", true)?;
            reads.report.is_read_only = true;
        }
        reads.report.settings.iter().try_for_each(|it| it.set(draft, name))
    })?;
    reads.look_again().await?;
    // A person has seen what is read.
    let is_new = reads.options.yes;
    reads.report.documents.retain(|it| is_new || !it.read);
    Ok(())
}

async fn read_samples(args: &Args) -> Result<Vec<Sample>> {
    let deliveries = args.delivery.iter().map(|file| (ReadKind::Event, file));
    let examples = args.example.iter().map(|(kind, file)| (*kind, file));
    let mut recorded = Vec::new();
    for (kind, file) in examples.chain(deliveries) {
        let text = read_file(file).await?.replace("\r\n", "\n");
        // A delivery as `curl -i` and many proxies write it, or a document alone.
        let is_delivery = kind == ReadKind::Event && !text.trim_start().starts_with('{');
        let (head, body) = text.split_once("\n\n").filter(|_| is_delivery).unwrap_or(("", &text));
        let value = parsed(body).map_err(|error| {
            Error::usage(format!("{file} cannot be used: it is not JSON: {error}"))
        })?;
        let headers = head.lines().filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.trim().into(), value.trim().into()));
        recorded.push(Sample { kind, value, headers: headers.collect() });
    }
    Ok(recorded)
}
