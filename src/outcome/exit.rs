//! The exit codes, in one table that the process, the help and the docs use.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

macro_rules! exits {
    ($($name:ident = $code:literal, $meaning:literal, $booking:literal;)*) => {
        /// How a command ended. The number is the process's exit code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Exit {
            $(#[doc = $meaning] $name,)*
            /// The exit code of a program that bookctl ran (`sandbox run`).
            OfProgram(u8),
        }

        impl Exit {
            /// Every exit code, in the order of the table.
            pub const ALL: &[Exit] = &[$(Exit::$name,)*];

            /// The number.
            pub fn code(self) -> u8 {
                match self {
                    $(Exit::$name => $code,)*
                    Exit::OfProgram(code) => code,
                }
            }

            /// The meaning of the exit code, as a phrase.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Exit::$name => $meaning,)*
                    Exit::OfProgram(_) => "what the program ended with",
                }
            }

            /// What is certain about the booking after `book`, as a phrase.
            pub fn certainty(self) -> &'static str {
                match self {
                    $(Exit::$name => $booking,)*
                    Exit::OfProgram(_) => "what the program says",
                }
            }
        }
    };
}

exits! {
    Done = 0, "done; an empty list too; for `book`, `continue` and `watch`: confirmed (or the status waited for)",
        "it is confirmed (or has the status waited for)";
    Unclassified = 1, "unclassified, local I/O",
        "the message names the booking, where one was made";
    Usage = 2, "usage; input missing where nothing may be asked; `--yes` missing",
        "nothing was sent";
    Config = 3, "configuration, profile, keyring or journal",
        "nothing was sent";
    Unauthorized = 4, "no key, a bad key, the wrong environment's key",
        "nothing was booked";
    NotAllowed = 5, "not allowed: scope, suspension, billing, allowance, a live key required",
        "nothing was booked";
    NotFound = 6, "not found",
        "nothing was booked";
    Refused = 7, "refused in this state or by the venue; no slot at that time; a cancel that left the booking confirmed; an idempotency key that the service knows for another booking",
        "nothing new was booked; what a change or a cancel was asked for is as it was";
    Processing = 8, "still processing when the wait ended",
        "it exists, and is not confirmed yet";
    RateLimited = 9, "rate limited, and waiting was not allowed or not enough",
        "nothing was booked, unless the hint names `attempts resume`: then it may exist";
    ActionNeeded = 10, "the booking waits for an action",
        "it exists, and waits for an answer";
    Failed = 11, "the booking failed, expired or was cancelled instead",
        "it exists, and has ended";
    Invalid = 12, "the request is invalid",
        "nothing was booked";
    Providers = 13, "every provider failed, or none serves this",
        "nothing was booked";
    Service = 14, "the service failed, and nothing was done",
        "nothing was booked";
    Network = 15, "network: the service was not reached, or a read got no answer that can be used",
        "nothing was sent that could book";
    OutcomeUnknown = 16, "outcome unknown: check before anything is sent again",
        "it may exist: `attempts resume` finds out";
    Declined = 17, "declined at a prompt; nothing was sent",
        "nothing was sent";
    PartialBatch = 18, "a batch failed in part; a webhook drill found something",
        "each result line says it of its row";
    BadSignature = 19, "a webhook signature did not verify",
        "nothing: it is about a delivery";
    Interrupted = 130, "interrupted (Ctrl-C)",
        "the message says whether anything was sent, and names the key or the booking";
    Terminated = 143, "terminated (SIGTERM)",
        "the message says whether anything was sent, and names the key or the booking";
}

impl Exit {
    /// The exit code of a program as a shell reports it: its code, or 128 plus the signal.
    pub(crate) fn of_program(status: ExitStatus) -> Self {
        let code = status.code().or(status.signal().map(|signal| 128 + signal));
        match code {
            Some(0) => Exit::Done,
            code => Exit::OfProgram(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn every_exit_code_is_its_own_number() {
        let mut codes: Vec<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        codes.dedup();
        assert_eq!(codes.len(), Exit::ALL.len());
        assert!(
            codes.is_sorted(),
            "the table is in the order of its numbers"
        );
    }
}
