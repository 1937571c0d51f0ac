//! What a command is given, in four parts. What exists before a service is chosen is a [`Startup`]:
//! commands that repair the configuration use only this.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use crate::app::flags::Flags;
use crate::app::{Api, Facts, Records};
use crate::config::{Environment, Paths, ServiceNeed, Target, TargetOptions, resolve};
use crate::outcome::{Error, Exit, Result};
use crate::platform::lock_wait::LockWaitSettings;
use crate::platform::ownership;
use crate::service::mapping::Mapping;
use crate::terminal::output::{Output, Terminals, View};
use crate::terminal::prompt::Prompter;

/// How a command speaks with a person.
pub(crate) struct Ui {
    pub(crate) out: Output,
    pub(crate) prompter: Prompter<'static>,
    warned: RefCell<HashSet<(String, String)>>,
}

impl Ui {
    /// Warns of something about a booking, once in a command.
    pub(crate) fn warn_of(&self, booking_id: &str, text: &str) {
        if self.warned.borrow_mut().insert((booking_id.to_owned(), text.to_owned())) {
            self.out.warn(text);
        }
    }

    /// Writes the result of a command, which ends with it.
    pub(crate) fn emit(&self, view: &dyn View) -> Result<Exit> {
        self.out.emit(view)
    }
}

/// What flags and environment set.
pub(crate) struct Settings {
    pub(crate) environment: Environment,
    pub(crate) paths: Paths,
    pub(crate) options: TargetOptions,
    pub(crate) stdin_is_terminal: bool,
    /// The value of `--timeout`.
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_wait: Option<Duration>,
    pub(crate) verbose: bool,
    /// Whether a sandbox of this process has rate limits.
    pub(crate) sandbox_limits: bool,
}

impl Settings {
    pub(crate) fn target(&self, needs: ServiceNeed) -> Result<Target> {
        resolve(needs, &self.options, &self.environment, &self.paths)
    }

    pub(crate) fn named_profile(&self) -> Option<String> {
        self.options.profile.clone().or(Environment::text(&self.environment.profile))
    }
}

pub(crate) struct Startup {
    pub(crate) ui: Ui,
    pub(crate) settings: Settings,
}

/// What a command is given. A function below it is given what it uses; one that hands its parts on to
/// several others takes them all.
pub(crate) struct Parts {
    pub(crate) api: Api,
    pub(crate) records: Rc<Records>,
    pub(crate) ui: Rc<Ui>,
    pub(crate) settings: Rc<Settings>,
}

impl Parts {
    /// The parts for the service that flags, environment and configuration choose.
    pub(crate) fn new(mut startup: Startup, needs: ServiceNeed, only_reads: bool) -> Result<Self> {
        let settings = &mut startup.settings;
        // A service that is refused is not opened.
        settings.options.no_sandbox |=
            needs == ServiceNeed::None && settings.target(ServiceNeed::Profile).is_err();
        let target = settings.target(needs)?;
        Ok(Parts::with_target(startup, target, only_reads))
    }

    /// `only_reads`: whether the command changes nothing.
    pub(crate) fn with_target(startup: Startup, target: Target, only_reads: bool) -> Self {
        if let Some(note) = target.service().and_then(|service| service.base_url.note()) {
            startup.ui.out.note(&note);
        }
        let (ui, settings) = (Rc::new(startup.ui), Rc::new(startup.settings));
        let (target, skew) = (Rc::new(target), Rc::default());
        let records = Rc::new(Records {
            ui: Rc::clone(&ui),
            settings: Rc::clone(&settings),
            target: Rc::clone(&target),
            only_reads,
            skew: Rc::clone(&skew),
            journal: OnceCell::new(),
            recent: Rc::default(),
        });
        let facts = Facts {
            ui: Rc::clone(&ui),
            settings: Rc::clone(&settings),
            target,
            contract: Mapping::default(),
            speaks_contract: Rc::default(),
            skew,
            embedded: OnceCell::new(),
        };
        let api = Api {
            ui: Rc::clone(&ui),
            settings: Rc::clone(&settings),
            records: Rc::clone(&records),
            facts,
            in_flight: RefCell::default(),
            batch_progress: RefCell::default(),
            waits_out_limits: Cell::default(),
            shows_calls: Cell::new(settings.verbose),
            client: OnceCell::new(),
            is_sandbox: tokio::sync::OnceCell::new(),
        };
        Parts { api, records, ui, settings }
    }
}

impl Startup {
    pub(crate) fn new(flags: &Flags, environment: Environment, out: Output) -> Result<Self> {
        LockWaitSettings::set(flags.timeout, (!flags.quiet).then_some(Output::trace as fn(&str)));
        // Idempotency keys begin with the milliseconds since 1970; a `Date` has a 4-digit year.
        let now = SystemTime::now();
        if now < SystemTime::UNIX_EPOCH || Timestamp::try_from(now).is_err() {
            let what =
                "this computer's clock shows a time before 1970 or after 9999; nothing was sent";
            return Err(Error::config(what).hint("set the clock, then try again"));
        }
        let terminals = Terminals::detect();
        // What the user set comes first: they can change it. Questions go to stderr.
        let reasons = [
            (flags.no_input, "--no-input is set"),
            (!out.is_human(), "--json and --jq never prompt"),
            (Environment::on(&environment.no_input), "BOOKCTL_NO_INPUT is set"),
            (Environment::on(&environment.ci), "CI is set"),
            (!terminals.stdin, "standard input is not a terminal"),
            (!terminals.stderr, "standard error is not a terminal"),
        ];
        let refusal = reasons.into_iter().find_map(|(stands, reason)| stands.then_some(reason));
        let style = out.stderr_style();
        let prompter = Prompter::new(refusal, !style.live, style.color);
        let paths = Paths::find(&environment)?;
        for file in [&paths.config_file, &paths.secrets] {
            if matches!(ownership::refuse_writable(file), Ok(true)) {
                let file = file.display();
                out.warn(&format!("others may write {file}: its file system keeps no permissions"));
            }
        }
        let settings = Settings {
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
        };
        Ok(Startup { ui: Ui { out, prompter, warned: RefCell::default() }, settings })
    }
}
