//! `modify` and `cancel`.

pub(crate) mod cancel;
pub(crate) mod modify;
pub(crate) mod send;
