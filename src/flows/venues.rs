//! Searching venues, and remembering them.

use serde_json::Value;

use super::offer::not_a_list;
use crate::adapter::list;
use crate::app::Context;
use crate::client::VenueQuery;
use crate::journal::Shown;
use crate::json::Document;
use crate::model::venue::Venue;
use crate::outcome::Result;

/// Searches venues and remembers them.
pub(crate) async fn find_venues(
    context: &Context,
    query: &VenueQuery,
    shown: Shown,
) -> Result<(Document, Vec<Venue>)> {
    let dialect = context.dialect();
    let progress = context.out.progress("searching");
    let answer = context.read(query.call(&dialect)?).await?;
    drop(progress);
    let venues: Vec<Venue> = list(answer.document.value(), &dialect.venues_field)
        .ok_or_else(|| not_a_list("venues", &dialect.venues_field))?
        .iter()
        .filter_map(|venue| Venue::from_value(venue.clone()))
        .collect();
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
