//! Whether a rate limit is waited out: as long as `--max-wait` allows, else where a person says so.

use std::time::Duration;

use tokio::time::Instant;

use super::Context;
use crate::outcome::Result;
use crate::terminal::prompt::Question;

impl Context {
    /// How long a rate limit that ends in `pause` is waited for, if it is: without asking where `allowed` reaches
    /// that far, and where a person agrees to it; what they thought about it is no longer to wait.
    pub(super) async fn patience(
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
            format!("Rate limited; resets in {} s. Wait?", pause.as_secs()),
            "--max-wait",
            "the confirmation",
        );
        let waits = self.prompter.confirm(&question, true).await?;
        Ok(waits.then(|| pause.saturating_sub(asked_at.elapsed())))
    }
}
