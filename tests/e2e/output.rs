//! What stands on stdout and stderr: documents, filters, colours, secrets, and streams that are not
//! there.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{GUEST, Home, Reply, Running, Scripted, Served, words};

/// "`--jq EXPR` filters it in-process. Both imply `--no-input`." (command line, Output 3)
#[test]
fn filter_writes_what_it_finds_line_each() {
    let (home, id) = Home::with_booking("ven_otp", 10);
    let show = |filter: &str| home.ok(["show", &id, "--jq", filter]).stdout;
    assert_eq!(show(".id"), format!("{id}\n"));
    assert_eq!(show(".status, .party_size"), "requires_action\n2\n");
    assert_eq!(show(".customer"), "{\"name\":\"Ada Lovelace\"}\n");
    assert_eq!(show("empty"), "");
    assert_eq!(show("[.id] | length"), "1\n");
    home.run(["continue", &id, "--jq", ".id"]).exits(2);
}

/// "`--quiet`": notes and progress are left out, errors are not.
#[test]
fn quiet_leaves_out_notes_and_not_errors() {
    let home = Home::new();
    let output = home.ok(["book", "ven_confirms", "--quiet"].iter().chain(&GUEST));
    assert_eq!(output.stderr, "sandbox: nothing is really booked\n", "{output}");
    assert!(output.stdout.starts_with("confirmed"), "{output}");
    let error = home.run(["show", "bk_nobody", "-q"]).exits(6);
    assert!(error.stderr.starts_with("error: "), "{error}");
}

/// "`--dry-run` changes nothing: it prints the request that would be sent (`{"method", "path",
/// "headers", "body"}`), 0." (Output 5)
#[test]
fn a_dry_run_prints_the_request_and_sends_nothing() {
    let server = Scripted::start(|_| Reply::html());
    let home = Home::pointing_to(server.base_url(), "sk_live_secret");
    let at = ["--at", "2031-12-01T19:30:00Z", "--dry-run"];
    let arguments = [&["book", "ven_1", "--slot", "slot_1"][..], &at].concat();
    let output = home.ok(arguments.iter().chain(&GUEST[2..]).chain(&["--json"]));
    let request = output.json();
    let keys: Vec<&String> = request.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["method", "path", "headers", "body"]);
    assert_eq!([&request["method"], &request["path"]], ["POST", "/v1/bookings"]);
    assert_eq!(request["body"]["customer"]["name"], "Ada Lovelace");
    assert!(!output.stdout.contains("sk_live_secret"), "{output}");
    let human = home.ok(arguments.iter().chain(&GUEST[2..]));
    assert!(human.stdout.starts_with("POST /v1/bookings\n"), "{human}");
    // The path is the one that is sent, with that of the base URL.
    let home = Home::pointing_to(&format!("{}/api", server.base_url()), "sk_live_x");
    #[rustfmt::skip]
    let cases = [
        ("cancel bk_1 --yes", "cancel", json!({})),
        ("continue bk_1 --otp 123456", "continue", json!({"otp": "***"})),
        ("continue bk_1 -F n[x]=2 -F m=a", "continue", json!({"n": {"x": 2}, "m": "a"})),
    ];
    for (line, call, body) in cases {
        let shown = home.run(words(format!("{line} --dry-run --json")));
        let shown = shown.exits(0).json();
        let path = format!("/api/v1/bookings/bk_1/{call}");
        assert_eq!((&shown["path"], &shown["body"]), (&json!(path), &body));
    }
    home.refuses("continue bk_1 --dry-run", 2, "usage");
    assert!(server.requests().is_empty());

    let home = Home::new();
    home.ok(["book", "ven_confirms", "--dry-run"].iter().chain(&GUEST));
    assert!(Served::from_home(&home).bookings().is_empty());
    // What is missing is missing here too.
    home.refuses("book ven_confirms --dry-run", 2, "usage");
}

/// "In a pipe, lists have RFC 3339 times too", plain numbers, and terms in columns.
#[test]
fn lists_in_a_pipe_have_times_and_numbers_that_programs_read() {
    let (_served, home) = Served::with_home();
    let deposit = "ven_london_copper_kettle";
    home.ok(["book", "ven_confirms"].iter().chain(&GUEST));
    home.ok(words("search dining --near London --at 'tomorrow 19:30'"));
    home.ok(["session", "connect", "--end-user", "u1", "--phone", "+447911123456"]);
    let is_time = |cell: &str| cell.parse::<jiff::Timestamp>().is_ok();
    let is_number = |cell: &str| cell.parse::<f64>().is_ok();
    #[rustfmt::skip]
    let cases: [(String, &[usize], &[usize]); 9] = [
        (format!("slots {deposit} --at tomorrow --party 2"), &[1, 13], &[2, 6, 10]),
        ("search dining --near London --at 'tomorrow 19:30'".to_owned(), &[], &[3]),
        ("bookings".to_owned(), &[3, 6], &[5]),
        ("limits".to_owned(), &[3], &[1, 2]),
        ("session list".to_owned(), &[4], &[]),
        ("show @last --timeline".to_owned(), &[0], &[]),
        ("sandbox requests".to_owned(), &[1], &[2, 5]),
        ("sandbox bookings".to_owned(), &[3], &[4]),
        ("sandbox inbox".to_owned(), &[3], &[0]),
    ];
    for (line, times, numbers) in cases {
        let output = home.ok(words(&line));
        let last: Vec<&str> = output.stdout.lines().last().unwrap().split('\t').collect();
        assert!(times.iter().all(|at| is_time(last[*at])), "{line}: {last:?}");
        assert!(numbers.iter().all(|at| is_number(last[*at])), "{line}: {last:?}");
    }
    let slots = home.ok(words(format!("slots {deposit} --at tomorrow --party 2"))).stdout;
    let slot: Vec<&str> = slots.lines().next().unwrap().split('\t').collect();
    assert_eq!(&slot[6..9], ["20.00", "GBP", "guest"], "{slot:?}");
    assert_eq!(&slot[10..13], ["20.00", "GBP", "guest"], "{slot:?}");
    assert_eq!([slot[9], slot[14]], ["", ""], "said once: {slot:?}");
}

/// "`--color auto|always|never`, `NO_COLOR`, `TERM=dumb`" (command line, Output 5);
/// `CLICOLOR_FORCE`
#[test]
fn colour_is_there_where_it_is_wanted_and_nowhere_else() {
    for (flag, variable, coloured) in [
        ("auto", ("TERM", "xterm-256color"), false),
        ("always", ("NO_COLOR", "1"), true),
        ("never", ("CLICOLOR_FORCE", "1"), false),
        ("auto", ("CLICOLOR_FORCE", "1"), true),
        ("auto", ("CLICOLOR_FORCE", "0"), false),
        ("auto", ("NO_COLOR", ""), false),
    ] {
        let home = Home::new().with(variable.0, variable.1);
        let book = ["book", "ven_confirms", "--color", flag];
        let output = home.ok(book.iter().chain(&GUEST));
        let is_coloured = output.stdout.contains('\u{1b}');
        assert_eq!(is_coloured, coloured, "{flag} {variable:?} {output}");
        assert!(coloured || !output.stderr.contains('\u{1b}'), "{output}");
        // A document is never coloured.
        let json = home.run(["sandbox", "clock", "--json", "--color", "always"]);
        assert!(!json.exits(0).stdout.contains('\u{1b}'));
    }
}

/// Exit 0: "success, also with an empty list" (command line, Exit codes)
#[test]
fn an_empty_list_is_no_error() {
    let home = Home::new();
    let slots = ["slots", "ven_no_slots", "--at", "tomorrow 19:30"];
    let output = home.ok(slots);
    assert_eq!(output.stdout, "", "{output}");
    let json = home.ok(slots.iter().chain(&["--json"])).json();
    assert_eq!(json["slots"], json!([]));
}

/// Runs a piece of shell in which `bookctl` stands for the binary.
fn shell(home: &Home, script: &str) -> crate::harness::Output {
    let mut command = home.program("bash");
    command.args([
        "-c",
        &format!("bookctl() {{ {} \"$@\"; }}\n{script}", env!("CARGO_BIN_EXE_bookctl")),
    ]);
    command.stdin(Stdio::null());
    Running::start(command).end()
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let home = Home::new();
    home.ok(["sandbox", "clock"]);
    for script in [
        "bookctl help environment | head -1; echo ${PIPESTATUS[0]} >&2",
        "bookctl search dining --near London --at 'tomorrow 19:30' --json -q | head -c 1 >/dev/null; echo ${PIPESTATUS[0]} >&2",
        // The reader is gone before a byte is written.
        "exec 3> >(true); wait $!; bookctl search dining --near London --at 'tomorrow 19:30' -q >&3; echo $? >&2",
        "bookctl search dining --near London --at 'tomorrow 19:30' -q >&-; echo $? >&2",
        "bookctl --version >&-; echo $? >&2",
    ] {
        let output = shell(&home, script);
        assert_eq!(output.stderr, "0\n", "{output}");
    }
}

/// "the last line of stderr is one object", whatever was noted before it.
#[test]
fn an_error_object_has_its_keys_in_order_and_no_empty_ones() {
    let home = Home::new();
    let error: Value = home.refuses("show bk_nobody", 6, "http_404");
    let fields = error.as_object().unwrap();
    let order = "code message hint exit_code retry http_status request request_id retry_after_seconds idempotency_key body";
    let places = fields.keys().map(|key| order.split(' ').position(|known| known == key));
    let places: Vec<_> = places.map(Option::unwrap).collect();
    assert!(places.is_sorted(), "{error}");
    assert!(fields.values().all(|value| !value.is_null()), "{error}");
    assert_eq!(error["request"], "GET /v1/bookings/bk_nobody");
}
