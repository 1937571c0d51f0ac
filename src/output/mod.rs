//! The one owner of stdout and stderr: results, notes, progress; tables, cards, JSON; colour and visible escapes.

mod jq;
mod json;
mod look;
mod page;
mod progress;
mod table;
mod visible;

use std::cell::RefCell;
use std::io::{self, Write};

use clap::builder::StyledStr;
use indicatif::ProgressBar;

pub(crate) use jq::Filter;
pub(crate) use look::{ColorChoice, Look, Terminals, Tone, Wants};
pub(crate) use page::Page;
pub(crate) use progress::Progress;
pub(crate) use table::Cell as TableCell;

use crate::config::Environment;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::model::document::Document;
pub(crate) use visible::visible;

/// What a command ends with. One value knows its JSON and its human form, so that the two cannot drift.
pub(crate) trait View {
    /// The JSON document: the service's own where there is one.
    fn json(&self) -> Document;
    /// The human form.
    fn page(&self) -> Page;
}

/// The form in which results are written.
pub(crate) enum Format {
    Human,
    Json,
    Jq(Filter),
}

/// Both streams, and how they are to be used.
pub(crate) struct Output {
    pub(crate) format: Format,
    /// How stdout looks.
    stdout: Look,
    /// How stderr looks.
    stderr: Look,
    quiet: bool,
    /// What is being redrawn on stderr: it makes room for whatever else is written there.
    progress: RefCell<Option<ProgressBar>>,
}

impl Output {
    /// The process's own two streams, in this format.
    pub(crate) fn of_process(
        format: Format,
        color: ColorChoice,
        quiet: bool,
        environment: &Environment,
    ) -> Self {
        let wants = Wants::new(color, environment);
        let terminals = Terminals::detect();
        let look = |is_terminal| Look::decide(wants, is_terminal, terminals.width);
        Output::new(
            format,
            look(terminals.stdout),
            look(terminals.stderr),
            quiet,
        )
    }

    fn new(format: Format, stdout: Look, stderr: Look, quiet: bool) -> Self {
        Output {
            format,
            stdout,
            stderr,
            quiet,
            progress: RefCell::new(None),
        }
    }

    pub(crate) fn is_human(&self) -> bool {
        matches!(self.format, Format::Human)
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    pub(crate) fn stderr_look(&self) -> &Look {
        &self.stderr
    }

    /// Writes a command's result to stdout.
    pub(crate) fn emit(&self, view: &dyn View) -> Result<()> {
        let text = match &self.format {
            Format::Human => view.page().render(&self.stdout),
            Format::Json => self.json_text(&view.json()),
            Format::Jq(filter) => filter.run(view.json().value())?,
        };
        self.to_stdout(&text)
    }

    /// The same, its JSON in one line on a terminal too: what goes on after it is read line by line.
    pub(crate) fn emit_line(&self, view: &dyn View) -> Result<()> {
        match &self.format {
            Format::Json => {
                let text = format!("{}\n", json::compact(view.json().text()));
                self.to_stdout(&text)
            }
            _ => self.emit(view),
        }
    }

    fn json_text(&self, document: &Document) -> String {
        let mut text = if self.stdout.terminal {
            json::pretty(document.text(), 2)
        } else {
            json::compact(document.text())
        };
        text.push('\n');
        text
    }

    /// Writes help or a version to stdout.
    pub(crate) fn print_help(&self, text: &StyledStr) -> Result<()> {
        write_all(io::stdout().lock(), &styled(text, &self.stdout))
    }

    /// Writes what clap says of arguments that do not fit.
    pub(crate) fn print_usage(&self, text: &StyledStr) {
        self.to_stderr(&styled(text, &self.stderr));
    }

    /// Shows a page on stderr: what a person sees between prompts.
    pub(crate) fn show(&self, page: &Page) {
        if !self.quiet {
            self.to_stderr(&page.render(&self.stderr));
        }
    }

    /// Shows a view on stderr, in its human form: what a question is about.
    pub(crate) fn show_view(&self, view: &dyn View) {
        self.show(&view.page());
    }

    /// A note for the person; `--quiet` drops it.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            let mut page = Page::default();
            page.line(text);
            self.to_stderr(&page.render(&self.stderr));
        }
    }

    /// A warning, also under `--quiet`.
    pub(crate) fn warn(&self, text: &str) {
        let mut page = Page::default();
        page.labelled(Tone::Warn, "warning:", text);
        self.to_stderr(&page.render(&self.stderr));
    }

    /// A line of `--verbose`.
    pub(crate) fn trace(text: &str) {
        let _ = writeln!(io::stderr().lock(), "{}", visible(text));
    }

    /// Something to look at while waiting; nothing off a terminal.
    pub(crate) fn progress(&self, text: &str) -> Progress {
        let live = self.stderr.live && !self.quiet;
        let progress = Progress::start(text, live, self.stderr.colour);
        self.progress.replace(Some(progress.bar()));
        progress
    }

    /// Reports a failure: one sentence, what came with it, and what to do next; under `--json` one object.
    pub(crate) fn report(&self, error: &Error) {
        let text = if self.is_human() {
            let mut page = Page::default();
            match error.exit {
                // What a person chose is no error.
                Exit::Declined => page.line(error.message.as_str()),
                _ => page.labelled(Tone::Bad, "error:", error.message.as_str()),
            };
            for detail in &error.details {
                page.line(format!("  {detail}"));
            }
            if let Some(hint) = &error.hint {
                page.labelled(Tone::Dim, "hint:", hint.as_str());
            }
            page.render(&self.stderr)
        } else {
            format!("{}\n", json::compact(&error.to_json().to_string()))
        };
        self.to_stderr(&text);
    }

    fn to_stdout(&self, text: &str) -> Result<()> {
        self.beside_progress(|| write_all(io::stdout().lock(), text))
    }

    fn to_stderr(&self, text: &str) {
        self.beside_progress(|| {
            // Where stderr is closed there is nobody to tell.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        });
    }

    /// Writes while nothing is redrawn: both streams may be one terminal.
    fn beside_progress<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.progress.borrow().as_ref() {
            Some(bar) if !bar.is_finished() => bar.suspend(write),
            _ => write(),
        }
    }
}

fn styled(text: &StyledStr, look: &Look) -> String {
    if look.colour {
        text.ansi().to_string()
    } else {
        text.to_string()
    }
}

/// Writes a result. A reader that has seen enough (`| head -1`) is no failure.
fn write_all(mut stream: impl Write, text: &str) -> Result<()> {
    match stream
        .write_all(text.as_bytes())
        .and_then(|()| stream.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("the result cannot be written to stdout", &error))
        }
        _ => Ok(()),
    }
}
