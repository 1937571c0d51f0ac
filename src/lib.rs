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
mod private_file;
mod prompt;
mod sandbox;
mod secrets;
mod setup;
mod situation;
mod view;
mod walk;

use std::ffi::OsString;
use std::future::Future;

use clap::{CommandFactory, Parser};

use cli::Cli;
use config::Environment;
use context::{Context, Signals};
use error::{Error, Result};
pub use exit::Exit;
use setup::Setup;

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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::io("the runtime cannot be started", &error));
    let outcome = runtime.and_then(|runtime| {
        let setup = Setup::new(&cli.flags, environment)?;
        let outcome = runtime.block_on(run_until_interrupted(setup, cli.command));
        // A prompt or a keyring that nobody waits for any more may still be at it on its own thread.
        runtime.shutdown_background();
        outcome
    });
    outcome.unwrap_or_else(|error| {
        plain.report(&error);
        error.exit
    })
}

/// The command, unless Ctrl-C or SIGTERM comes first.
async fn run_until_interrupted(setup: Setup, command: cli::Command) -> Result<Exit> {
    if command.needs_no_service() {
        return unless_interrupted(commands::run_with_setup(setup, command)).await;
    }
    let context = Context::new(setup)?;
    let outcome = if command.ends_by_signal() {
        commands::run(&context, command).await
    } else {
        unless_interrupted(commands::run(&context, command)).await
    };
    outcome.map_err(|error| context.situation.borrow().explain(error))
}

async fn unless_interrupted(running: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let mut signals = Signals::listen()?;
    tokio::select! {
        biased;
        exit = signals.next() => Err(Error::interrupted(exit)),
        outcome = running => outcome,
    }
}
