use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Url;

use super::{handler, no_response, posting, send, webhook_secrets};
use crate::app::{Facts, Parts, Ui};
use crate::json::plain;
use crate::outcome::{Error, Exit, Result};
use crate::platform::pace;
use crate::service::documents::booking::Booking;
use crate::terminal::output::{Draw, Page, TableCell, Tone};
use crate::terminal::view::capitalised;
use crate::webhook::drill::plan::Subject;
use crate::webhook::drill::{DrillCheck, Finding, Ledger, Report};
use crate::webhook::handler::{Handler, endpoint};

/// How long a handler that answers first may take to handle all events.
const HANDLING_TIME: Duration = Duration::from_secs(2);

/// Test your webhook handler with valid, forged, repeated, late and large deliveries
///
/// Sends sample events, as the service or an attacker might send them, and checks the responses.
/// With --state-url it also checks that your handler processes each event exactly once. At that
/// address, the handler responds with {"events": {"<event id>": <times handled>}, "bookings":
/// {"<booking id>": "<status>"}}. The exit code is 0 if all checks pass, and 18 if one fails.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook drill http://127.0.0.1:8080/webhooks\n  \
    bookctl webhook drill http://127.0.0.1:8080/webhooks \\\n    \
      --state-url http://127.0.0.1:8080/state\n  \
    bookctl webhook drill http://127.0.0.1:8080/webhooks --booking bk_01 --json\n  \
    bookctl webhook drill http://127.0.0.1:8080/webhooks \\\n    \
      --jq '.checks[] | select(.verdict == \"failed\") | .check'")]
pub(crate) struct Args {
    /// Address of your handler
    #[arg(value_name = "URL", value_parser = endpoint)]
    url: Url,
    /// Read the handler's state from this address
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    state_url: Option<Url>,
    /// Send events about this booking [default: sample bookings]
    #[arg(long, value_name = "BOOKING")]
    pub(crate) booking: Option<String>,
    /// Trust the certificate authorities in this file
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(crate) async fn run(Parts { api, records, ui, settings }: &Parts, args: Args) -> Result<Exit> {
    let secrets = webhook_secrets(api, ui, settings, args.secret_stdin).await?;
    let booking = send::of_service(api, records, args.booking.as_deref()).await?;
    let booking = booking.as_ref().map(Booking::value);
    let (secret, dialect) = (secrets.signing(), api.facts.dialect());
    let subject = Subject::new(secret, dialect, booking, Timestamp::now());
    let checks = subject.checks();
    let handler = handler(&api.facts, settings, args.url, args.ca_file.as_deref())?;
    if let Some(url) = &args.state_url {
        // An address that does not work is an error before anything is sent.
        ledger(&handler, url).await?;
    }
    posting(api, "events were".to_owned(), &handler.url);
    let mut findings = run_checks(&api.facts, ui, &checks, &handler).await?;
    let mut state_checked = false;
    if let Some(url) = &args.state_url {
        match final_ledger(&handler, url, &checks).await {
            Ok(ledger) => {
                state_checked = true;
                for (place, fault) in ledger.faults(&checks, &subject.ordered) {
                    findings[place].fail(fault);
                }
            }
            // Only a warning, so that the findings from the responses are shown.
            Err(error) => ui.out.warn(&error.message),
        }
    }
    let report = Report::new(handler.url.to_string(), state_checked, findings);
    ui.out.emit(&report)?;
    let mut responses = report.checks.iter().flat_map(|check| &check.responses);
    if !responses.any(|it| it.as_u64().is_some_and(|it| (200..300).contains(&it))) {
        ui.out.warn(
            "your handler accepted no event, not even the valid ones: check that it uses the same secret, and receives \
             webhooks at this address",
        );
    }
    if args.state_url.is_none() {
        ui.out.note("Not checked: duplicate handling. Pass --state-url to check it.");
    } else if report.failed > 0 && booking.is_none() {
        ui.out.note("The sample bookings do not exist at the service. If your handler reads them, pass --booking ID.");
    }
    if report.failed == 0 && state_checked == args.state_url.is_some() {
        return Ok(Exit::Done);
    }
    let (failed, total) = (report.failed, report.passed + report.failed);
    let why = match failed {
        0 => "the handler's state could not be checked".to_owned(),
        failed => format!("{failed} of {total} checks failed"),
    };
    Err(Error::partly_failed(failed, total, why))
}

/// Runs the checks. If even a valid event gets no response, that is the error (15).
async fn run_checks(
    facts: &Facts,
    ui: &Ui,
    checks: &[DrillCheck],
    handler: &Handler,
) -> Result<Vec<Finding>> {
    let progress = ui.out.progress("");
    let mut findings = Vec::new();
    for (check, number) in checks.iter().zip(1..) {
        progress.say(&format!("{number} of {}: {}", checks.len(), check.name));
        let reactions = check.run(handler, facts.dialect()).await;
        if let (1, Err(why)) = (number, &reactions[0].outcome) {
            return Err(no_response(why, &handler.url));
        }
        findings.push(Finding::new(check, &reactions));
    }
    Ok(findings)
}

async fn ledger(handler: &Handler, url: &Url) -> Result<Ledger> {
    let reply = handler.get(url).await.outcome.map_err(|why| no_response(&why, url))?;
    let why = match serde_json::from_str(&reply.body) {
        _ if !(200..300).contains(&reply.status) => format!("responded with {}", reply.status),
        Ok(ledger) => return Ok(ledger),
        Err(_) => "is not in the expected format".to_owned(),
    };
    Err(Error::usage(format!("the handler's state at {url} {why}")).hint(
        "expected {\"events\": {\"<event id>\": <times handled>}, \"bookings\": {\"<booking id>\": \"<status>\"}}",
    ))
}

/// Reads the state until all events are handled, or the time for that is over.
async fn final_ledger(handler: &Handler, url: &Url, checks: &[DrillCheck]) -> Result<Ledger> {
    let deadline = tokio::time::Instant::now() + pace::scaled(HANDLING_TIME);
    let mut held = ledger(handler, url).await?;
    while !held.has_settled(checks) && tokio::time::Instant::now() < deadline {
        pace::pause(Duration::from_millis(50)).await;
        held = ledger(handler, url).await?;
    }
    Ok(held)
}

impl Draw for Report {
    fn draw(&self, page: &mut Page) {
        let rows = self.checks.iter().map(|finding| {
            let is_ok = finding.faults.is_empty();
            let tone = if is_ok { Tone::Good } else { Tone::Bad };
            vec![
                TableCell::toned(finding.verdict, tone),
                finding.check.into(),
                finding.expected.as_str().into(),
                responses(finding).into(),
            ]
        });
        page.table(vec!["result", "check", "expected", "response"], rows.collect(), vec![]);
        for finding in self.checks.iter().filter(|it| !it.faults.is_empty()) {
            let (check, faults) = (finding.check, finding.faults.join("; "));
            page.line(format!("{check}: {faults}. {}.", capitalised(finding.why)));
        }
        page.line(format!("{} passed, {} failed", self.passed, self.failed));
    }
}

/// The responses in order, with a count for equal neighbours.
fn responses(finding: &Finding) -> String {
    let runs = finding.responses.chunk_by(|left, right| left == right).map(|run| match run.len() {
        1 => plain(&run[0]),
        count => format!("{} ×{count}", plain(&run[0])),
    });
    runs.collect::<Vec<_>>().join(", ")
}
