//! Commands that are printed to be copied: what the service sent is never a command of its own.

/// A text as one word of a shell.
pub(crate) fn word(text: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_.:@+/,".contains(c);
    if !text.is_empty() && text.chars().all(harmless) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
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
