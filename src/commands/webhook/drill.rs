use std::time::Duration;

use jiff::Timestamp;

use super::consumer;
use crate::app::Context;
use crate::app::in_flight::InFlight;
use crate::flows::{locate_booking, read_booking, webhook_secrets};
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Page, TableCell, Tone, View};
use crate::webhook::drill::{
    Check, ConsumerState, Finding, Report, Subject, judge, plan, run as send,
};
use crate::webhook::{Endpoint, NoReply, Poster};

/// How long a consumer that answers first may take to handle all events.
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
    #[arg(value_name = "URL", value_parser = Endpoint::parse)]
    url: Endpoint,
    /// Address where your handler reports the events it processed and the status of its bookings
    #[arg(long, value_name = "URL", value_parser = Endpoint::parse)]
    state_url: Option<Endpoint>,
    /// Booking that the events are about, for a handler that reads bookings from the service [default: sample bookings]
    #[arg(long, value_name = "BOOKING")]
    pub(super) booking: Option<String>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let booking = match &args.booking {
        Some(id) => {
            context.refuse_sandbox().await?;
            Some(read_booking(context, &locate_booking(context, id)?).await?)
        }
        None => None,
    };
    let dialect = context.dialect();
    let checks = plan(&Subject {
        secret: &secrets.signing,
        dialect,
        booking: booking.as_ref().map(|booking| booking.value()),
        now: Timestamp::now(),
    });
    let poster = consumer::poster(context, args.url)?;
    if let Some(url) = &args.state_url {
        // An address that does not work is an error before anything is sent.
        state(&poster, url).await?;
    }
    let header = dialect.signature_header();
    context.in_flight.replace(InFlight::Posted {
        what: "events were".to_owned(),
        to: poster.endpoint.as_str().to_owned(),
    });
    let mut findings = run_checks(context, &checks, &poster, &header).await?;
    let reactions = findings.iter().flat_map(|it| &it.reactions);
    let answered = reactions.filter(|it| it.outcome.is_ok());
    if let Some(longest) = answered.map(|it| it.elapsed).max() {
        consumer::warn_if_late(context, longest);
    }
    let state_checked = match &args.state_url {
        Some(url) => match final_state(&poster, url, &checks).await {
            Ok(state) => {
                add_state(&mut findings, &state, &checks);
                true
            }
            // Only a warning, so that the findings from the answers are shown.
            Err(error) => {
                context.out.warn(&error.message);
                false
            }
        },
        None => false,
    };
    let report = Report {
        url: poster.endpoint.as_str().to_owned(),
        findings,
        state_checked,
    };
    conclude(context, report, args.state_url.is_some())
}

fn conclude(context: &Context, report: Report, has_state_url: bool) -> Result<Exit> {
    let all_passed =
        report.count("ok") == report.findings.len() && report.state_checked == has_state_url;
    let all_refused = report.all_refused();
    context.out.emit(&Drilled(report))?;
    if all_refused {
        context.out.warn(
            "your handler refused all events, including the valid ones: check that it uses the same secret, and receives \
             webhooks at this address",
        );
    }
    if !has_state_url {
        context
            .out
            .note("Not checked: duplicate handling. Pass --state-url to check it.");
    }
    Ok(if all_passed {
        Exit::Done
    } else {
        Exit::PartialBatch
    })
}

/// Runs the checks. If even a valid event gets no answer, the others are skipped, because each would time out.
async fn run_checks(
    context: &Context,
    checks: &[Check],
    poster: &Poster,
    header: &str,
) -> Result<Vec<Finding>> {
    let progress = context.out.progress("");
    let mut findings: Vec<Finding> = Vec::new();
    let mut skip_rest = None;
    for check in checks {
        progress.say(&format!(
            "{} of {}: {}",
            findings.len() + 1,
            checks.len(),
            check.name
        ));
        let is_slow = check.deliveries.iter().any(|delivery| delivery.slowly);
        let skipped = match skip_rest {
            None if is_slow && !poster.endpoint.is_plain() => Some("needs plain http"),
            why => why,
        };
        let reactions = match skipped {
            Some(_) => Vec::new(),
            None => send(check, poster, header).await,
        };
        for (delivery, reaction) in check.deliveries.iter().zip(&reactions) {
            let signature = delivery.signature.clone();
            let header: Vec<_> = signature
                .map(|it| (header.to_owned(), it))
                .into_iter()
                .collect();
            let sent = (&poster.endpoint, &header[..], &delivery.body[..]);
            consumer::trace(context, sent, reaction);
        }
        if findings.is_empty() {
            match reactions.first().map(|reaction| &reaction.outcome) {
                Some(Err(why @ NoReply::NotReached(_))) => {
                    return Err(consumer::no_answer(why, &poster.endpoint, poster.deadline));
                }
                Some(Err(_)) => skip_rest = Some("there was no response to a valid event"),
                _ => {}
            }
        }
        findings.push(Finding {
            check: check.clone(),
            faults: judge(check, &reactions, poster.deadline),
            reactions,
            unseen: None,
            skipped,
        });
    }
    Ok(findings)
}

/// Adds what the consumer's state shows to the findings of the checks that were run.
fn add_state(findings: &mut [Finding], state: &ConsumerState, checks: &[Check]) {
    for (index, fault) in state.faults(checks) {
        let finding = findings.get_mut(index);
        if let Some(finding) = finding.filter(|finding| finding.skipped.is_none()) {
            finding.faults.push(fault);
        }
    }
    for (index, what) in state.unseen(checks) {
        if let Some(finding) = findings.get_mut(index) {
            finding.unseen = Some(what).filter(|_| finding.verdict() == "ok");
        }
    }
}

async fn state(poster: &Poster, url: &Endpoint) -> Result<ConsumerState> {
    let reaction = poster.get(url).await;
    let text = match &reaction.outcome {
        Ok(reply) if reaction.is_delivered() => reply.body.as_str(),
        Ok(reply) => {
            let status = reply.status;
            return Err(bad_state(url, &format!("responded with {status}")));
        }
        Err(why) => return Err(consumer::no_answer(why, url, poster.deadline)),
    };
    ConsumerState::parse(text).ok_or_else(|| bad_state(url, "is not in the expected format"))
}

fn bad_state(url: &Endpoint, why: &str) -> Error {
    Error::usage(format!("the handler's state at {} {why}", url.as_str())).hint(
        "expected {\"events\": {\"<event id>\": <times handled>}, \"bookings\": {\"<booking id>\": \"<status>\"}}",
    )
}

/// Reads the state until all events are handled, or the time for that is over.
async fn final_state(poster: &Poster, url: &Endpoint, checks: &[Check]) -> Result<ConsumerState> {
    let deadline = tokio::time::Instant::now() + HANDLING_TIME;
    let mut held = state(poster, url).await?;
    while !held.has_settled(checks) && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(50)).await;
        held = state(poster, url).await?;
    }
    Ok(held)
}

struct Drilled(Report);

impl View for Drilled {
    fn json(&self) -> Document {
        self.0.to_json().into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let rows = self.0.findings.iter().map(|finding| {
            let verdict = finding.verdict();
            let tone = match verdict {
                "ok" => Tone::Good,
                "failed" => Tone::Bad,
                _ => Tone::Dim,
            };
            vec![
                TableCell::toned(verdict, tone),
                finding.check.name.into(),
                finding.expected().into(),
                finding.answered().into(),
            ]
        });
        let headers = vec!["result", "check", "expected", "response"];
        page.table(headers, rows.collect(), vec![]);
        let only_failure = self.0.only_failure();
        if let Some(status) = only_failure {
            page.line(format!(
                "your handler responded with {status} to every event, valid or not: it fails before it looks at the signature"
            ));
        }
        let failed = self.0.findings.iter();
        let failed = failed.filter(|it| only_failure.is_none() && it.verdict() == "failed");
        for finding in failed {
            let faults = finding.faults.join("; ");
            let why = sentence(finding.check.why);
            page.line(format!("{}: {faults}. {why}", finding.check.name));
        }
        for finding in &self.0.findings {
            if let Some(what) = &finding.unseen {
                page.line(format!("{}: {what}.", finding.check.name));
            }
        }
        let (passed, failed) = (self.0.count("ok"), self.0.count("failed"));
        let skipped = match self.0.count("skipped") {
            0 => String::new(),
            skipped => format!(", {skipped} skipped"),
        };
        page.line(format!("{passed} passed, {failed} failed{skipped}"));
        page
    }
}

fn sentence(why: &str) -> String {
    let mut chars = why.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).chain(['.']).collect()
}
