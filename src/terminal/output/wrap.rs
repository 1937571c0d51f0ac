//! Breaking text into lines that fit a width.

use unicode_width::UnicodeWidthStr;

/// Breaks a text at blanks. A word longer than a line stays whole, so that ids and commands can be copied.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    wrap_words(text.split(' '), width)
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

/// Joins each flag with its value where both fit on a line.
pub(super) fn with_their_flags(words: Vec<&str>, room: usize) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for word in words {
        match joined.last_mut() {
            Some(flag)
                if flag.starts_with('-')
                    && !flag.contains(' ')
                    && !word.starts_with('-')
                    && flag.width() + 1 + word.width() <= room =>
            {
                flag.push(' ');
                flag.push_str(word);
            }
            _ => joined.push(word.to_owned()),
        }
    }
    joined
}

pub(super) fn wrap_words(
    words: impl IntoIterator<Item = impl AsRef<str>>,
    width: usize,
) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words {
        let word = word.as_ref();
        let line = lines.last_mut().map_or(0, |line| line.width());
        if line > 0 && line + 1 + word.width() > width {
            lines.push(word.to_owned());
        } else if let Some(last) = lines.last_mut() {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_broken_between_the_words_of_a_shell_alone() {
        assert_eq!(
            words(r"bookctl continue 'bk 1' -F 'it'\''s a'=VALUE"),
            ["bookctl", "continue", "'bk 1'", "-F", r"'it'\''s a'=VALUE"]
        );
    }

    #[test]
    fn a_flag_and_its_value_stay_on_one_line_where_there_is_room() {
        let command = words("bookctl slots ven_1 --at TIME --yes --party 2");
        assert_eq!(
            with_their_flags(command.clone(), 9),
            [
                "bookctl",
                "slots",
                "ven_1",
                "--at TIME",
                "--yes",
                "--party 2"
            ]
        );
        assert_eq!(with_their_flags(command.clone(), 8), command);
    }
}
