//! Lists the sessions of people's provider accounts.

use serde_json::Value;

use super::pages::{Listing, Pages, with_parameter};
use crate::app::Context;
use crate::client::Call;
use crate::json::plain;
use crate::outcome::Result;

/// Reads up to `limit` sessions, from as many pages as that takes.
pub(crate) async fn find_sessions(
    context: &Context,
    call: Call,
    limit: usize,
) -> Result<Pages<Value>> {
    let listing = Listing {
        nouns: "sessions",
        limit,
        setting: None,
        key: |session: &Value| session.get("id").map(plain).unwrap_or_default(),
        read: &|document| context.adapter().sessions(document),
        next: &|name, value| Ok(with_parameter(&call, name, value)),
    };
    listing.read(context, call.clone()).await
}
