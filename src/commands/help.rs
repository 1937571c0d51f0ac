use clap::ValueEnum;
use serde_json::{Value, json};

use crate::adapter::{Dialect, ReadKind, WriteKind};
use crate::config::Environment;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::sandbox::seed::Scenario;
use crate::terminal::output::{Output, Page, TableCell, View};

/// Explain a topic, or a command
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Topics: environment, exit-codes, output, sandbox, dialect, privacy\n\n\
    Examples:\n  \
    bookctl help exit-codes\n  \
    bookctl help sandbox clock"
)]
pub(crate) struct Args {
    /// A topic, or the words of a command
    #[arg(value_name = "TOPIC|COMMAND")]
    words: Vec<String>,
}

/// A help topic.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Topic {
    Environment,
    ExitCodes,
    Output,
    Sandbox,
    Dialect,
    Privacy,
}

pub(super) fn run(out: &Output, args: &Args, mut root: clap::Command) -> Result<Exit> {
    if let [word] = args.words.as_slice()
        && let Ok(topic) = Topic::from_str(word, false)
    {
        // `sandbox` is a command too. Its help is `bookctl sandbox --help`.
        out.emit(&Explained::of(topic))?;
        return Ok(Exit::Done);
    }
    root.build();
    let mut found = &root;
    for word in &args.words {
        found = found.find_subcommand(word).ok_or_else(|| {
            Error::usage(format!("there is no topic or command `{}`", word.escape_debug())).hint(
                "topics: environment, exit-codes, output, sandbox, dialect, privacy; commands: bookctl --help",
            )
        })?;
    }
    // Parsed as `--help`, to print the same text.
    let asked = ["bookctl"].into_iter();
    let asked = asked.chain(args.words.iter().map(String::as_str));
    if let Err(help) = root.try_get_matches_from(asked.chain(["--help"])) {
        out.print_help(&help.render())?;
    }
    Ok(Exit::Done)
}

/// A topic: a few sentences and a table, each of whose rows is a JSON object under `name`.
struct Explained {
    intro: &'static str,
    name: &'static str,
    headers: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Explained {
    fn of(topic: Topic) -> Self {
        match topic {
            Topic::Environment => Explained {
                intro: "A flag beats the environment, the environment beats config.toml. An empty variable counts \
                        as not set. config.toml, journal.db and sandbox.db stand in BOOKCTL_HOME where that is set, \
                        else in the platform's own folders.",
                name: "environment",
                headers: vec!["variable", "meaning"],
                rows: rows(
                    Environment::TABLE
                        .iter()
                        .map(|(name, meaning)| [*name, *meaning]),
                ),
            },
            Topic::ExitCodes => Explained {
                intro: "The service's own code outranks the HTTP status. With 8, 10 and 11 the booking stands on \
                        stdout as it does with 0.",
                name: "exit_codes",
                headers: vec!["code", "meaning", "the booking"],
                rows: Exit::ALL
                    .iter()
                    .map(|exit| {
                        vec![
                            exit.code().to_string(),
                            exit.meaning().to_owned(),
                            exit.certainty().to_owned(),
                        ]
                    })
                    .collect(),
            },
            Topic::Output => Explained {
                intro: "stdout carries the result alone; prompts, progress and notes go to stderr. Text from \
                        outside is shown with its control characters made visible.",
                name: "output",
                headers: vec!["where", "what"],
                rows: rows([
                    ["on a terminal", "a table, or a card with the state first"],
                    [
                        "in a pipe",
                        "the same without borders, tab-separated, nothing cut",
                    ],
                    [
                        "--json",
                        "exactly one JSON document, the service's own where there is one",
                    ],
                    ["--jq EXPR", "what the filter gives, strings without quotes"],
                    ["a failure", "one sentence, what came with it, and a hint"],
                    [
                        "a failure under --json",
                        "an empty stdout; the last line of stderr is {\"error\": {…}}",
                    ],
                ]),
            },
            Topic::Sandbox => Explained {
                intro: "Without any configuration bookctl talks to the service in its own binary. Its scenario \
                        venues are `ven_` and the scenario's name, and reach every outcome on purpose; `bookctl \
                        sandbox inbox` shows the codes that it texts, `bookctl sandbox clock` moves its time.",
                name: "scenarios",
                headers: vec!["scenario", "what a booking there does"],
                rows: rows(
                    Scenario::ALL
                        .iter()
                        .map(|scenario| [scenario.name(), scenario.describe()]),
                ),
            },
            Topic::Dialect => Explained {
                intro: "What the service's specification leaves open. A profile sets its own names under \
                        [profiles.NAME.dialect] in config.toml, and jq expressions under [profiles.NAME.read] and \
                        [profiles.NAME.write]. `bookctl profile set` changes them, and `bookctl profile learn` finds \
                        them by reading.",
                name: "dialect",
                headers: vec!["key", "default", "used for"],
                rows: adapter_rows(),
            },
            Topic::Privacy => Explained {
                intro: "What stays on this machine, and for how long. `retention` in config.toml, in a profile or for \
                        all, and `book --retention` say how long guests are remembered after a create: 90d unless \
                        said; 0 keeps nothing of them once it is settled. What is older goes with the next create.",
                name: "privacy",
                headers: vec!["what", "where", "until"],
                rows: rows([
                    [
                        "guests, and bookings as last seen",
                        "journal.db",
                        "retention is over, or `bookctl bookings forget`; id and status may stay",
                    ],
                    [
                        "guests of attempts not settled",
                        "journal.db",
                        "they are settled or given up: `bookctl attempts`",
                    ],
                    [
                        "venues and slots; they name no guest",
                        "journal.db",
                        "replaced; slots for 30 days",
                    ],
                    [
                        "bookings of the embedded sandbox",
                        "sandbox.db",
                        "`bookctl sandbox reset`",
                    ],
                    [
                        "keys and webhook secrets",
                        "the keyring, or secrets.toml by choice",
                        "`bookctl auth logout`",
                    ],
                    ["one-time codes and payment answers", "nowhere", ""],
                ]),
            },
        }
    }
}

/// The settings of a profile's adapter: names, expressions by kind, and how times are read.
fn adapter_rows() -> Vec<Vec<String>> {
    let names = Dialect::TABLE
        .iter()
        .map(|(key, default, meaning)| [*key, *default, *meaning].map(str::to_owned).to_vec());
    let read = ReadKind::TABLE.iter().map(|(_, kind, what)| {
        let meaning = format!("expression that reads {what}");
        vec![format!("read.{kind}"), String::new(), meaning]
    });
    let write = WriteKind::TABLE.iter().map(|(_, kind, what)| {
        let meaning = format!("expression that writes {what}");
        vec![format!("write.{kind}"), String::new(), meaning]
    });
    let times = "whether times without an offset are the venue's own, in requests as well";
    let times = ["local_times", "false", times].map(str::to_owned).to_vec();
    names.chain(read).chain(write).chain([times]).collect()
}

fn rows<const N: usize>(rows: impl IntoIterator<Item = [&'static str; N]>) -> Vec<Vec<String>> {
    rows.into_iter()
        .map(|row| row.map(str::to_owned).to_vec())
        .collect()
}

impl View for Explained {
    fn json(&self) -> Document {
        let rows = self.rows.iter().map(|row| {
            let cells = self.headers.iter().zip(row);
            Value::Object(
                cells
                    .map(|(header, cell)| (header.replace(' ', "_"), json!(cell)))
                    .collect(),
            )
        });
        json!({ self.name: rows.collect::<Vec<_>>() }).into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.line(self.intro);
        page.line("");
        let rows = self.rows.iter();
        let rows = rows.map(|row| {
            row.iter()
                .map(|cell| TableCell::from(cell.as_str()))
                .collect()
        });
        page.table(self.headers.clone(), rows.collect(), vec![]);
        page
    }
}
