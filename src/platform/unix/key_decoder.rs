//! Decoding the bytes of a terminal in raw mode into keys.

use crate::platform::key::Key;

/// Assembles keys from single bytes, so that no byte meant for the next question is consumed.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// An unfinished escape sequence or UTF-8 character.
    held: Vec<u8>,
    /// Between the marks of a bracketed paste.
    pasting: bool,
}

const ESC: u8 = 0x1b;
/// Longer than any sequence that a keyboard sends. Bounds what a broken terminal can send.
const LONGEST: usize = 16;

impl Decoder {
    /// Whether an escape byte is held: only time tells the Escape key from a sequence.
    pub(super) fn undecided(&self) -> bool {
        self.held.first() == Some(&ESC)
    }

    /// Called when nothing followed in time. A lone escape byte was the key.
    pub(super) fn settle(&mut self) -> Option<Key> {
        let lone = self.held == [ESC];
        self.held.clear();
        (lone && !self.pasting).then_some(Key::Escape)
    }

    pub(super) fn push(&mut self, byte: u8) -> Option<Key> {
        self.held.push(byte);
        if self.undecided() {
            return self.escape();
        }
        match std::str::from_utf8(&self.held) {
            Ok(text) => {
                let character = text.chars().next();
                self.held.clear();
                self.single(character?)
            }
            // The rest of the character is to come.
            Err(error) if error.error_len().is_none() => None,
            Err(_) => {
                // A broken character ends where the next one begins.
                let is_of_next = self.held.len() > 1;
                self.held.clear();
                is_of_next.then(|| self.push(byte)).flatten()
            }
        }
    }

    fn single(&self, character: char) -> Option<Key> {
        Some(match character {
            '\x03' => Key::Interrupt,
            '\r' | '\n' if self.pasting => Key::PastedBreak,
            '\t' if self.pasting => Key::Char(' '),
            _ if !character.is_control() => Key::Char(character),
            _ if self.pasting => return None,
            '\x7f' => Key::Backspace,
            control => return Key::with_ctrl(char::from_u32(u32::from(control) + 0x60)?),
        })
    }

    fn escape(&mut self) -> Option<Key> {
        let complete = match self.held[1..] {
            [] | [b'[' | b'O'] => false,
            [b'[', .., last] => (0x40..=0x7e).contains(&last),
            _ => true,
        };
        if !complete && self.held.len() < LONGEST {
            return None;
        }
        let held = std::mem::take(&mut self.held);
        let key = match &held[1..] {
            mark @ (b"[200~" | b"[201~") => {
                self.pasting = mark == b"[200~";
                return None;
            }
            b"[1~" | b"[7~" => Key::Home,
            b"[3~" => Key::Delete,
            b"[4~" | b"[8~" => Key::End,
            b"[5~" => Key::PageUp,
            b"[6~" => Key::PageDown,
            b"\x7f" => Key::EraseWord,
            // Modifiers of an arrow key come between the bracket and its letter.
            [b'[', .., b'A'] | b"OA" => Key::Up,
            [b'[', .., b'B'] | b"OB" => Key::Down,
            [b'[', .., b'C'] | b"OC" => Key::Right,
            [b'[', .., b'D'] | b"OD" => Key::Left,
            [b'[', .., b'H'] | b"OH" => Key::Home,
            [b'[', .., b'F'] | b"OF" => Key::End,
            b"[Z" => Key::BackTab,
            // Escape pressed twice.
            [ESC] => Key::Escape,
            _ => return None,
        };
        (!self.pasting).then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut decoder = Decoder::default();
        let mut keys: Vec<Key> = bytes.iter().filter_map(|byte| decoder.push(*byte)).collect();
        keys.extend(decoder.settle());
        keys
    }

    #[test]
    fn a_broken_character_costs_only_itself() {
        assert_eq!(keys(b"\xe6\x9da\xff\xc3\rb"), [Key::Char('a'), Key::Enter, Key::Char('b')]);
    }

    #[test]
    fn an_escape_alone_is_the_key_and_with_more_a_sequence() {
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
        assert_eq!(keys(b"\x1b\x1b"), [Key::Escape]);
        assert_eq!(
            keys(b"\x1b[A\x1bOB\x1b[1;5C\x1b[3~\x1b[H\x1b[Z\x1a"),
            [Key::Up, Key::Down, Key::Right, Key::Delete, Key::Home, Key::BackTab, Key::Suspend]
        );
        assert_eq!(keys(b"\x1b[99z\x1bqx"), [Key::Char('x')], "unknown sequences are dropped");
    }

    #[test]
    fn a_paste_can_neither_submit_nor_steer() {
        assert_eq!(
            keys(b"\x1b[200~1\r\n\x1b[A\x042\x1b[201~\r"),
            [Key::Char('1'), Key::PastedBreak, Key::PastedBreak, Key::Char('2'), Key::Enter]
        );
    }
}
