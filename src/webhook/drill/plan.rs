//! The checks of a drill, in the order in which they run.

use jiff::ToSpan;
use serde_json::{Value, json};

use super::check::{Check, Delivery, Expect, ExpectedStatus};
use super::subject::{Subject, one, several};
use crate::secrets::Secret;
use crate::webhook::diagnose::Layout;
use crate::webhook::sample_event::{KINDS, SampleEvent, new_id, status_of};
use crate::webhook::signature::sign;

/// The size of the large body in bytes: the largest that the service accepts ("Limits", 3).
const LARGE: usize = 1024 * 1024;
/// Events that are sent concurrently.
const MANY: usize = 32;
/// Deliveries of one event that are sent concurrently.
const CONCURRENT_DUPLICATES: usize = 8;
/// A distance from now beyond every usual tolerance, in seconds.
const OUT_OF_TOLERANCE: i64 = 15 * 60;

pub(crate) fn plan(subject: &Subject<'_>) -> Vec<Check> {
    let first = subject.event("booking.confirmed");
    let mut checks = vec![one(
        "valid",
        "Events 4-6",
        "a valid event must get a 2xx within 10 seconds",
        subject.valid(&first),
    )];
    checks.extend(genuine(subject));
    checks.extend(forged(subject));
    checks.extend(untimely(subject, &first));
    checks.extend(repeated(subject));
    checks.extend(unforeseen(subject));
    checks.extend(load(subject));
    // Last, so that no later event changes the booking's status.
    checks.push(out_of_order(subject));
    checks
}

/// Valid deliveries that look unusual.
fn genuine(subject: &Subject<'_>) -> Vec<Check> {
    let kinds = KINDS.iter().map(|kind| subject.valid(&subject.event(kind)));
    let wrong = "0".repeat(64);
    let halves = |right: &str| {
        let (t, v1) = right.split_once(',').unwrap_or((right, ""));
        (t.to_owned(), v1.to_owned())
    };
    vec![
        several(
            "every_kind",
            "Events 2",
            "all seven kinds of events must be accepted, with fields that other kinds do not have",
            kinds.collect(),
        ),
        several(
            "raw_bytes",
            "Events 5",
            "the signature covers the raw bytes: JSON that was parsed and serialized again is a different body",
            unusual_bodies(subject),
        ),
        several(
            "header_order",
            "Events 5, signature header grammar",
            "read the parts of the header by name: their order may change, and parts may be added",
            vec![
                subject.taken(|right| {
                    let (t, v1) = halves(right);
                    format!("{v1},{t}")
                }),
                subject.taken(|right| {
                    let (t, v1) = halves(right);
                    format!("{t},v0={wrong},{v1}")
                }),
            ],
        ),
        several(
            "two_signatures",
            "Events 5, signature header grammar",
            "while a secret is replaced, a delivery has two v1, and either of them may match",
            vec![
                subject.taken(|right| {
                    let (t, v1) = halves(right);
                    format!("{t},v1={wrong},{v1}")
                }),
                subject.taken(|right| format!("{right},v1={wrong}")),
            ],
        ),
        one(
            "clock_difference",
            "Events 5",
            "clocks differ and networks are slow: accept a signature that is a minute old",
            subject.headed(Expect::Taken, |_, body| Some(subject.signature(body, -60))),
        ),
    ]
}

/// Valid events in JSON that a consumer would write differently.
fn unusual_bodies(subject: &Subject<'_>) -> Vec<Delivery> {
    let styles = [
        (Layout::Indented, true, "\n"),
        (Layout::Compact, false, ""),
        (Layout::Spaced, true, "\n"),
    ];
    let bodies = styles.map(|(layout, escapes, end)| {
        let mut event = subject.event("booking.failed");
        // Succeeds: the path is valid.
        let _ = event.set("data.object.error_message", json!("Café / 満席 🌿"));
        let body = layout.write(event.document(), escapes) + end;
        subject.with_body(&event, body.into_bytes())
    });
    bodies.into()
}

/// Deliveries that somebody else may send.
fn forged(subject: &Subject<'_>) -> Vec<Check> {
    let now = subject.now.as_second();
    let signed_with = |secret: &'static str| {
        move |_: &str, body: &[u8]| Some(sign(&Secret::new(secret.to_owned()), now, body))
    };
    let header = |text: &'static str| move |_: &str, _: &[u8]| Some(text.to_owned());
    vec![
        one(
            "missing_header",
            "Events 5",
            "anybody can send a delivery without a signature",
            subject.refused(|_, _| None),
        ),
        several(
            "malformed_header",
            "Events 5, signature header grammar",
            "a malformed header must be refused with a 4xx, and must not make the handler fail",
            vec![
                subject.refused(header("")),
                subject.refused(header("no signature")),
                subject.refused(header("t=,v1=")),
                subject.refused(|right, _| Some(right.replacen("t=", "t=x", 1))),
                subject.refused(|right, _| right.split(',').nth(1).map(str::to_owned)),
                subject.refused(|right, _| right.split(',').next().map(str::to_owned)),
                // A comparison that stops at the shorter value accepts it.
                subject.refused(|right, _| right.get(..right.len() - 56).map(str::to_owned)),
            ],
        ),
        several(
            "wrong_secret",
            "Events 5",
            "a signature with another secret comes from somebody else; one with an empty secret means that the handler has no secret configured",
            vec![
                subject.refused(signed_with("whsec_of_somebody_else")),
                subject.refused(signed_with("")),
            ],
        ),
        one(
            "changed_body",
            "Events 5",
            "the body was changed after it was signed",
            {
                let event = subject.event("booking.confirmed");
                let signed = subject.valid(&event);
                let text = String::from_utf8_lossy(&signed.body);
                // Of the same length, so that `Content-Length` does not give it away.
                let changed = text.replace("\"confirmed\"", "\"cancelled\"").into_bytes();
                Delivery {
                    body: changed,
                    expect: Expect::Refused,
                    ..signed
                }
            },
        ),
        several(
            "forged_first",
            "Events 5 and 7",
            "a forged event must not keep the genuine event with the same id from being processed",
            {
                let event = subject.event("booking.confirmed");
                let genuine = subject.valid(&event);
                let forgery = Delivery {
                    signature: signed_with("whsec_of_somebody_else")("", &genuine.body),
                    expect: Expect::Refused,
                    ..genuine.clone()
                };
                vec![forgery, genuine]
            },
        ),
    ]
}

/// Deliveries with a right signature of the wrong time.
fn untimely(subject: &Subject<'_>, first: &SampleEvent) -> Vec<Check> {
    vec![
        one(
            "stale",
            "Events 5",
            "each attempt has a new signature, so an old signature means a replay",
            subject.refused(|_, body| Some(subject.signature(body, -OUT_OF_TOLERANCE))),
        ),
        one(
            "future",
            "Events 5",
            "refuse a signature whose time is in the future: whoever sees the delivery could send it again until then",
            subject.refused(|_, body| Some(subject.signature(body, OUT_OF_TOLERANCE))),
        ),
        one(
            "replayed",
            "Events 5",
            "a delivery that was recorded an hour ago must be refused, although its event is known",
            {
                let delivery = subject.valid(first);
                Delivery {
                    signature: Some(subject.signature(&delivery.body, -3600)),
                    expect: Expect::Refused,
                    ..delivery
                }
            },
        ),
    ]
}

fn repeated(subject: &Subject<'_>) -> Vec<Check> {
    let twice = subject.valid(&subject.event("booking.confirmed"));
    let again = Delivery {
        signature: Some(subject.signature(&twice.body, -1)),
        ..twice.clone()
    };
    let duplicate = subject.valid(&subject.event("booking.confirmed"));
    vec![
        several(
            "duplicate",
            "Events 7",
            "events may be delivered more than once: respond to a duplicate with a 2xx, and process the event once",
            vec![twice.clone(), twice, again],
        ),
        Check {
            at_once: true,
            ..several(
                "duplicates_at_once",
                "Events 7",
                "the same event may arrive twice at the same moment, and must be processed once",
                vec![duplicate; CONCURRENT_DUPLICATES],
            )
        },
    ]
}

/// Events of one booking, the newest first.
fn out_of_order(subject: &Subject<'_>) -> Check {
    let fact = subject.booking.and_then(|booking| {
        let text = |field| booking.get(field).and_then(Value::as_str);
        Some((text("id")?.to_owned(), text("status")?.to_owned()))
    });
    let newest = match &fact {
        Some((_, status)) if status == "cancelled" => "booking.cancelled",
        Some((_, status)) if status == "failed" => "booking.failed",
        _ => "booking.confirmed",
    };
    let kinds = ["booking.created", "booking.processing", newest];
    let (id, expected) = match fact {
        Some((id, status)) => (id, ExpectedStatus::Known(status)),
        None => {
            let status = ExpectedStatus::Invented {
                newest: status_of(newest).to_owned(),
                outdated: kinds[..2]
                    .iter()
                    .map(|it| status_of(it).to_owned())
                    .collect(),
            };
            (new_id("bk"), status)
        }
    };
    // A second apart in the order in which they happened, for consumers that compare times or ids.
    let mut events = kinds.map(|it| subject.event(it));
    for (event, ago) in events.iter_mut().zip([2, 1, 0]) {
        let at = subject.now.saturating_sub(ago.seconds());
        // Succeeds: the paths are valid.
        let _ = event.set("data.object.id", json!(id));
        let _ = event.set("created_at", json!(at.unwrap_or(subject.now).to_string()));
    }
    Check {
        booking: Some((id, expected)),
        ..several(
            "out_of_order",
            "Events 7",
            "events may arrive out of order: read the booking instead of relying on the event's status",
            events
                .iter()
                .rev()
                .map(|event| subject.valid(event))
                .collect(),
        )
    }
}

/// Deliveries that a later version of the service may send.
fn unforeseen(subject: &Subject<'_>) -> Vec<Check> {
    let kind = subject.valid(&subject.event("booking.archived"));
    let event = subject.event("booking.confirmed");
    let mut document = event.document().clone();
    document["api_version"] = json!("2027-01-01");
    document["data"]["previous"] = json!({ "status": "processing" });
    document["data"]["object"]["loyalty"] = json!({ "points": [1, 2.5, null] });
    vec![
        one(
            "unknown_kind",
            "Events 2 and 6",
            "accept and ignore unknown kinds of events; otherwise the service retries them in vain",
            Delivery {
                counts: false,
                ..kind
            },
        ),
        one(
            "unknown_fields",
            "Events 4",
            "fields may be added: ignore those that you do not know",
            subject.with_body(&event, document.to_string().into_bytes()),
        ),
    ]
}

/// Large, slow and many deliveries.
fn load(subject: &Subject<'_>) -> Vec<Check> {
    let mut large = subject.event("booking.failed");
    let frame = {
        let _ = large.set("data.object.error_message", json!(""));
        large.body().len()
    };
    let _ = large.set(
        "data.object.error_message",
        json!("x".repeat(LARGE - frame)),
    );
    let many = (0..MANY).map(|_| subject.valid(&subject.event("booking.confirmed")));
    vec![
        one(
            "large_body",
            "Limits 3",
            "a body may be as large as 1 MB, the service's limit",
            subject.valid(&large),
        ),
        one(
            "slow_client",
            "Events 6",
            "read the whole body before you verify it, even if it arrives in small pieces",
            Delivery {
                slowly: true,
                ..subject.valid(&subject.event("booking.confirmed"))
            },
        ),
        Check {
            at_once: true,
            ..several(
                "many_at_once",
                "Events 6",
                "the service sends due events at the same time, and each needs a response within 10 seconds",
                many.collect(),
            )
        },
    ]
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::adapter::Dialect;
    use crate::webhook::DEFAULT_TOLERANCE;
    use crate::webhook::signature::verify;

    fn planned() -> (Secret, Timestamp, Vec<Check>) {
        let secret = Secret::new("whsec_a".to_owned());
        let now = Timestamp::from_second(1_795_262_400).unwrap();
        let checks = plan(&Subject {
            secret: &secret,
            dialect: &Dialect::default(),
            booking: None,
            now,
        });
        (secret, now, checks)
    }

    #[test]
    fn what_should_be_taken_verifies_and_what_should_be_refused_does_not() {
        let (secret, now, checks) = planned();
        for check in &checks {
            for delivery in &check.deliveries {
                let header = delivery.signature.as_deref().unwrap_or_default();
                let verdict = verify(
                    std::slice::from_ref(&secret),
                    header.as_bytes(),
                    &delivery.body,
                    now.as_second(),
                    Some(DEFAULT_TOLERANCE),
                );
                let taken = delivery.expect == Expect::Taken;
                assert_eq!(
                    verdict.is_ok(),
                    taken,
                    "{}: {header} {verdict:?}",
                    check.name
                );
            }
        }
    }

    #[test]
    fn every_check_has_a_name_of_its_own_and_sends_something() {
        let (_, _, checks) = planned();
        let mut names: Vec<&str> = checks.iter().map(|check| check.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), checks.len());
        assert!(checks.iter().all(|check| !check.deliveries.is_empty()));
    }

    #[test]
    fn the_large_body_is_exactly_as_large_as_the_limit() {
        let (_, _, checks) = planned();
        let large = checks
            .iter()
            .find(|check| check.name == "large_body")
            .unwrap();
        assert_eq!(large.deliveries[0].body.len(), 1024 * 1024);
    }
}
