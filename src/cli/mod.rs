//! The root parser, and errors in the arguments.

pub(crate) mod commands;
pub(crate) mod completion;
// They run bash.
#[cfg(test)]
#[cfg(unix)]
mod example_tests;
pub(crate) mod overview;

use std::borrow::Cow;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};
use serde::Serialize;

use crate::app::flags::Flags;
use crate::config::Environment;
use crate::outcome::similar::{either, meant};
use crate::outcome::{Error, Exit};
use crate::platform::shell;
use crate::secrets::register_secret;
use crate::terminal::output::{ColorChoice, Draw, Format, Output, Page, Terminals};
pub(crate) use commands::Command;

#[derive(Parser, Debug)]
#[command(
    name = "bookctl",
    version,
    about,
    long_about = concat!(
        env!("CARGO_PKG_DESCRIPTION"),
        "\n\nWithout configuration, bookctl uses its sandbox, and nothing is really booked."
    ),
    disable_version_flag = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  \
    bookctl book                   # asks for everything it needs\n  \
    bookctl show @last             # what happened?\n  \
    bookctl sandbox serve          # an API for your client"
)]
pub(crate) struct Cli {
    /// Print the version, with --verbose how it was built
    #[arg(long, short = 'V', action = clap::ArgAction::Version)]
    version: Option<bool>,
    #[command(flatten)]
    pub(crate) flags: Flags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const WIDEST_HELP: usize = 100;

/// Parses the arguments. Only the given command's are built (`defer`): to build all takes as long
/// as the rest of a read.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    // The overview is laid out only where help may be asked for.
    let may_ask_for_help = arguments.iter().any(|argument| {
        let flag = argument.as_encoded_bytes().strip_prefix(b"-").unwrap_or_default();
        flag.starts_with(b"-h") || !flag.starts_with(b"-") && flag.contains(&b'h')
    });
    let mut command = if arguments.len() < 2 || may_ask_for_help {
        with_overview(help_width())
    } else {
        Cli::command()
    };
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

pub(crate) fn help_width() -> usize {
    let terminals = Terminals::detect();
    if terminals.stdout || terminals.stderr {
        terminals.width.min(WIDEST_HELP)
    } else {
        WIDEST_HELP
    }
}

/// The parser with the overview of all commands as its help, for this many columns.
pub(crate) fn with_overview(columns: usize) -> clap::Command {
    let whole = Cli::command().term_width(columns);
    let overview = overview::template(&whole, columns);
    // What every command accepts stands in `help flags` alone.
    let hidden = |arg: clap::Arg| if arg.is_global_set() { arg.hide(true) } else { arg };
    whole.mut_args(hidden).help_template(overview)
}

/// The command that the arguments name, as far as they parse, and its path, for the hint.
fn named<'a>(arguments: &[OsString], whole: &'a clap::Command) -> (&'a clap::Command, String) {
    let parsed = Cli::command().ignore_errors(true).try_get_matches_from(arguments);
    let parsed = parsed.unwrap_or_default();
    let (mut command, mut path, mut matches) = (whole, "bookctl".to_owned(), &parsed);
    while let Some((name, inner)) = matches.subcommand() {
        command = command.find_subcommand(name).unwrap_or(command);
        path = format!("{path} {name}");
        matches = inner;
    }
    (command, path)
}

pub(crate) fn report_usage(
    error: &clap::Error,
    arguments: &[OsString],
    environment: &Environment,
) -> Exit {
    // What follows `--` belongs to another program.
    let own = arguments.iter().take_while(|argument| *argument != "--");
    let own: Vec<_> = own.map(|argument| argument.to_string_lossy()).collect();
    let is_json = |it: &Cow<'_, str>| matches!(it.split('=').next(), Some("--json" | "--jq"));
    let is_verbose = |it: &Cow<'_, str>| matches!(&**it, "--verbose" | "-v" | "-vV" | "-Vv");
    let asked_for_help = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => arguments.len() < 2,
        _ => false,
    };
    let is_json = !asked_for_help && own.iter().any(is_json);
    let format = if is_json { Format::Json } else { Format::Human };
    let out = Output::of_process(format, color(&own), false, environment);
    if asked_for_help {
        let is_detailed = error.kind() == ErrorKind::DisplayVersion && own.iter().any(is_verbose);
        let details = || Version::of_program().text().into();
        return out.print_help(&if is_detailed { details() } else { error.render() });
    }
    register_secret_arguments(arguments);
    out.report(&usage_error(error, arguments));
    Exit::Usage
}

/// What a report of a bug needs to say about the program. What was built is from `build.rs`.
#[derive(Serialize)]
pub(crate) struct Version {
    version: &'static str,
    commit: &'static str,
    target: &'static str,
    profile: &'static str,
    sqlite: &'static str,
    tls: String,
}

impl Version {
    pub(crate) fn of_program() -> Self {
        Version {
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("BUILT_COMMIT"),
            target: env!("BUILT_TARGET"),
            profile: env!("BUILT_PROFILE"),
            sqlite: rusqlite::version(),
            tls: format!("rustls {} with ring {}", env!("BUILT_RUSTLS"), env!("BUILT_RING")),
        }
    }

    fn text(&self) -> String {
        let Version { version, commit, target, profile, sqlite, tls } = self;
        format!(
            "bookctl {version}\ncommit {commit}\ntarget {target}\nprofile {profile}\nsqlite {sqlite}\ntls {tls}\n"
        )
    }
}

impl Draw for Version {
    fn draw(&self, page: &mut Page) {
        for line in self.text().lines() {
            page.line(line);
        }
    }
}

/// The value of `--color` among arguments that were not parsed.
fn color(own: &[Cow<'_, str>]) -> ColorChoice {
    let chosen = own.iter().enumerate().find_map(|(place, argument)| {
        let value = match argument.as_ref() {
            "--color" => own.get(place + 1)?,
            argument => argument.strip_prefix("--color=")?,
        };
        ColorChoice::from_str(value, false).ok()
    });
    chosen.unwrap_or(ColorChoice::Auto)
}

/// clap's error in the form of all others: what happened, then a hint.
fn usage_error(error: &clap::Error, arguments: &[OsString]) -> Error {
    let mut whole = Cli::command();
    whole.build();
    let (command, path) = named(arguments, &whole);
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
    ) {
        let usage = Error::usage(format!("`{path}` needs a command"));
        // The names of all commands would be too many.
        return usage.hint(if command.get_name() == whole.get_name() {
            format!("see `{path} --help`")
        } else {
            // `pass init, copy or status`
            let displayed = command.get_subcommands().filter(|it| !it.is_hide_set());
            let names = displayed.map(clap::Command::get_name).filter(|it| *it != "help");
            let names = either(&names.collect::<Vec<_>>()).unwrap_or_default();
            format!("pass {names}; see `{path} --help`")
        });
    }
    let usage = Error::usage(first_sentence(error));
    let meant = suggestion(error, command, &path, arguments);
    usage.hint(match meant {
        Some(meant) => format!("{meant} See `{path} --help`"),
        None => format!("see `{path} --help`"),
    })
}

/// `did you mean '--party'?`, or what else clap's error of `command` at `path` needs to say.
fn suggestion(
    error: &clap::Error,
    command: &clap::Command,
    path: &str,
    arguments: &[OsString],
) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let wrong = text(ContextKind::InvalidArg);
    if !wrong.is_empty() && !wrong.starts_with('-') {
        let is_before =
            |flag: &str| arguments.windows(2).any(|pair| pair[0] == flag && pair[1] == wrong);
        let flags = command.get_arguments().filter(|it| it.is_require_equals_set());
        let mut flags = flags.filter_map(|it| Some(format!("--{}", it.get_long()?)));
        return match flags.find(|it| is_before(it)) {
            Some(flag) => Some(format!("write {flag}={wrong}.")),
            None if command.get_arguments().any(clap::Arg::is_last_set) => {
                Some(format!("put the command to run after --: {path} -- {wrong}."))
            }
            None => {
                let takes_text = command.get_positionals().any(|it| it.get_id() == "booking");
                takes_text.then(|| "put a text of several words in quotes.".to_owned())
            }
        };
    }
    let subcommand = text(ContextKind::InvalidSubcommand);
    if subcommand == "config" {
        return Some("did you mean 'profile set'?".to_owned());
    }
    let mut found = Vec::new();
    for kind in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue] {
        match error.get(kind) {
            Some(ContextValue::String(one)) => found.push(one.as_str()),
            Some(ContextValue::Strings(many)) => {
                found.extend(many.iter().rev().map(String::as_str))
            }
            _ => {}
        }
    }
    // clap compares spellings: a flag with another first letter is rarely what was meant.
    let flag = text(ContextKind::SuggestedArg);
    if flag.get(..3).is_some_and(|start| wrong.starts_with(start)) {
        found.push(flag);
    }
    let takes_value = |it: &OsString| {
        let name = it.to_str().and_then(|it| it.strip_prefix("--"));
        let mut flags = command.get_arguments().filter(|it| it.get_action().takes_values());
        name.is_some_and(|name| flags.any(|it| it.get_long() == Some(name)))
    };
    meant(found.into_iter()).or_else(|| {
        let mut pairs = arguments.windows(2).filter(|pair| takes_value(&pair[0]));
        let is_wrong = |value: &str| !wrong.is_empty() && value.starts_with(wrong);
        let pair = pairs.find(|pair| is_wrong(&pair[1].to_string_lossy()))?;
        let [flag, value] = [0, 1].map(|it| pair[it].to_string_lossy());
        let written = shell::flag(&flag, &value);
        Some(format!("to pass a value that begins with `-`, write {written}."))
    })
}

/// The flags that take a secret, including ones that do not exist but that people may try.
const SECRET_FLAGS: &str =
    "--otp --otp-stdin --code --code-stdin --psp-response --key-stdin --webhook-secret-stdin";

/// Redacts secrets in the arguments, because clap repeats invalid arguments in its errors.
fn register_secret_arguments(arguments: &[OsString]) {
    let arguments: Vec<_> = arguments.iter().map(|it| it.to_string_lossy()).collect();
    let takes_a_code = arguments.iter().any(|it| it == "continue" || it == "verify");
    for (place, argument) in arguments.iter().enumerate() {
        if takes_a_code && argument.bytes().all(|byte| byte.is_ascii_digit()) {
            register_secret(argument);
        }
        let next = arguments.get(place + 1).map(AsRef::as_ref);
        let (flag, value) = match argument.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (argument.as_ref(), next),
        };
        let value = value.filter(|value| !value.starts_with("--"));
        if let Some(value) = value.filter(|_| SECRET_FLAGS.split(' ').any(|it| it == flag)) {
            register_secret(value);
        }
    }
}

/// clap's message without its label, usage and tips, on one line.
fn first_sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let argument = error.get(ContextKind::InvalidArg);
    if let (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) =
        (error.kind(), argument)
    {
        let s = if missing.len() == 1 { "" } else { "s" };
        let named = missing.join(", ").replace('|', " or ");
        return format!("missing argument{s}: {}", named.replace(['<', '>'], ""));
    }
    let source = std::error::Error::source(error);
    // Our own sentence repeats the value.
    let why = source.map(ToString::to_string).unwrap_or_default();
    if let Some(ContextValue::String(flag)) = argument.filter(|_| why.starts_with('`')) {
        let why: Vec<&str> = why.split_whitespace().collect();
        return format!("{flag}: {}", why.join(" "));
    }
    let Some(number) = source.and_then(|it| it.downcast_ref::<ParseIntError>()) else {
        return first;
    };
    let why = match number.kind() {
        IntErrorKind::PosOverflow => "the number is too large",
        IntErrorKind::NegOverflow => "the number is too small",
        _ => "it is not a whole number",
    };
    first.replace(&number.to_string(), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_tree_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_command_that_was_meant_is_named() {
        for (line, command) in [
            ("bookctl", "bookctl"),
            ("bookctl cancel", "bookctl cancel"),
            ("bookctl --json get bk_1 --nonsense", "bookctl show"),
            ("bookctl --profile show session verify", "bookctl session verify"),
            ("bookctl -q --jq=show explain show", "bookctl explain"),
            ("bookctl nonsense show", "bookctl"),
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let mut whole = Cli::command();
            whole.build();
            assert_eq!(named(&arguments, &whole).1, command, "{line}");
        }
    }

    #[test]
    fn usage_error_names_each_missing_argument() {
        for (arguments, wording) in [
            (&["webhook", "drill"][..], "missing argument: URL"),
            (
                &["search", "--at", "fri 19:00"],
                "missing arguments: --near PLACE or --lat DEGREES, VERTICAL",
            ),
            (&["book", "ven_1", "--at", "it's ': `x"], "--at <WHEN>: `it's` is not understood"),
        ] {
            let line = [&["bookctl"], arguments].concat();
            let error = first_sentence(&Cli::try_parse_from(line).unwrap_err());
            assert!(error.starts_with(wording), "{error}");
        }
    }

    #[test]
    fn a_text_that_is_no_number_is_refused_in_plain_words() {
        for (limit, why) in [
            ("x", "it is not a whole number"),
            ("", "it is not a whole number"),
            ("99999999999999999999", "the number is too large"),
        ] {
            let line = ["bookctl", "bookings", "--limit", limit];
            let error = Cli::try_parse_from(line).unwrap_err();
            let wording = first_sentence(&error);
            assert!(wording.ends_with(&format!(": {why}")), "{wording}");
        }
    }
}
