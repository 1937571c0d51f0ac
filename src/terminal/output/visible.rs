//! Making untrusted text safe for a terminal: it must not move the cursor, reverse the line, hide
//! text or show a key.

use std::borrow::Cow;

use crate::platform::hidden::is_hidden;
use crate::secrets::redact;

/// `text` on one line, with secrets masked, and with control characters and invisible characters
/// written as their code points (`\u{1b}`). The result is for reading only: a literal `\u{1b}` in
/// the text looks the same.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    match redact(text) {
        Cow::Borrowed(text) => spelled(text, |_| false),
        Cow::Owned(masked) => spelled(&masked, |_| false).into_owned().into(),
    }
}

/// Like [`visible`], but keeps line feeds and tabs.
pub(crate) fn visible_rows(text: &str) -> Cow<'_, str> {
    spelled(text, |c| c == '\n' || c == '\t')
}

fn spelled(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut eye = InvisibleFilter::default();
    let mut spelled = String::with_capacity(text.len() + 8);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let next = chars.as_str().chars().next();
        if eye.hides(c, next) && !stays(c) {
            spelled.extend(c.escape_unicode());
        } else {
            spelled.push(c);
        }
    }
    Cow::Owned(spelled)
}

/// Decides character by character which ones are invisible.
///
/// Three belong to names and stay where each follows a visible character that it changes: U+200C
/// and U+200D shape Persian and Indic words and join emoji, and U+FE0F selects the colored form of
/// an emoji. Elsewhere they are escaped, as are all other variation selectors, because terminals do
/// not have the shapes that those select.
#[derive(Default)]
pub(super) struct InvisibleFilter {
    seen: Option<char>,
    /// Whether U+FE0F has followed it.
    is_selected: bool,
}

impl InvisibleFilter {
    /// Whether `c` is invisible here. `next` is the character after it.
    pub(super) fn hides(&mut self, c: char, next: Option<char>) -> bool {
        match c {
            EMOJI_SELECTOR if self.takes_selector(next) => {
                self.is_selected = true;
                false
            }
            NON_JOINER | JOINER
                if [self.seen, next].iter().all(|it| it.is_some_and(is_joinable)) =>
            {
                *self = InvisibleFilter::default();
                false
            }
            _ if is_hidden(c) => {
                *self = InvisibleFilter::default();
                true
            }
            _ => {
                *self = InvisibleFilter { seen: Some(c), is_selected: false };
                false
            }
        }
    }

    fn takes_selector(&self, next: Option<char>) -> bool {
        let is_base = |seen| match seen {
            // A digit has a colored form only as a keycap.
            '0'..='9' | '#' | '*' => next == Some(KEYCAP),
            _ => is_emoji(seen),
        };
        !self.is_selected && self.seen.is_some_and(is_base)
    }
}

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
const EMOJI_SELECTOR: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// Whether `c` is an emoji, or of a script with joiners: Arabic, Indic, Southeast Asian, Mongolian.
fn is_joinable(c: char) -> bool {
    let is_shaped = matches!(
        c,
        '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{1cff}' | '\u{a800}'..='\u{aaff}'
            | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{11fff}'
            | '\u{1e900}'..='\u{1e95f}'
    );
    !is_hidden(c) && (is_shaped || is_emoji(c))
}

/// Whether `c` is in a block of Unicode's emoji-variation-sequences.txt.
fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{24c2}'
            | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}'
            | '\u{2934}'..='\u{2935}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
            | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_drives_a_terminal_is_spelled_out() {
        assert_eq!(visible("a\u{1b}[31mred\u{7}"), r"a\u{1b}[31mred\u{7}");
        assert_eq!(visible("one\r\ntwo\tthree"), r"one\u{d}\u{a}two\u{9}three");
        assert_eq!(visible("\u{9b}2J\u{7f}\0"), r"\u{9b}2J\u{7f}\u{0}");
    }

    #[test]
    fn whatever_turns_or_hides_text_is_spelled_out() {
        for hidden in [
            0x61c, 0xad, 0x34f, 0x115f, 0x180b, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029,
            0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069, 0x206f, 0x2800, 0x3164, 0xfe00, 0xfe0e,
            0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffb, 0x16fe4, 0x1d159, 0x1d173, 0xe0001, 0xe007f,
            0xe0100, 0xe01ef,
        ] {
            let text = format!("x{}y", char::from_u32(hidden).unwrap());
            assert_eq!(visible(&text), format!("x\\u{{{hidden:x}}}y"));
        }
    }

    #[test]
    fn joiners_between_letters_or_emoji() {
        for name in [
            "می\u{200c}خواهم",
            "ක\u{dca}\u{200d}රීම",
            "র\u{200d}\u{9cd}যাব",
            "👩\u{1f3fd}\u{200d}🍳",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "☕\u{fe0f} Café",
        ] {
            assert_eq!(visible(name), name);
        }
    }

    #[test]
    fn joiners_and_selectors_elsewhere_or_in_a_row_are_spelled_out() {
        for (text, displayed) in [
            ("\u{200d}a", r"\u{200d}a"),
            ("a\u{200c}", r"a\u{200c}"),
            ("a \u{200d}b", r"a \u{200d}b"),
            ("1\u{200d}2", r"1\u{200d}2"),
            ("a\u{200d}b", r"a\u{200d}b"),
            ("é\u{200c}ж", r"é\u{200c}ж"),
            ("می\u{200d}\u{200c}م", r"می\u{200d}\u{200c}م"),
            ("م\u{200d}\u{3164}", r"م\u{200d}\u{3164}"),
            ("a\u{fe0f}", r"a\u{fe0f}"),
            ("1\u{fe0f}", r"1\u{fe0f}"),
            ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}"),
            ("❤\u{fe0e}\u{fe0f}", r"❤\u{fe0e}\u{fe0f}"),
            ("葛\u{e0100}城", r"葛\u{e0100}城"),
        ] {
            assert_eq!(visible(text), displayed);
        }
    }
}
