//! What stands on the terminal: a live question, drawn over the frame before, or a whole screen for
//! a command that stays, on the other page, which keeps the text before.

use std::io::{self, Write};

use console::{Term, measure_text_width};

use super::question::Result;
use crate::platform::key::Key;
use crate::platform::signals::Continued;
use crate::platform::system::process;
use crate::platform::system::tty::{self, Modes, Typed};
use crate::terminal::output::cut;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Size {
    pub(crate) fn of_terminal() -> Self {
        let (rows, columns) = Term::stderr().size();
        Size { rows: rows.into(), columns: columns.into() }
    }

    /// The columns that may be written: terminals disagree about where the cursor is after the last
    /// one has been filled.
    pub(crate) fn usable(self) -> usize {
        self.columns.saturating_sub(1).max(1)
    }
}

/// Lines, none wider than the terminal, and the position of the cursor in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) lines: Vec<String>,
    /// Row and column; `None` hides the cursor.
    pub(super) cursor: Option<(usize, usize)>,
}

/// Moves to the first row of `old`, whose lines a narrower terminal has wrapped.
fn to_top(old: &Frame, columns: usize) -> String {
    let columns = columns.max(1);
    let rows_of = |line: &String| measure_text_width(line).div_ceil(columns).max(1);
    let rows = |lines: &[String]| lines.iter().map(rows_of).sum::<usize>();
    let above = match old.cursor {
        Some((row, column)) => rows(&old.lines[..row]) + column / columns,
        None => rows(&old.lines).saturating_sub(1),
    };
    if above == 0 { "\r".to_owned() } else { format!("\x1b[{above}A\r") }
}

fn paint(new: &Frame) -> String {
    let mut out = String::new();
    for (row, line) in new.lines.iter().enumerate() {
        out += if row == 0 { "" } else { "\r\n" };
        out += line;
        out += "\x1b[K";
    }
    out += "\x1b[J";
    if let Some((row, column)) = new.cursor {
        let up = new.lines.len().saturating_sub(row + 1);
        if up > 0 {
            out += &format!("\x1b[{up}A");
        }
        out += "\r";
        if column > 0 {
            out += &format!("\x1b[{column}C");
        }
        out += "\x1b[?25h";
    }
    out
}

/// Turns colors and bracketed paste off, clears what is below, and shows the cursor.
const RESTORED: &str = "\x1b[0m\x1b[J\x1b[?25h\x1b[?2004l";

/// The part of the terminal that a live question owns. On drop the first line stays, the rest is
/// cleared, the cursor is shown on a fresh line, and colors and bracketed paste are turned off.
#[derive(Default)]
pub(super) struct Screen {
    displayed: Option<(Frame, Size)>,
}

impl Screen {
    pub(super) fn show(&mut self, frame: Frame, size: Size) -> io::Result<()> {
        let before = match &self.displayed {
            Some((displayed, at)) if *displayed == frame && *at == size => return Ok(()),
            // Cleared: a wider terminal would join a broken line to the next one.
            Some((displayed, _)) => to_top(displayed, size.columns) + "\x1b[J",
            // Bracketed paste: the terminal marks what was pasted.
            None => "\x1b[?2004h".to_owned(),
        };
        // Hide the cursor while it moves.
        write(&format!("\x1b[?25l{before}{}", paint(&frame)))?;
        self.displayed = Some((frame, size));
        Ok(())
    }

    pub(super) fn finish(mut self, lines: Vec<String>, size: Size) -> io::Result<()> {
        let cursor = Some((lines.len().saturating_sub(1), 0));
        self.show(Frame { lines, cursor }, size)?;
        self.displayed = None;
        write(&format!("\r\n{RESTORED}"))
    }

    /// Removes the question from the screen, so that another one takes its place.
    pub(super) fn erase(&mut self) -> io::Result<()> {
        match self.displayed.take() {
            Some((frame, size)) => write(&format!("{}{RESTORED}", to_top(&frame, size.columns))),
            None => Ok(()),
        }
    }

    /// Begins afresh where the cursor is: another program has written.
    pub(super) fn forget(&mut self) {
        self.displayed = None;
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some((frame, size)) = self.displayed.take() {
            let top = to_top(&frame, size.columns);
            // Ignore errors: the terminal may be gone.
            let _ = write(&format!("{top}\r\n{RESTORED}"));
        }
    }
}

/// Writes to the terminal past everything that is laid out.
pub(crate) fn write(text: &str) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes())?;
    stderr.flush()
}

/// The other page, cleared, with bracketed paste and without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[2J";
const LEAVE: &str = "\x1b[?2004l\x1b[?25h\x1b[?1049l";

/// On drop, the page before and the terminal's modes are there again.
pub(crate) struct FullScreen {
    // Before the modes: what is typed is read in raw mode alone.
    typed: Typed,
    modes: Modes,
    continued: Continued,
    displayed: Option<(Frame, Size)>,
}

impl FullScreen {
    pub(crate) fn open() -> Result<Self> {
        let modes = Modes::raw()?;
        let (typed, continued) = (Typed::open()?, Continued::listen()?);
        let mut screen = FullScreen { typed, modes, continued, displayed: None };
        screen.enter()?;
        Ok(screen)
    }

    fn enter(&mut self) -> Result<()> {
        self.displayed = None;
        self.modes.enter()?;
        Ok(write(ENTER)?)
    }

    /// Stops the process as Ctrl-Z does, with the terminal as it was. Returns when it continues.
    pub(crate) fn suspend(&mut self) -> Result<()> {
        write(LEAVE)?;
        self.modes.leave()?;
        process::suspend()?;
        self.enter()
    }

    /// The next key; `None` if the terminal is gone. After the process was stopped and continues,
    /// another program has used the terminal: the next draw is whole. Cancel safe.
    pub(crate) async fn key(&mut self) -> Result<Option<Key>> {
        loop {
            tokio::select! {
                key = self.typed.key() => return Ok(key?),
                () = self.continued.next() => {}
            }
            self.enter()?;
        }
    }

    pub(crate) async fn waiting(&mut self) -> Result<Option<Key>> {
        Ok(self.typed.waiting().await?)
    }

    /// Shows these lines from the top, each cut to the terminal's width, unless they stand there.
    pub(crate) fn draw(
        &mut self,
        lines: &[String],
        cursor: Option<(usize, usize)>,
        size: Size,
    ) -> Result<()> {
        let line = |row| cut(lines.get(row).map_or("", String::as_str), size.usable());
        let frame = Frame { lines: (0..size.rows).map(line).collect(), cursor };
        let displayed = Some((frame, size));
        if let Some((frame, _)) = displayed.as_ref().filter(|_| self.displayed != displayed) {
            // The cursor is hidden while it moves.
            write(&format!("\x1b[?25l\x1b[H{}", paint(frame)))?;
            self.displayed = displayed;
        }
        Ok(())
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        // Ignore errors: the terminal may be gone.
        let _ = write(LEAVE);
    }
}

/// Waits for Enter below what a command has written. Esc and Ctrl-C are as good.
pub(crate) async fn wait_for_enter(text: &str) -> Result<()> {
    let _restored_last = Modes::raw()?;
    // What was typed ahead was meant for the command.
    discard()?;
    write(&format!("\r\n{text}"))?;
    let mut typed = Typed::open()?;
    while !matches!(typed.key().await?, None | Some(Key::Enter | Key::Escape | Key::Interrupt)) {}
    Ok(write("\r\n")?)
}

/// Drops what was typed and not read.
pub(crate) fn discard() -> Result<()> {
    Ok(tty::discard()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(lines: &[&str], cursor: Option<(usize, usize)>) -> Frame {
        Frame { lines: lines.iter().map(ToString::to_string).collect(), cursor }
    }

    #[test]
    fn lines_broken_by_a_narrower_terminal_count_as_its_rows() {
        let line = "x".repeat(70);
        let menu = frame(&[&line, &line], None);
        assert_eq!(to_top(&menu, 40), "\x1b[3A\r");
        assert_eq!(to_top(&frame(&[&line], Some((0, 65))), 40), "\x1b[1A\r");
    }

    #[test]
    fn frame_clears_what_it_does_not_cover_and_puts_cursor_in_place() {
        let out = paint(&frame(&["? Name", "› Ada"], Some((0, 6))));
        assert_eq!(out, "? Name\x1b[K\r\n› Ada\x1b[K\x1b[J\x1b[1A\r\x1b[6C\x1b[?25h");
    }
}
