//! The keys of a terminal that questions use.

/// A key that some question uses. All other keys are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    /// A line break inside a paste, which does not submit. A Windows console marks no paste.
    #[cfg_attr(windows, allow(dead_code))]
    PastedBreak,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    /// Ctrl-U
    EraseLine,
    /// Ctrl-W
    EraseWord,
    /// Ctrl-D
    EndOfInput,
    /// Ctrl-C
    Interrupt,
    /// Ctrl-Z. On Windows it is no key: it stops no process there.
    Suspend,
    Escape,
    /// Shift-Tab
    BackTab,
}

impl Key {
    pub(super) fn with_ctrl(letter: char) -> Option<Self> {
        Some(match letter {
            'a' => Key::Home,
            'b' => Key::Left,
            'c' => Key::Interrupt,
            'd' => Key::EndOfInput,
            'e' => Key::End,
            'f' => Key::Right,
            'h' => Key::Backspace,
            'j' | 'm' => Key::Enter,
            'n' => Key::Down,
            'p' => Key::Up,
            'u' => Key::EraseLine,
            'w' => Key::EraseWord,
            'z' if cfg!(unix) => Key::Suspend,
            _ => return None,
        })
    }
}
