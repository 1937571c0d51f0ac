//! The root parser: every global flag, once.

use std::ffi::OsString;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, Parser};

pub(crate) use crate::commands::Command;
use crate::config::Environment;
use crate::context;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::duration;
use crate::output::{ColorChoice, Format, Look, Output, Wants};

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
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Profile of config.toml to use; `sandbox` is the embedded sandbox [env: BOOKCTL_PROFILE]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Write exactly one JSON document; never ask
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Filter the JSON document with a jq expression; never ask
    #[arg(long, global = true, value_name = "EXPR")]
    pub(crate) jq: Option<String>,
    /// Never ask; what is missing is an error [env: BOOKCTL_NO_INPUT]
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Leave out notes and progress on stderr
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Show requests and answers on stderr, secrets left out
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    /// How long one request may take, such as 10s or 2m
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration::duration, default_value = "30s")]
    pub(crate) timeout: Duration,
    /// How long to wait where a rate limit is met
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration::duration, default_value = "0s")]
    pub(crate) max_wait: Duration,
    /// When to use colour
    #[arg(long, global = true, value_name = "MODE", value_enum, default_value_t)]
    pub(crate) color: ColorChoice,
    /// Refuse any sandbox: for scripts that must never book for show [env: BOOKCTL_NO_SANDBOX]
    #[arg(long, global = true)]
    pub(crate) no_sandbox: bool,
}

impl Global {
    /// An output for errors that come before anything else is known.
    pub(crate) fn report_only(&self, environment: &Environment) -> Output {
        let format = if self.json || self.jq.is_some() {
            Format::Json
        } else {
            Format::Human
        };
        output(format, self.color, self.quiet, environment)
    }
}

/// The process's two streams in this format.
pub(crate) fn output(
    format: Format,
    color: ColorChoice,
    quiet: bool,
    environment: &Environment,
) -> Output {
    let wants = Wants::new(color, environment);
    let terminal = context::Terminals::detect();
    let look = |is_terminal| Look::decide(wants, is_terminal, terminal.width);
    Output::new(format, look(terminal.stdout), look(terminal.stderr), quiet)
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
        let out = output(Format::Human, ColorChoice::Auto, false, environment);
        return out
            .print_help(&error.render())
            .map_or_else(|error| error.exit, |()| Exit::Done);
    }
    let format = if wants_json {
        Format::Json
    } else {
        Format::Human
    };
    let out = output(format, ColorChoice::Auto, false, environment);
    if wants_json {
        out.report(&Error::usage(first_sentence(error)).hint("see `bookctl --help`"));
    } else {
        out.print_usage(&error.render());
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
