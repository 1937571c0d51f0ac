//! Reminds of booking requests whose outcome is unknown, once a day.

use jiff::Timestamp;

use crate::app::Context;
use crate::app::in_flight::resume_command;
use crate::model::zone::system_zone;
use crate::outcome::Result;
use crate::recent::RecentList;

/// Mentions earlier booking requests whose outcome is unknown, in one line, if that was not done today. Only after a
/// command that talked to the service, and never to a script.
pub(crate) fn remind_of_open_attempts(context: &Context) {
    let is_silent = !context.out.is_human() || context.out.is_quiet();
    if is_silent || !context.has_connected() || !context.has_journal() {
        return;
    }
    // A reminder is no reason for an error.
    let _ = remind(context);
}

fn remind(context: &Context) -> Result<()> {
    let mut attempts = context.journal()?.open_attempts_here()?;
    // What this command itself left open, it has said.
    let own = Some(std::process::id());
    attempts.retain(|attempt| attempt.runs.last().is_none_or(|run| run.process != own));
    let Some(first) = attempts.first() else {
        return Ok(());
    };
    if !reminds_today(context)? {
        return Ok(());
    }
    let (count, command) = match attempts.len() {
        1 => (
            "an earlier booking request".to_owned(),
            resume_command(&first.idempotency_key),
        ),
        many => (
            format!("{many} earlier booking requests"),
            "bookctl attempts".to_owned(),
        ),
    };
    context.out.warn(&format!(
        "the result of {count} is unknown; to find out: {command}"
    ));
    Ok(())
}

/// Whether nobody was reminded today. From now on, somebody was.
pub(super) fn reminds_today(context: &Context) -> Result<bool> {
    let today = Timestamp::now().to_zoned(system_zone()).date().to_string();
    let recent = context.recent()?;
    if recent.listed(RecentList::Reminded, 1)?.as_ref() == Some(&today) {
        return Ok(false);
    }
    // Whoever cannot be remembered as reminded is reminded again.
    let _ = recent.remember_one(RecentList::Reminded, &today);
    Ok(true)
}
