//! The console: its modes, and reading what is typed.
//!
//! Keys are events of the console. They are looked for instead of waited for, because a thread that
//! waits would swallow the first key of the next question. A console does not mark what is pasted,
//! so a line break in it is the Enter key; Windows Terminal asks before it pastes several lines.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use crate::platform::key::Key;

/// How soon a key is noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Whether the line that is read is not shown.
static UNSEEN: AtomicBool = AtomicBool::new(false);

/// Whether the console obeys escape sequences; turns them on if not (Windows 10 and newer).
pub(crate) fn knows_escapes() -> bool {
    crossterm::ansi_support::supports_ansi()
}

/// A changed mode of the console, restored on drop: also after an error, panic or cancel.
pub(crate) struct Modes {
    unseen: bool,
}

impl Modes {
    /// Raw mode: each key arrives at once and unechoed, Ctrl-C included.
    pub(crate) fn raw() -> io::Result<Self> {
        Self::set(false)
    }

    /// Line mode without echo. [`line`] reads keys and echoes them itself, so the mode is the same.
    pub(crate) fn unseen() -> io::Result<Self> {
        Self::set(true)
    }

    fn set(unseen: bool) -> io::Result<Self> {
        let held = Modes { unseen };
        held.enter()?;
        Ok(held)
    }

    pub(crate) fn enter(&self) -> io::Result<()> {
        UNSEEN.store(self.unseen, Ordering::Relaxed);
        enable_raw_mode()
    }

    pub(crate) fn leave(&self) -> io::Result<()> {
        UNSEEN.store(false, Ordering::Relaxed);
        disable_raw_mode()
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        // Ignore errors: the console may be gone.
        let _ = self.leave();
    }
}

pub(crate) struct Typed;

impl Typed {
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Typed)
    }

    /// The next key of a console in raw mode. Cancel safe.
    pub(crate) async fn key(&mut self) -> io::Result<Option<Key>> {
        loop {
            if let Some(key) = already_typed()? {
                return Ok(Some(key));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    pub(crate) async fn waiting(&mut self) -> io::Result<Option<Key>> {
        already_typed()
    }

    pub(crate) fn discard(&mut self) -> io::Result<bool> {
        let mut interrupted = false;
        while let Some(key) = already_typed()? {
            interrupted |= key == Key::Interrupt;
        }
        Ok(interrupted)
    }
}

fn already_typed() -> io::Result<Option<Key>> {
    while event::poll(Duration::ZERO)? {
        let Event::Key(pressed) = event::read()? else {
            continue;
        };
        if let Some(key) = key(pressed) {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// The key of an event; `None` for one that no question uses, and for its release.
fn key(pressed: KeyEvent) -> Option<Key> {
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    let modifiers = pressed.modifiers;
    // With both, it is AltGr, which writes characters.
    if modifiers.contains(KeyModifiers::CONTROL) && !modifiers.contains(KeyModifiers::ALT) {
        return match pressed.code {
            KeyCode::Char(letter) => Key::with_ctrl(letter),
            KeyCode::Backspace => Some(Key::EraseWord),
            KeyCode::Enter => Some(Key::Enter),
            _ => None,
        };
    }
    Some(match pressed.code {
        KeyCode::Char(character) if !character.is_control() => Key::Char(character),
        KeyCode::Enter => Key::Enter,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Esc => Key::Escape,
        KeyCode::BackTab => Key::BackTab,
        _ => return None,
    })
}

pub(crate) async fn line() -> io::Result<Option<String>> {
    let unseen = UNSEEN.load(Ordering::Relaxed);
    let _raw = (!unseen).then(Modes::raw).transpose()?;
    let mut line = String::new();
    loop {
        match Typed.key().await? {
            Some(Key::Char(character)) => {
                line.push(character);
                echo(unseen, character.encode_utf8(&mut [0; 4]))?;
            }
            Some(Key::Backspace) => {
                if line.pop().is_some() {
                    echo(unseen, "\x08 \x08")?;
                }
            }
            Some(Key::Enter | Key::PastedBreak) => {
                echo(unseen, "\r\n")?;
                return Ok(Some(line));
            }
            Some(Key::Interrupt | Key::EndOfInput) | None => return Ok(None),
            Some(_) => {}
        }
    }
}

fn echo(unseen: bool, text: &str) -> io::Result<()> {
    if unseen {
        return Ok(());
    }
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes())?;
    stderr.flush()
}

pub(crate) fn discard() -> io::Result<()> {
    Typed.discard().map(|_| ())
}
