//! Lists longer than the screen are read in a pager, and nothing else is.

use crate::harness::{Home, Key, Terminal};

/// A pager that shows that it was there.
const MARKING: &str = "sed s/^/paged:/";

fn with_pager(pager: &str) -> Home {
    Home::new().with("BOOKCTL_PAGER", pager)
}

#[test]
fn list_longer_than_screen_goes_through_pager() {
    let home = with_pager(MARKING);
    let long = Terminal::of_width(&home, 60, &["explain"]).end();
    long.exits(0).says("paged:");
    for short in [
        &["explain", "429"][..],
        &["help", "outcomes"],
        &["explain", "--json"],
        &["explain", "--no-input"],
    ] {
        let ended = Terminal::of_width(&home, 60, short).ends(0);
        assert!(!ended.raw.contains("paged:"), "{short:?}: {}", ended.raw);
    }
}

#[test]
fn a_pipe_is_never_paged() {
    let home = with_pager("no-such-pager");
    let output = home.ok(["explain"]);
    assert_eq!(output.stderr, "", "{output}");
}

#[test]
fn bookctl_pager_outranks_pager_and_an_empty_one_or_cat_is_none() {
    for (own, general, is_paged) in [
        (None, Some(MARKING), true),
        (Some(MARKING), Some("no-such-pager"), true),
        (Some(""), Some(MARKING), false),
        (Some("cat"), Some(MARKING), false),
    ] {
        // The harness names `cat` where a test names nothing.
        let mut home = Home::new();
        let mut command = vec!["env"];
        match own {
            Some(own) => home = home.with("BOOKCTL_PAGER", own),
            None => command.extend(["-u", "BOOKCTL_PAGER"]),
        }
        if let Some(general) = general {
            home = home.with("PAGER", general);
        }
        command.extend([env!("CARGO_BIN_EXE_bookctl"), "explain"]);
        let ended = Terminal::of_program(&home, 60, &command).ends(0);
        assert_eq!(ended.raw.contains("paged:"), is_paged, "{own:?}: {}", ended.raw);
    }
}

#[test]
fn whoever_leaves_the_pager_early_has_not_failed() {
    let home = with_pager("head -1");
    Terminal::of_width(&home, 60, &["explain"]).ends(0);
}

#[test]
fn pager_that_cannot_be_started_is_warned_of_once() {
    for pager in ["no-such-pager", "no-such-pager 'with quotes'"] {
        let ended = Terminal::of_width(&with_pager(pager), 60, &["explain"]).end();
        assert_eq!(ended.raw.matches("warning:").count(), 1, "{}", ended.raw);
        assert!(ended.raw.contains("payment_outcome_unknown"), "{}", ended.raw);
        ended.exits(0);
    }
}

#[test]
fn ctrl_c_belongs_to_the_pager() {
    let home = with_pager("trap '' INT; cat; echo READY >/dev/tty; read _ </dev/tty");
    let mut terminal = Terminal::of_width(&home, 60, &["explain"]);
    terminal.see("READY").press(Key::CtrlC).type_in("\n");
    terminal.ends(0);
}

#[test]
fn less_is_told_to_keep_colours_unless_its_options_are_set() {
    let home = with_pager("sh -c 'echo less=$LESS'");
    Terminal::of_width(&home, 60, &["explain"]).ends(0).says("less=FRX");
    let home = home.with("LESS", "-S");
    Terminal::of_width(&home, 60, &["explain"]).ends(0).says("less=-S");
}
