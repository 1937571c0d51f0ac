//! Times: as documents write them, as people type them, and as they are shown.

pub(crate) mod document_time;
pub(crate) mod duration;
pub(crate) mod moment;
pub(crate) mod retention;
pub(crate) mod text;
pub(crate) mod typed;
pub(crate) mod when;
pub(crate) mod zone;

// What other rooms use most.
pub(crate) use document_time::{DocumentTime, is_same_time, time_text};
pub(crate) use duration::in_units;
pub(crate) use text::{human, to_the_second, whole_seconds};
pub(crate) use when::{Days, Moment, When};
pub(crate) use zone::system_zone;
