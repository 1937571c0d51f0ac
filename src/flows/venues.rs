//! Searches for venues.

use serde_json::Value;

use super::understood::understood;
use crate::app::Context;
use crate::client::VenueQuery;
use crate::journal::Shown;
use crate::json::Document;
use crate::model::venue::Venue;
use crate::outcome::Result;

/// Searches for venues, and remembers them in the journal.
pub(crate) async fn find_venues(
    context: &Context,
    query: &VenueQuery,
    shown: Shown,
) -> Result<(Document, Vec<Venue>)> {
    let progress = context.out.progress("searching");
    let answer = context.read(query.call(context.adapter())?).await?;
    drop(progress);
    let venues = understood(context, context.adapter().venues(&answer.document))?.items;
    if let Some(failed) = answer
        .document
        .value()
        .get("providers_failed")
        .and_then(Value::as_array)
    {
        let names: Vec<&str> = failed.iter().filter_map(Value::as_str).collect();
        if !names.is_empty() {
            context.out.warn(&format!(
                "{} did not answer; their venues are missing from the list",
                names.join(", ")
            ));
        }
    }
    if let Err(error) = context
        .journal()
        .and_then(|mut journal| journal.remember_venues(&venues, shown))
    {
        context.out.warn(&format!(
            "the venues could not be saved, so @1 and so on are not available: {}",
            error.message
        ));
    }
    Ok((answer.document, venues))
}
