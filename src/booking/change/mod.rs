//! `modify` and `cancel`.

pub(crate) mod cancel;
pub(crate) mod change;
pub(crate) mod modify;
