//! bookctl: the command line of a booking service, with the whole service as an offline sandbox in the same binary.
//!
//! The pipeline: arguments → [`cli::Cli`] → [`context::Context`] → command → report and exit code.

mod api;
mod catalog;
mod cli;
mod commands;
mod config;
mod context;
mod error;
mod exit;
mod flags;
mod journal;
mod model;
mod output;
mod prompt;
mod sandbox;
mod secrets;
mod situation;
mod view;
mod walk;

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use cli::Cli;
use config::Environment;
use context::Context;
use error::{Error, Result};
pub use exit::Exit;

/// Runs one command line and says how it ended. `variable` reads the environment.
pub fn run(arguments: Vec<OsString>, variable: impl Fn(&str) -> Option<OsString>) -> Exit {
    let environment = Environment::read(variable);
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return cli::report_usage(&error, &arguments, &environment),
    };
    let plain = cli.flags.report_only(&environment);
    if let Some(outcome) = cli
        .command
        .run_without_configuration(&plain, Cli::command())
    {
        return outcome.unwrap_or_else(|error| {
            plain.report(&error);
            error.exit
        });
    }
    let context = match Context::new(&cli.flags, environment.clone()) {
        Ok(context) => context,
        Err(error) => {
            plain.report(&error);
            return error.exit;
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            let error = Error::io("the runtime cannot be started", &error);
            context.out.report(&error);
            return error.exit;
        }
    };
    let outcome = runtime.block_on(run_until_interrupted(&context, cli.command));
    // A prompt that nobody answers any more may still be reading on its own thread.
    runtime.shutdown_background();
    outcome.unwrap_or_else(|error| {
        let error = context.situation.borrow().explain(error);
        context.out.report(&error);
        error.exit
    })
}

/// The command, unless Ctrl-C or SIGTERM comes first.
async fn run_until_interrupted(context: &Context, command: cli::Command) -> Result<Exit> {
    if command.ends_by_signal() {
        return commands::run(context, command).await;
    }
    tokio::select! {
        biased;
        exit = context::signal() => Err(Error::interrupted(exit)),
        outcome = commands::run(context, command) => outcome,
    }
}
