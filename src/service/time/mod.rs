//! Times: as documents write them, as people type them, and as they are shown.

pub(crate) mod document_time;
pub(crate) mod duration;
pub(crate) mod moment;
pub(crate) mod retention;
pub(crate) mod text;
pub(crate) mod typed;
pub(crate) mod when;
pub(crate) mod zone;
