//! Searches for venues.

use serde_json::Value;

use super::pages::{Listing, Pages};
use crate::app::Context;
use crate::client::VenueQuery;
use crate::json::plain;
use crate::model::venue::Venue;
use crate::outcome::Result;

/// Searches for up to `limit` venues, from as many pages as that takes, and remembers them.
pub(crate) async fn find_venues(
    context: &Context,
    query: &VenueQuery,
    limit: usize,
) -> Result<Pages<Venue>> {
    let progress = context.out.progress("searching");
    let listing = Listing {
        nouns: "venues",
        limit,
        key: |venue: &Venue| venue.id().to_owned(),
        read: &|document| context.adapter().venues(document),
        next: &|name, value| {
            let mut next = query.clone();
            next.page = Some((name.to_owned(), value.clone()));
            next.call(context.adapter())
        },
    };
    let first = query.call(context.adapter())?;
    let pages = listing.read(context, first).await?;
    context.keep_rate_limits();
    drop(progress);
    let failed = pages.document.value().get("providers_failed");
    let failed = failed.and_then(Value::as_array).into_iter().flatten();
    let failed: Vec<String> = failed.map(provider_name).collect();
    if !failed.is_empty() {
        context.out.warn(&format!(
            "{} did not answer; their venues are missing from the list",
            failed.join(", ")
        ));
    }
    context.remember(|recent| recent.remember_venues(&pages.items));
    Ok(pages)
}

/// A provider by its name, or by the object that has one.
fn provider_name(provider: &Value) -> String {
    let names = ["provider", "name", "id"];
    let named = names.iter().find_map(|name| provider.get(name));
    plain(named.unwrap_or(provider))
}
