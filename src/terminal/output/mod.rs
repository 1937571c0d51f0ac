//! The only place that writes to stdout and stderr: results, notes, errors and progress.

mod filter;
mod json;
mod log_thread;
mod page;
mod pager;
mod progress;
mod style;
mod table;
mod visible;
mod wrap;

use std::cell::RefCell;
use std::io;
use std::sync::OnceLock;

use clap::builder::StyledStr;
use indicatif::ProgressBar;
use serde::Serialize;

pub(crate) use filter::Filter;
pub(crate) use log_thread::LogThread;
pub(crate) use page::Page;
use pager::Pager;
pub(crate) use progress::Progress;
pub(crate) use style::{ColorChoice, ColorPrefs, StreamStyle, Terminals, Tone};
pub(crate) use table::{Cell as TableCell, lines};
pub(crate) use wrap::{cut, fitting, wrap};

use crate::config::Environment;
use crate::json::Document;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::system::streams;
use crate::secrets::redact;
pub(crate) use visible::{visible, visible_rows};

static TRACE: OnceLock<LogThread<String>> = OnceLock::new();

/// The result of a command. One value is both JSON and human form, so that they cannot differ.
pub(crate) trait View {
    /// The JSON document; the service's own where there is one.
    fn json(&self) -> Document;
    fn draw(&self, page: &mut Page);

    fn page(&self) -> Page {
        let mut page = Page::default();
        self.draw(&mut page);
        page
    }
}

/// A [`View`] whose document is its fields.
pub(crate) trait Draw: Serialize {
    fn draw(&self, page: &mut Page);
}

impl<T: Draw> View for T {
    fn json(&self) -> Document {
        Document::serialized(self)
    }

    fn draw(&self, page: &mut Page) {
        Draw::draw(self, page);
    }
}

/// A document as it came, with the function that makes its page.
pub(crate) struct DocumentView<P: Fn(&Document) -> Page>(pub(crate) Document, pub(crate) P);

impl<P: Fn(&Document) -> Page> View for DocumentView<P> {
    fn json(&self) -> Document {
        self.0.clone()
    }

    fn draw(&self, page: &mut Page) {
        *page = self.1(&self.0);
    }
}

pub(crate) enum Format {
    Human,
    Json,
    Jq(Filter),
}

pub(crate) struct Output {
    pub(crate) format: Format,
    stdout: StreamStyle,
    stderr: StreamStyle,
    pub(crate) pager: Option<Pager>,
    pub(crate) quiet: bool,
    /// What is written to stderr while a whole screen is drawn there.
    held: RefCell<Option<String>>,
    /// The progress bar on stderr. It is suspended while anything else is written.
    progress: RefCell<Option<ProgressBar>>,
}

impl Output {
    pub(crate) fn of_process(
        format: Format,
        color: ColorChoice,
        quiet: bool,
        environment: &Environment,
    ) -> Self {
        let prefs = ColorPrefs::new(color, environment);
        let terminals = Terminals::detect();
        let style = |is_terminal| StreamStyle::decide(prefs, is_terminal, terminals.width);
        Output {
            format,
            stdout: style(terminals.stdout),
            stderr: style(terminals.stderr),
            pager: Pager::from_environment(prefs, &terminals, environment),
            quiet,
            held: RefCell::default(),
            progress: RefCell::new(None),
        }
    }

    /// Whether results are written for a person, not as JSON.
    pub(crate) fn is_human(&self) -> bool {
        matches!(self.format, Format::Human)
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.is_human() && self.stdout.terminal
    }

    pub(crate) fn stderr_style(&self) -> StreamStyle {
        self.stderr.now()
    }

    /// Writes a result, and returns the exit code of a command that ends with it.
    pub(crate) fn emit(&self, view: &dyn View) -> Result<Exit> {
        self.emit_read(view).map(|_| Exit::Done)
    }

    /// Like [`Output::emit`], for a result longer than the screen: a terminal shows a pager.
    pub(crate) fn emit_long(&self, view: &dyn View) -> Result<Exit> {
        if self.is_human() {
            self.print_paged(&self.text_of(view, false)?)
        } else {
            self.emit(view)
        }
    }

    /// Writes a list. If it is empty, a person gets the note `none`; a script sees that it is.
    pub(crate) fn emit_list(&self, view: &dyn View, is_empty: bool, none: &str) -> Result<Exit> {
        self.emit_long(view)?;
        if is_empty && self.is_human() {
            self.note(none);
        }
        Ok(Exit::Done)
    }

    /// Like [`Output::emit`]. Returns `false` if the reader has closed the pipe.
    pub(crate) fn emit_read(&self, view: &dyn View) -> Result<bool> {
        self.print(&self.text_of(view, false)?)
    }

    /// Like [`Output::emit_read`], with the JSON on one line, because more lines follow.
    pub(crate) fn emit_line(&self, view: &dyn View) -> Result<bool> {
        self.print(&self.text_of(view, true)?)
    }

    fn text_of(&self, view: &dyn View, is_line: bool) -> Result<String> {
        match &self.format {
            Format::Human => Ok(view.page().render(&self.stdout.now())),
            Format::Json if self.stdout.terminal && !is_line => {
                Ok(json::pretty(view.json().text()) + "\n")
            }
            Format::Json => Ok(json::compact(view.json().text()) + "\n"),
            Format::Jq(filter) => {
                let document = view.json();
                // The call may have changed something.
                filter.run(document.value()).map_err(|error| error.body(document))
            }
        }
    }

    /// Completes when the reader closes stdout, as in `| head -1`; never if it is no pipe.
    pub(crate) async fn reader_gone(&self) {
        streams::reader_gone().await;
    }

    /// Writes the help or the version to stdout. An error is reported.
    pub(crate) fn print_help(&self, text: &StyledStr) -> Exit {
        let Err(error) = write_all(&styled(text, &self.stdout)) else {
            return Exit::Done;
        };
        self.report(&error);
        error.exit
    }

    pub(crate) fn emit_help(&self, text: &StyledStr) -> Result<Exit> {
        self.print_paged(&styled(text, &self.stdout))
    }

    /// Writes what a question is about to stderr, also with `--quiet`: it must be answered.
    pub(crate) fn show(&self, page: &Page) {
        self.to_stderr(&redact(&page.render(&self.stderr.now())));
    }

    /// Writes a view that shows a secret on purpose to stderr, also with `--quiet`.
    pub(crate) fn show_with_secret(&self, view: &dyn View) {
        self.to_stderr(&view.page().render(&self.stderr.now()));
    }

    /// Writes a note to stderr. `--quiet` drops it.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.show(Page::default().line(text));
        }
    }

    pub(crate) fn warn(&self, text: &str) {
        self.labelled(Tone::Warn, "warning:", text);
    }

    /// Writes that something was not done, before the result, but not in a script.
    pub(crate) fn refused(&self, what: &'static str, text: &str) {
        if self.is_human() {
            self.labelled(Tone::Bad, what, text);
        }
    }

    fn labelled(&self, tone: Tone, label: &'static str, text: &str) {
        self.show(Page::default().labelled(tone, label, text));
    }

    pub(crate) fn trace(text: &str) {
        Self::write_log(&trace_line(text));
    }

    /// Writes a line to stderr without waiting for who reads it.
    pub(crate) fn trace_aside(text: &str) {
        let log = TRACE.get_or_init(|| {
            LogThread::start(StreamStyle::default(), |text: String| trace_line(&text))
        });
        log.add(text.to_owned());
    }

    pub(crate) fn end_trace() {
        TRACE.get().map(LogThread::end);
    }

    /// A line of a log: `first`, then the wrapped text.
    pub(crate) fn log_line(style: StreamStyle, first: &str, text: &str) -> String {
        if !style.terminal {
            return trace_line(&format!("{first} {text}"));
        }
        let mut page = Page::default();
        page.columns(vec![(first.into(), 0), (text.into(), 0)]);
        page.render(&style.now())
    }

    /// Writes lines of a log to stderr in one write, from any thread, so that they do not mix.
    pub(crate) fn write_log(lines: &str) {
        // A closed stderr cannot be reported.
        let _ = streams::write_stderr(lines);
    }

    /// Holds back what is written to stderr, or stops to: a whole screen is drawn there.
    pub(crate) fn capture(&self, is_held: bool) {
        self.held.replace(is_held.then(String::new));
    }

    /// What was held back since the last time, without color.
    pub(crate) fn held(&self) -> Option<String> {
        let mut held = self.held.borrow_mut();
        let text = std::mem::take(held.as_mut()?);
        let text = console::strip_ansi_codes(text.trim()).into_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Whether progress bars are shown. Where they are not, long waits need a note.
    pub(crate) fn redraws(&self) -> bool {
        self.stderr.live && !self.quiet && self.held.borrow().is_none()
    }

    pub(crate) fn progress(&self, text: &str) -> Progress {
        // Within another spinner, only its text changes.
        let outer = self.progress.borrow().clone();
        if let Some(outer) = outer.filter(|bar| !bar.is_finished()) {
            return Progress::within(&outer, text);
        }
        self.started(text, None)
    }

    /// Starts a progress bar of `steps` steps. Shows nothing if stderr is not a terminal.
    pub(crate) fn progress_of(&self, steps: usize) -> Progress {
        self.started("", Some(steps))
    }

    fn started(&self, text: &str, steps: Option<usize>) -> Progress {
        let progress = Progress::start(text, steps, self.redraws().then_some(self.stderr.color));
        self.progress.replace(Some(progress.bar.clone()));
        progress
    }

    pub(crate) fn make_room(&self) {
        if let Some(bar) = self.progress.borrow_mut().take() {
            bar.finish_and_clear();
        }
    }

    /// Reports an error: the message, its details and the hint; as one JSON object with `--json`.
    pub(crate) fn report(&self, error: &Error) {
        if !self.is_human() {
            let document = Document::object(&[("error", &error.to_json())]);
            let text = json::compact(document.text());
            return self.to_stderr(&redact(&(text + "\n")));
        }
        let mut page = Page::default();
        // Declining is a choice and not an error.
        if error.code == Code::Declined {
            page.line(&error.message);
        } else if error.code == Code::PartlyFailed {
            page.labelled(Tone::Warn, "warning:", &error.message);
        } else {
            page.labelled(Tone::Bad, "error:", &error.message);
        }
        for detail in &error.details {
            page.line(format!("  {detail}"));
        }
        if let Some(hint) = &error.hint {
            page.labelled(Tone::Dim, "hint:", hint);
        }
        self.show(&page);
    }

    fn print_paged(&self, text: &str) -> Result<Exit> {
        if let Some(pager) = self.pager.as_ref().filter(|pager| pager.is_needed(text)) {
            self.make_room();
            match pager.show(text) {
                Ok(()) => return Ok(Exit::Done),
                Err(why) => why.iter().for_each(|why| self.warn(why)),
            }
        }
        self.print(text).map(|_| Exit::Done)
    }

    /// Writes a text to stdout, unchanged. Returns `false` if the reader has closed the pipe.
    pub(crate) fn print(&self, text: &str) -> Result<bool> {
        self.beside_progress(|| write_all(text))
    }

    fn to_stderr(&self, text: &str) {
        if let Some(held) = self.held.borrow_mut().as_mut() {
            return held.push_str(text);
        }
        self.beside_progress(|| Self::write_log(text));
    }

    /// Suspends the progress bar while `write` runs: both streams may be the same terminal.
    fn beside_progress<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.progress.borrow().as_ref() {
            Some(bar) if !bar.is_finished() => bar.suspend(write),
            _ => write(),
        }
    }
}

fn trace_line(text: &str) -> String {
    format!("{}\n", visible(text))
}

fn styled(text: &StyledStr, style: &StreamStyle) -> String {
    if style.color { text.ansi().to_string() } else { text.to_string() }
}

/// Writes a result. Returns `false` if the reader closed the pipe, as `| head -1` does.
fn write_all(text: &str) -> Result<bool> {
    match streams::write(text) {
        Ok(Some(signal)) => Err(Error::interrupted(signal)),
        Ok(None) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::io("the result could not be written to stdout", error)),
    }
}
