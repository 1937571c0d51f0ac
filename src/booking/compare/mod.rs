//! Whether a booking is the one that was asked for, and what was not changed.

pub(crate) mod compared;
pub(crate) mod difference;
