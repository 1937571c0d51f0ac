//! `--jq`: what a filter may do, and what it cannot do to the command that it is given to.

use std::time::Duration;

use crate::harness::{GUEST, Home, has, text};

/// A filter is the person's own, and may be wrong: the command ends with a word, not with it.
#[test]
fn filter_without_end_ends_with_word_and_leaves_command_alive() {
    let home = Home::new();
    for (filter, why) in [
        ("def f: f+1; f", "recurses without end"),
        ("def f: [f]; f", "recurses without end"),
        ("reduce range(60) as $i (\"x\"; . + .)", "memory"),
        ("repeat(\"x\" * 1000000)", "64 MB"),
    ] {
        // How far a process has grown is known on Linux alone.
        if !cfg!(target_os = "linux") && matches!(why, "memory" | "recurses without end") {
            continue;
        }
        let error = home.run(["status", "--jq", filter]).refused(1, "filter");
        let message = text(&error, "message");
        // On a busy machine its time may be over before its room is.
        let is_said = message.contains(why) || message.contains("did not end within 5 s");
        assert!(is_said, "{filter}: {error}");
    }
}

/// A script's own values reach a filter without being spliced into its text; bookctl's secrets do
/// not.
#[test]
fn filter_has_environment_without_secrets() {
    let home = Home::new()
        .with("BOOKCTL_API_KEY", "sk_live_sandbox")
        .with("COPY", "Bearer sk_live_sandbox")
        .with("ID", "a\"b");
    for (more, filter, output) in [
        (&[][..], "$ENV.ID", "a\"b"),
        (&[], "env.ID", "a\"b"),
        (&[], "$ENV | [.BOOKCTL_API_KEY, .COPY] | @json", "[null,null]"),
        (&["--arg", "id", "-$x"], "$id", "-$x"),
        (&["--arg", "a", "1", "--arg", "b", "2"], "$a + $b", "12"),
    ] {
        let arguments = [&["--profile", "sandbox", "status", "--jq", filter], more].concat();
        assert_eq!(home.ok(arguments).stdout, format!("{output}\n"), "{filter}");
    }
    for wrong in
        [&["--jq", "$nothing"][..], &["--arg", "a", "b"], &["--jq", ".", "--arg", "a-b", "c"]]
    {
        home.run(["status"].iter().chain(wrong)).exits(2);
    }
    let profile = Home::new().with("ID", "x").with_profile(
        "shop",
        "http://127.0.0.1:9",
        "read.error = '$ENV.ID'",
    );
    profile.run(["status", "--profile", "shop"]).exits(3);
}

#[test]
#[ignore = "waits for five seconds"]
fn a_filter_that_takes_no_room_ends_with_its_time() {
    let filter = ["status", "--jq", "last(repeat(1))"];
    let error = Home::new().run(filter).refused(1, "filter");
    has(&error, "message", "did not end within 5 s");
}

/// A booking was made: what fails afterwards must not lose it.
#[test]
fn filter_that_fails_after_create_gives_booking_all_same() {
    let home = Home::new();
    for filter in [".id.nope", "def f: f+1; f"] {
        let arguments = ["book", "ven_confirms", "--jq", filter];
        let error = home.run(arguments.iter().chain(&GUEST)).refused(1, "filter");
        let id = text(&error["body"], "id");
        has(&error, "message", &id);
        has(&error, "hint", &format!("bookctl show {id}"));
        assert_eq!(home.booking(&id)["status"], "confirmed");
    }
}

/// A filter may end the whole process, here with a step that asks for more memory than there is. By
/// then the outcome of the create is recorded.
#[test]
fn a_filter_that_ends_the_process_loses_no_booking() {
    let home = Home::new();
    let arguments = ["book", "ven_confirms", "--jq", "\"x\" * 1000000000000"];
    let ended = home.run(arguments.iter().chain(&GUEST));
    assert_ne!(ended.code, Some(0), "{ended}");
    assert!(home.list("attempts").is_empty());
    let bookings = home.list("bookings");
    assert_eq!(bookings.len(), 1);
    assert_eq!(bookings[0]["status"], "confirmed");
}

/// "every wait … ends within 200 ms of Ctrl-C" (design)
#[cfg(unix)]
#[test]
fn a_signal_ends_a_filter_at_once() {
    let home = Home::new();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let running = home.start(["status", "--jq", "last(repeat(1))"]);
        // Lets the filter run. Interrupted earlier, the command ends as soon, and the test proves
        // less.
        std::thread::sleep(Duration::from_millis(400));
        running.signal(signal);
        // By itself it would have ended with another code.
        running.end().refused(code, "interrupted");
    }
}

/// What a filter is told is escaped once, by JSON.
#[test]
fn the_error_of_a_filter_quotes_its_text_once() {
    let home = Home::new();
    let error = home.run(["status", "--jq", ".name[\"a\"]"]).refused(1, "filter");
    has(&error, "hint", "only the filter failed");
    let message = text(&error, "message");
    assert!(message.contains('"'), "{message}");
    assert!(!message.contains('\\'), "{message}");
    let error = home.run(["status", "--jq", ".a[\"b\" |"]).refused(2, "usage");
    let message = text(&error, "message");
    assert!(message.contains(".a[\"b\" |"), "{message}");
}
