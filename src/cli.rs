//! The root parser, and what is said where the arguments do not fit.

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

pub(crate) use crate::commands::Command;
use crate::config::Environment;
use crate::error::Error;
use crate::exit::Exit;
use crate::flags::Flags;
use crate::output::{ColorChoice, Format, Output};

/// Search, book, pause, answer: a booking service from the command line, and the whole service as an offline
/// sandbox.
///
/// Without any configuration bookctl talks to an embedded sandbox: nothing is really booked.
#[derive(Parser, Debug)]
#[command(
    name = "bookctl",
    version,
    max_term_width = 100,
    subcommand_required = true,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) flags: Flags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Reports what clap could not parse, or prints the help and version it was asked for.
pub(crate) fn report_usage(
    error: &clap::Error,
    arguments: &[OsString],
    environment: &Environment,
) -> Exit {
    let wants_json = arguments
        .iter()
        .take_while(|argument| *argument != "--")
        .any(|argument| {
            argument == "--json"
                || argument == "--jq"
                || argument.to_string_lossy().starts_with("--jq=")
        });
    let asked_for_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) || (arguments.len() < 2
        && error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    if asked_for_help {
        let out = Output::of_process(Format::Human, ColorChoice::Auto, false, environment);
        return out
            .print_help(&error.render())
            .map_or_else(|error| error.exit, |()| Exit::Done);
    }
    let format = if wants_json {
        Format::Json
    } else {
        Format::Human
    };
    let out = Output::of_process(format, ColorChoice::Auto, false, environment);
    if wants_json {
        out.report(&Error::usage(first_sentence(error)).hint("see `bookctl --help`"));
    } else {
        out.print_usage(&error.render(), arguments);
    }
    Exit::Usage
}

/// clap's message without its label, usage and tips: one line.
fn first_sentence(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command is missing".to_owned();
    }
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_tree_is_well_formed() {
        Cli::command().debug_assert();
    }
}
