//! Something to look at while waiting.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::visible::visible;

/// A spinner with a text, on stderr; gone when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(super) fn start(text: &str, live: bool, colour: bool) -> Self {
        if !live {
            return Progress {
                bar: ProgressBar::hidden(),
            };
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
        Progress { bar }
    }

    /// The bar itself, for whoever writes beside it.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Says something else.
    pub(crate) fn say(&self, text: &str) {
        self.bar.set_message(visible(text).into_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
