use clap::Args as _;
use serde_json::{Value, json};

use super::explain::explained;
use crate::app::flags::Flags;
use crate::config::Environment;
use crate::json::Document;
use crate::outcome::similar::did_you_mean;
use crate::outcome::{Error, Exit, Result};
use crate::sandbox::seed::Scenario;
use crate::service::mapping::{Dialect, ReadKind, WriteKind};
use crate::terminal::output::{Output, Page, TableCell, View};

/// Show help for a topic or a command
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Topics: environment, exit-codes, output, json, jq, outcomes, mapping, privacy, flags\n\n\
    Examples:\n  \
    bookctl help exit-codes\n  \
    bookctl help sandbox clock"
)]
pub(crate) struct Args {
    /// Topic, or command such as `sandbox clock`
    #[arg(value_name = "TOPIC|COMMAND")]
    words: Vec<String>,
}

pub(crate) const TOPICS: [&str; 9] = [
    "environment",
    "exit-codes",
    "output",
    "json",
    "jq",
    "outcomes",
    "mapping",
    "privacy",
    "flags",
];

pub(crate) fn run(out: &Output, args: &Args, mut root: clap::Command) -> Result<Exit> {
    if let [word] = args.words.as_slice() {
        if let Some(topic) = topic(word) {
            return out.emit_long(&topic);
        } else if word.parse::<u16>().is_ok() {
            return out.emit_long(&explained(Some(word))?);
        }
    }
    root.build();
    let mut found = &root;
    for word in &args.words {
        found = found.find_subcommand(word).ok_or_else(|| unknown(word, found))?;
    }
    // Parsed as `--help`, to print the same text.
    let requested = ["bookctl"].into_iter().chain(args.words.iter().map(String::as_str));
    let help = root.try_get_matches_from(requested.chain(["--help"]));
    help.map_or_else(|help| out.emit_help(&help.render()), |_| Ok(Exit::Done))
}

fn unknown(word: &str, above: &clap::Command) -> Error {
    let mut names: Vec<&str> = above.get_subcommands().map(clap::Command::get_name).collect();
    let bin = above.get_bin_name().unwrap_or("bookctl");
    let mut all = format!("list the commands with: {bin} --help");
    if above.get_name() == "bookctl" {
        all = format!("topics: {}; {all}", TOPICS.join(", "));
        names.extend(TOPICS);
    }
    let what = format!("unknown topic or command `{}`", word.escape_debug());
    Error::usage(what).hint(did_you_mean(word, names).unwrap_or(all))
}

/// A few sentences and a table, each of whose rows is a JSON object under `name`.
struct Topic {
    name: &'static str,
    intro: &'static str,
    headers: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

fn topic(name: &str) -> Option<Topic> {
    let topic = |name, intro, headers, rows| Topic { name, intro, headers, rows };
    Some(match name {
        "environment" => topic(
            "environment",
            "Flags override environment variables, which override config.toml. An empty variable counts as unset. \
             config.toml, journal.db, recent.db and sandbox.db are in BOOKCTL_HOME if it is set, otherwise in the \
             platform's standard folders.",
            &["variable", "meaning"],
            rows(Environment::TABLE.iter().map(|it| [it.0, it.1])),
        ),
        "exit-codes" => topic(
            "exit_codes",
            "The service's error code decides before the HTTP status. With 0, 8, 10 and 11, stdout has the booking.",
            &["code", "meaning", "the booking"],
            rows(Exit::ALL.iter().map(|exit| {
                [&exit.code().to_string(), exit.meaning(), exit.certainty()].map(str::to_owned)
            })),
        ),
        "output" => topic(
            "output",
            "Only the result goes to stdout; prompts, progress and notes go to stderr. Control characters in text from \
             outside are made visible.",
            &["where", "what"],
            lines(
                "on a terminal | a table, or a card that starts with the status\n\
                 in a pipe | the same, tab-separated and never truncated\n\
                 --json | one JSON document (`watch` and `batch`: one a line), the service's own if there is one\n\
                 --jq EXPR | the results of the filter, strings without quotes\n\
                 an error | one sentence, its details, and a hint\n\
                 an error under --json | stdout is empty; the last line of stderr is {\"error\": {…}}",
            ),
        ),
        "json" => topic(
            "json",
            "The documents that are bookctl's own; others are the service's, unchanged. `[]` stands for each element, and \
             fields with `?` may be absent or null. Times are RFC 3339, in UTC.",
            &["command", "field", "type", "meaning"],
            lines(include_str!("documents.txt")),
        ),
        "jq" => topic(
            "jq",
            "Filters of --jq run in bookctl, by jaq 3. They see the result and nothing else.",
            &["what", "how it differs from jq"],
            lines(
                "$ENV, env | the environment without bookctl's secrets\n\
                 --arg NAME VALUE | sets $NAME, as in jq\n\
                 strings | always without quotes, as with jq -r\n\
                 input, inputs, halt, halt_error, debug, stderr | not there\n\
                 import, include | not there\n\
                 limits | 5 seconds, 512 MB of memory, 64 MB of output\n\
                 a filter that fails | the command was carried out: exit code 1, and the document in the error's `body`",
            ),
        ),
        "outcomes" => topic(
            "outcomes",
            "Without any configuration, bookctl uses its sandbox, and nothing is really booked. The venue \
             decides the outcome: its id is `ven_` and the scenario's name, such as `ven_otp`. `bookctl sandbox inbox` \
             shows the one-time codes, and `bookctl sandbox clock` moves the time.",
            &["scenario", "what a booking there does"],
            rows(Scenario::all().map(|it| [it.name(), it.describe()])),
        ),
        "mapping" => topic(
            "mapping",
            "Header, field and provider names that differ between services. A profile sets its own names under \
             [profiles.NAME.dialect] in config.toml, and jq expressions under [profiles.NAME.read] and \
             [profiles.NAME.write]. `bookctl profile set` changes them, and `bookctl profile learn` shows what a service \
             sends.",
            &["key", "default", "used for"],
            mapping_rows(),
        ),
        "privacy" => topic(
            "privacy",
            "What bookctl stores on this computer, and for how long. Guests are kept for 90 days after a booking request. \
             Change that with `retention` in config.toml, for all profiles or for one; 0 keeps no guest once the outcome is known. Each booking request deletes older guests.",
            &["what", "where", "until"],
            lines(
                "guests, and bookings as last seen | journal.db | the retention ends, or `bookctl bookings forget`; id \
                 and status may stay\n\
                 guests of unresolved requests | journal.db | `bookctl attempts resume` or `abandon`\n\
                 venues and slots, without guests | recent.db | the next search; slots for 30 days\n\
                 bookings of the sandbox | sandbox.db | `bookctl sandbox reset`\n\
                 keys and webhook secrets | the keyring, or secrets.toml with --storage file | `bookctl auth logout`\n\
                 one-time codes and payment answers | nowhere | ",
            ),
        ),
        "flags" => {
            topic("flags", "Every command accepts these flags.", &["flag", "meaning"], flag_rows())
        }
        _ => return None,
    })
}

fn flag_rows() -> Vec<Vec<String>> {
    let flags = clap::Command::new("bookctl").disable_help_flag(true);
    let mut flags = Flags::augment_args(flags);
    // Without it, clap cannot name a flag's value.
    flags.build();
    let displayed = flags.get_arguments().filter(|flag| !flag.is_hide_set()).map(|flag| {
        let short = flag.get_short().map(|it| format!("-{it} "));
        let help = flag.get_help().map(ToString::to_string);
        let name = short.unwrap_or_default() + &flag.to_string();
        [name, help.unwrap_or_default()]
    });
    rows(displayed)
}

/// The settings of a profile's mapping: names, expressions by kind, and how times are read.
fn mapping_rows() -> Vec<Vec<String>> {
    let mut all = rows(Dialect::TABLE.iter().map(|it| [it.0, it.1, it.2]));
    let read = ReadKind::TABLE.iter().map(|it| ("read", it.1, it.2));
    let written = WriteKind::TABLE.iter().map(|it| ("write", it.1, it.2));
    for (does, kind, what) in read.chain(written) {
        let meaning = format!("expression that {does}s {what}");
        all.push(vec![format!("{does}.{kind}"), String::new(), meaning]);
    }
    let times = "whether times without an offset are the venue's own, in requests as well";
    all.extend(rows([["local_times", "false", times]]));
    all
}

fn rows<const N: usize, T: Into<String>>(
    rows: impl IntoIterator<Item = [T; N]>,
) -> Vec<Vec<String>> {
    rows.into_iter().map(|row| row.map(Into::into).into()).collect()
}

/// A row a line, whose cells are parted by bars.
fn lines(table: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.split(" | ").map(str::to_owned).collect();
    table.lines().map(cells).collect()
}

impl View for Topic {
    fn json(&self) -> Document {
        let rows = self.rows.iter().map(|row| {
            let cells = self.headers.iter().zip(row);
            let object = cells.map(|(header, cell)| (header.replace(' ', "_"), json!(cell)));
            Value::Object(object.collect())
        });
        json!({ self.name: rows.collect::<Vec<_>>() }).into()
    }

    fn draw(&self, page: &mut Page) {
        page.line(self.intro).line("");
        let cells = |row: &Vec<String>| row.iter().cloned().map(TableCell::from).collect();
        page.table(self.headers.to_vec(), self.rows.iter().map(cells).collect(), vec![]);
    }
}
