use std::fs::File;
use std::io::{Seek, Write};
use std::path::PathBuf;

use super::answer::{KEEPS_REQUESTS, of_organization, server};
use crate::app::{Parts, Ui};
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::http_client;
use crate::sandbox::{Format, Report, open_own};
use crate::service::client::Call;
use crate::terminal::output::{DocumentView, Page, Tone};

const PATH: &str = "/sandbox/report";

/// Report what your tests of a sandbox server missed, and which rules they broke
///
/// Situations are what an integration meets in production, each with the command that produces it.
/// Findings are rules of the service that your client or handler broke, with the requests.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox report\n  \
    bookctl sandbox report --jq '.situations[] | select(.met | not) | .how'")]
pub(crate) struct Args {
    /// Report only on this organization
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

/// Whether and where `sandbox run` reports, and what then is a failure.
#[derive(clap::Args, Debug)]
pub(crate) struct ReportFlags {
    /// Report to this file (.json, .xml, .md), repeatable [default: stderr]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = report_file)]
    report: Vec<Option<(PathBuf, Format)>>,
    /// Exit with 1 on findings, or if fewer than N% were met
    #[arg(long, value_name = "findings|situations=N%", value_parser = fail_on)]
    fail_on: Vec<FailOn>,
}

#[derive(Clone, Copy, Debug)]
enum FailOn {
    Findings,
    /// Fewer situations than this many of a hundred.
    Situations(usize),
}

/// The file and its format; `None` if no file is named.
fn report_file(text: &str) -> std::result::Result<Option<(PathBuf, Format)>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let path = PathBuf::from(text);
    let extension = path.extension().unwrap_or_default();
    let format = Report::FORMATS.into_iter().find(|it| it.0 == extension);
    let format = format.ok_or("the name must end with .json, .xml or .md")?;
    Ok(Some((path, format)))
}

fn fail_on(text: &str) -> std::result::Result<FailOn, String> {
    if text == "findings" {
        return Ok(FailOn::Findings);
    }
    let share = text.strip_prefix("situations=").map(|it| it.trim_end_matches('%').parse());
    match share {
        Some(Ok(share @ 0..=100)) => Ok(FailOn::Situations(share)),
        _ => Err("use findings, or situations=80%".to_owned()),
    }
}

pub(crate) async fn run(Parts { api, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    server(&api.facts, KEEPS_REQUESTS)?;
    let call = Call::get(of_organization(PATH, args.organization.as_deref()));
    let answer = api.control(call).await.map_err(|error| match error.http_status {
        Some(409) => {
            error.hint("start the sandbox server without --no-report and --no-request-log")
        }
        _ => error,
    })?;
    ui.out.emit_long(&DocumentView(answer.document, |it| {
        let report = serde_json::from_value(it.value().clone());
        report.as_ref().map_or_else(|_| Page::default(), page)
    }))
}

pub(crate) struct Reports {
    files: Vec<Option<(PathBuf, Format, File)>>,
    fail_on: Vec<FailOn>,
}

impl ReportFlags {
    /// Fails if a file cannot be written.
    pub(crate) fn open(self) -> Result<Reports> {
        let open = |(path, format): (PathBuf, Format)| {
            let file = open_own(&path, format.1).map_err(|error| {
                let what = format!("cannot write {}", path.display());
                Error::io(what, error).hint("name another file with --report")
            })?;
            Ok::<_, Error>((path, format, file))
        };
        let files = self.report.into_iter().map(|it| it.map(open).transpose());
        Ok(Reports { files: files.collect::<Result<_>>()?, fail_on: self.fail_on })
    }
}

impl Reports {
    /// Writes the requested report of the sandbox at an address, after this exit code.
    pub(crate) async fn write(&mut self, ui: &Ui, origin: &str, exit: Exit) -> Result<Exit> {
        if self.files.is_empty() && self.fail_on.is_empty() {
            return Ok(exit);
        }
        let report = read(origin).await?;
        let without_file = [None];
        let files = if self.files.is_empty() { &without_file[..] } else { &self.files };
        for file in files {
            let Some((path, (.., written), file)) = file else {
                ui.out.show(&page(&report));
                continue;
            };
            let text = written(&report);
            let mut out = file;
            let written = file.set_len(0).and_then(|()| out.rewind());
            let failed = |error| Error::io(format!("cannot write {}", path.display()), error);
            written.and_then(|()| out.write_all(text.as_bytes())).map_err(failed)?;
            let summary = report.summary();
            ui.out.note(&format!("{summary}: {}", path.display()));
        }
        let (met, all) = (report.met().count(), report.situations.len());
        let failures = self.fail_on.iter().filter_map(|it| match it {
            FailOn::Findings => (!report.findings.is_empty()).then(|| report.found()),
            FailOn::Situations(percent) => (met * 100 < percent * all).then(|| {
                let share = met * 100 / all;
                format!("{met} of {all} situations met ({share}%), fewer than {percent}%")
            }),
        });
        let failures: Vec<_> = failures.collect();
        if failures.is_empty() || exit != Exit::Done {
            return Ok(exit);
        }
        ui.out.warn(&failures.join("; "));
        Ok(Exit::OfProgram(1))
    }
}

async fn read(origin: &str) -> Result<Report> {
    let client = http_client::build(http_client::builder(true, None))?;
    let request = client.get(format!("{origin}{PATH}"));
    let read = async { request.send().await?.json().await };
    let failed = |error| Error::caused(Code::Network, "the sandbox does not report", error);
    read.await.map_err(failed)
}

fn page(report: &Report) -> Page {
    let mut page = Page::default();
    let tone = if report.findings.is_empty() { Tone::Good } else { Tone::Bad };
    page.heading(tone, "report", report.summary());
    for it in &report.findings {
        page.line("");
        page.labelled(Tone::Bad, "finding:", format!("{} ({})", it.title, it.section));
        page.sentence(it.why.as_str());
        for request in it.evidence() {
            page.line(format!("  {request}"));
        }
    }
    for it in &report.situations {
        if let Some(remark) = &it.remark {
            page.line("");
            page.labelled(Tone::Warn, "remark:", format!("{}: {remark}", it.title));
        }
    }
    page.line("");
    page.sentence(report.met_codes());
    let rows: Vec<_> =
        report.unmet().map(|it| vec![it.title.as_str().into(), it.how.as_str().into()]).collect();
    if !rows.is_empty() {
        page.line("");
        page.table(vec!["never met", "what brings it about"], rows, vec![]);
    }
    page
}
