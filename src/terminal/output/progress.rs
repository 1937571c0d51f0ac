//! Progress on stderr.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::visible::visible;

/// A spinner with a text, or a progress bar. Cleared on drop.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The text of the outer spinner, restored on drop.
    outer: Option<String>,
}

impl Progress {
    pub(super) fn start(text: &str, live: bool, colour: bool) -> Self {
        if !live {
            return Progress::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = if colour {
            "{spinner:.cyan} {wide_msg}"
        } else {
            "{spinner} {wide_msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(visible(text).into_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress { bar, outer: None }
    }

    pub(super) fn of(steps: usize, live: bool, colour: bool) -> Self {
        if !live {
            return Progress::hidden();
        }
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        let template = if colour {
            "{bar:20.cyan} {pos}/{len} {wide_msg}"
        } else {
            "{bar:20} {pos}/{len} {wide_msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        Progress { bar, outer: None }
    }

    /// Changes the text of an outer spinner until this is dropped.
    pub(super) fn within(outer: &ProgressBar, text: &str) -> Self {
        let progress = Progress {
            bar: outer.clone(),
            outer: Some(outer.message()),
        };
        progress.say(text);
        progress
    }

    fn hidden() -> Self {
        Progress {
            bar: ProgressBar::hidden(),
            outer: None,
        }
    }

    pub(crate) fn step(&self) {
        self.bar.inc(1);
    }

    /// The bar itself, so that other output can suspend it.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    pub(crate) fn say(&self, text: &str) {
        let text = visible(text);
        // Keep the outer text as a prefix.
        self.bar.set_message(match &self.outer {
            Some(outer) if !outer.is_empty() => format!("{outer}; {text}"),
            _ => text.into_owned(),
        });
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        match self.outer.take() {
            Some(text) => self.bar.set_message(text),
            None => self.bar.finish_and_clear(),
        }
    }
}
