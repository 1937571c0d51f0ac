//! Quoting for commands that are printed to be copied. A text of the service must not become a command of its own.

/// Quotes a text as one word of a POSIX shell.
pub(crate) fn word(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Whether every shell reads a text as one word without quotes. A leading `=` or `%` is expanded by some.
pub(crate) fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:@+/,=%".contains(c);
    !text.is_empty() && !text.starts_with(['=', '%']) && text.chars().all(plain)
}

/// Escapes a word for bash by backslashes, so that the word can be continued. A leading `~` stays a home folder.
pub(crate) fn escaped(word: &str) -> String {
    let mut escaped = String::new();
    for (place, c) in word.char_indices() {
        let plain = c.is_alphanumeric() || "-_.:@+/,=%".contains(c) || (c == '~' && place == 0);
        if !plain {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn whatever_is_in_a_text_it_is_one_word_of_a_shell() {
        for text in [
            "",
            "bk_1",
            "a b",
            "$(reboot)",
            "it's; rm -rf ~",
            "`x`",
            "a\nb",
            "=ls",
            "a=b",
            "50%",
            "*",
            "é",
        ] {
            let script = format!("printf %s {}", word(text));
            let output = std::process::Command::new("sh")
                .args(["-c", &script])
                .output();
            assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), text);
        }
        assert_eq!(
            word("2026-12-01T19:30:00+01:00"),
            "2026-12-01T19:30:00+01:00"
        );
    }
}
