//! The flags that every command takes, once.

use std::time::Duration;

use clap::Args;

use crate::config::Environment;
use crate::outcome::{Error, Result};
use crate::service::time::duration;
use crate::terminal::output::{ColorChoice, Filter, Format, Output};

/// Flags that every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Flags {
    /// Use this profile, or `sandbox` [env: BOOKCTL_PROFILE]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Print JSON and never prompt
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Filter the JSON document and never prompt
    #[arg(long, global = true, value_name = "EXPR")]
    pub(crate) jq: Option<String>,
    /// Set the variable $NAME for --jq, repeatable
    #[arg(long = "arg", global = true, num_args = 2, value_names = ["NAME", "VALUE"], allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
    /// Fail instead of prompting [env: BOOKCTL_NO_INPUT]
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Hide notes and progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Show requests and responses on stderr, without secrets
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    /// Limit each request, or a `watch` [default: 30s; `watch` 30m]
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration::lasting)]
    pub(crate) timeout: Option<Duration>,
    /// Wait for a rate limit at most this long [default: 0; unlimited in a batch]
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration::duration)]
    pub(crate) max_wait: Option<Duration>,
    /// Choose when to use color
    #[arg(long, global = true, value_name = "MODE", value_enum, default_value_t)]
    pub(crate) color: ColorChoice,
    /// Fail instead of falling back to the sandbox [env: BOOKCTL_NO_SANDBOX]
    #[arg(long, global = true, hide = true)]
    pub(crate) no_sandbox: bool,
    /// Turn off the sandbox's rate limits and test quota [env: BOOKCTL_SANDBOX_NO_LIMITS]
    #[arg(long, global = true, hide = true)]
    pub(crate) no_limits: bool,
}

impl Flags {
    /// The output that was asked for. A filter that is none is refused before anything is sent.
    pub(crate) fn output(&self, environment: &Environment) -> Result<Output> {
        let format = match &self.jq {
            Some(source) => Format::Jq(Filter::parse(source, &self.arguments)?),
            None if !self.arguments.is_empty() => {
                return Err(Error::usage("--arg needs --jq").hint("add a filter: --jq EXPR"));
            }
            None if self.json => Format::Json,
            None => Format::Human,
        };
        let mut out = Output::of_process(format, self.color, self.quiet, environment);
        // It waits for keys.
        out.pager = out.pager.filter(|_| !self.no_input);
        Ok(out)
    }

    /// An output for errors, also for one about the filter.
    pub(crate) fn report_only(&self, environment: &Environment) -> Output {
        let is_json = self.json || self.jq.is_some();
        let format = if is_json { Format::Json } else { Format::Human };
        Output::of_process(format, self.color, self.quiet, environment)
    }
}
