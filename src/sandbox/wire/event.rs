//! The webhook event document ("Events", 4).

use super::id::IdKind;
use crate::sandbox::rules::transition::EventKind;

/// The document of event `number` as it is delivered. It is about a booking whose summary is JSON already, because several
/// events have the same. Nothing else in it needs an escape, so it is put together as text, which is much faster.
pub(crate) fn event_document(
    number: i64,
    kind: EventKind,
    summary: &str,
    created_at: &str,
) -> String {
    [
        r#"{"id":""#,
        &IdKind::Event.id(number),
        r#"","object":"event","type":""#,
        kind.as_str(),
        r#"","created_at":""#,
        created_at,
        r#"","data":{"object":"#,
        summary,
        "}}",
    ]
    .concat()
}
