//! The availability search: what its refusals ask for is sent, until it answers.

use serde_json::{Map, Value};

use super::reads::{Read, Reads, Seen};
use super::{Survey, tomorrow_evening, with_findings};
use crate::adapter::ReadKind;
use crate::adapter::learn::{Certainty, SlotsRequest, Time, named_in, of_documents};
use crate::client::SlotQuery;
use crate::model::venue::Venue;
use crate::outcome::Result;

/// How many venues are asked for slots.
const VENUES: usize = 2;

/// Looks for slots, and learns the request on the way.
pub(super) async fn slots(
    reads: &mut Reads<'_>,
    survey: &mut Survey,
    venues: &Value,
) -> Result<()> {
    // The venues' zones and providers are read with what the search has shown.
    let own = reads.context.adapter();
    let has_own = own.expressions().any(|(key, _)| key == "read.venues");
    let shown = match has_own {
        true => Vec::new(),
        false => of_documents(ReadKind::Venues, std::slice::from_ref(venues)),
    };
    let Ok(list) = with_findings(own, &shown)?.venues(&venues.clone().into()) else {
        return Ok(());
    };
    let mut request = SlotsRequest::default();
    for venue in list.item.items.iter().take(VENUES) {
        if let Some(document) = ask(reads, survey, &mut request, venue).await? {
            survey.findings.extend(request.findings(Certainty::Certain));
            survey.documents.push((ReadKind::Slots, document));
            return Ok(());
        }
        if request != SlotsRequest::default() {
            break;
        }
    }
    // Without an answer, what was learned is a guess.
    for mut finding in request.findings(Certainty::ToBeAsked) {
        finding.certainty = Certainty::ToBeAsked;
        survey.findings.push(finding);
    }
    Ok(())
}

async fn ask(
    reads: &mut Reads<'_>,
    survey: &mut Survey,
    request: &mut SlotsRequest,
    venue: &Venue,
) -> Result<Option<Value>> {
    let own = reads.context.adapter().clone();
    let mut forms: Option<std::vec::IntoIter<Time>> = None;
    let mut answer = None;
    loop {
        let findings = request.findings(Certainty::Certain);
        let Ok(adapter) = with_findings(&own, &findings) else {
            break;
        };
        reads.context.use_adapter(adapter);
        let query = SlotQuery {
            page: None,
            venue_id: venue.id_value(),
            datetime: evening_at(venue, own.local_times),
            party_size: 2,
            provider: request
                .wants_provider()
                .then(|| venue.providers().first().map(|it| (*it).to_owned()))
                .flatten(),
            fields: Map::new(),
        };
        let (body, error) = match reads.send(&Read::Slots(query)).await? {
            Seen::Answer(document) => {
                answer = Some(document);
                break;
            }
            Seen::Refused {
                status: 400 | 409 | 422,
                body,
                error,
                ..
            } => (body, error),
            Seen::Refused { error, .. } => {
                survey
                    .refused
                    .push(format!("the availability search: {}", error.message));
                break;
            }
            Seen::Spent => {
                survey.refused.push(
                    "the availability search was not sent again: no call was left".to_owned(),
                );
                break;
            }
        };
        if request.learn(&named_in(&body)) && !request.is_stuck() {
            continue;
        }
        let next = match request.is_stuck() || !request.has_one_time() {
            true => None,
            false => forms
                .get_or_insert_with(|| Time::others(&body).into_iter())
                .next(),
        };
        let Some(form) = next else {
            request.form = None;
            survey
                .refused
                .push(format!("the availability search: {}", error.message));
            break;
        };
        request.form = Some(form);
    }
    reads.context.use_adapter(own);
    Ok(answer)
}

/// Tomorrow evening on the venue's clock where that is known.
fn evening_at(venue: &Venue, is_local: bool) -> String {
    let evening = tomorrow_evening(is_local);
    let Some(zone) = venue.timezone().filter(|_| !is_local) else {
        return evening.replace('Z', "+00:00");
    };
    let local = evening
        .trim_end_matches('Z')
        .parse::<jiff::civil::DateTime>();
    match local.ok().and_then(|it| it.to_zoned(zone).ok()) {
        Some(zoned) => zoned.strftime("%FT%T%:z").to_string(),
        None => evening,
    }
}
