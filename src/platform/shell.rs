//! Quoting for commands that are printed to be copied. A text of the service must not become a
//! command of its own.

use clap::ValueEnum;

/// Quotes a text as one word of the system's shell: PowerShell on Windows, a POSIX shell elsewhere.
pub(crate) fn word(text: &str) -> String {
    if cfg!(windows) { powershell_word(text) } else { posix_word(text) }
}

/// A command of bookctl about an id: `bookctl modify ID --party N`.
pub(crate) fn command(name: &str, id: &str, flags: &str) -> String {
    command_about(name, &[id], flags)
}

/// A command of bookctl about several ids, or none. One that begins with a dash is no flag behind
/// `--`.
pub(crate) fn command_about(name: &str, ids: &[&str], flags: &str) -> String {
    let mut words = vec![format!("bookctl {name}")];
    let flags = (!flags.is_empty()).then(|| flags.to_owned());
    let ids_quoted = ids.iter().map(|id| word(id));
    if ids.iter().any(|id| id.starts_with('-')) {
        words.extend(flags.into_iter().chain(["--".to_owned()]).chain(ids_quoted));
    } else {
        words.extend(ids_quoted.chain(flags));
    }
    words.join(" ")
}

/// A flag with its value. One that begins with a dash is no flag of its own behind `=`.
pub(crate) fn flag(name: &str, value: &str) -> String {
    let between = if value.starts_with('-') { "=" } else { " " };
    format!("{name}{between}{}", word(value))
}

/// How a shell writes a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EnvFormat {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Json,
}

impl EnvFormat {
    /// The one that people use on this system.
    pub(crate) const USUAL: Self = if cfg!(windows) { Self::Powershell } else { Self::Bash };

    /// The line that sets a variable for the programs that the shell starts.
    pub(crate) fn export(self, variable: &str, value: &str) -> String {
        match self {
            Self::Bash | Self::Zsh | Self::Json => {
                format!("export {variable}={}", posix_word(value))
            }
            Self::Fish => {
                let value = value.replace('\\', "\\\\").replace('\'', "\\'");
                format!("set -gx {variable} '{value}'")
            }
            Self::Powershell => format!("$env:{variable} = {}", powershell_string(value)),
        }
    }
}

pub(crate) fn posix_word(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// In PowerShell `@x` is a variable, a comma makes a list, a dot or colon ends a flag.
fn powershell_word(text: &str) -> String {
    let is_special = text.contains(['@', ','])
        || text.starts_with('-') && text.contains(['.', ':'])
        || text.starts_with(['%', '~']);
    if is_plain(text) && !is_special { text.to_owned() } else { powershell_string(text) }
}

pub(crate) fn powershell_string(text: &str) -> String {
    let mut quoted = "'".to_owned();
    for c in text.chars() {
        // Typographic quotation marks end a string, too.
        if matches!(c, '\'' | '\u{2018}'..='\u{201b}') {
            quoted.push(c);
        }
        quoted.push(c);
    }
    quoted + "'"
}

/// Whether every shell reads a text as one word. Some expand a leading `=` or `%`.
pub(crate) fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:@+/,=%".contains(c);
    !text.is_empty() && !text.starts_with(['=', '%']) && text.chars().all(plain)
}

/// Escapes a word for bash by backslashes, so that it can be continued. A leading `~` stays.
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
    use super::{EnvFormat, powershell_string, powershell_word};

    #[cfg(unix)]
    #[test]
    fn whatever_is_in_a_text_it_is_one_word_of_a_shell() {
        let texts =
            "|bk_1|a b|$(reboot)|it's; rm -rf ~|`x`|a\nb|=ls|a=b|50%|*|é|2026-12-01T19:30:00+01:00";
        for text in texts.split('|') {
            let script = format!("printf %s {}", super::posix_word(text));
            let output = std::process::Command::new("sh").args(["-c", &script]).output();
            assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), text);
        }
        let plain = "2026-12-01T19:30:00+01:00";
        assert_eq!(super::posix_word(plain), plain);
    }

    #[test]
    fn powershell_word_is_quoted_if_it_has_another_meaning() {
        for plain in "bk_1 2026-12-01T19:30:00+01:00 --at a=b C:/x 50%".split(' ') {
            assert_eq!(powershell_word(plain), plain);
        }
        for (text, quoted) in [
            ("", "''"),
            ("@last", "'@last'"),
            ("a,b", "'a,b'"),
            ("--at=1.5", "'--at=1.5'"),
            ("$(reboot)", "'$(reboot)'"),
            ("it's; reboot", "'it''s; reboot'"),
            ("it\u{2019}s", "'it\u{2019}\u{2019}s'"),
            (r"C:\x y", r"'C:\x y'"),
            ("é", "'é'"),
        ] {
            assert_eq!(powershell_word(text), quoted);
        }
        assert_eq!(powershell_string("plain"), "'plain'");
    }

    #[test]
    fn each_shell_reads_the_value_as_it_is() {
        let line = |shell: EnvFormat| shell.export("NAME", r"a'b\c");
        assert_eq!(line(EnvFormat::Bash), r"export NAME='a'\''b\c'");
        assert_eq!(line(EnvFormat::Fish), r"set -gx NAME 'a\'b\\c'");
        assert_eq!(line(EnvFormat::Powershell), r"$env:NAME = 'a''b\c'");
    }
}
