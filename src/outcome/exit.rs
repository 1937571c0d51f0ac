//! The exit codes, in one table that the process, the help and the docs use.

use std::process::ExitCode;

/// Whether the same request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// Nothing failed.
    NotNeeded,
    /// Nothing was done, or the same again does no harm.
    Yes,
    /// Nothing was done, and the request has to be corrected.
    AfterFix,
    /// Something may have been done.
    AfterCheck,
    /// Useless until something else has changed.
    No,
}

impl Retry {
    /// The word in JSON and in docs/errors.md.
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Retry::NotNeeded => None,
            Retry::Yes => Some("yes"),
            Retry::AfterFix => Some("after_fix"),
            Retry::AfterCheck => Some("after_check"),
            Retry::No => Some("no"),
        }
    }
}

macro_rules! exits {
    ($($name:ident = $code:literal, $retry:ident, $meaning:literal, $booking:literal;)*) => {
        /// How a command ended. The number is the process's exit code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Exit {
            $(#[doc = $meaning] $name,)*
            /// The exit code of a program that bookctl ran (`sandbox run`).
            OfProgram(u8),
        }

        impl Exit {
            pub const ALL: &[Exit] = &[$(Exit::$name,)*];

            pub fn code(self) -> u8 {
                match self {
                    $(Exit::$name => $code,)*
                    Exit::OfProgram(code) => code,
                }
            }

            pub fn meaning(self) -> &'static str {
                match self {
                    $(Exit::$name => $meaning,)*
                    Exit::OfProgram(_) => "the program's own exit code",
                }
            }

            /// What this alone says. After most others, something may have been done: a failed
            /// booking, a part of a batch, a signal, a failure after the booking.
            pub(crate) fn retry(self) -> Retry {
                match self {
                    $(Exit::$name => Retry::$retry,)*
                    Exit::OfProgram(_) => Retry::AfterCheck,
                }
            }

            /// What is certain about the booking after `book`, as a phrase.
            pub fn certainty(self) -> &'static str {
                match self {
                    $(Exit::$name => $booking,)*
                    Exit::OfProgram(_) => "see the program's output",
                }
            }
        }
    };
}

exits! {
    Done = 0, NotNeeded, "done, also with an empty list; for `book`, `continue` and `watch`: confirmed (or the status waited for)",
        "it is confirmed (or has the status waited for)";
    Unclassified = 1, AfterCheck, "other failure, such as a file that cannot be read",
        "the message names the booking, if one was made";
    Usage = 2, AfterFix, "invalid arguments, or required input or `--yes` missing where bookctl may not prompt",
        "nothing was sent";
    Config = 3, AfterFix, "the configuration, a profile, the keyring or the journal cannot be used",
        "nothing was sent";
    Unauthorized = 4, No, "no API key, a wrong key, or a key for the wrong environment",
        "nothing was booked";
    NotAllowed = 5, No, "not allowed: scope, suspension, billing, test quota, or a live key is required",
        "nothing was booked";
    NotFound = 6, No, "not found",
        "nothing was booked";
    Refused = 7, No, "rejected: by the venue, by the booking's status, no free slot, a change that was not made, or a key that belongs to another booking",
        "nothing new was booked; an existing booking is unchanged";
    Processing = 8, NotNeeded, "still processing when the wait ended",
        "it exists and is not confirmed yet";
    RateLimited = 9, Yes, "rate limited for longer than `--max-wait`",
        "nothing was booked, unless the hint names `attempts resume`: then it may exist";
    ActionNeeded = 10, NotNeeded, "the booking is waiting for an action",
        "it exists and waits for an answer";
    Failed = 11, AfterCheck, "the booking failed, expired or was cancelled instead",
        "it exists and has ended";
    Invalid = 12, AfterFix, "the request is invalid",
        "nothing was booked";
    Providers = 13, Yes, "every provider failed, or none can handle the request",
        "nothing was booked";
    Service = 14, Yes, "the service failed; a booking request that may have booked exits with 16 instead",
        "nothing was booked";
    Network = 15, Yes, "the service could not be reached, or its response to a read could not be used; for `watch` and `show --exit-status`: a status that bookctl does not know",
        "no booking was requested";
    OutcomeUnknown = 16, AfterCheck, "unknown: a booking may exist, or is not as requested; run `bookctl attempts` before you send anything again",
        "it may exist: `bookctl attempts resume` finds out";
    Declined = 17, Yes, "declined at a prompt; nothing was sent",
        "nothing was sent";
    PartialBatch = 18, AfterCheck, "part of a batch failed, or a webhook drill found a failure",
        "see the result line of each row";
    BadSignature = 19, No, "a webhook signature is invalid",
        "no booking is involved";
    HungUp = 129, AfterCheck, "hung up (SIGHUP): the terminal, or on Windows the console, was closed",
        "if anything was sent, the message names the key or the booking";
    Interrupted = 130, AfterCheck, "interrupted (Ctrl-C)",
        "if anything was sent, the message names the key or the booking";
    Quit = 131, AfterCheck, "quit (SIGQUIT)",
        "if anything was sent, the message names the key or the booking";
    Terminated = 143, AfterCheck, "terminated (SIGTERM, or on Windows Ctrl-Break)",
        "if anything was sent, the message names the key or the booking";
}

impl Exit {
    /// The exit code of a program, which may be larger than ours can be; `None` if it has none.
    pub(crate) fn of_program(code: Option<i32>) -> Self {
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
        assert!(codes.is_sorted(), "the table is in the order of its numbers");
    }
}
