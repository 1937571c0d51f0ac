use std::path::PathBuf;

use serde_json::Value;

use super::answer::{KEEPS_REQUESTS, of_organization, server};
use crate::app::Context;
use crate::json::Document;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::http_client;
use crate::sandbox::Report;
use crate::service::client::Call;
use crate::terminal::output::{DocumentView, Page, Tone};

const PATH: &str = "/sandbox/report";

/// Report what your tests of a sandbox server missed, and which rules they broke
///
/// Situations are what an integration meets in production, each with the command that produces it. Findings are rules of
/// the service that your client or handler broke, with the requests.
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
    /// Report to this file (.json, .xml, .md) [default: stderr]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_parser = report_file)]
    report: Option<Option<PathBuf>>,
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

fn report_file(text: &str) -> std::result::Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|it| it.to_str()) {
        Some("json" | "xml" | "md") => Ok(path),
        _ => Err("the name must end with .json, .xml or .md".to_owned()),
    }
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

pub(crate) async fn run(context: &Context, args: Args) -> Result<Exit> {
    server(context, KEEPS_REQUESTS)?;
    let call = Call::get(of_organization(PATH, args.organization.as_deref()));
    let answer = context.control(call).await;
    let answer = answer.map_err(|error| match error.http_status {
        Some(409) => error.hint("start the sandbox server without --no-request-log"),
        _ => error,
    })?;
    context.out.emit_long(&DocumentView(answer.document, page))?;
    Ok(Exit::Done)
}

impl ReportFlags {
    /// Writes what is asked for of the sandbox at an address, when the command has ended with this exit code.
    pub(crate) async fn write(&self, context: &Context, origin: &str, exit: Exit) -> Result<Exit> {
        if self.report.is_none() && self.fail_on.is_empty() {
            return Ok(exit);
        }
        let answer = read(origin).await?;
        let report: Report = serde_json::from_value(answer.clone())
            .map_err(|error| Error::caused(Code::Io, "the report cannot be read", error))?;
        match &self.report {
            Some(Some(path)) => {
                let text = match path.extension().and_then(|it| it.to_str()) {
                    Some("xml") => report.junit(),
                    Some("md") => report.markdown(),
                    _ => format!("{answer:#}\n"),
                };
                let failed = |error| Error::io(format!("cannot write {}", path.display()), error);
                std::fs::write(path, text).map_err(failed)?;
                let summary = report.summary();
                context.out.note(&format!("{summary}: {}", path.display()));
            }
            _ => context.out.show(&page(&Document::from(answer))),
        }
        let (met, all) = (report.met(), report.situations.len());
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
        context.out.warn(&failures.join("; "));
        Ok(Exit::OfProgram(1))
    }
}

async fn read(origin: &str) -> Result<Value> {
    let client = http_client::build(http_client::builder(true, None))?;
    let request = client.get(format!("{origin}{PATH}"));
    let read = async { request.send().await?.json().await };
    let failed = |error| Error::caused(Code::Network, "the sandbox does not report", error);
    read.await.map_err(failed)
}

fn page(report: &Document) -> Page {
    let mut page = Page::default();
    let Ok(report) = serde_json::from_value::<Report>(report.value().clone()) else {
        return page;
    };
    let tone = if report.findings.is_empty() { Tone::Good } else { Tone::Bad };
    page.heading(tone, "report", report.summary());
    for it in &report.findings {
        page.line("");
        let what = format!("{} ({})", it.title, it.section);
        page.labelled(Tone::Bad, "finding:", what);
        page.sentence(it.why.as_str());
        page.line(format!("  {}", it.requests.join(" ")));
    }
    for it in &report.situations {
        if let Some(remark) = &it.remark {
            page.line("");
            page.labelled(Tone::Warn, "remark:", format!("{}: {remark}", it.title));
        }
    }
    page.line("");
    page.sentence(report.met_codes());
    let unmet = report.situations.iter().filter(|it| !it.met);
    let rows: Vec<_> =
        unmet.map(|it| vec![it.title.as_str().into(), it.how.as_str().into()]).collect();
    if !rows.is_empty() {
        page.line("");
        page.table(vec!["never met", "what brings it about"], rows, vec![]);
    }
    page
}
