//! The pipeline: arguments → [`cli::Cli`] → [`Plan`] → [`Startup`] → [`Parts`] → command → report
//! and exit code.

mod account;
mod app;
#[cfg(test)]
mod arbitrary;
mod booking;
mod cli;
mod config;
mod desk;
mod journal;
mod json;
mod outcome;
mod platform;
mod playground;
mod sandbox;
mod secrets;
mod service;
mod setup;
mod terminal;
mod webhook;

use std::ffi::OsString;
use std::future::Future;

use clap::CommandFactory;

use crate::app::plan::{Needs, Plan, ServiceNeed, ServiceRun};
use crate::app::{Parts, Startup};
use crate::cli::{Cli, completion};
use crate::config::Environment;
pub use crate::outcome::Exit;
use crate::outcome::{Code, Error, Result};
use crate::platform::system::process;
use crate::terminal::output::Output;

/// The commands with their arguments and help, as data: what manual pages are made of.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs one command line and says how it ended. `variable` reads the environment.
pub fn run(arguments: Vec<OsString>, variable: impl Fn(&str) -> Option<OsString>) -> Exit {
    process::prepare();
    platform::pace::set(variable("BOOKCTL_TEST_PACE"));
    journal::recent::set_shell(variable("BOOKCTL_TEST_SHELL"));
    // Not the place in the code, which says nothing to a person.
    std::panic::set_hook(Box::new(|_| {
        Output::trace("error: bookctl has a fault and could not go on; please report what you did");
    }));
    for argument in &arguments {
        let argument = argument.to_string_lossy();
        let value = argument.split_once('=').map(|(_, value)| value);
        secrets::register_if_key(value.unwrap_or(&argument));
    }
    let environment = Environment::read(variable);
    if let Some(shell) = completion::asking(&arguments, &environment) {
        return completion::answer(shell, &arguments, environment, Cli::command());
    }
    let cli = match cli::parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => return cli::report_usage(&error, &arguments, &environment),
    };
    let plain = cli.flags.report_only(&environment);
    execute(cli, environment).unwrap_or_else(|error| {
        plain.report(&error);
        error.exit
    })
}

fn execute(cli: Cli, environment: Environment) -> Result<Exit> {
    let out = cli.flags.output(&environment)?;
    match cli.command.plan() {
        Plan::Program(run) => run(&out, &|| cli::with_overview(cli::help_width())),
        Plan::Configuration(run) => Startup::new(&cli.flags, environment, out)
            .and_then(|startup| app::block_on(unless_interrupted(run(startup)))),
        Plan::Service(needs, run) => Startup::new(&cli.flags, environment, out)
            .and_then(|startup| app::block_on(run_with_service(startup, needs, run))),
    }
}

async fn run_with_service(startup: Startup, needs: Needs, run: ServiceRun) -> Result<Exit> {
    let parts = Parts::new(startup, needs.service, needs.only_reads)?;
    let api = &parts.api;
    let checked = async {
        if needs.service == ServiceNeed::Profile {
            api.refuse_sandbox().await?;
        }
        run(&parts).await
    };
    let outcome = if needs.is_server {
        checked.await.map_err(interrupted_instead)
    } else {
        unless_interrupted(checked).await
    };
    let outcome = outcome.map_err(|error| api.with_request(error));
    let batch = api.batch_progress.borrow();
    outcome.map_err(|error| api.in_flight.borrow().explain(error, batch.as_ref()))
}

async fn unless_interrupted(running: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let mut signals = app::listen_for_signals()?;
    tokio::select! {
        biased;
        exit = signals.next() => Err(Error::interrupted(exit)),
        outcome = running => outcome.map_err(interrupted_instead),
    }
}

/// What a signal ended while this thread was blocked failed for that reason alone.
fn interrupted_instead(error: Error) -> Error {
    match platform::signals::caught() {
        Some(exit) if error.code != Code::Interrupted => Error::interrupted(exit),
        _ => error,
    }
}
