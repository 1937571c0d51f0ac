//! The command line that is being typed, up to the cursor.

use std::ffi::OsString;

use crate::cli::commands::Shell;

/// The words up to the cursor, without quotes. The last one is being typed, and may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommandLine {
    pub(super) words: Vec<OsString>,
    /// The number of bytes of the last word that the shell does not replace.
    pub(super) stored: usize,
    pub(super) quoted: bool,
    /// Whether the shell only lists candidates, and inserts none.
    pub(super) listing: bool,
}

impl CommandLine {
    /// Reads the arguments of a completion script: the words, or the three values that bash passes.
    pub(super) fn read(shell: Shell, words: Vec<OsString>) -> Self {
        match (shell, words.as_slice()) {
            (Shell::Bash, [kind, line, piece]) => Self::of_bash(
                &kind.to_string_lossy(),
                &line.to_string_lossy(),
                &piece.to_string_lossy(),
            ),
            _ => CommandLine { words, ..CommandLine::default() },
        }
    }

    /// bash also splits words at `=`, `:` and `@`, and replaces only `piece`, the last part: the
    /// line is split again.
    fn of_bash(kind: &str, line: &str, piece: &str) -> Self {
        let (words, quoted) = split(line);
        let last = words.last().map(String::as_str).unwrap_or_default();
        let stored = last.strip_suffix(piece).map_or(0, str::len);
        CommandLine {
            stored,
            quoted,
            // `?` lists after a second Tab; `!` lists now, without a longer common prefix.
            listing: kind == "63" || kind == "33",
            words: words.into_iter().map(OsString::from).collect(),
        }
    }

    /// Joins `--profile NAME` to `--profile=NAME`, so that a value is no command.
    pub(super) fn with_values_joined(mut self) -> Self {
        let flags = ["--profile", "--jq", "--timeout", "--max-wait", "--color"];
        let mut at = 1;
        while at + 2 < self.words.len() && self.words[at] != "--" {
            if flags.iter().any(|flag| self.words[at] == *flag) {
                let value = self.words.remove(at + 1);
                self.words[at].push("=");
                self.words[at].push(value);
            }
            at += 1;
        }
        self
    }

    pub(super) fn current(&self) -> &str {
        self.words.last().and_then(|word| word.to_str()).unwrap_or_default()
    }

    /// bookctl's own words before the current one. What follows `--` belongs to another program.
    pub(super) fn before(&self) -> impl Iterator<Item = &str> {
        let own = self.words.iter().take(self.words.len().saturating_sub(1)).skip(1);
        own.map(|word| word.to_str().unwrap_or_default()).take_while(|word| *word != "--")
    }
}

/// Splits the last command of a line into unquoted words; returns whether a quote is open.
fn split(line: &str) -> (Vec<String>, bool) {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '\\') | (None, '\\') => {
                word.get_or_insert_default().extend(chars.next());
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, ';' | '|' | '&' | '(') => {
                words.clear();
                word = None;
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.push(word.unwrap_or_default());
    (words, quote.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &CommandLine) -> Vec<&str> {
        let words = line.words.iter();
        words.map(|word| word.to_str().unwrap()).collect()
    }

    #[test]
    fn bash_line_joins_the_words_that_bash_splits() {
        for (text, piece, last, stored) in [
            ("bookctl book --slot=@1", "@1", "--slot=@1", 7),
            ("bookctl show a:b", "b", "a:b", 2),
            ("bookctl show ", "", "", 0),
            ("cd /; bookctl show 'a b", "a b", "a b", 0),
            (r"bookctl show a\ b", r"a\ b", "a b", 0),
        ] {
            let line = CommandLine::of_bash("9", text, piece);
            assert_eq!((line.current(), line.stored), (last, stored), "{text}");
            assert_eq!(words(&line)[0], "bookctl", "{text}");
        }
    }

    #[test]
    fn quotes_are_not_part_of_a_word_and_an_open_one_is_reported() {
        assert_eq!(
            split("a 'b c' \"d \\\" e\" '' f"),
            (["a", "b c", "d \" e", "", "f"].map(str::to_owned).to_vec(), false)
        );
        assert_eq!(split("a 'b "), (vec!["a".to_owned(), "b ".to_owned()], true));
    }

    #[test]
    fn a_profile_that_is_called_as_a_command_is_no_command() {
        let line = |text: &str| CommandLine {
            words: split(text).0.into_iter().map(OsString::from).collect(),
            ..CommandLine::default()
        };
        let joined = |text| line(text).with_values_joined();
        assert_eq!(
            words(&joined("x --jq limits --profile show sho")),
            ["x", "--jq=limits", "--profile=show", "sho"]
        );
        assert_eq!(
            words(&joined("x --profile sandbox show ")),
            ["x", "--profile=sandbox", "show", ""]
        );
        assert_eq!(words(&joined("x --profile s")), ["x", "--profile", "s"]);
        assert_eq!(
            words(&joined("x run -- y --profile z ")),
            ["x", "run", "--", "y", "--profile", "z", ""]
        );
    }
}
