//! Reads the sessions of people's provider accounts.

use serde_json::Value;

use super::pages::{Listing, Pages, with_parameter};
use crate::adapter::{Misread, ReadKind, Shape, same_words};
use crate::app::Context;
use crate::client::{Call, session};
use crate::json::{Document, plain};
use crate::outcome::Result;

/// The state of a session that waits for its code.
pub(crate) const PENDING: &str = "pending";

/// Whether a session is known to wait for the code that was sent to its person.
pub(crate) async fn waits_for_code(context: &Context, id: &str) -> bool {
    let Ok(answer) = context.read(session::show(id)).await else {
        return false;
    };
    let read = read_session(context, &answer.document);
    let state = read.map(|(session, _)| session.get("state").map(plain));
    matches!(state, Ok(Some(state)) if same_words(&state, PENDING))
}

/// Reads a session in the contract's shape, with what stands around it.
pub(crate) fn read_session(
    context: &Context,
    document: &Document,
) -> Result<(Value, Vec<(String, String)>), Misread> {
    let adapter = context.adapter();
    adapter.object(ReadKind::Session, Shape::Session, document)
}

/// Reads up to `limit` sessions, from as many pages as that takes.
pub(crate) async fn find_sessions(
    context: &Context,
    call: Call,
    limit: usize,
) -> Result<Pages<Value>> {
    let listing = Listing {
        nouns: "sessions",
        limit,
        key: |session: &Value| session.get("id").map(plain).unwrap_or_default(),
        read: &|document| context.adapter().sessions(document),
        next: &|name, value| Ok(with_parameter(&call, name, value)),
    };
    listing.read(context, call.clone()).await
}
