//! The first page of help. It is kept ready as it is on a terminal of 100 columns and more, and in a pipe, because to lay it
//! out takes as long as all else that `bookctl --help` does.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::builder::StyledStr;

use super::Cli;
use crate::commands;
use crate::config::Environment;
use crate::outcome::Exit;
use crate::terminal::output::{ColorChoice, Format, Output, Terminals};

/// The page with its colours. The test below writes it with `UPDATE_DOCS=1`.
const READY: &str = include_str!("first_page.txt");

/// The widest that help is laid out.
pub(super) const WIDEST: usize = 100;

/// Writes the page if it is all that the arguments ask for, and the one that is ready has the right width.
pub(crate) fn alone(arguments: &[OsString], environment: &Environment) -> Option<Exit> {
    match arguments {
        [_, only] if only == "--help" => {}
        _ => return None,
    }
    if help_width(environment) < WIDEST {
        return None;
    }
    let out = Output::of_process(Format::Human, ColorChoice::Auto, false, environment);
    let written = out.print_help(&StyledStr::from(READY));
    Some(out.reported(written))
}

/// How many columns help has, at most [`WIDEST`]: those of the terminal, else those of the variable.
pub(crate) fn help_width(environment: &Environment) -> usize {
    let terminals = Terminals::detect();
    if terminals.stdout || terminals.stderr {
        return terminals.width.min(WIDEST);
    }
    let columns = environment.columns.as_ref();
    let columns = columns.and_then(|it| it.to_str()?.parse().ok());
    let columns = columns.filter(|it| *it > 0);
    columns.map_or(WIDEST, |it: usize| it.min(WIDEST))
}

/// The parser with the overview of all commands as its help, for this many columns.
pub(crate) fn with_first_page(columns: usize) -> clap::Command {
    let whole = Cli::command().term_width(columns);
    let overview = commands::template(&whole, columns);
    whole.help_template(overview)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_is_ready_is_the_one_that_the_parser_lays_out() {
        let mut parser = with_first_page(WIDEST);
        let page = parser.render_long_help().ansi().to_string();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write("src/cli/first_page.txt", &page).unwrap();
            return;
        }
        assert_eq!(
            page, READY,
            "UPDATE_DOCS=1 cargo test --lib first_page writes it anew"
        );
    }
}
