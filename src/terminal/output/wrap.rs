//! Fitting text to a width.

use console::truncate_str;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Cuts a text to `columns`, marked with `…`. Keeps letters with marks, and emojis, whole.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    // A colored line is made of texts that were cut before.
    if text.contains('\u{1b}') {
        return truncate_str(text, columns, "…").into_owned();
    }
    if text.width() <= columns {
        return text.to_owned();
    }
    let stored = fitting(text.graphemes(true), columns.saturating_sub(1));
    format!("{}…", &text[..stored])
}

/// The bytes of the first letters and emoji that fit into `columns` together.
pub(crate) fn fitting<'a>(clusters: impl Iterator<Item = &'a str>, columns: usize) -> usize {
    let mut width = 0;
    let fits = clusters.take_while(|cluster| {
        width += cluster.width();
        width <= columns
    });
    fits.map(str::len).sum()
}

/// Breaks a text at blanks; a word longer than a line stays whole, so that an id can be copied. A
/// bookctl command is not broken where it fits on a line of its own; a longer one has its own
/// lines, broken as a shell continues them.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    // No text has more columns than bytes.
    if text.len() <= width {
        return vec![text.to_owned()];
    }
    let (mut lines, mut words, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some((start, end)) = find_command(rest) {
        let command = &rest[start..end];
        words.extend(rest[..start].split(' ').filter(|word| !word.is_empty()));
        if command.width() <= width {
            words.push(command);
        } else {
            lines.extend(wrap_words(words.drain(..), width));
            lines.extend(wrap_command(command, width));
        }
        rest = &rest[end..];
    }
    words.extend(rest.split(' ').filter(|word| !word.is_empty()));
    lines.extend(wrap_words(words, width));
    lines
}

/// Breaks a command as a shell continues it, so that it can be copied.
pub(super) fn wrap_command(command: &str, width: usize) -> Vec<String> {
    let lines = wrap_words(words(command), width.saturating_sub(4).max(12)).join(" \\\n  ");
    lines.lines().map(str::to_owned).collect()
}

/// Where the first bookctl command of a text starts and ends: one in backticks, with the
/// punctuation that follows it; or one after a colon, up to a semicolon or the end.
fn find_command(text: &str) -> Option<(usize, usize)> {
    text.match_indices("bookctl ").find_map(|(at, _)| {
        let before = &text[..at];
        if before.ends_with('`') {
            let end = at + text[at..].find('`')?;
            return Some((at - 1, text[end..].find(' ').map_or(text.len(), |blank| end + blank)));
        }
        if !before.is_empty() && !before.ends_with(": ") {
            return None;
        }
        let mut end = at;
        for word in words(&text[at..]) {
            end += word.len() + 1;
            if word.ends_with(';') {
                break;
            }
        }
        Some((at, end - 1))
    })
}

/// Splits a command into shell words. A blank inside quotes does not split.
pub(super) fn words(command: &str) -> Vec<&str> {
    let (mut words, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in command.char_indices() {
        match c {
            ' ' if !quoted && !escaped => {
                words.push(&command[start..at]);
                start = at + 1;
            }
            '\'' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = c == '\\' && !quoted && !escaped;
    }
    words.push(&command[start..]);
    words
}

fn wrap_words(words: impl IntoIterator<Item = impl AsRef<str>>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let word = word.as_ref();
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                *line += &format!(" {word}");
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_between_whole_letters_and_whole_emoji() {
        let family = "👨\u{200d}👩\u{200d}👧";
        let heart = "\u{2764}\u{fe0f}";
        for (text, width, displayed) in [
            ("Ada Lovelace", 12, "Ada Lovelace"),
            ("Ada Lovelace", 11, "Ada Lovela…"),
            ("寿司寿司", 6, "寿司…"),
            (&format!("{family} Smith"), 7, &format!("{family} Smi…")),
            (&format!("{family} Smith"), 2, "…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            (&heart.repeat(4), 6, &format!("{heart}{heart}…")),
            ("\u{1b}[1mAda Lovelace\u{1b}[0m", 5, "\u{1b}[1mAda …\u{1b}[0m"),
        ] {
            let cut = cut(text, width);
            assert_eq!(cut, displayed);
            assert!(console::measure_text_width(&cut) <= width, "{cut}");
        }
    }

    #[test]
    fn a_command_is_broken_between_the_words_of_a_shell_alone() {
        assert_eq!(
            words(r"bookctl continue 'bk 1' -F 'it'\''s a'=VALUE"),
            ["bookctl", "continue", "'bk 1'", "-F", r"'it'\''s a'=VALUE"]
        );
    }

    #[test]
    fn a_command_in_a_text_is_not_broken_where_it_fits_on_a_line() {
        let hint = "a booking may exist; check it: bookctl attempts resume 'key 1'";
        assert_eq!(
            wrap(hint, 40),
            ["a booking may exist; check it:", "bookctl attempts resume 'key 1'"]
        );
        assert_eq!(
            wrap("run `bookctl show bk_1`, then call the venue", 22),
            ["run", "`bookctl show bk_1`,", "then call the venue"]
        );
        assert_eq!(
            wrap("see: bookctl show bk_1; then: bookctl cancel bk_1", 80),
            ["see: bookctl show bk_1; then: bookctl cancel bk_1"]
        );
        for text in ["", "a  b", "bookctl show"] {
            assert_eq!(wrap(text, 80), [text], "{text:?}");
        }
    }

    #[test]
    fn command_longer_than_line_is_broken_as_shell_continues_it() {
        assert_eq!(
            wrap("look with: bookctl show bk_0123456789 bk_0123456789", 24),
            ["look with:", "bookctl show \\", "  bk_0123456789 \\", "  bk_0123456789"]
        );
    }
}
