//! How many rows were written to the terminal, so that a question that is asked again takes the place of what stood there
//! since it was asked before.

use std::sync::atomic::{AtomicUsize, Ordering};

use console::measure_text_width;

static ROWS: AtomicUsize = AtomicUsize::new(0);
/// How often something was written whose rows were not counted.
static UNCOUNTED: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    rows: usize,
    uncounted: usize,
    columns: usize,
}

impl Place {
    /// The place where the next row will be written.
    pub(super) fn next(columns: usize) -> Self {
        Place {
            rows: ROWS.load(Ordering::Relaxed),
            uncounted: UNCOUNTED.load(Ordering::Relaxed),
            columns,
        }
    }

    /// How many rows were written since. `None` if that is not known: a terminal of another width breaks lines elsewhere.
    pub(super) fn rows_since(self, columns: usize) -> Option<usize> {
        let next = Place::next(columns);
        let is_known = next.uncounted == self.uncounted && next.columns == self.columns;
        is_known.then(|| next.rows.saturating_sub(self.rows))
    }

    /// The rows that were written since are cleared.
    pub(super) fn clear(self) {
        ROWS.store(self.rows, Ordering::Relaxed);
    }
}

/// Counts the rows of a text that ends with a line feed.
pub(super) fn count(text: &str, columns: usize) {
    let rows_of = |line: &str| measure_text_width(line).div_ceil(columns.max(1)).max(1);
    ROWS.fetch_add(text.lines().map(rows_of).sum(), Ordering::Relaxed);
}

/// Something was written whose rows cannot be counted.
pub(super) fn lose_count() {
    UNCOUNTED.fetch_add(1, Ordering::Relaxed);
}
