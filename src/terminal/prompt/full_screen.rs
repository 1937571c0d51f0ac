//! A whole screen for a command that stays: the other page, which keeps the text before.

use super::question::Result;
use super::screen::{Size, write};
use crate::platform::key::Key;
use crate::platform::signals::Continued;
use crate::platform::system::process;
use crate::platform::system::tty::{self, Modes, Typed};
use crate::terminal::output::cut;

/// The other page, cleared, with bracketed paste and without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?2004h\x1b[?25l\x1b[2J";
const LEAVE: &str = "\x1b[?2004l\x1b[?25h\x1b[?1049l";

/// On drop, the page before and the terminal's modes are there again.
pub(crate) struct FullScreen {
    // Before the modes: what is typed is read in raw mode alone.
    typed: Typed,
    modes: Modes,
    continued: Continued,
    displayed: Option<(String, Size)>,
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
        let lines: Vec<String> = (0..size.rows).map(line).collect();
        // The cursor is hidden while it moves.
        let mut out = "\x1b[?25l".to_owned();
        for (row, line) in lines.iter().enumerate() {
            out += &format!("\x1b[{};1H{line}\x1b[K", row + 1);
        }
        if let Some((row, column)) = cursor {
            out += &format!("\x1b[{};{}H\x1b[?25h", row + 1, column + 1);
        }
        let displayed = Some((out, size));
        if self.displayed != displayed {
            write(displayed.as_ref().map_or("", |(out, _)| out))?;
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

pub(crate) fn discard() -> Result<()> {
    Ok(tty::discard()?)
}
