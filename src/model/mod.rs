//! What both sides of the wire agree on.

pub(crate) mod duration;
pub(crate) mod moment;
mod typed;
pub(crate) mod when;
pub(crate) mod zone;
