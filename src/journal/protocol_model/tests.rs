//! What is checked, with which bounds. `BOOKCTL_MODEL=large` goes further: `tests/model/run`.

use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model};

use super::Protocol;
use super::actions::{Program, Task};
use super::properties::{self as reached, KNOWN, ONE_BOOKING, TRUE_REFUSAL, TRUE_SUCCESS};
use super::rule::Rule;
use super::state::{Account, Left, Request};

const BOOK: Program = Program {
    machine: 0,
    account: Account::One,
    same_organization: false,
    task: Task::Book(Request::Ada),
};
const RESUME: Program = Program {
    task: Task::Resume(0),
    ..BOOK
};
const BATCH: Program = Program {
    task: Task::Batch,
    ..BOOK
};

const fn of_two(program: Program) -> Program {
    Program {
        account: Account::Two,
        ..program
    }
}

const fn elsewhere(program: Program) -> Program {
    Program {
        machine: 1,
        ..program
    }
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
    let checker = model.checker().threads(threads);
    let checker = checker.finish_when(HasDiscoveries::AnyFailures);
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
            kills: bound(2, 3),
            abandons: bound(1, 2),
            forgets: bound(0, 1),
            recovers: 0,
        },
        tries: bound(2, 3),
        has_strangers: true,
        reaches: vec![
            reached::a_killed_run_is_settled(),
            reached::a_refusal_meets_an_open_run(),
            reached::a_guest_is_forgotten(),
            reached::a_late_request_books(),
            reached::doubt_opens_an_abandoned_attempt(),
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
        },
        tries: bound(1, 2),
        reaches: vec![
            reached::another_organization_is_kept_out(),
            reached::another_organization_books(),
            reached::a_recovered_attempt_is_settled(),
        ],
        ..Protocol::new(vec![BOOK, RESUME, of_two(BOOK)])
    }
}

#[test]
fn two_creates_with_one_key_and_a_resume_keep_every_promise() {
    holds(
        "two creates and a resume",
        two_creates_and_a_resume(Rule::default()),
    );
}

#[test]
fn many_processes_with_one_key_keep_every_promise() {
    let model = Protocol {
        left: Left {
            kills: bound(1, 2),
            abandons: 1,
            forgets: 0,
            recovers: 0,
        },
        tries: 1,
        reaches: vec![reached::a_refusal_meets_an_open_run()],
        ..Protocol::new(bound(
            vec![BOOK, BOOK, BOOK],
            vec![BOOK, BOOK, BOOK, RESUME],
        ))
    };
    holds("many processes", model);
}

#[test]
fn two_organizations_and_a_recovery_keep_every_promise() {
    holds(
        "two organizations and a recovery",
        two_organizations_and_recover(Rule::default()),
    );
}

#[test]
fn a_batch_that_is_started_twice_and_waits_for_the_limit_keeps_every_promise() {
    let model = Protocol {
        left: Left {
            kills: bound(1, 2),
            abandons: bound(0, 1),
            forgets: 1,
            recovers: 0,
        },
        tries: 1,
        waits: 1,
        forgets_at_once: false,
        reaches: vec![
            reached::a_whole_batch_is_settled(),
            reached::a_refusal_meets_an_open_run(),
        ],
        ..Protocol::new(vec![BATCH, BATCH])
    };
    holds("a batch, started twice", model);
}

#[test]
fn two_machines_with_one_key_keep_every_promise() {
    let model = Protocol {
        left: Left {
            kills: bound(1, 2),
            abandons: bound(0, 1),
            ..Left::default()
        },
        tries: bound(2, 3),
        reaches: vec![reached::two_machines_get_one_booking()],
        ..Protocol::new(vec![BOOK, RESUME, elsewhere(BOOK)])
    };
    holds("two machines", model);
}

#[test]
fn two_machines_that_use_one_key_for_two_requests_keep_every_promise() {
    let eve = Program {
        task: Task::Book(Request::Eve),
        ..elsewhere(BOOK)
    };
    let model = Protocol {
        left: Left {
            kills: bound(1, 2),
            abandons: bound(0, 1),
            ..Left::default()
        },
        tries: bound(2, 3),
        reaches: vec![reached::another_booking_is_told()],
        ..Protocol::new(vec![BOOK, RESUME, eve])
    };
    holds("two machines, two requests", model);
}

/// An organization changes its API key, and says so; another one uses the key as well.
fn a_renewed_key(rule: Rule) -> Protocol {
    let renewed = Program {
        account: Account::OneRenewed,
        same_organization: true,
        ..RESUME
    };
    Protocol {
        rule,
        left: Left {
            kills: bound(1, 2),
            abandons: bound(0, 1),
            forgets: 0,
            recovers: 1,
        },
        tries: bound(1, 2),
        reaches: vec![reached::another_organization_is_kept_out()],
        ..Protocol::new(vec![BOOK, renewed, of_two(BOOK)])
    }
}

#[test]
fn an_organization_that_renews_its_key_keeps_every_promise() {
    holds("a renewed key", a_renewed_key(Rule::default()));
}

/// Where the promise ends: the word was true of the run that the person saw.
#[test]
fn same_organization_that_is_taken_at_its_word_books_twice() {
    finds(ONE_BOOKING, a_renewed_key(Rule::any_account_is_excused()));
}

/// C1.
#[test]
fn a_refusal_that_closes_the_attempt_forgets_a_booking_and_makes_two() {
    let rule = Rule::a_refusal_closes_the_attempt();
    finds(KNOWN, two_creates_and_a_resume(rule));
    finds(TRUE_REFUSAL, two_creates_and_a_resume(rule));
    finds(ONE_BOOKING, two_organizations_and_recover(rule));
}

/// C1.
#[test]
fn a_run_that_sent_nothing_and_removes_the_attempt_forgets_a_booking() {
    let rule = Rule::a_run_that_sent_nothing_removes_the_attempt();
    finds(KNOWN, two_creates_and_a_resume(rule));
}

/// D1.
#[test]
fn a_recovery_that_forgets_the_account_books_twice() {
    let rule = Rule::recover_forgets_the_account();
    finds(ONE_BOOKING, two_organizations_and_recover(rule));
}

/// H3.
#[test]
fn a_page_that_is_taken_for_a_refusal_forgets_a_booking() {
    let rule = Rule::a_page_is_a_refusal();
    finds(KNOWN, two_creates_and_a_resume(rule));
}

/// H1 and H2.
#[test]
fn a_booking_that_is_not_compared_is_somebody_elses() {
    for rule in [
        Rule::a_new_booking_is_not_compared(),
        Rule::an_older_booking_is_not_compared(),
    ] {
        finds(TRUE_SUCCESS, two_creates_and_a_resume(rule));
        finds(KNOWN, two_creates_and_a_resume(rule));
    }
}

#[test]
fn a_refusal_that_speaks_for_other_runs_says_what_is_not_so() {
    let rule = Rule::a_refusal_speaks_for_other_runs();
    finds(TRUE_REFUSAL, two_creates_and_a_resume(rule));
}

#[test]
fn a_recovery_that_lets_others_write_forgets_a_booking() {
    let rule = Rule::recover_lets_others_write();
    finds(KNOWN, two_organizations_and_recover(rule));
}
