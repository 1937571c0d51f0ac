//! Columns on a terminal: some characters take two, some take none, and one that a person sees
//! may be several in a text.
//!
//! What is measured has been made [`visible`](super::visible) before: a control character has no
//! width that could be relied on.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many columns `text` takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text` in at most `columns` columns, with `…` where its end is cut. It is cut between the
/// characters that a person sees, so it may come out narrower by one.
pub(crate) fn truncate(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let mut kept = 0;
    let mut taken = 0;
    for end in ends(text) {
        taken += width(&text[kept..end]);
        if taken > room {
            break;
        }
        kept = end;
    }
    Cow::Owned(format!("{}…", &text[..kept]))
}

/// Where each character that a person sees ends. It knows the marks, joiners, selectors, skin
/// tones and flags that make one of several; a script's finer rules change nothing in a column.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    let mut previous = None;
    // Flags are letters in pairs: how many of a row have been seen.
    let mut letters = 0usize;
    let starts = text.char_indices().filter(move |(_, c)| {
        let letter = matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
        let second = letter && letters % 2 == 1;
        letters = if letter { letters + 1 } else { 0 };
        let joined = previous.replace(*c) == Some('\u{200d}');
        let tone = matches!(c, '\u{1f3fb}'..='\u{1f3ff}');
        !(joined || second || tone || c.width() == Some(0))
    });
    starts.map(|(start, _)| start).skip(1).chain([text.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_not_touched() {
        for (text, columns) in [("", 0), ("abc", 3), ("寿司", 4), ("e\u{301}", 1)] {
            assert!(matches!(truncate(text, columns), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn what_is_cut_says_so_and_never_takes_more_than_its_columns() {
        assert_eq!(truncate("abcdef", 4), "abc…");
        assert_eq!(truncate("abc", 1), "…");
        assert_eq!(truncate("abc", 0), "");
        assert_eq!(truncate("寿司屋", 5), "寿司…");
        assert_eq!(truncate("寿司屋", 4), "寿…");
        for text in [
            "a寿b司c屋d",
            "🇫🇷🇯🇵x👍🏽❤\u{fe0f}👩\u{200d}👧!",
            "e\u{301}e\u{301}e\u{301}",
        ] {
            for columns in 0..=width(text) {
                assert!(
                    width(&truncate(text, columns)) <= columns,
                    "{text} {columns}"
                );
            }
        }
    }

    #[test]
    fn a_character_is_never_split() {
        assert_eq!(truncate("e\u{301}a\u{308}o", 2), "e\u{301}…");
        assert_eq!(truncate("❤\u{fe0f}ab", 2), "…");
        assert_eq!(truncate("👍🏽abc", 3), "👍🏽…");
        assert_eq!(truncate("🇫🇷🇯🇵", 3), "🇫🇷…");
        assert_eq!(truncate("👩\u{200d}👧👩\u{200d}👧", 3), "👩\u{200d}👧…");
    }
}
