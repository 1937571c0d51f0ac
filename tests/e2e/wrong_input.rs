//! What a person gets wrong: one sentence, one exit code, nothing sent or nothing created.

use crate::harness::{GUEST, Home, Output, Reply, Scripted, Served, has, text, words};

/// A script's error is one object; a person's is one sentence that starts with `error:`.
fn one_sentence(output: &Output) {
    let errors = output.stderr.lines().filter(|line| line.starts_with("error:")).count();
    assert_eq!(errors, 1, "{output}");
    assert_eq!(output.stdout, "", "{output}");
    assert!(!output.stderr.contains("Error {"), "{output}");
}

/// `book VENUE` with one of the guest's flags said otherwise.
fn booking(home: &Home, flag: &str, value: &str) -> Output {
    let mut arguments: Vec<&str> = vec!["book", "ven_confirms", "--json"];
    for pair in GUEST.chunks(2) {
        arguments.push(pair[0]);
        arguments.push(if pair[0] == flag { value } else { pair[1] });
    }
    home.run(arguments)
}

/// As from a variable of a shell that is not set.
#[test]
fn an_empty_venue_and_an_empty_text_are_usage_errors() {
    let at = "--at 'tomorrow 19:30' --party 2";
    for line in ["book ''", "slots ''"].map(|it| format!("{it} {at}")) {
        Home::new().run(words(line)).exits(2);
    }
    Home::new().run(["bookings", ""]).exits(2);
}

/// "a venue_id is known only after a search returned it" (spec, Booking)
#[test]
fn a_seeded_venue_is_known_only_after_a_search_returned_it() {
    let home = Home::new();
    home.book("ven_london_copper_kettle", &[]).refused(6, "http_404");
    home.json("search dining --near London --at 'tomorrow 19:30'");
    home.json("slots ven_london_copper_kettle --at 'tomorrow 19:30'");
}

/// "`party_size` is 1 to 20." (wire contract)
#[test]
fn a_party_that_is_too_large_is_refused_by_the_service() {
    let error = booking(&Home::new(), "--party", "21").exits(12).error();
    assert_eq!(error["http_status"], 400);
    has(&error, "message", "party_size");
}

#[test]
fn a_party_or_time_that_is_none_is_refused_before_anything_is_sent() {
    let home = Home::new();
    for (flag, values) in [
        ("--party", ["0", "two", "-1", "2.5", ""]),
        ("--at", ["whenever", "25:00", "2026-02-30 19:30", "fri 13pm", ""]),
    ] {
        let refused = values.map(|value| booking(&home, flag, value).refused(2, "usage"));
        has(&refused[4], "message", "cannot be empty");
    }
    assert!(Served::from_home(&home).bookings().is_empty());
}

/// "An error under `--json` …, usage errors included." (command line, Output 4)
#[test]
fn an_unknown_command_flag_or_value_is_a_usage_error() {
    let home = Home::new();
    for arguments in [
        &["bok"][..],
        &["book", "--colour"],
        &["search", "camping", "--near", "London"],
        &["show"],
        &["--color", "purple", "show", "bk_1"],
        &["book", "ven_confirms", "--payment", "cash"],
        &["sandbox", "clock", "--advance", "soon"],
        // What an unset variable of a shell leaves.
        &["book", "ven_1", "--end-user", ""],
        &["book", "ven_1", "--email", ""],
        &["book", "ven_1", "--phone", ""],
        &["show", "bk_1", "--timeout", "0ms"],
        &["continue", "bk_1", "-F", "novalue"],
        &[],
    ] {
        let mut json = vec!["--json"];
        json.extend(arguments);
        let error = home.run(&json).refused(2, "usage");
        assert_eq!(text(&error, "message").lines().count(), 1, "{error}");
        if !arguments.is_empty() {
            let output = home.run(arguments).exits(2);
            assert_eq!(output.stdout, "", "{output}");
        }
    }
}

/// "what/why/what next": the help that says more is the command's own.
#[test]
fn a_usage_error_names_the_command_whose_help_says_more() {
    let home = Home::new();
    #[rustfmt::skip]
    let cases = [
        (&["limits", "a"][..], "see `bookctl limits --help`"),
        (&["cancel", "Ada", "Lovelace"], "put a text of several words in quotes. See `bookctl cancel --help`"),
        (&["book", "ven_1", "--wait", "2m"], "write --wait=2m. See `bookctl book --help`"),
        (&["--profile", "show", "session", "verify", "--nonsense"], "see `bookctl session verify --help`"),
        (&["nonsense"], "see `bookctl --help`"),
        (&["search", "dining", "--at", "fri 8pm"], "see `bookctl search --help`"),
    ];
    for (arguments, help) in cases {
        let error = home.run(arguments.iter().chain(&["--json"]));
        assert_eq!(text(&error.refused(2, "usage"), "hint"), help);
    }
}

/// A typo in a filter must not cost a booking whose answer nobody sees.
#[test]
fn a_filter_that_is_none_is_refused_before_anything_is_sent() {
    let (server, home) = Scripted::with_home(|_| Reply::html());
    let filtered = |filter: &str| {
        let arguments = ["book", "ven_confirms", "--jq", filter];
        home.run(arguments.iter().chain(&GUEST))
    };
    let imports = ["import \"x\" as $x; $x", "include \"x\"; ."];
    for filter in [".[", "nonsense(", "$id", "}", ".id |", "nonsense", "halt", "input"] {
        filtered(filter).refused(2, "usage");
    }
    for filter in imports {
        filtered(filter).refused(2, "usage");
    }
    assert!(server.requests().is_empty());
    filtered(".").refused(15, "unexpected_answer");
    assert!(!server.requests().is_empty());
}

/// Exit 13: "every provider failed, or none can handle the request" (command line); "A search near
/// "Outage" fails at every provider, near "Partial Outage" at one of them." (wire contract)
#[test]
fn search_that_every_provider_fails_exits_13() {
    let home = Home::new();
    let near = |place| format!("search dining --near '{place}' --at 'tomorrow 19:30'");
    home.refuses(&near("Outage"), 13, "search_failed");
    let partial = home.ok(words(near("Partial Outage") + " --json"));
    let failed = partial.json()["providers_failed"].clone();
    assert_eq!(failed.as_array().unwrap().len(), 1);
    partial.says(failed[0].as_str().unwrap());
    home.book("ven_availability_fails", &[]).refused(13, "availability_failed");
}

/// "report everything that is missing or wrong at once"
#[test]
fn all_that_a_booking_lacks_is_named_in_one_error() {
    let home = Home::new();
    let error = home.refuses("book ven_confirms --party 2", 2, "usage");
    let fields: Vec<_> = error["problems"].as_array().unwrap().iter().collect();
    assert_eq!(fields.len(), 2);
    assert_eq!(fields[0]["field"], "--at");
    assert_eq!(fields[1]["field"], "--name");
}

/// One sentence says what is wrong with it, and the hint what to do.
#[test]
fn wrong_words_get_one_sentence_and_a_hint() {
    let home = Home::new();
    #[rustfmt::skip]
    let cases = [
        (&["-q"][..], 2, "`bookctl` needs a command", "see `bookctl --help`"),
        (
            &["watch", "bk_1", "--timeout=-5m"],
            2,
            "--timeout <DURATION>: `-5m` is not a duration: it needs numbers with units; \
             try `90s`, `2m` or `1h30m`",
            "see `bookctl watch --help`",
        ),
        (
            &["bookings", "--limit", "many"],
            2,
            "invalid value 'many' for '--limit <N>': it is not a whole number",
            "see `bookctl bookings --help`",
        ),
        (
            &["slots", "ven_confirms", "--at", "yesterday 19:30"],
            2,
            "--at <WHEN|DAY>: `yesterday` is in the past; \
             try `2030-12-01 19:30`, `tomorrow 19:30`, `fri 8pm` or `in 2 hours`",
            "see `bookctl slots --help`",
        ),
        (
            &["bookings", "--date", "32"],
            2,
            "--date <DAY|DAY..DAY>: `32` is not understood; \
             try `today`, `fri`, `2030-11-27` or `2030-11-27..2030-11-30`",
            "see `bookctl bookings --help`",
        ),
        (
            &["book", "ven_1", "--party", "2", "--name", "-Ada"],
            2,
            "unexpected argument '-A' found",
            "to pass a value that begins with `-`, write --name=-Ada.",
        ),
        (&["show", "bk_1\nbk_2"], 6, "no booking has this ID: bk_1\\u{a}bk_2", "bookctl bookings"),
        (&["card"], 2, "name a session or a guest", "bookctl session list"),
        (&["sandbox", "delete"], 2, "unrecognized subcommand 'delete'", "did you mean 'deliveries' or 'reset'?"),
        (&["help", "sandbx"], 2, "unknown topic or command `sandbx`", "did you mean 'sandbox'?"),
        (&["show", "--", "--json"], 6, "booking not found: --json", "bookctl bookings -- --json"),
        (&["modify", "nosuch", "--party", "3"], 6, "booking not found: nosuch", "bookctl bookings nosuch"),
        (&["--profile=", "show", "bk_1"], 3, "the name of the profile is empty", "known profiles: sandbox"),
    ];
    for (arguments, exit, error, hint) in cases {
        let output = home.run(arguments).exits(exit);
        one_sentence(&output);
        let (said, next) = output.stderr.split_once("hint: ").unwrap_or_default();
        assert!(said.contains(&format!("error: {error}\n")), "{output}");
        assert!(next.contains(hint), "{output}");
    }
}
