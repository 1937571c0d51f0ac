//! Warns of earlier booking requests whose outcome is unknown, before another one is sent.

use std::collections::HashSet;

use super::create::{attempt_request, create};
use super::finish::card;
use super::reminder::reminds_today;
use crate::app::Context;
use crate::app::in_flight::resume_command;
use crate::journal::Attempt;
use crate::json::plain;
use crate::model::time_text::human;
use crate::outcome::Result;
use crate::terminal::prompt::Question;

/// Warns of each attempt in doubt at this service. A person is offered to resume it first.
///
/// Attempts under the keys in `mine` are left out: the command itself resumes them.
pub(crate) async fn warn_of_open_attempts(context: &Context, mine: &HashSet<String>) -> Result<()> {
    let mut in_doubt = context.journal()?.attempts_in_doubt()?;
    in_doubt.retain(|attempt| !mine.contains(&attempt.idempotency_key));
    if !in_doubt.is_empty() {
        // Said here, and not once more at the end.
        reminds_today(context)?;
    }
    for attempt in in_doubt {
        let key = &attempt.idempotency_key;
        context.out.warn(&format!(
            "the result of an earlier booking request is unknown, and it may be booked: {}; to find out: {}",
            described(&attempt),
            resume_command(key)
        ));
        // An attempt of another API key cannot be resumed with this one.
        if !context.prompter.interactive() || !context.journal()?.owns(&attempt) {
            continue;
        }
        let question = Question::new(
            "Find out what happened to it first?",
            "attempts resume",
            "the confirmation",
        );
        if context.prompter.confirm(&question, true).await? {
            let booking = create(context, key, attempt_request(&attempt)).await?;
            context.out.show_view(&card(context, &booking));
        }
    }
    Ok(())
}

fn described(attempt: &Attempt) -> String {
    let asked = |field: &str| attempt.asked().get(field).map(plain).unwrap_or_default();
    let guest = attempt
        .asked()
        .get("customer")
        .and_then(|guest| guest.get("name"));
    let parts = [
        asked("venue_id"),
        human(&asked("datetime")),
        guest.map(plain).unwrap_or_default(),
    ];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}
