use std::time::Duration;

use jiff::Timestamp;
use reqwest::Url;

use super::{handler, send};
use crate::app::Context;
use crate::flows::webhook_secrets;
use crate::json::plain;
use crate::model::booking::Booking;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Draw, Page, TableCell, Tone};
use crate::webhook::drill;
use crate::webhook::drill::ledger::Ledger;
use crate::webhook::drill::plan::{PlannedCheck, Subject};
use crate::webhook::drill::report::{Finding, Report, Verdict};
use crate::webhook::handler::{Handler, NoReply, endpoint};

/// How long a handler that answers first may take to handle all events.
const HANDLING_TIME: Duration = Duration::from_secs(2);

/// Test your webhook handler with valid, forged, repeated, late and large deliveries
///
/// Sends sample events, as the service or an attacker might send them, and checks the responses. With --state-url it
/// also checks that your handler processes each event exactly once. At that address, the handler responds with
/// {"events": {"<event id>": <times handled>}, "bookings": {"<booking id>": "<status>"}}. The exit code is 0 if all
/// checks pass, and 18 if one fails.
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
    /// Address where your handler reports the events it processed and the status of its bookings
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    state_url: Option<Url>,
    /// Booking that the events are about, for a handler that reads bookings from the service [default: sample bookings]
    #[arg(long, value_name = "BOOKING")]
    pub(super) booking: Option<String>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let booking = send::of_service(context, args.booking.as_deref()).await?;
    let booking = booking.as_ref().map(Booking::value);
    let subject = Subject::new(
        &secrets.signing,
        context.dialect(),
        booking,
        Timestamp::now(),
    );
    let checks = subject.plan();
    let handler = handler::handler(context, args.url)?;
    if let Some(url) = &args.state_url {
        // An address that does not work is an error before anything is sent.
        ledger(&handler, url).await?;
    }
    handler::posting(context, "events were".to_owned(), &handler.url);
    let mut findings = run_checks(context, &checks, &handler).await?;
    let mut state_checked = false;
    if let Some(url) = &args.state_url {
        match final_ledger(&handler, url, &checks).await {
            Ok(ledger) => {
                state_checked = true;
                for (place, fault) in ledger.faults(&checks) {
                    findings[place].fail(fault);
                }
                // The check of the order is the last one.
                match (ledger.order(&subject.ordered), findings.last_mut()) {
                    (Some((true, fault)), Some(last)) => last.fail(fault),
                    (Some((false, unseen)), Some(last)) if last.verdict == Verdict::Ok => {
                        last.unseen = Some(unseen);
                    }
                    _ => {}
                }
            }
            // Only a warning, so that the findings from the responses are shown.
            Err(error) => context.out.warn(&error.message),
        }
    }
    let report = Report::new(handler.url.to_string(), state_checked, findings);
    context.out.emit(&report)?;
    if report.all_refused() {
        context.out.warn(
            "your handler refused all events, including the valid ones: check that it uses the same secret, and receives \
             webhooks at this address",
        );
    }
    if args.state_url.is_none() {
        context
            .out
            .note("Not checked: duplicate handling. Pass --state-url to check it.");
    }
    let all_passed = report.passed == report.checks.len();
    Ok(if all_passed && state_checked == args.state_url.is_some() {
        Exit::Done
    } else {
        Exit::PartialBatch
    })
}

/// Runs the checks. If even a valid event gets no response, the others are skipped, because each would time out.
async fn run_checks(
    context: &Context,
    checks: &[PlannedCheck],
    handler: &Handler,
) -> Result<Vec<Finding>> {
    let name = context.dialect().signature_header();
    let progress = context.out.progress("");
    let mut findings: Vec<Finding> = Vec::new();
    let mut skipped = None;
    for (planned, number) in checks.iter().zip(1..) {
        let check = planned.check.name;
        progress.say(&format!("{number} of {}: {check}", checks.len()));
        let mut reactions = Vec::new();
        if skipped.is_none() {
            reactions = drill::run(planned, handler, &name).await;
        }
        for (delivery, reaction) in planned.deliveries.iter().zip(&reactions) {
            let headers = drill::headers(delivery, &name);
            let (url, body) = (&handler.url, &delivery.body);
            handler::trace(context, url, &headers, body, Some(reaction));
        }
        findings.push(Finding::new(planned, &reactions, skipped));
        if number == 1 {
            match reactions.first().map(|reaction| &reaction.outcome) {
                Some(Err(why @ NoReply::NotReached(_))) => {
                    return Err(handler::no_response(why, &handler.url));
                }
                Some(Err(_)) => skipped = Some("there was no response to a valid event"),
                _ => {}
            }
        }
    }
    Ok(findings)
}

async fn ledger(handler: &Handler, url: &Url) -> Result<Ledger> {
    let why = match handler.get(url).await.outcome {
        Ok(reply) if (200..300).contains(&reply.status) => {
            match serde_json::from_str(&reply.body) {
                Ok(ledger) => return Ok(ledger),
                Err(_) => "is not in the expected format".to_owned(),
            }
        }
        Ok(reply) => format!("responded with {}", reply.status),
        Err(why) => return Err(handler::no_response(&why, url)),
    };
    Err(Error::usage(format!("the handler's state at {url} {why}")).hint(
        "expected {\"events\": {\"<event id>\": <times handled>}, \"bookings\": {\"<booking id>\": \"<status>\"}}",
    ))
}

/// Reads the state until all events are handled, or the time for that is over.
async fn final_ledger(handler: &Handler, url: &Url, checks: &[PlannedCheck]) -> Result<Ledger> {
    let deadline = tokio::time::Instant::now() + HANDLING_TIME;
    let mut held = ledger(handler, url).await?;
    while !held.has_settled(checks) && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(50)).await;
        held = ledger(handler, url).await?;
    }
    Ok(held)
}

impl Draw for Report {
    fn page(&self) -> Page {
        let mut page = Page::default();
        let rows = self.checks.iter().map(|finding| {
            let (verdict, tone) = match finding.verdict {
                Verdict::Ok => ("ok", Tone::Good),
                Verdict::Failed => ("failed", Tone::Bad),
                Verdict::Skipped => ("skipped", Tone::Dim),
            };
            vec![
                TableCell::toned(verdict, tone),
                finding.check.into(),
                finding.expected.as_str().into(),
                answers(finding).into(),
            ]
        });
        let headers = vec!["result", "check", "expected", "response"];
        page.table(headers, rows.collect(), vec![]);
        let only_failure = self.only_failure();
        if let Some(status) = only_failure {
            page.line(format!(
                "your handler responded with {status} to every event, valid or not: it fails before it looks at the signature"
            ));
        }
        for finding in &self.checks {
            let check = finding.check;
            if only_failure.is_none() && finding.verdict == Verdict::Failed {
                let faults = finding.faults.join("; ");
                page.line(format!("{check}: {faults}. {}", sentence(finding.why)));
            }
            if let Some(what) = &finding.unseen {
                page.line(format!("{check}: {what}."));
            }
        }
        let mut counts = format!("{} passed, {} failed", self.passed, self.failed);
        if self.skipped > 0 {
            counts.push_str(&format!(", {} skipped", self.skipped));
        }
        page.line(counts);
        page
    }
}

/// The responses in order, with a count for equal neighbours.
fn answers(finding: &Finding) -> String {
    let runs = finding.answers.chunk_by(|left, right| left == right);
    let runs = runs.map(|run| match run.len() {
        1 => plain(&run[0]),
        count => format!("{} ×{count}", plain(&run[0])),
    });
    runs.collect::<Vec<_>>().join(", ")
}

fn sentence(why: &str) -> String {
    let mut chars = why.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).chain(['.']).collect()
}
