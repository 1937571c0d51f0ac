//! The keys of a terminal that questions use.

/// A key that some question uses. All other keys are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    /// A line break inside a paste. It does not submit. A console of Windows does not mark what is pasted.
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
    /// Ctrl-Z. On Windows it stops no process.
    #[cfg_attr(windows, allow(dead_code))]
    Suspend,
    Escape,
    /// Shift-Tab
    BackTab,
}
