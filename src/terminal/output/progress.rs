//! Progress on stderr.

use std::fmt::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::visible::visible;

/// A spinner with a text, or a progress bar. Cleared on drop.
pub(crate) struct Progress {
    pub(super) bar: ProgressBar,
    /// The text of the outer spinner, restored on drop.
    outer: Option<String>,
}

impl Progress {
    /// A spinner, or a bar of so many steps, with or without color; `None` shows nothing.
    pub(super) fn start(text: &str, steps: Option<usize>, color: Option<bool>) -> Self {
        let Some(color) = color else {
            let bar = ProgressBar::hidden();
            return Progress { bar, outer: None };
        };
        let length = steps.map(|steps| steps as u64);
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
        let template = match (steps, color) {
            (None, true) => "{spinner:.cyan} {wide_msg}{late}",
            (None, false) => "{spinner} {wide_msg}{late}",
            (Some(_), true) => "{bar:20.cyan} {pos}/{len} {wide_msg}",
            (Some(_), false) => "{bar:20} {pos}/{len} {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("late", late));
        }
        bar.set_message(visible(text).into_owned());
        let tick = if steps.is_some() { 500 } else { 100 };
        bar.enable_steady_tick(Duration::from_millis(tick));
        Progress { bar, outer: None }
    }

    /// Changes the text of an outer spinner until this is dropped.
    pub(super) fn within(outer: &ProgressBar, text: &str) -> Self {
        let progress = Progress { bar: outer.clone(), outer: Some(outer.message()) };
        progress.say(text);
        progress
    }

    pub(crate) fn step(&self) {
        self.bar.inc(1);
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

/// What a person who has waited for a while wants to know.
fn late(state: &ProgressState, text: &mut dyn Write) {
    let seconds = state.elapsed().as_secs();
    if seconds >= 3 {
        // An error cannot be reported.
        let _ = write!(text, " {seconds} s, Ctrl-C is safe");
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
