//! Each way in which a service misbehaves, alone: what a booking request then ends with, and what
//! is known afterwards. All of them together, by chance, are in `create_storm`.

use std::time::Duration;

use rusqlite::Connection;

use crate::harness::listening::until;
use crate::harness::{Act, Answer, Commit, Different, Home, Misbehaving, Output, text};
use crate::promise::{Kept, all_cases, try_each_alone};
use crate::two_runs::{booking, home, open};

const TIMEOUT: Duration = Duration::from_millis(600);
const FLAGS: [&str; 2] = ["--timeout", "600ms"];

/// After these nobody can tell whether anything was made.
fn proving_nothing() -> Vec<Answer> {
    let mut answers = vec![
        Answer::Reset,
        Answer::Close,
        Answer::HalfClose,
        Answer::SurplusBefore,
        Answer::BrokenChunks,
        Answer::Truncated,
        Answer::PromisesForEver,
        Answer::Redirect(302),
        Answer::Garbage,
        Answer::EndlessHead,
        Answer::TwoLengths,
        Answer::NotJson,
        Answer::NoBooking,
        Answer::Bare(204),
    ];
    answers.extend(Different::ALL.map(|different| Answer::Another(201, different)));
    for status in [404, 407, 408, 417, 421, 425, 499, 502] {
        answers.extend([Answer::Page(status), Answer::Bare(status), Answer::ForeignJson(status)]);
    }
    answers
}

/// One booking request with these flags at a service that answers every try like this.
fn create(answer: Answer, commit: Commit, flags: &[&str]) -> (Misbehaving, Home, Output) {
    let service = Misbehaving::start(move |_| Act::new(commit, answer));
    let home = home(&service, true);
    let ended = home.run(booking("order-1", flags));
    service.wait_until_idle();
    (service, home, ended)
}

#[test]
fn response_that_proves_nothing_leaves_the_attempt_open() {
    let answers = proving_nothing().into_iter();
    let commits = [Commit::BeforeTheAnswer, Commit::Never, Commit::After(TIMEOUT)];
    let cases: Vec<(Answer, Commit)> = answers
        .enumerate()
        .flat_map(|(number, answer)| {
            let some = commits.into_iter().enumerate();
            some.filter(move |(place, _)| all_cases() || number % 3 == *place)
                .map(move |(_, commit)| (answer, commit))
        })
        .collect();
    try_each_alone("answers that prove nothing", 8, &cases, |_, (answer, commit)| {
        let case = format!("{answer:?}, {commit:?}");
        let (service, home, ended) = create(*answer, *commit, &FLAGS);
        assert_eq!(ended.code, Some(16), "{case}: {ended}");
        assert_eq!(open(&home), ["order-1"], "{case}: {ended}");
        let made = !service.ledger().is_empty();
        service.behave();
        let settled = home.json("attempts resume order-1");
        let ledger = service.ledger();
        assert_eq!(ledger.len(), 1, "{case}");
        assert_eq!(settled["id"], ledger[0].id.as_str(), "{case}");
        if made { Kept::Open } else { Kept::Unsent }
    });
}

#[test]
fn an_answer_that_is_odd_and_true_is_a_success() {
    let answers =
        [Answer::PromisesBefore, Answer::SurplusAfter, Answer::Drip(Duration::from_millis(200))];
    for answer in answers {
        // In the usual time: on a busy machine each byte of the one that drips may be late.
        let (service, _home, ended) = create(answer, Commit::BeforeTheAnswer, &[]);
        let made = ended.exits(0).json();
        assert_eq!(made["id"], service.ledger()[0].id.as_str(), "{answer:?}");
        assert_eq!(service.posted().len(), 1, "{answer:?}");
    }
}

/// 200: "a key that the service knows for another booking … nothing new was booked" (command line,
/// Exit codes)
#[test]
fn key_that_service_knows_for_another_booking_is_no_success() {
    // Where the answer was crossed on its way, the service has booked all the same: the attempt is
    // open.
    for commit in [Commit::Never, Commit::BeforeTheAnswer, Commit::After(TIMEOUT)] {
        let (service, home, ended) = create(Answer::Another(200, Different::Guest), commit, &FLAGS);
        ended.refused(7, "another_booking");
        assert_eq!(open(&home), ["order-1"], "{commit:?}");
        service.behave();
        let settled = home.json("attempts resume order-1");
        assert_eq!(settled["id"], service.ledger()[0].id.as_str(), "{commit:?}");
    }
}

/// A try that was lost may have booked: what a later one of the same run is told says nothing of
/// it.
#[test]
fn what_a_later_try_is_told_proves_nothing_of_a_lost_one() {
    let later = [
        Act::refused(400),
        Act::refused(422),
        Act::refused(503),
        Act::new(Commit::Never, Answer::Another(200, Different::Guest)),
    ];
    for act in later {
        let told = act.clone();
        let service = Misbehaving::start(move |arrived| match arrived.earlier {
            0 => Act::lost(),
            _ => told.clone(),
        });
        let home = home(&service, true);
        let ended = home.run(booking("order-1", &FLAGS));
        assert_eq!(ended.code, Some(16), "{:?}: {ended}", act.answer);
        assert_eq!(open(&home), ["order-1"], "{:?}: {ended}", act.answer);
        service.behave();
        let settled = home.json("attempts resume order-1");
        assert_eq!(text(&settled, "id"), service.ledger()[0].id);
    }
}

/// Exit 3 says that nothing was sent: a run that waited out a limit after a lost try is not to say
/// it.
#[test]
fn journal_locked_after_sending_makes_the_outcome_unknown() {
    let service = Misbehaving::start(|arrived| match arrived.earlier {
        0 => Act::lost(),
        _ => Act::new(Commit::Never, Answer::Limited(3)),
    });
    let home = home(&service, true);
    let waits = home.start(booking("order-1", &["--timeout", "600ms", "--max-wait", "20s"]));
    let ended_a_run = || {
        let list = home.json("attempts");
        list["attempts"][0]["runs"][0]["ended_at"].is_string()
    };
    until("a run ends", ended_a_run);
    let journal = Connection::open(home.path().join("journal.db")).unwrap();
    journal.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ended = waits.end();
    drop(journal);
    assert_eq!(service.posted().len(), 2, "it did not wait: {ended}");
    assert_eq!(ended.code, Some(16), "{ended}");
    ended.tells("attempts resume order-1");
}
