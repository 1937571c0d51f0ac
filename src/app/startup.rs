//! What exists before a service is chosen. Commands that repair the configuration use only this.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use crate::app::flags::Flags;
use crate::config::{Environment, Paths, ServiceNeed, Target, TargetOptions, resolve};
use crate::outcome::{Error, Exit, Result};
use crate::platform::lock_wait::LockWaitSettings;
use crate::platform::ownership;
use crate::terminal::output::{Output, Terminals, View};
use crate::terminal::prompt::Prompter;

/// The parts of a [`Context`](super::Context) that do not depend on a service.
pub(crate) struct Startup {
    pub(crate) out: Output,
    pub(crate) prompter: Prompter<'static>,
    pub(crate) environment: Environment,
    pub(crate) paths: Paths,
    pub(crate) options: TargetOptions,
    pub(crate) stdin_is_terminal: bool,
    /// The value of `--timeout`.
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_wait: Option<Duration>,
    pub(crate) verbose: bool,
    /// Whether the command changes nothing: its `@N` may be a row that another shell at this
    /// terminal listed.
    pub(crate) only_reads: bool,
    /// Whether a sandbox of this process has rate limits.
    pub(crate) sandbox_limits: bool,
}

impl Startup {
    pub(crate) fn new(flags: &Flags, environment: Environment, out: Output) -> Result<Self> {
        LockWaitSettings::set(flags.timeout, (!flags.quiet).then_some(Output::trace as fn(&str)));
        refuse_impossible_clock(SystemTime::now())?;
        let terminals = Terminals::detect();
        // What the user set comes first, so that the reason is one they can change. Questions go to
        // stderr.
        let reasons = [
            (flags.no_input, "--no-input is set"),
            (!out.is_human(), "--json and --jq never prompt"),
            (Environment::on(&environment.no_input), "BOOKCTL_NO_INPUT is set"),
            (Environment::on(&environment.ci), "CI is set"),
            (!terminals.stdin, "standard input is not a terminal"),
            (!terminals.stderr, "standard error is not a terminal"),
        ];
        let mut reasons = reasons.into_iter();
        let refusal = reasons.find_map(|(stands, reason)| stands.then_some(reason));
        let style = out.stderr_style();
        let prompter = Prompter::new(refusal, !style.live, style.color);
        let paths = Paths::find(&environment)?;
        for file in [&paths.config_file, &paths.secrets] {
            if matches!(ownership::refuse_writable(file), Ok(true)) {
                let file = file.display();
                out.warn(&format!("others may write {file}: its file system keeps no permissions"));
            }
        }
        Ok(Startup {
            out,
            prompter,
            paths,
            options: TargetOptions {
                profile: flags.profile.clone(),
                no_sandbox: flags.no_sandbox || Environment::on(&environment.no_sandbox),
            },
            sandbox_limits: !flags.no_limits && !Environment::on(&environment.sandbox_no_limits),
            environment,
            stdin_is_terminal: terminals.stdin,
            timeout: flags.timeout,
            max_wait: flags.max_wait,
            verbose: flags.verbose,
            only_reads: false,
        })
    }

    /// Writes the result of a command, which ends with it.
    pub(crate) fn emit(&self, view: &dyn View) -> Result<Exit> {
        self.out.emit(view).map(|()| Exit::Done)
    }

    pub(crate) fn target(&self, needs: ServiceNeed) -> Result<Target> {
        resolve(needs, &self.options, &self.environment, &self.paths)
    }

    pub(crate) fn named_profile(&self) -> Option<String> {
        let environment = Environment::text(&self.environment.profile);
        self.options.profile.clone().or(environment)
    }
}

/// Idempotency keys begin with the milliseconds since 1970, and a `Date` header has a year of four
/// digits.
fn refuse_impossible_clock(now: SystemTime) -> Result<()> {
    let possible = now >= SystemTime::UNIX_EPOCH && Timestamp::try_from(now).is_ok();
    if possible {
        return Ok(());
    }
    let what = "this computer's clock shows a time before 1970 or after 9999; nothing was sent";
    Err(Error::config(what).hint("set the clock, then try again"))
}
