//! Text that came from outside, made fit for a terminal: a venue's name must not be able to move
//! the cursor, to turn the line around or to hide what it says.

use std::borrow::Cow;

/// `text` on one line, each character that acts on a terminal or is not seen on it spelled as its
/// code point: `\u{1b}`. It is for the eye and not to be read back: a `\u{1b}` that was spelled
/// out before looks the same.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    spelled(text, is_hidden)
}

/// As [`visible`], for text of several lines: line feeds stay.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    spelled(text, |c| c != '\n' && is_hidden(c))
}

/// As [`visible_lines`], for rows of cells: tabs stay too.
pub(super) fn visible_rows(text: &str) -> Cow<'_, str> {
    spelled(text, |c| c != '\n' && c != '\t' && is_hidden(c))
}

fn spelled(text: &str, hides: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(clean) = text.find(&hides) else {
        return Cow::Borrowed(text);
    };
    let (clean, rest) = text.split_at(clean);
    let mut spelled = clean.to_owned();
    for c in rest.chars() {
        if hides(c) {
            spelled.extend(c.escape_unicode());
        } else {
            spelled.push(c);
        }
    }
    Cow::Owned(spelled)
}

/// Whether a terminal acts on `c`, or shows nothing for it. Variation selectors are not among
/// these: they only choose between two shapes of what stands before them.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Direction: marks, embeddings, overrides, isolates.
            '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Line and paragraph separators.
            | '\u{2028}'..='\u{2029}'
            // Zero width: spaces, joiners, invisible operators, deprecated shaping, the byte
            // order mark, the soft hyphen.
            | '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
            // Letters that are blank: Hangul fillers, Khmer inherent vowels.
            | '\u{115f}'..='\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}'..='\u{17b5}'
            // Interlinear annotation; format controls of shorthand and of music.
            | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Tags, which can carry a whole hidden text.
            | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_text_of_any_language_is_passed_through_without_a_copy() {
        for text in ["", "Café Ñandú", "寿司 🍣", "مطعم", "❤\u{fe0f}", r"\u{1b}"] {
            assert!(
                matches!(visible(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn whatever_drives_a_terminal_is_spelled_out() {
        assert_eq!(visible("a\u{1b}[31mred\u{7}"), r"a\u{1b}[31mred\u{7}");
        assert_eq!(visible("one\r\ntwo\tthree"), r"one\u{d}\u{a}two\u{9}three");
        assert_eq!(visible("\u{9b}2J\u{7f}\0"), r"\u{9b}2J\u{7f}\u{0}");
    }

    #[test]
    fn whatever_turns_or_hides_text_is_spelled_out() {
        for hidden in [
            0x61c, 0xad, 0x34f, 0x115f, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028,
            0x2029, 0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069, 0x206f, 0x3164, 0xfeff, 0xffa0,
            0xfff9, 0xfffb, 0x1d173, 0xe0001, 0xe007f,
        ] {
            let text = format!("x{}y", char::from_u32(hidden).unwrap());
            assert_eq!(visible(&text), format!("x\\u{{{hidden:x}}}y"));
        }
    }

    #[test]
    fn lines_stay_lines_where_they_are_asked_for() {
        assert_eq!(visible_lines("a\nb\r\n\u{1b}c"), "a\nb\\u{d}\n\\u{1b}c");
        assert!(matches!(visible_lines("a\nb"), Cow::Borrowed("a\nb")));
    }
}
