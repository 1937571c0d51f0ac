//! An earlier create whose outcome nobody knows: mentioned before another one is made, never settled by itself.

use std::collections::HashSet;

use super::create::create;
use crate::app::Context;
use crate::app::in_flight::resume_command;
use crate::journal::Attempt;
use crate::json::plain;
use crate::model::time_text::human;
use crate::outcome::Result;
use crate::terminal::prompt::Question;
use crate::terminal::view::BookingView;

/// Mentions what is unsettled at this service; a person is offered to settle it first.
///
/// Not those under `mine`: the keys that the command at hand settles itself.
pub(crate) async fn mention_doubtful(context: &Context, mine: &HashSet<String>) -> Result<()> {
    let mut doubtful = context.journal()?.doubtful()?;
    doubtful.retain(|attempt| !mine.contains(&attempt.idempotency_key));
    for attempt in doubtful {
        let key = &attempt.idempotency_key;
        context.out.warn(&format!(
            "the result of an earlier booking request is unknown, and it may be booked: {}; to find out: {}",
            described(&attempt),
            resume_command(key)
        ));
        // One that was made with another API key is not settled with this one.
        if !context.prompter.interactive() || !context.journal()?.owns(&attempt) {
            continue;
        }
        let question = Question::new(
            "Find out what happened to it first?",
            "attempts resume",
            "the confirmation",
        );
        if context.prompter.confirm(&question, true).await? {
            let booking = create(context, key, attempt.request.clone()).await?;
            let dialect = context.dialect();
            context.out.show_view(&BookingView {
                booking: &booking,
                dialect: &dialect,
                now: context.now()?,
            });
        }
    }
    Ok(())
}

fn described(attempt: &Attempt) -> String {
    let asked = |field: &str| attempt.request.get(field).map(plain).unwrap_or_default();
    let guest = attempt
        .request
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
