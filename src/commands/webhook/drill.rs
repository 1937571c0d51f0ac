use std::time::Duration;

use jiff::Timestamp;

use super::send::no_answer;
use crate::app::Context;
use crate::app::in_flight::Situation;
use crate::flows::{read_booking, webhook_secrets};
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::output::{Page, TableCell, Tone, View};
use crate::webhook::drill::{Check, Finding, Ledger, Report, Subject, judge, plan, run as make};
use crate::webhook::{DEADLINE, Endpoint, NoReply, Poster};

/// How long a consumer that answers first and acts later may take to act on everything.
const SETTLING: Duration = Duration::from_secs(2);

/// Examine a consumer: forged, repeated, late, large and many deliveries
///
/// Made-up events are sent to it, as the service and as others might send them. Answers tell much; what was done with
/// an event only the consumer itself can tell: --state-url names an address where it answers
/// {"events": {"<event id>": <times handled>}, "bookings": {"<booking id>": "<status>"}}. All is well: 0; else 18.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook drill http://127.0.0.1:8080/webhooks\n  \
    bookctl webhook drill http://127.0.0.1:8080/webhooks --state-url http://127.0.0.1:8080/state\n  \
    bookctl webhook drill http://127.0.0.1:8080/webhooks --booking bk_01 --json\n  \
    bookctl webhook drill http://127.0.0.1:8080/webhooks --jq '.checks[] | select(.verdict == \"failed\") | .check'")]
pub(crate) struct Args {
    /// The consumer's address
    #[arg(value_name = "URL", value_parser = Endpoint::parse)]
    url: Endpoint,
    /// Where the consumer tells which events it handled, and where its bookings stand
    #[arg(long, value_name = "URL", value_parser = Endpoint::parse)]
    state_url: Option<Endpoint>,
    /// A booking of the service that the events are about, for a consumer that reads what it is told of
    #[arg(long, value_name = "BOOKING")]
    pub(super) booking: Option<String>,
    /// Read the secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let secret = secrets
        .first()
        .ok_or_else(|| Error::config("there is no webhook secret"))?;
    let booking = match &args.booking {
        Some(id) => {
            context.refuse_sandbox().await?;
            Some(read_booking(context, id).await?)
        }
        None => None,
    };
    let dialect = context.dialect();
    let checks = plan(&Subject {
        secret,
        dialect: &dialect,
        booking: booking.as_ref().map(|booking| booking.value()),
        now: Timestamp::now(),
    });
    let poster = Poster::new(args.url, context.timeout().unwrap_or(DEADLINE))?;
    if let Some(url) = &args.state_url {
        ledger(&poster, url).await?;
    }
    let header = super::header_name(context);
    context.situation.replace(Situation::Posted {
        what: "events were".to_owned(),
        to: poster.endpoint.as_str().to_owned(),
    });
    let mut findings = examine(context, &checks, &poster, &header).await?;
    let mut state_checked = false;
    if let Some(url) = &args.state_url {
        match settled(&poster, url, &checks).await {
            Ok(ledger) => {
                state_checked = true;
                blame(&mut findings, ledger.faults(&checks));
                for (place, what) in ledger.silences(&checks) {
                    if let Some(finding) = findings.get_mut(place) {
                        finding.unseen = Some(what).filter(|_| finding.verdict() == "ok");
                    }
                }
            }
            // What was found by the answers is not lost for it.
            Err(error) => context.out.warn(&error.message),
        }
    }
    let report = Report {
        url: poster.endpoint.as_str().to_owned(),
        findings,
        state_checked,
    };
    let all_is_well =
        report.count("ok") == report.findings.len() && state_checked == args.state_url.is_some();
    let all_is_refused = report.all_is_refused();
    context.out.emit(&Drilled(report))?;
    if all_is_refused {
        context.out.warn(
            "every event was refused, the genuine ones too: has the consumer the secret that this drill signs with, \
             and takes it deliveries at this address?",
        );
    }
    if args.state_url.is_none() {
        context
            .out
            .note("whether events were handled, and once, was not looked at: --state-url does");
    }
    Ok(if all_is_well {
        Exit::Done
    } else {
        Exit::PartialBatch
    })
}

/// Makes every check; where not even a valid event is answered, the rest would only wait.
async fn examine(
    context: &Context,
    checks: &[Check],
    poster: &Poster,
    header: &str,
) -> Result<Vec<Finding>> {
    let progress = context.out.progress("");
    let mut findings: Vec<Finding> = Vec::new();
    let mut gives_up = None;
    for check in checks {
        progress.say(&format!(
            "{} of {}: {}",
            findings.len() + 1,
            checks.len(),
            check.name
        ));
        let is_slow = check.deliveries.iter().any(|delivery| delivery.slowly);
        let skipped = match gives_up {
            None if is_slow && !poster.endpoint.is_plain() => Some("only over plain http"),
            why => why,
        };
        let reactions = match skipped {
            Some(_) => Vec::new(),
            None => make(check, poster, header).await,
        };
        if findings.is_empty() {
            match reactions.first().map(|reaction| &reaction.outcome) {
                Some(Err(why @ NoReply::NotReached(_))) => {
                    return Err(no_answer(why, &poster.endpoint, poster.deadline));
                }
                Some(Err(_)) => gives_up = Some("not even a valid event is answered"),
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

/// Adds what the consumer's ledger shows to the checks that it is about.
fn blame(findings: &mut [Finding], faults: Vec<(usize, String)>) {
    for (place, fault) in faults {
        let finding = findings.get_mut(place);
        if let Some(finding) = finding.filter(|finding| finding.skipped.is_none()) {
            finding.faults.push(fault);
        }
    }
}

/// What the consumer says of itself, now.
async fn ledger(poster: &Poster, url: &Endpoint) -> Result<Ledger> {
    let reaction = poster.get(url).await;
    let text = match &reaction.outcome {
        Ok(reply) if reaction.is_delivered() => reply.body.as_str(),
        Ok(reply) => {
            let status = reply.status;
            return Err(no_ledger(url, &format!("answered {status}")));
        }
        Err(why) => return Err(no_answer(why, url, poster.deadline)),
    };
    Ledger::parse(text).ok_or_else(|| no_ledger(url, "is no such document"))
}

fn no_ledger(url: &Endpoint, why: &str) -> Error {
    Error::usage(format!("the consumer's state at {} {why}", url.as_str())).hint(
        "it is {\"events\": {\"<event id>\": <times handled>}, \"bookings\": {\"<booking id>\": \"<status>\"}}",
    )
}

/// The same, once the consumer has acted on everything, or has had the time to.
async fn settled(poster: &Poster, url: &Endpoint, checks: &[Check]) -> Result<Ledger> {
    let deadline = tokio::time::Instant::now() + SETTLING;
    let mut held = ledger(poster, url).await?;
    while !held.has_settled(checks) && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(50)).await;
        held = ledger(poster, url).await?;
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
                finding.check.section.into(),
            ]
        });
        let headers = vec![
            "verdict",
            "check",
            "should answer",
            "answered",
            "specification",
        ];
        page.table(headers, rows.collect(), vec![]);
        for finding in self.0.findings.iter().filter(|it| it.verdict() == "failed") {
            let faults = finding.faults.join("; ");
            page.labelled(
                Tone::Bad,
                finding.check.name,
                format!(
                    "{faults}. {} ({})",
                    sentence(finding.check.why),
                    finding.check.section
                ),
            );
        }
        for finding in &self.0.findings {
            if let Some(what) = &finding.unseen {
                page.labelled(Tone::Warn, finding.check.name, format!("{what}."));
            }
        }
        let summary = format!(
            "{} well, {} failed, {} skipped",
            self.0.count("ok"),
            self.0.count("failed"),
            self.0.count("skipped")
        );
        page.line(summary);
        page
    }
}

/// A reason as a sentence of its own.
fn sentence(why: &str) -> String {
    let mut chars = why.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).chain(['.']).collect()
}
