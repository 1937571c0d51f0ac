//! A pager for output that is longer than the screen, as git and gh have one.

use std::io::{self, ErrorKind, Write};
use std::process::{Command, Stdio};

use super::style::{ColorPrefs, Terminals};
use super::wrap::words;
use crate::config::Environment;
use crate::platform::system::process::{NOT_STARTED, command};
use crate::platform::{shell, signals};

/// The pager where none is named. It is no error if it is not installed.
const USUAL: &str = "less";
/// The options of less without LESS: end if all fits, keep colors, leave the text on the screen.
const LESS: &str = "FRX";

#[derive(Clone, Debug)]
pub(crate) struct Pager {
    command: String,
    is_chosen: bool,
    /// The options of less, unless the environment has them.
    less: Option<&'static str>,
    rows: usize,
    columns: usize,
}

impl Pager {
    /// The pager that the environment names; `None` if no terminal reads the output.
    pub(super) fn from_environment(
        prefs: ColorPrefs,
        terminals: &Terminals,
        environment: &Environment,
    ) -> Option<Self> {
        let no_input = Environment::on(&environment.no_input);
        let never_prompts = environment.ci.is_some() || no_input;
        if !terminals.stdout || prefs.dumb || prefs.accessible || never_prompts {
            return None;
        }
        let chosen = environment.bookctl_pager.as_ref().or(environment.pager.as_ref());
        let command = chosen.map_or(USUAL.into(), |it| it.to_string_lossy());
        let command = command.trim();
        (!matches!(command, "" | "cat")).then(|| Pager {
            command: command.to_owned(),
            is_chosen: chosen.is_some(),
            less: environment.less.is_none().then_some(LESS),
            rows: terminals.height,
            columns: terminals.width,
        })
    }

    pub(super) fn is_needed(&self, text: &str) -> bool {
        let rows = text
            .lines()
            .map(|line| console::measure_text_width(line).div_ceil(self.columns.max(1)).max(1));
        // The prompt of the shell takes a row, too.
        rows.sum::<usize>() >= self.rows
    }

    /// Shows a text until the reader has seen enough. If the pager cannot be started, the error is
    /// a warning; `None` for the default pager.
    pub(super) fn show(&self, text: &str) -> Result<(), Option<String>> {
        self.run(text).map_err(|error| {
            let command = &self.command;
            self.is_chosen.then_some(format!("the pager `{command}` cannot be started: {error}"))
        })
    }

    fn run(&self, text: &str) -> io::Result<()> {
        // Ctrl-C is for the pager. This process ends with it.
        signals::watch();
        let mut command = self.program();
        if let Some(options) = self.less {
            command.env("LESS", options);
        }
        let mut pager = command.stdin(Stdio::piped()).spawn()?;
        let stdin = pager.stdin.take();
        let written = stdin.map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()));
        if pager.wait()?.code().is_some_and(|code| NOT_STARTED.contains(&code)) {
            return Err(io::Error::other("the shell cannot run it"));
        }
        match written {
            // Whoever leaves the pager early has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// A command line with quotes, pipes or variables is for a shell.
    fn program(&self) -> Command {
        let words = words(&self.command);
        if words.iter().all(|word| shell::is_plain(word)) {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]);
            return command;
        }
        command(&self.command, None)
    }
}
