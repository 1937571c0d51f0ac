//! How a stream is styled: color, redrawing and width.

use std::io::IsTerminal;

use console::{Style, Term};

use crate::config::Environment;
use crate::platform::system::tty;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ColorPrefs {
    pub(crate) color: ColorChoice,
    pub(crate) no_color: bool,
    pub(crate) force_color: bool,
    pub(crate) dumb: bool,
    pub(crate) accessible: bool,
}

impl ColorPrefs {
    pub(crate) fn new(color: ColorChoice, environment: &Environment) -> Self {
        ColorPrefs {
            color,
            no_color: environment.no_color.is_some(),
            force_color: Environment::on(&environment.clicolor_force),
            // Only on Windows is TERM usually not set.
            dumb: (environment.term.as_deref()).map_or(cfg!(unix), |term| term == "dumb")
                || !tty::knows_escapes(),
            accessible: Environment::on(&environment.accessible),
        }
    }
}

pub(crate) struct Terminals {
    pub(crate) stdin: bool,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Terminals {
    pub(crate) fn detect() -> Self {
        let stdout = std::io::stdout().is_terminal();
        let stderr = std::io::stderr().is_terminal();
        let term = if stdout { Term::stdout() } else { Term::stderr() };
        let (height, width) = term.size();
        Terminals {
            stdin: std::io::stdin().is_terminal(),
            stdout,
            stderr,
            width: width.into(),
            height: height.into(),
        }
    }
}

const NARROWEST: usize = 20;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamStyle {
    pub(crate) terminal: bool,
    pub(crate) color: bool,
    pub(crate) live: bool,
    /// The width in columns; unlimited if the stream is not a terminal.
    pub(crate) width: usize,
}

/// The meaning of a color. The text always says it too.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tone {
    Good,
    Warn,
    Bad,
    Dim,
    Strong,
}

impl StreamStyle {
    /// Decides the style: the flag, then `NO_COLOR`, `CLICOLOR_FORCE`, and the default.
    pub(crate) fn decide(prefs: ColorPrefs, terminal: bool, width: usize) -> Self {
        let color = match prefs.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if prefs.no_color => false,
            ColorChoice::Auto if prefs.force_color => true,
            ColorChoice::Auto => terminal && !prefs.dumb,
        };
        let width = if terminal { width.max(NARROWEST) } else { usize::MAX };
        StreamStyle { terminal, color, live: terminal && !prefs.dumb && !prefs.accessible, width }
    }

    /// This style at the terminal's present width: a person may have changed it since the start.
    pub(crate) fn now(mut self) -> Self {
        if self.terminal {
            self.width = Terminals::detect().width.max(NARROWEST);
        }
        self
    }

    pub(crate) fn paint(&self, tone: impl Into<Option<Tone>>, text: &str) -> String {
        let Some(tone) = tone.into().filter(|_| self.color) else {
            return text.to_owned();
        };
        let style = match tone {
            // Not bold: many terminals make it a bright color, which a light background swallows.
            Tone::Good => Style::new().green(),
            Tone::Warn => Style::new().yellow(),
            Tone::Bad => Style::new().red(),
            Tone::Dim => Style::new().dim(),
            Tone::Strong => Style::new().bold(),
        };
        style.force_styling(true).apply_to(text).to_string()
    }
}
