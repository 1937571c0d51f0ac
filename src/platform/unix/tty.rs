//! The terminal: its modes, and reading what is typed.
//!
//! crossterm, which reads the console of Windows, cannot read this terminal. Measured with version
//! 0.29: it reads all that was typed, so that what was typed ahead for the shell is lost. It reads
//! a closed terminal without end, and with `use-dev-tty` it waits within a read for the end of a
//! paste: the sandbox in this process, a countdown and SIGTERM stand still meanwhile.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush,
    tcgetattr, tcsetattr,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::key_decoder::Decoder;
use crate::platform::key::Key;

/// The bytes of one key arrive together, but a slow connection may separate them a little.
const REST_OF_A_KEY: Duration = Duration::from_millis(50);

/// Whether the terminal obeys escape sequences, as far as the system knows. TERM says more.
pub(crate) fn knows_escapes() -> bool {
    true
}

/// A changed terminal mode, restored on drop: also after an error, a panic or a cancel.
pub(crate) struct Modes {
    saved: Termios,
    changed: Termios,
}

impl Modes {
    /// Raw mode: each key arrives at once and unechoed, Ctrl-C and Ctrl-Z included. Reads never
    /// block (`min 0`), so that no more bytes are taken than requested.
    pub(crate) fn raw() -> io::Result<Self> {
        Self::set(|modes| {
            modes.local_modes -=
                LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
            modes.input_modes -= InputModes::IXON;
            modes.special_codes[SpecialCodeIndex::VMIN] = 0;
            modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        })
    }

    /// Line mode without echo.
    pub(crate) fn unseen() -> io::Result<Self> {
        Self::set(|modes| modes.local_modes -= LocalModes::ECHO)
    }

    fn set(change: impl FnOnce(&mut Termios)) -> io::Result<Self> {
        let mut modes = tcgetattr(io::stdin())?;
        let saved = modes.clone();
        change(&mut modes);
        let held = Self { saved, changed: modes };
        held.enter()?;
        Ok(held)
    }

    /// Sets the changed mode again, after another program has used the terminal.
    pub(crate) fn enter(&self) -> io::Result<()> {
        tcsetattr(io::stdin(), OptionalActions::Drain, &self.changed)?;
        Ok(())
    }

    /// Restores the mode for another program.
    pub(crate) fn leave(&self) -> io::Result<()> {
        tcsetattr(io::stdin(), OptionalActions::Drain, &self.saved)?;
        Ok(())
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        // Ignore errors: the terminal may be gone.
        let _ = self.leave();
    }
}

/// Reads keys without a thread. A thread blocked in a read would swallow the first key of the next
/// question after this one has timed out.
pub(crate) struct Typed {
    /// A duplicate of standard input's descriptor: `std` would buffer input that others need.
    input: AsyncFd<File>,
    decoder: Decoder,
}

impl Typed {
    pub(crate) fn open() -> io::Result<Self> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        #[expect(
            deprecated,
            reason = "its replacement is unsafe code, for types whose descriptor may change; a file's does not"
        )]
        let input = AsyncFd::with_interest(input, Interest::READABLE)?;
        Ok(Self { input, decoder: Decoder::default() })
    }

    /// The next key of a terminal in raw mode; `None` if the terminal is gone. Cancel safe.
    pub(crate) async fn key(&mut self) -> io::Result<Option<Key>> {
        loop {
            let byte = if self.decoder.undecided() {
                match tokio::time::timeout(REST_OF_A_KEY, self.byte()).await {
                    Ok(byte) => byte?,
                    Err(_) => match self.decoder.settle() {
                        Some(key) => return Ok(Some(key)),
                        None => continue,
                    },
                }
            } else {
                self.byte().await?
            };
            let Some(byte) = byte else {
                return Ok(None);
            };
            if let Some(key) = self.decoder.push(byte) {
                return Ok(Some(key));
            }
        }
    }

    pub(crate) async fn waiting(&mut self) -> io::Result<Option<Key>> {
        match tokio::time::timeout(Duration::ZERO, self.key()).await {
            Ok(key) => key,
            Err(_) => Ok(None),
        }
    }

    /// Drops what was typed before, in raw mode. Returns whether Ctrl-C was among it.
    pub(crate) fn discard(&mut self) -> io::Result<bool> {
        let (mut dropped, mut interrupted) = ([0; 256], false);
        while let Some(length @ 1..) = read(self.input.get_ref(), &mut dropped)? {
            interrupted |= dropped[..length].contains(&b'\x03');
        }
        Ok(interrupted)
    }

    async fn byte(&self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        loop {
            let mut ready = self.input.readable().await?;
            match read(self.input.get_ref(), &mut byte)? {
                None => return Ok(None),
                Some(0) if ready.ready().is_read_closed() => return Ok(None),
                Some(0) => ready.clear_ready(),
                Some(_) => return Ok(Some(byte[0])),
            }
        }
    }
}

/// The next line of a terminal in line mode, without its line end; `None` at the end of input.
pub(crate) async fn line() -> io::Result<Option<String>> {
    // Register for each line afresh: only then is a read known not to block.
    let typed = Typed::open()?;
    let _ready = typed.input.readable().await?;
    // The terminal returns at most one line, and no line is longer than this.
    let mut line = [0; 4096];
    let length = read(typed.input.get_ref(), &mut line)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&line[..length]);
    Ok((length > 0).then(|| text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Drops what was typed and not read. It is meant neither for the next question nor for the shell.
pub(crate) fn discard() -> io::Result<()> {
    Ok(tcflush(io::stdin(), QueueSelector::IFlush)?)
}

/// EIO, for which `std` has no kind: the terminal no longer belongs to this process.
const HUNG_UP: Option<i32> = Some(5);

/// Reads what is there: 0 bytes if that is nothing for now in raw mode, or the end of input in line
/// mode; `None` if the terminal was closed.
fn read(mut input: &File, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        return match input.read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // Another program may have made the terminal non-blocking.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Some(0)),
            Err(error) if error.raw_os_error() == HUNG_UP => Ok(None),
            Err(error) => Err(error),
        };
    }
}
