//! Whether a person can be asked, and in which mode. Decided from values alone.

use std::fmt;

/// The facts about the process that decide whether questions can be asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TerminalEnv {
    pub(crate) stdin_is_terminal: bool,
    /// Questions are written to standard error, because standard output carries only results.
    pub(crate) stderr_is_terminal: bool,
    /// `--no-input`
    pub(crate) no_input: bool,
    /// `--json` or `--jq`: a script reads the output, so nobody can answer.
    pub(crate) machine_output: bool,
    /// `BOOKCTL_NO_INPUT`
    pub(crate) no_input_in_environment: bool,
    /// `CI`: a build machine may have a terminal that nobody looks at.
    pub(crate) ci: bool,
    /// `TERM=dumb`, or no `TERM` at all
    pub(crate) term_is_dumb: bool,
    /// `BOOKCTL_ACCESSIBLE`: numbered lists and plain lines, for screen readers and braille.
    pub(crate) accessible: bool,
    pub(crate) colour: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptMode {
    /// Redrawn in place, with arrow keys and a filter.
    Live,
    /// Prints a line and reads a line; nothing is redrawn.
    Plain,
}

/// Why questions cannot be asked. The text completes "nothing may be asked here: …".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NonInteractiveReason {
    NoInput,
    MachineOutput,
    Environment,
    Ci,
    StdinNotTerminal,
    StderrNotTerminal,
}

impl fmt::Display for NonInteractiveReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoInput => "--no-input is set",
            Self::MachineOutput => "--json and --jq never prompt",
            Self::Environment => "BOOKCTL_NO_INPUT is set",
            Self::Ci => "CI is set",
            Self::StdinNotTerminal => "standard input is not a terminal",
            Self::StderrNotTerminal => "standard error is not a terminal",
        })
    }
}

impl TerminalEnv {
    /// The mode, or why nothing can be asked. What the user set comes first, so that the reason is one they can
    /// change.
    pub(super) fn mode(&self) -> Result<PromptMode, NonInteractiveReason> {
        let reasons = [
            (self.no_input, NonInteractiveReason::NoInput),
            (self.machine_output, NonInteractiveReason::MachineOutput),
            (
                self.no_input_in_environment,
                NonInteractiveReason::Environment,
            ),
            (self.ci, NonInteractiveReason::Ci),
            (
                !self.stdin_is_terminal,
                NonInteractiveReason::StdinNotTerminal,
            ),
            (
                !self.stderr_is_terminal,
                NonInteractiveReason::StderrNotTerminal,
            ),
        ];
        match reasons.into_iter().find(|(stands, _)| *stands) {
            Some((_, reason)) => Err(reason),
            None if self.accessible || self.term_is_dumb => Ok(PromptMode::Plain),
            None => Ok(PromptMode::Live),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: TerminalEnv = TerminalEnv {
        stdin_is_terminal: true,
        stderr_is_terminal: true,
        no_input: false,
        machine_output: false,
        no_input_in_environment: false,
        ci: false,
        term_is_dumb: false,
        accessible: false,
        colour: true,
    };

    #[test]
    fn a_terminal_on_both_sides_is_asked_live() {
        assert_eq!(TERMINAL.mode(), Ok(PromptMode::Live));
    }

    #[test]
    fn each_barrier_alone_forbids_every_question_and_names_itself() {
        let cases = [
            (
                TerminalEnv {
                    no_input: true,
                    ..TERMINAL
                },
                NonInteractiveReason::NoInput,
            ),
            (
                TerminalEnv {
                    machine_output: true,
                    ..TERMINAL
                },
                NonInteractiveReason::MachineOutput,
            ),
            (
                TerminalEnv {
                    no_input_in_environment: true,
                    ..TERMINAL
                },
                NonInteractiveReason::Environment,
            ),
            (
                TerminalEnv {
                    ci: true,
                    ..TERMINAL
                },
                NonInteractiveReason::Ci,
            ),
            (
                TerminalEnv {
                    stdin_is_terminal: false,
                    ..TERMINAL
                },
                NonInteractiveReason::StdinNotTerminal,
            ),
            (
                TerminalEnv {
                    stderr_is_terminal: false,
                    ..TERMINAL
                },
                NonInteractiveReason::StderrNotTerminal,
            ),
        ];
        for (environment, reason) in cases {
            assert_eq!(environment.mode(), Err(reason), "{environment:?}");
            let accessible = TerminalEnv {
                accessible: true,
                ..environment
            };
            assert_eq!(
                accessible.mode(),
                Err(reason),
                "accessible: {environment:?}"
            );
        }
    }

    #[test]
    fn a_dumb_or_accessible_terminal_is_never_redrawn() {
        assert_eq!(
            TerminalEnv {
                term_is_dumb: true,
                ..TERMINAL
            }
            .mode(),
            Ok(PromptMode::Plain)
        );
        assert_eq!(
            TerminalEnv {
                accessible: true,
                ..TERMINAL
            }
            .mode(),
            Ok(PromptMode::Plain)
        );
    }
}
