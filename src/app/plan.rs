//! What a command needs before it runs, and how to run it then.

use std::pin::Pin;

use crate::app::{Parts, Startup};
pub(crate) use crate::config::ServiceNeed;
use crate::outcome::{Exit, Result};
use crate::terminal::output::Output;

pub(crate) enum Plan {
    /// Only the program itself, so that it works with a broken configuration.
    Program(ProgramRun),
    /// The configuration, which the command may repair. No service needs to be found in it.
    Configuration(Box<dyn FnOnce(Startup) -> Running<'static>>),
    Service(Needs, ServiceRun),
}

pub(crate) type ServiceRun = Box<dyn for<'a> FnOnce(&'a Parts) -> Running<'a>>;

pub(crate) type ProgramRun = Box<dyn FnOnce(&Output, &dyn Fn() -> clap::Command) -> Result<Exit>>;

pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<Exit>> + 'a>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) service: ServiceNeed,
    /// Whether the command is meant to run until a signal comes.
    pub(crate) is_server: bool,
    /// Whether the command changes nothing: its `@N` may be a row of another shell's list.
    pub(crate) only_reads: bool,
}

impl Needs {
    pub(crate) const fn from_service(service: ServiceNeed) -> Self {
        Needs { service, is_server: false, only_reads: false }
    }
}

impl Plan {
    pub(crate) fn program(
        run: impl FnOnce(&Output, &dyn Fn() -> clap::Command) -> Result<Exit> + 'static,
    ) -> Self {
        Plan::Program(Box::new(run))
    }

    pub(crate) fn configuration<A: 'static>(
        args: A,
        run: impl AsyncFnOnce(Startup, A) -> Result<Exit> + 'static,
    ) -> Self {
        Plan::Configuration(Box::new(move |setup| Box::pin(run(setup, args))))
    }

    pub(crate) fn service<A: 'static>(
        needs: Needs,
        args: A,
        run: impl AsyncFnOnce(&Parts, A) -> Result<Exit> + 'static,
    ) -> Self {
        Plan::Service(needs, Box::new(move |parts| Box::pin(run(parts, args))))
    }
}
