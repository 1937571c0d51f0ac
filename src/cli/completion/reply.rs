//! Candidates in the format of each completion script: one per line, with a tab before the description.

use clap_complete::CompletionCandidate;

use super::command_line::CommandLine;
use crate::commands::Shell;
use crate::model::shell::escaped;
use crate::terminal::output::visible;

pub(super) fn reply(
    shell: Shell,
    line: &CommandLine,
    candidates: &[CompletionCandidate],
) -> String {
    let mut reply = String::new();
    for candidate in candidates {
        // A value that is not UTF-8 or has several lines cannot be typed as one word.
        let Some(value) = candidate.get_value().to_str() else {
            continue;
        };
        if value.contains(char::is_control) {
            continue;
        }
        let about = candidate.get_help().map(ToString::to_string);
        let about = about.as_deref().map(visible);
        match shell {
            Shell::Bash => {
                let value = value.get(line.kept..).unwrap_or(value);
                // The other shells, or their scripts, quote a candidate themselves.
                reply.push_str(&if line.quoted {
                    value.to_owned()
                } else {
                    escaped(value)
                });
                // bash would insert the description of a single candidate into the line.
                if let (Some(about), true) = (about, line.listing && candidates.len() > 1) {
                    reply.push_str(&format!("  ({about})"));
                }
            }
            Shell::Zsh | Shell::Fish | Shell::Powershell | Shell::Elvish => {
                reply.push_str(value);
                if let Some(about) = about {
                    reply.push_str(&format!("\t{about}"));
                }
            }
        }
        reply.push('\n');
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(value: &str, about: &str) -> CompletionCandidate {
        CompletionCandidate::new(value).help(Some(about.to_owned().into()))
    }

    #[test]
    fn bash_gets_the_piece_that_it_replaces_and_what_is_said_of_it_only_in_a_list() {
        let mut line = CommandLine {
            kept: "--slot=".len(),
            ..CommandLine::default()
        };
        let two = [
            candidate("--slot=@1", "early"),
            candidate("--slot=@2", "late"),
        ];
        assert_eq!(reply(Shell::Bash, &line, &two), "@1\n@2\n");
        line.listing = true;
        assert_eq!(reply(Shell::Bash, &line, &two), "@1  (early)\n@2  (late)\n");
        assert_eq!(reply(Shell::Bash, &line, &two[..1]), "@1\n");
    }

    #[test]
    fn a_file_with_a_blank_stays_one_word_in_bash() {
        let file = [candidate("my answer.json", "")];
        let mut line = CommandLine::default();
        assert_eq!(reply(Shell::Bash, &line, &file), "my\\ answer.json\n");
        line.quoted = true;
        assert_eq!(reply(Shell::Bash, &line, &file), "my answer.json\n");
    }

    #[test]
    fn a_candidate_is_one_line_whatever_is_said_of_it() {
        let hostile = [candidate("a", "x\ty\nz"), candidate("b\nc", "")];
        assert_eq!(
            reply(Shell::Fish, &CommandLine::default(), &hostile),
            "a\tx\\u{9}y\\u{a}z\n"
        );
    }
}
