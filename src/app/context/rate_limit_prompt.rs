//! Decides whether a rate limit is waited out: within `--max-wait`, or if a person agrees.

use std::time::Duration;

use tokio::time::Instant;

use super::Context;
use crate::model::duration::in_units;
use crate::outcome::Result;
use crate::terminal::prompt::Question;

impl Context {
    /// How long to wait for a rate limit that resets in `pause`, or `None` to give up.
    ///
    /// Within `allowed` nobody is asked. The time that a person takes to answer counts as waiting.
    pub(super) async fn agreed_wait(
        &self,
        pause: Duration,
        allowed: Duration,
    ) -> Result<Option<Duration>> {
        if pause <= allowed {
            return Ok(Some(pause));
        }
        if !self.prompter.interactive() {
            return Ok(None);
        }
        self.out.make_room();
        let asked_at = Instant::now();
        let question = Question::new(
            format!(
                "Rate limited; resets in {}. Wait?",
                in_units(pause.as_secs())
            ),
            "--max-wait",
            "the confirmation",
        );
        let waits = self.prompter.confirm(&question, true).await?;
        Ok(waits.then(|| pause.saturating_sub(asked_at.elapsed())))
    }
}
