//! The kinds of events that a person names.

use crate::app::Context;
use crate::model::similar::did_you_mean;
use crate::webhook::KINDS;

/// Warns of kinds that the service does not document. It may have them all the same, so they are no error.
pub(super) fn warn_of_unknown_kinds<'a>(
    context: &Context,
    kinds: impl IntoIterator<Item = &'a String>,
) {
    let is_unknown = |kind: &&String| !KINDS.contains(&kind.as_str());
    for kind in kinds.into_iter().filter(is_unknown) {
        let known = KINDS.join(", ");
        // The first word is often left out.
        let whole = format!("booking.{}", kind.trim_start_matches("booking."));
        let warning = match did_you_mean(&whole, KINDS) {
            Some(meant) => format!("unknown kind of event: {kind}; {meant}"),
            None => format!("unknown kind of event: {kind}; known kinds: {known}"),
        };
        context.out.warn(&warning);
    }
}
