//! Every command in every surrounding: it ends, it asks nobody who is not there, and each stream
//! holds what it is to.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command_tree;
use crate::harness::{GUEST, Home, Output, Running, Terminal, text};

/// Longer than this is a hang.
const LONGEST: Duration = Duration::from_secs(5);

/// What the arguments below need to be there.
struct Surroundings {
    home: Home,
    booking: String,
    paused: String,
    session: String,
}

impl Surroundings {
    fn new(variables: &[(&str, &str)]) -> Self {
        let home = variables.iter().fold(Home::new(), |home, (name, value)| home.with(name, value));
        let booking = home.booked("ven_confirms", &[], 0);
        let paused = home.booked("ven_otp", &[], 10);
        let connect = "session connect --end-user user_7 --phone +442079460018 --json";
        let session = text(&home.ok(connect.split(' ')).json(), "id");
        let search = ["search", "dining", "--near", "Sandbox"];
        home.ok(search.iter().chain(&["--at", "tomorrow 19:30"]));
        Surroundings { home, booking, paused, session }
    }

    /// A line of the list below as arguments.
    fn arguments(&self, line: &str) -> Vec<String> {
        let mut arguments = Vec::new();
        for word in line.split_whitespace() {
            match word {
                "GUEST" => arguments.extend(GUEST.map(str::to_owned)),
                "BOOKING" => arguments.push(self.booking.clone()),
                "PAUSED" => arguments.push(self.paused.clone()),
                "SESSION" => arguments.push(self.session.clone()),
                word => arguments.push(word.replace('~', " ")),
            }
        }
        arguments
    }
}

/// Every command, with arguments that it can work with, and what it lacks where nobody may be
/// asked. A tilde in a word of them stands for a blank.
const LINES: &[&str] = &[
    "",
    "search dining --near Sandbox --at tomorrow~19:30",
    "search",
    "slots @1 --at tomorrow~19:30",
    "slots",
    "book @1 GUEST",
    "book @1 GUEST --dry-run",
    "book",
    "book @1",
    "batch -",
    "batch /nowhere/rows.csv",
    "show BOOKING",
    "show BOOKING PAUSED",
    "show bk_nobody",
    "watch BOOKING",
    "watch PAUSED",
    "continue PAUSED --otp 000000",
    "continue PAUSED",
    "modify BOOKING --party 3",
    "modify BOOKING",
    "cancel PAUSED",
    "cancel BOOKING --yes",
    "desk",
    "bookings",
    "bookings --open",
    "bookings forget",
    "bookings forget bk_nobody",
    "bookings forget --before 2100-01-01",
    "bookings forget BOOKING",
    "attempts",
    "attempts list",
    "attempts list --all",
    "journal recover",
    "limits",
    "journal",
    "journal status",
    "journal init",
    "journal copy",
    "journal copy --from /nowhere/journal.db",
    "attempts resume nobody",
    "attempts abandon nobody",
    "session",
    "session connect --end-user user_8 --phone +44~20~7946~0019",
    "session connect",
    "session verify SESSION --code 000000",
    "session verify SESSION",
    "session list",
    "session show SESSION",
    "session disconnect SESSION",
    "session disconnect SESSION --yes",
    "card SESSION",
    "card --end-user user_7",
    "webhook",
    "webhook verify --signature t=1",
    "webhook verify",
    "webhook sign",
    "webhook send booking.confirmed --to http://127.0.0.1:9/",
    "webhook send booking.confirmed --to http://127.0.0.1:9/ --dry-run",
    "webhook send",
    "webhook drill http://127.0.0.1:9/",
    "webhook drill",
    "webhook listen --ready-file /dev/null/nowhere",
    "webhook events",
    "webhook events list",
    "webhook events show evt_nobody",
    "webhook events replay evt_nobody --to http://127.0.0.1:9/",
    "webhook events replay --since 1h --to http://127.0.0.1:9/",
    "api GET /v1/",
    "api POST /v1/nowhere",
    "status",
    "explain",
    "explain 409",
    "completions",
    "help",
    "help exit-codes",
    "help privacy",
    "sandbox",
    "sandbox serve --database /dev/null/nowhere.db",
    "sandbox run -- true",
    "sandbox open",
    "sandbox inbox",
    "sandbox clock",
    "sandbox clock --advance 1s",
    "sandbox clock --freeze",
    "sandbox clock --resume",
    "sandbox keys",
    "sandbox bookings",
    "sandbox organization",
    "sandbox organization list",
    "sandbox organization add",
    "sandbox organization remove org_nobody",
    "sandbox faults",
    "sandbox faults list",
    "sandbox faults add --on GET~/v1/nowhere --kind drop_before",
    "sandbox faults remove flt_nobody",
    "sandbox faults clear",
    "sandbox deliveries",
    "sandbox deliveries list",
    "sandbox deliveries show evt_nobody",
    "sandbox deliveries resend evt_nobody",
    "sandbox requests",
    "sandbox requests show req_nobody",
    "sandbox report",
    "sandbox load no-such-file",
    "sandbox env",
    "sandbox reset",
    "sandbox set",
    "version",
];

/// Commands whose tests stand with them, because they need what these surroundings lack: a keyring,
/// other profiles. A completion script has the lines that it has, however narrow the terminal.
const ELSEWHERE: &[&str] = &["auth", "profile", "doctor", "completions"];

#[test]
fn the_lines_name_every_command() {
    for command in command_tree::commands() {
        let words = command.path.join(" ");
        let first = command.path.first().map_or("", String::as_str);
        if ELSEWHERE.contains(&first) {
            continue;
        }
        let named = |line: &&str| **line == words || line.starts_with(&format!("{words} "));
        assert!(LINES.iter().any(named), "`bookctl {words}` is missing here");
    }
}

/// What must hold of every end, wherever the command ran.
fn settles(line: &str, since: Instant, streams: [&str; 2]) {
    assert!(since.elapsed() < LONGEST, "`{line}` took {:?}", since.elapsed());
    for stream in streams {
        assert!(!stream.contains("panicked"), "{line}: {stream}");
    }
}

/// What must hold where nobody can be asked and nothing is coloured.
fn asks_nobody(line: &str, output: &Output) {
    for stream in [&output.stdout, &output.stderr] {
        assert!(!stream.contains('\u{1b}'), "`{line}` is coloured: {output}");
    }
    let asks = |text: &str| text.lines().any(|it| it.starts_with("? ") || it.contains("[y/N]"));
    assert!(!asks(&output.stderr), "`{line}` asks: {output}");
    assert!(!asks(&output.stdout), "`{line}` asks: {output}");
    assert!(output.code.is_some(), "{output}");
}

/// "exactly one JSON document"; "An error under `--json`: stdout empty, the last line of stderr is
/// one object" (command line, Output 3 and 4)
#[test]
fn under_json_there_is_one_document_or_one_error_object() {
    let surroundings = Surroundings::new(&[]);
    for line in LINES {
        let mut arguments = surroundings.arguments(line);
        // Behind `--` stands another program's own.
        let place = arguments.iter().position(|it| it == "--");
        arguments.insert(place.unwrap_or(arguments.len()), "--json".to_owned());
        let since = Instant::now();
        let output = surroundings.home.run(&arguments);
        settles(line, since, [&output.stdout, &output.stderr]);
        asks_nobody(line, &output);
        // Help is for people; and a program of one's own writes what it likes.
        if ["help", "sandbox run -- true"].contains(line) {
            continue;
        }
        if output.stdout.is_empty() {
            assert_ne!(output.code, Some(0), "{line}: {output}");
            let error = output.error();
            assert!(!text(&error, "message").is_empty(), "{line}: {output}");
        } else {
            assert_eq!(output.stdout.matches('\n').count(), 1, "{line}: {output}");
            output.json();
            let last = output.stderr.lines().last().unwrap_or_default();
            let object: Option<Value> = serde_json::from_str(last).ok();
            assert!(object.is_none(), "a document and an error: {output}");
        }
    }
}

#[test]
fn with_closed_standard_input_every_command_ends() {
    let surroundings = Surroundings::new(&[]);
    for line in LINES {
        let arguments = surroundings.arguments(line);
        let mut command = surroundings.home.program("bash");
        command.args(["-c", r#"exec "$@" <&-"#, "bash", env!("CARGO_BIN_EXE_bookctl")]);
        command.args(arguments).stdin(Stdio::null());
        let since = Instant::now();
        let output = Running::start(command).end();
        settles(line, since, [&output.stdout, &output.stderr]);
        asks_nobody(line, &output);
        let refused = output.code == Some(2);
        assert!(!refused || !output.stderr.is_empty(), "{line}: {output}");
    }
}

/// The lines in a terminal.
fn at_a_terminal(
    columns: u16,
    variables: &[(&str, &str)],
    check: impl Fn(&str, &crate::harness::Ended),
) {
    let surroundings = Surroundings::new(variables);
    for line in LINES {
        let arguments = surroundings.arguments(line);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let since = Instant::now();
        let ended = Terminal::of_width(&surroundings.home, columns, &arguments).end();
        settles(line, since, [&ended.screen, ""]);
        assert!(ended.restored, "{line}: {}", ended.screen);
        check(line, &ended);
    }
}

/// A terminal at which nobody sits: `CI`. No colour where `NO_COLOR` is set; nothing wider than the
/// terminal.
#[test]
fn narrow_terminal_without_color_or_prompts_breaks_nothing() {
    let variables = [("CI", "1"), ("NO_COLOR", "1")];
    at_a_terminal(40, &variables, |line, ended| {
        let questions = |it: &str| it.starts_with("? ");
        assert!(!ended.screen.lines().any(questions), "{line}: {}", ended.screen);
        assert!(!coloured(&ended.raw), "`{line}` is coloured: {:?}", ended.raw);
        // A long word is left whole, to be copied.
        let last_word = |line: &str| line.split_whitespace().last().map_or(0, str::len);
        let breakable = |line: &&String| last_word(line) < 20;
        let broken: Vec<&String> = ended.broken.iter().filter(breakable).collect();
        // Usage is the parser's own text, and its lines are to be copied; so are those of a JSON
        // document.
        let copied = ended.screen.contains("Usage:") || line.starts_with("api");
        assert!(copied || broken.is_empty(), "`{line}` is too wide: {broken:#?}");
    });
}

/// Whether there is a sequence that sets colours or weight.
pub(crate) fn coloured(raw: &str) -> bool {
    raw.split("\u{1b}[").skip(1).any(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';');
        end.is_some_and(|end| rest[end..].starts_with('m'))
    })
}
