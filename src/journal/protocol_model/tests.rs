//! What is checked, with which bounds. `BOOKCTL_MODEL=large` goes further: `tests/model/run`.

use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model};

use super::Protocol;
use super::actions::{OtherKeys, Program, Task};
use super::properties::{
    self as reached, GIVEN_UP, KNOWN, ONE_BOOKING, ONE_WISH, TRUE_ANOTHER, TRUE_REFUSAL,
    TRUE_SUCCESS, WHOLE,
};
use super::rule::Rule;
use super::state::{Account, Answer, Left, Request, STRANGERS};
use crate::journal::judgement::KeyOrigin;

/// `book --idempotency-key`.
const BOOK: Program = with_key(0, Request::Ada, KeyOrigin::Caller);
/// `book` without a key: each time it is run it makes one.
const WISH: Program = with_key(0, Request::Ada, NEW_KEY);
const WISH_AGAIN: Program = with_key(1, Request::Ada, NEW_KEY);
const NEW_KEY: KeyOrigin = KeyOrigin::Generated { allow_duplicate: false };
const RESUME: Program = resume(0);
const BATCH: Program = Program { task: Task::Batch, ..BOOK };

/// A batch that has come to its last row.
const LAST_ROW: Program = with_key(1, Request::Ada, KeyOrigin::Derived { allow_duplicate: false });

/// The answer to another request, which may be an older one.
const STRANGERS_NEW: Answer = strangers(false, false);
const STRANGERS_OLDER: Answer = strangers(true, false);
const STRANGERS_MODIFIED: Answer = strangers(false, true);
const SHOWS_IT: Answer = Answer::Refusal { shows_it: true };

const fn strangers(is_older: bool, says_modified: bool) -> Answer {
    Answer::Booking {
        id: STRANGERS,
        request: Request::Eve,
        is_200: is_older,
        is_older,
        says_modified,
    }
}

const fn with_key(key: usize, request: Request, origin: KeyOrigin) -> Program {
    Program {
        machine: 0,
        account: Account::One,
        same_organization: false,
        task: Task::Book { key, request, origin },
    }
}

const fn resume(key: usize) -> Program {
    Program { task: Task::Resume(key), ..BOOK }
}

const fn of_two(program: Program) -> Program {
    Program { account: Account::Two, ..program }
}

const fn elsewhere(program: Program) -> Program {
    Program { machine: 1, ..program }
}

fn is_large() -> bool {
    std::env::var_os("BOOKCTL_MODEL").is_some_and(|it| it == "large")
}

/// A bound as the tests have it, and as `BOOKCTL_MODEL=large` has it.
fn bound<T>(usual: T, large: T) -> T {
    if is_large() { large } else { usual }
}

#[expect(clippy::print_stderr, reason = "a test says what it counted")]
fn say(text: &str) {
    eprintln!("model: {text}");
}

/// Goes through every state, unless a promise is broken in one, and prints how many there are.
fn holds(name: &str, model: Protocol) {
    let threads = bound(1, 2);
    let began = Instant::now();
    let checker = model.checker().threads(threads).finish_when(HasDiscoveries::AnyFailures);
    let checker = checker.spawn_bfs().join();
    say(&format!(
        "{name}: {} states, {} steps, depth {}, {:.1} s",
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        began.elapsed().as_secs_f64()
    ));
    checker.assert_properties();
}

/// Looks for a shortest way to break a promise, and prints it.
fn finds(property: &'static str, model: Protocol) {
    let path = (2..20).find_map(|depth| {
        let found = HasDiscoveries::AnyOf([property].into());
        let checker = model.clone().checker().target_max_depth(depth);
        let checker = checker.finish_when(found).spawn_bfs().join();
        checker.discovery(property)
    });
    let path = path.unwrap_or_else(|| panic!("the checker finds nothing against: {property}"));
    say(&format!("not so: {property}. {path}"));
}

/// Two creates with one key and a resume, in one home.
fn two_creates_and_a_resume(rule: Rule) -> Protocol {
    Protocol {
        rule,
        left: Left {
            kills: bound(1, 3),
            abandons: bound(1, 2),
            forgets: bound(0, 1),
            ..Left::default()
        },
        tries: bound(1, 3),
        instead: &[Answer::Page, STRANGERS_NEW, STRANGERS_OLDER],
        reaches: &[
            reached::A_KILLED_RUN_IS_SETTLED,
            reached::A_REFUSAL_MEETS_AN_OPEN_RUN,
            reached::A_GUEST_IS_FORGOTTEN,
            reached::A_LATE_REQUEST_BOOKS,
            reached::DOUBT_OPENS_AN_ABANDONED_ATTEMPT,
        ],
        ..Protocol::new(vec![BOOK, BOOK, RESUME])
    }
}

/// A second organization uses the key as well, and the journal is recovered.
fn two_organizations_and_recover(rule: Rule) -> Protocol {
    Protocol {
        rule,
        left: Left {
            kills: bound(1, 2),
            abandons: 1,
            forgets: bound(0, 1),
            recovers: bound(1, 2),
            ..Left::default()
        },
        tries: bound(1, 2),
        reaches: &[
            reached::ANOTHER_ORGANIZATION_IS_KEPT_OUT,
            reached::ANOTHER_ORGANIZATION_BOOKS,
            reached::A_RECOVERED_ATTEMPT_IS_SETTLED,
        ],
        ..Protocol::new(vec![BOOK, RESUME, of_two(BOOK)])
    }
}

#[test]
fn two_creates_with_one_key_and_a_resume_keep_every_promise() {
    holds("two creates and a resume", two_creates_and_a_resume(Rule::default()));
}

#[test]
fn many_processes_with_one_key_keep_every_promise() {
    let model = Protocol {
        left: Left { kills: bound(1, 2), abandons: 1, ..Left::default() },
        tries: 1,
        reaches: &[reached::A_REFUSAL_MEETS_AN_OPEN_RUN],
        ..Protocol::new(bound(vec![BOOK, BOOK, BOOK], vec![BOOK, BOOK, BOOK, RESUME]))
    };
    holds("many processes", model);
}

#[test]
fn two_organizations_and_a_recovery_keep_every_promise() {
    holds("two organizations and a recovery", two_organizations_and_recover(Rule::default()));
}

#[test]
fn batch_started_twice_keeps_every_promise_when_limited() {
    let model = Protocol {
        left: Left { kills: 1, abandons: bound(0, 1), forgets: bound(0, 1), ..Left::default() },
        tries: 1,
        waits: 1,
        forgets_at_once: false,
        reaches: &[reached::A_WHOLE_BATCH_IS_SETTLED, reached::A_REFUSAL_MEETS_AN_OPEN_RUN],
        ..Protocol::new(vec![BATCH, bound(LAST_ROW, BATCH)])
    };
    holds("a batch, started twice", model);
}

#[test]
fn two_machines_with_one_key_keep_every_promise() {
    let model = Protocol {
        left: Left { kills: bound(1, 2), abandons: bound(0, 1), ..Left::default() },
        tries: bound(1, 3),
        reaches: &[reached::TWO_MACHINES_GET_ONE_BOOKING],
        ..Protocol::new(vec![BOOK, RESUME, elsewhere(BOOK)])
    };
    holds("two machines", model);
}

#[test]
fn two_computers_with_one_key_keep_every_promise() {
    let eve = elsewhere(with_key(0, Request::Eve, KeyOrigin::Caller));
    let model = Protocol {
        left: Left { kills: bound(1, 2), abandons: bound(0, 1), ..Left::default() },
        tries: bound(1, 3),
        reaches: &[reached::ANOTHER_BOOKING_IS_TOLD],
        ..Protocol::new(vec![BOOK, RESUME, eve])
    };
    holds("two machines, two requests", model);
}

/// An organization changes its API key, and says so; another one uses the key as well.
fn a_renewed_key(rule: Rule) -> Protocol {
    let renewed = Program { account: Account::OneRenewed, same_organization: true, ..RESUME };
    Protocol {
        rule,
        left: Left { kills: bound(1, 2), abandons: bound(0, 1), recovers: 1, ..Left::default() },
        tries: bound(1, 2),
        reaches: &[reached::ANOTHER_ORGANIZATION_IS_KEPT_OUT],
        ..Protocol::new(vec![BOOK, renewed, of_two(BOOK)])
    }
}

#[test]
fn an_organization_that_renews_its_key_keeps_every_promise() {
    holds("a renewed key", a_renewed_key(Rule::default()));
}

/// Where the promise ends: the word was true of the run that the person saw.
#[test]
fn wrong_claim_of_the_same_organization_books_twice() {
    finds(ONE_BOOKING, a_renewed_key(Rule::any_account_is_excused()));
}

/// The same command is run twice without a key, and the first one is resumed.
fn a_wish_that_is_repeated(rule: Rule) -> Protocol {
    Protocol {
        rule,
        left: Left { kills: bound(1, 2), abandons: 1, ..Left::default() },
        tries: bound(1, 2),
        instead: &[STRANGERS_OLDER, SHOWS_IT, Answer::Document],
        reaches: &[reached::A_WISH_IS_NOT_SENT_AGAIN],
        ..Protocol::new(vec![WISH, WISH_AGAIN, RESUME])
    }
}

#[test]
fn a_wish_that_is_repeated_keeps_every_promise() {
    holds("a wish, repeated without a key", a_wish_that_is_repeated(Rule::default()));
}

/// The caller books twice on purpose, with two keys, and the responses are mixed up.
fn two_equal_bookings(rule: Rule, other_keys: OtherKeys) -> Protocol {
    Protocol {
        rule,
        left: Left { kills: bound(0, 1), ..Left::default() },
        tries: bound(1, 2),
        instead: &[STRANGERS_MODIFIED],
        other_keys,
        reaches: &[reached::ANOTHER_KEYS_BOOKING_SETTLES_NOTHING],
        ..Protocol::new(vec![BOOK, with_key(1, Request::Ada, KeyOrigin::Caller), resume(1)])
    }
}

#[test]
fn two_equal_bookings_on_purpose_keep_every_promise() {
    holds("two equal bookings", two_equal_bookings(Rule::default(), OtherKeys::Known));
}

/// Where the promise ends: a service responds with an unknown attempt's booking.
#[test]
fn booking_of_another_open_attempt_is_mistaken_for_ours() {
    finds(KNOWN, two_equal_bookings(Rule::default(), OtherKeys::Any));
}

#[test]
fn a_key_that_somebody_used_before_keeps_every_promise() {
    for older in [Request::Ada, Request::Eve] {
        let model = Protocol {
            left: Left { kills: bound(1, 2), ..Left::default() },
            tries: bound(1, 2),
            instead: &[STRANGERS_OLDER, SHOWS_IT],
            older: Some(older),
            ..Protocol::new(vec![BOOK, RESUME, WISH_AGAIN])
        };
        holds(&format!("a used key, {older:?}'s"), model);
    }
}

/// What one machine did is copied into the journal of another one, which goes on with it.
fn a_copied_journal(rule: Rule) -> Protocol {
    Protocol {
        rule,
        left: Left {
            kills: bound(0, 1),
            abandons: 1,
            forgets: bound(0, 1),
            copies: 2,
            ..Left::default()
        },
        tries: 1,
        reaches: &[reached::A_COPY_OPENS_AN_ATTEMPT],
        ..Protocol::new(match is_large() {
            true => vec![BOOK, elsewhere(BOOK), elsewhere(WISH_AGAIN)],
            false => vec![BOOK, elsewhere(BOOK)],
        })
    }
}

#[test]
fn a_journal_that_is_copied_twice_keeps_every_promise() {
    holds("a copied journal", a_copied_journal(Rule::default()));
}

type Configured = fn(Rule) -> Protocol;
/// A rule that differs from the program's, a configuration, and the promises that it breaks there.
type Broken = (Rule, Configured, &'static [&'static str]);

/// Each defective rule is one that an earlier version had; `rule` tells what it did.
#[test]
fn without_any_part_of_the_rule_a_promise_is_broken() {
    let two: Configured = two_creates_and_a_resume;
    let other: Configured = two_organizations_and_recover;
    let equal: Configured = |rule| two_equal_bookings(rule, OtherKeys::Known);
    let modified: Configured = |rule| two_equal_bookings(rule, OtherKeys::None);
    #[rustfmt::skip]
    let cases: [Broken; 20] = [
        (Rule::a_refusal_closes_the_attempt(), two, &[KNOWN, TRUE_REFUSAL]),
        (Rule::a_refusal_closes_the_attempt(), other, &[ONE_BOOKING]),
        (Rule::a_run_that_sent_nothing_removes_the_attempt(), two, &[KNOWN]),
        (Rule::recover_forgets_the_account(), other, &[ONE_BOOKING]),
        (Rule::recover_lets_others_write(), other, &[KNOWN]),
        (Rule::a_new_booking_is_not_compared(), two, &[TRUE_SUCCESS, KNOWN]),
        (Rule::an_older_booking_is_not_compared(), two, &[TRUE_SUCCESS, KNOWN]),
        (Rule::a_page_is_a_refusal(), two, &[KNOWN]),
        (Rule::a_refusal_speaks_for_other_runs(), two, &[TRUE_REFUSAL]),
        (Rule::an_answer_knows_better_than_the_journal(), two, &[TRUE_ANOTHER]),
        (Rule::what_is_under_way_does_not_block(), a_wish_that_is_repeated, &[ONE_WISH]),
        (Rule::a_generated_key_has_an_older_booking(), a_wish_that_is_repeated, &[TRUE_ANOTHER]),
        (Rule::another_booking_does_not_block(), a_wish_that_is_repeated, &[ONE_WISH]),
        (Rule::an_account_is_a_name(), other, &[ONE_BOOKING]),
        (Rule::an_id_and_a_status_are_a_booking(), a_wish_that_is_repeated, &[KNOWN, TRUE_SUCCESS]),
        (Rule::a_booking_may_have_two_keys(), equal, &[KNOWN, TRUE_SUCCESS]),
        (Rule::whatever_was_modified_agrees(), modified, &[TRUE_SUCCESS, KNOWN]),
        (Rule::a_copy_brings_no_request(), a_copied_journal, &[WHOLE]),
        (Rule::a_copy_undoes_what_was_abandoned(), a_copied_journal, &[GIVEN_UP]),
        (Rule::a_refusal_is_not_looked_into(), a_wish_that_is_repeated, &[KNOWN, TRUE_REFUSAL]),
    ];
    for (rule, model, broken) in cases {
        for promise in broken {
            finds(promise, model(rule));
        }
    }
}
