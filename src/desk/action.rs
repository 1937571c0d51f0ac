//! What a letter does at the card: the same command that a person would type.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::list::Entry;
use crate::app::Context;
use crate::booking::{attempts, book, change, pause};
use crate::outcome::{Error, Exit, Result};
use crate::platform::shell;
use crate::service::documents::booking::Status;
use crate::terminal::output::visible;
use crate::terminal::prompt::write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letter {
    Answer,
    Modify,
    Cancel,
    BookAgain,
    Refresh,
    Resolve,
    CopyId,
}

use Letter::{Answer, BookAgain, Cancel, CopyId, Modify, Refresh, Resolve};

/// The letters in the order of the footer, each with its word and what `?` says of it.
pub(super) const LETTERS: [(Letter, char, &str, &str); 7] = [
    (Answer, 'a', "answer", "Answer what the booking waits for"),
    (
        Modify,
        'm',
        "modify",
        "Change the time, party size or seating",
    ),
    (Cancel, 'x', "cancel", "Cancel the booking"),
    (
        BookAgain,
        'b',
        "book again",
        "Book again for the same guest at the same venue",
    ),
    (
        Refresh,
        'r',
        "refresh",
        "Read the booking from the service now",
    ),
    (
        Resolve,
        'r',
        "resolve",
        "Find out whether an unresolved request was booked",
    ),
    (CopyId, 'c', "copy id", "Copy the ID to the clipboard"),
];

impl Letter {
    /// Whether it does something for this row.
    pub(super) fn is_for(self, entry: &Entry) -> bool {
        let Entry::Booking(kept) = entry else {
            return matches!(self, Resolve | CopyId);
        };
        let status = kept.booking.status();
        match self {
            Answer => status == Status::RequiresAction,
            Modify => status == Status::Confirmed,
            Cancel => status.has_not_ended(),
            Resolve => false,
            BookAgain | Refresh | CopyId => true,
        }
    }

    /// The error is a sentence for the person.
    pub(super) fn of(typed: char, entry: &Entry) -> Result<Self, String> {
        let meant = LETTERS.iter().filter(|(_, key, ..)| *key == typed);
        let known = meant.clone().next();
        let Some((_, key, word, _)) = known else {
            return Err(format!("`{typed}` is not a key here. Press ? for the keys"));
        };
        let fits = meant.map(|it| it.0).find(|letter| letter.is_for(entry));
        let letter = fits.ok_or_else(|| {
            let state = entry.state();
            format!("`{key}` ({word}) is not possible: the status is {state}")
        })?;
        // `@1` and `@last` would name another one.
        if entry.id().starts_with('@') && letter != CopyId {
            return Err("an ID that starts with @ cannot be used in a command".to_owned());
        }
        Ok(letter)
    }
}

/// Runs the command with its own questions. Its first line is the command itself.
pub(super) async fn run(context: &Context, letter: Letter, entry: &Entry) -> Result<Exit> {
    let id = entry.id();
    let (verb, words): (&str, &[&str]) = match letter {
        Answer => ("continue", &["--", id]),
        Modify => ("modify", &["--", id]),
        Cancel => ("cancel", &["--", id]),
        BookAgain => ("book --like", &["--like", id]),
        _ => ("attempts resume", &["resume", "--", id]),
    };
    context.out.note(&shell::command(verb, id, ""));
    match letter {
        Answer => pause::run(context, parsed(words)?).await,
        Modify => change::modify::run(context, parsed(words)?).await,
        Cancel => change::cancel::run(context, parsed(words)?).await,
        BookAgain => book::run(context, parsed(words)?).await,
        _ => attempts::run(context, parsed(words)?).await,
    }
}

/// The arguments of a command, as the command line would have them.
fn parsed<A: clap::Args>(words: &[&str]) -> Result<A> {
    let command = A::augment_args(clap::Command::new("bookctl")).no_binary_name(true);
    let matches = command.try_get_matches_from(words);
    let parsed = matches.and_then(|matches| A::from_arg_matches(&matches));
    parsed.map_err(|error| Error::usage(error.to_string()))
}

/// Hands an ID to the terminal's clipboard (OSC 52), which a terminal may refuse without a word.
pub(super) fn copy(id: &str) -> String {
    let handed = write(&format!("\x1b]52;c;{}\x07", BASE64_STANDARD.encode(id)));
    let id = visible(id);
    match handed {
        Ok(()) => format!("Copied, if this terminal allows it: {id}"),
        Err(_) => id.into_owned(),
    }
}
