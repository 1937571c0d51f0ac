//! What a letter does at the card: the same command that a person would type.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;

use super::list::Entry;
use crate::app::{Api, Parts};
use crate::booking::change::send::ends_by_itself;
use crate::booking::{attempts, book, change, pause};
use crate::outcome::word::Word;
use crate::outcome::{Error, Exit, Result};
use crate::platform::shell;
use crate::service::documents::Status;
use crate::terminal::output::visible;
use crate::terminal::prompt::write;
use crate::terminal::view::tone_and_word;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardAction {
    Answer,
    Modify,
    Cancel,
    BookAgain,
    Refresh,
    Resolve,
    CopyId,
}

use CardAction::{Answer, BookAgain, Cancel, CopyId, Modify, Refresh, Resolve};

/// The letters in the order of the footer: with a word, what `?` says of it, and the command.
pub(super) const LETTERS: [(CardAction, &str, &str, &str, &str); 7] = [
    (Answer, "a", "answer", "Answer what it waits for", "continue"),
    (Modify, "m", "modify", "Change time, party or seating", "modify"),
    (Cancel, "x", "cancel", "Cancel the booking", "cancel"),
    (BookAgain, "b", "book again", "Book again for this guest", "book --like"),
    (Refresh, "r", "refresh", "Read it again from the service", ""),
    (Resolve, "r", "resolve", "Resolve an unresolved request", "attempts resume"),
    (CopyId, "c", "copy ID", "Copy the ID to the clipboard", ""),
];

impl CardAction {
    /// Whether it does something for this row. Of a service that is only read, nothing is changed.
    pub(super) fn is_for(self, entry: &Entry, api: &Api, now: Timestamp) -> bool {
        if api.facts.is_read_only() && !matches!(self, Refresh | CopyId) {
            return false;
        }
        let Entry::Booking(stored) = entry else {
            return matches!(self, Resolve | CopyId);
        };
        let known = stored.fill_in(&stored.booking);
        let (status, is_over) = (known.status(), known.is_over(now));
        match self {
            Answer => status == Status::RequiresAction && !known.is_overdue(now),
            Modify => status == Status::Confirmed && !is_over,
            Cancel => status.has_not_ended() && status != Status::RequiresAction && !is_over,
            Resolve => false,
            BookAgain | Refresh | CopyId => true,
        }
    }

    /// The error is a sentence for the person.
    pub(super) fn for_letter(
        typed: char,
        entry: &Entry,
        api: &Api,
        now: Timestamp,
    ) -> Result<Self, String> {
        let mut meant = LETTERS.iter().filter(|it| it.1.starts_with(typed));
        let Some((_, key, word, ..)) = meant.clone().next() else {
            return Err(format!("`{typed}` is not a key here. Press ? for the keys"));
        };
        let Some((letter, ..)) = meant.find(|it| it.0.is_for(entry, api, now)) else {
            let why = match entry {
                _ if api.facts.is_read_only() => "this profile only reads".to_owned(),
                Entry::Request(..) => format!("its status is {}", Word::UNRESOLVED.human),
                Entry::Booking(stored) => match ends_by_itself(&stored.booking, now) {
                    Some(ends) => format!("it waits for an answer. {ends}"),
                    None if stored.fill_in(&stored.booking).is_over(now) => {
                        "the visit is over".to_owned()
                    }
                    None => format!("its status is {}", tone_and_word(&stored.booking, now).1),
                },
            };
            return Err(format!("`{key}` ({word}) is not possible: {why}"));
        };
        // `@1` and `@last` would name another one.
        if entry.id().starts_with('@') && *letter != CopyId {
            return Err("an ID that starts with @ cannot be used in a command".to_owned());
        }
        Ok(*letter)
    }
}

/// Runs the command with its own questions. Its first line is the command itself.
pub(super) async fn run(parts: &Parts, letter: CardAction, entry: &Entry) -> Result<Exit> {
    let id = entry.id();
    let command = LETTERS.iter().find(|it| it.0 == letter).map_or("", |it| it.4);
    parts.ui.out.note(&shell::command(command, id, ""));
    match letter {
        Answer => pause::run(parts, parsed(&["--", id])?).await,
        Modify => change::modify::run(parts, parsed(&["--", id])?).await,
        Cancel => change::cancel::run(parts, parsed(&["--", id])?).await,
        BookAgain => book::run(parts, parsed(&["--like", id])?).await,
        _ => attempts::run(parts, parsed(&["resume", "--", id])?).await,
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
