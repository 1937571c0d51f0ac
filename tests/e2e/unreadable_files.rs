//! Files that are named on the command line and cannot be read.

use crate::harness::{Home, Served, text, words};

/// "1: unclassified, local I/O" (command line, exit codes)
#[test]
fn a_file_that_cannot_be_read_ends_with_1_whatever_reads_it() {
    let served = Served::start();
    let home = served.home().with("BOOKCTL_WEBHOOK_SECRET", "whsec_x");
    let booking = home.booked("ven_otp", &[], 10);
    let add = ["profile", "add", "other", "--base-url", served.base_url()];
    home.ok(add);
    std::fs::create_dir_all(home.folder().join("folder")).unwrap();
    let before = served.bookings().len();
    for file in ["nowhere", "./folder"] {
        let at = format!("@{file}");
        let field = format!("x={at}");
        let example = format!("booking={file}");
        for command in [
            &["batch", file][..],
            &["api", "POST", "/v1/x", "--input", file],
            &["api", "POST", "/v1/x", "-F", &field],
            &["continue", &booking, "--psp-response", &at],
            &["webhook", "verify", file, "--signature", "t=1,v1=00"],
            &["webhook", "sign", file],
            &["profile", "learn", "other", "--delivery", file],
            &["profile", "learn", "other", "--example", &example],
            &["sandbox", "load", file],
            &["sandbox", "serve", "--ephemeral", "--fixtures", file],
            &["sandbox", "run", "--fixtures", file, "--", "true"],
        ] {
            let (before, after) = match command.iter().position(|it| *it == "--") {
                Some(at) => command.split_at(at),
                None => (command, &[][..]),
            };
            let command = before.iter().chain(&["--json"]).chain(after);
            let error = home.run(command).refused(1, "io");
            let message = text(&error, "message");
            let start = format!("cannot read {file}: ");
            assert!(message.starts_with(&start), "{error}");
        }
    }
    assert_eq!(served.bookings().len(), before);
}

/// "2: usage" (command line, exit codes): the file was read, and it is the wrong one.
#[test]
fn a_file_that_is_no_text_is_unusable_input() {
    let home = Home::new();
    std::fs::write(home.folder().join("latin"), b"Zo\xeb").unwrap();
    for command in [
        &["batch", "latin", "--json"][..],
        &["api", "POST", "/v1/x", "--input", "latin", "--json"],
        &["sandbox", "load", "latin", "--json"],
    ] {
        let error = home.run(command).refused(2, "usage");
        let message = text(&error, "message");
        assert_eq!(message, "cannot read latin: line 1 is not UTF-8");
    }
}

/// Nobody has to repair a journal to be told of a mistake in the arguments.
#[test]
fn booking_mistakes_are_reported_before_the_journal_opens() {
    let home = Home::new();
    std::fs::create_dir_all(home.path()).unwrap();
    std::fs::write(home.path().join("journal.db"), "no database").unwrap();
    for flags in [&["--retention", "1d"][..], &["--same-organization"]] {
        for (input, exit, code) in
            [("batch nowhere --json", 1, "io"), ("book --slot @9 --json", 2, "usage")]
        {
            let command = words(input).into_iter();
            let flags = flags.iter().map(|it| (*it).to_owned());
            home.run(command.chain(flags)).refused(exit, code);
        }
    }
}
