//! The one owner of stdout and stderr: results, notes, progress; tables, cards, JSON; colour and visible escapes.

mod jq;
mod json;
mod page;
mod progress;
mod style;
mod table;
mod visible;
mod wrap;

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::time::Duration;

use clap::builder::StyledStr;
use indicatif::ProgressBar;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::net::unix::pipe::Sender;

pub(crate) use jq::{FILTER_ENTRY, Filter, filter_standard_input};
pub(crate) use page::Page;
pub(crate) use progress::Progress;
pub(crate) use style::{ColorChoice, ColorPrefs, StreamStyle, Terminals, Tone};
pub(crate) use table::Cell as TableCell;
pub(crate) use wrap::wrap;

use crate::config::Environment;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::platform::signals;
use crate::secrets::redact;
pub(crate) use visible::visible;
use visible::visible_lines;

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
    stdout: StreamStyle,
    /// How stderr looks.
    stderr: StreamStyle,
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
        let prefs = ColorPrefs::new(color, environment);
        let terminals = Terminals::detect();
        let style = |is_terminal| StreamStyle::decide(prefs, is_terminal, terminals.width);
        Output::new(
            format,
            style(terminals.stdout),
            style(terminals.stderr),
            quiet,
        )
    }

    fn new(format: Format, stdout: StreamStyle, stderr: StreamStyle, quiet: bool) -> Self {
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

    pub(crate) fn stderr_style(&self) -> &StreamStyle {
        &self.stderr
    }

    /// Writes a command's result to stdout.
    pub(crate) fn emit(&self, view: &dyn View) -> Result<()> {
        self.emit_read(view).map(drop)
    }

    /// The same; `false` where nobody reads it any more.
    pub(crate) fn emit_read(&self, view: &dyn View) -> Result<bool> {
        let text = match &self.format {
            Format::Human => view.page().render(&self.stdout),
            Format::Json => self.json_text(&view.json()),
            Format::Jq(filter) => filtered(filter, view)?,
        };
        self.to_stdout(&text)
    }

    /// The same, its JSON in one line on a terminal too: what goes on after it is read line by line.
    pub(crate) fn emit_line(&self, view: &dyn View) -> Result<()> {
        self.emit_next(view).map(drop)
    }

    /// One of many lines; `false` once nobody reads them any more.
    pub(crate) fn emit_next(&self, view: &dyn View) -> Result<bool> {
        let text = match &self.format {
            Format::Human => view.page().render(&self.stdout),
            Format::Json => format!("{}\n", json::compact(view.json().text())),
            Format::Jq(filter) => filtered(filter, view)?,
        };
        self.to_stdout(&text)
    }

    /// Returns once nobody reads stdout any more, as after `| head -1`; never where it is no pipe.
    pub(crate) async fn reader_gone(&self) {
        let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
        let is_pipe = |file: &File| file.metadata().is_ok_and(|it| it.file_type().is_fifo());
        // Unchecked: what else uses the pipe keeps its blocking mode, and nothing is written here.
        if let Some(pipe) = stdout.ok().filter(is_pipe)
            && let Ok(pipe) = Sender::from_file_unchecked(pipe)
            && pipe.ready(Interest::ERROR).await.is_ok()
        {
            return;
        }
        std::future::pending().await
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
        write_all(io::stdout().lock(), &styled(text, &self.stdout)).map(drop)
    }

    /// Writes what another program reads, as it is.
    pub(crate) fn print_script(&self, text: &str) -> Result<()> {
        self.to_stdout(text).map(drop)
    }

    /// Writes what clap says of arguments that do not fit; it repeats them, and they may have been pasted.
    pub(crate) fn print_usage(&self, text: &StyledStr, arguments: &[OsString]) {
        let clean = |argument: &OsString| {
            visible(&argument.to_string_lossy()) == argument.to_string_lossy()
        };
        if arguments.iter().all(clean) {
            self.to_stderr(&styled(text, &self.stderr));
        } else {
            self.to_stderr(&visible_lines(&text.to_string()));
        }
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
            page.line(redact(text));
            self.to_stderr(&page.render(&self.stderr));
        }
    }

    /// A warning, also under `--quiet`.
    pub(crate) fn warn(&self, text: &str) {
        let mut page = Page::default();
        page.labelled(Tone::Warn, "warning:", redact(text));
        self.to_stderr(&page.render(&self.stderr));
    }

    /// A line of `--verbose`.
    pub(crate) fn trace(text: &str) {
        let _ = writeln!(io::stderr().lock(), "{}", visible(&redact(text)));
    }

    /// Whether there is something to look at while waiting; where not, what takes long has to be said.
    pub(crate) fn redraws(&self) -> bool {
        self.stderr.live && !self.quiet
    }

    /// Something to look at while waiting; nothing off a terminal.
    pub(crate) fn progress(&self, text: &str) -> Progress {
        // Within something longer it is that one's text for a while.
        if let Some(outer) = self
            .progress
            .borrow()
            .as_ref()
            .filter(|bar| !bar.is_finished())
        {
            return Progress::within(outer, text);
        }
        self.redrawn(Progress::start(text, self.redraws(), self.stderr.colour))
    }

    /// A bar for so many steps; nothing off a terminal.
    pub(crate) fn progress_of(&self, steps: usize) -> Progress {
        self.redrawn(Progress::of(steps, self.redraws(), self.stderr.colour))
    }

    fn redrawn(&self, progress: Progress) -> Progress {
        self.progress.replace(Some(progress.bar()));
        progress
    }

    /// Takes away what is being redrawn: a question is about to stand there.
    pub(crate) fn make_room(&self) {
        if let Some(bar) = self.progress.borrow_mut().take() {
            bar.finish_and_clear();
        }
    }

    /// Reports a failure: one sentence, what came with it, and what to do next; under `--json` one object.
    pub(crate) fn report(&self, error: &Error) {
        let text = if self.is_human() {
            let mut page = Page::default();
            match error.exit {
                // What a person chose is no error.
                Exit::Declined => page.line(error.message.as_str()),
                _ => page.labelled(Tone::Bad, "error:", redact(&error.message)),
            };
            for detail in &error.details {
                page.line(format!("  {}", redact(detail)));
            }
            if let Some(hint) = &error.hint {
                page.labelled(Tone::Dim, "hint:", redact(hint));
            }
            page.render(&self.stderr)
        } else {
            format!("{}\n", json::compact(&error.to_json().to_string()))
        };
        self.to_stderr(&text);
    }

    fn to_stdout(&self, text: &str) -> Result<bool> {
        self.beside_progress(|| write_all(io::stdout().lock(), text))
    }

    fn to_stderr(&self, text: &str) {
        self.beside_progress(|| {
            // Where stderr is closed there is nobody to tell.
            let _ = io::stderr().lock().write_all(redact(text).as_bytes());
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

/// What a filter makes of a result. Where it fails the error carries the document: what was done must not be lost
/// with it.
fn filtered(filter: &Filter, view: &dyn View) -> Result<String> {
    let document = view.json();
    filter.run(document.value()).map_err(|mut error| {
        error.body = Some(document);
        error
    })
}

fn styled(text: &StyledStr, style: &StreamStyle) -> String {
    if style.colour {
        text.ansi().to_string()
    } else {
        text.to_string()
    }
}

/// What is written at once: with what stands in our own buffer it is less than a pipe takes whole.
const PIECE: usize = 2048;
/// How long the first look at a full pipe lasts, and each later one.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Waits until the stream takes more; the signal, if one comes first.
fn interrupted_before_room(stream: &impl AsFd) -> Option<Exit> {
    let style = Timespec::try_from(POLL_INTERVAL).ok();
    loop {
        let mut stream = [PollFd::new(stream, PollFlags::OUT)];
        match poll(&mut stream, style.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            // There is room, or an error that the write will tell.
            _ => return None,
        }
        signals::watch();
        if let Some(signal) = signals::caught() {
            return Some(signal);
        }
    }
}

/// Writes a result. A reader that has seen enough (`| head -1`) is no failure: `false` says that it has.
///
/// A reader that takes its time is waited for, in pieces that a pipe has room for: so Ctrl-C ends the wait.
fn write_all(mut stream: impl Write + AsFd, text: &str) -> Result<bool> {
    let mut write = || -> io::Result<Option<Exit>> {
        for piece in text.as_bytes().chunks(PIECE) {
            if let Some(signal) = interrupted_before_room(&stream) {
                return Ok(Some(signal));
            }
            stream.write_all(piece)?;
        }
        stream.flush().map(|()| None)
    };
    match write() {
        Ok(Some(signal)) => Err(Error::interrupted(signal)),
        Ok(None) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::io("the result cannot be written to stdout", &error)),
    }
}
