//! Editing one line of text: its content, the cursor, and the part that is visible.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::platform::key::Key;
use crate::terminal::output::{fitting, visible_rows};

#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// Byte offset of the cursor, always on a character boundary.
    at: usize,
    is_hidden: bool,
}

impl Line {
    pub(super) fn new(text: &str, is_hidden: bool) -> Self {
        Line { text: text.to_owned(), at: text.len(), is_hidden }
    }

    pub(super) fn take(&mut self) -> String {
        self.at = 0;
        std::mem::take(&mut self.text)
    }

    /// Applies a key. Returns `false` if the key has no meaning in a line.
    pub(crate) fn press(&mut self, key: Key) -> bool {
        match key {
            Key::Char(character) => {
                self.text.insert(self.at, character);
                self.at += character.len_utf8();
            }
            // A paste of several lines is joined with blanks.
            Key::PastedBreak if self.text.is_empty() => {}
            Key::PastedBreak => return self.press(Key::Char(' ')),
            Key::Backspace => self.erase_from(self.before()),
            Key::Delete => {
                let after = self.after();
                self.text.replace_range(self.at..after, "");
            }
            Key::EraseLine => self.erase_from(0),
            Key::EraseWord => self.erase_from(self.word()),
            Key::Left => self.at = self.before(),
            Key::Right => self.at = self.after(),
            Key::Home => self.at = 0,
            Key::End => self.at = self.text.len(),
            _ => return false,
        }
        true
    }

    fn erase_from(&mut self, start: usize) {
        self.text.replace_range(start..self.at, "");
        self.at = start;
    }

    fn before(&self) -> usize {
        let before = self.text[..self.at].chars().next_back();
        self.at - before.map_or(0, char::len_utf8)
    }

    fn after(&self) -> usize {
        let after = self.text[self.at..].chars().next();
        self.at + after.map_or(0, char::len_utf8)
    }

    fn word(&self) -> usize {
        let words = self.text[..self.at].trim_end();
        let last = words.rsplit(char::is_whitespace).next();
        words.len() - last.map_or(0, str::len)
    }

    /// The part that fits into `columns` with the cursor, and its column. `…` marks a cut.
    pub(crate) fn view(&self, columns: usize) -> (String, usize) {
        let part = |text: &str| {
            if self.is_hidden {
                return "*".repeat(text.chars().take(columns).count());
            }
            visible_rows(text).into_owned()
        };
        let (before, after) = self.text.split_at(self.at);
        let mut displayed = part(before);
        // The cursor needs a column after the text.
        let room = columns.saturating_sub(1);
        if displayed.width() > room {
            let stored = fitting(displayed.graphemes(true).rev(), room.saturating_sub(1));
            displayed = format!("…{}", &displayed[displayed.len() - stored..]);
        }
        let cursor = displayed.width();
        displayed += &part(after);
        // The cursor may stand within an emoji, whose parts have another width together.
        displayed.truncate(fitting(displayed.graphemes(true), columns));
        (displayed, cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Line {
        let mut line = Line::default();
        for character in text.chars() {
            assert!(line.press(Key::Char(character)));
        }
        line
    }

    fn after(text: &str, keys: &[Key]) -> String {
        let mut line = typed(text);
        for key in keys {
            line.press(*key);
        }
        line.take()
    }

    #[test]
    fn editing_works_on_characters_wherever_the_cursor_stands() {
        use Key::*;
        assert_eq!(after("日本x", &[Left, Backspace]), "日x");
        assert_eq!(after("日本x", &[Home, Delete, Right, Char('é')]), "本éx");
        assert_eq!(after("ab", &[Home, Backspace, Left, End, Delete, Right]), "ab");
    }

    #[test]
    fn a_word_or_all_before_the_cursor_is_erased_and_the_rest_stays() {
        use Key::*;
        assert_eq!(after("Ada  Lovelace ", &[EraseWord]), "Ada  ");
        assert_eq!(after("Ada Lovelace", &[Left, Left, EraseWord]), "Ada ce");
        assert_eq!(after("名前\u{3000}二", &[EraseWord]), "名前\u{3000}");
        assert_eq!(after("123456", &[Left, EraseLine]), "6");
    }

    #[test]
    fn the_view_never_exceeds_its_columns_and_holds_the_cursor() {
        let text = "Café 東京タワー🍜 e\u{301} \u{2764}\u{fe0f} with a long tail of words";
        for columns in [2, 3, 8, 20, 40, 200] {
            let mut line = typed(text);
            for _ in 0..=text.chars().count() {
                let (displayed, cursor) = line.view(columns);
                assert!(displayed.width() <= columns, "{columns}: {displayed:?}");
                assert!(cursor < columns, "{columns}: cursor at {cursor} in {displayed:?}");
                line.press(Key::Left);
            }
        }
    }

    #[test]
    fn a_hidden_line_shows_how_much_and_nothing_else() {
        let mut line = Line::new("", true);
        for character in "sk_é東".chars() {
            line.press(Key::Char(character));
        }
        assert_eq!(line.view(20), ("*****".into(), 5));
    }
}
