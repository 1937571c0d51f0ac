//! The venue search: what its refusals ask for is sent, until it answers.

use serde_json::{Map, Value};

use super::reads::{Read, Reads, Seen};
use super::{Lookout, Survey, tomorrow_evening, with_findings};
use crate::adapter::Adapter;
use crate::adapter::learn::{SearchRequest, Time, named_in};
use crate::client::{SearchLocation, VenueQuery};
use crate::outcome::{Error, Result};

/// Places that are asked for venues where none was named.
const PLACES: [&str; 3] = ["New York", "London", "Paris"];

/// Searches venues, at the named place or at the first one that has any.
pub(super) async fn venues(
    reads: &mut Reads<'_>,
    survey: &mut Survey,
    lookout: &Lookout,
) -> Result<Option<Value>> {
    let own = reads.context.adapter().clone();
    let mut request = SearchRequest::of(&own.dialect);
    let found = search(reads, survey, lookout, &own, &mut request).await;
    reads.context.use_adapter(own);
    let found = found?;
    if found.is_some() {
        survey.findings.extend(request.finding());
    }
    Ok(found)
}

async fn search(
    reads: &mut Reads<'_>,
    survey: &mut Survey,
    lookout: &Lookout,
    own: &Adapter,
    request: &mut SearchRequest,
) -> Result<Option<Value>> {
    let places = match &lookout.near {
        Some(place) => vec![place.as_str()],
        None => PLACES.to_vec(),
    };
    let mut answer = None;
    for place in places {
        match ask(reads, lookout, own, place, request).await? {
            Asked::Answer(document) => answer = Some(document),
            Asked::Refused(error) => {
                let refused = format!("the venue search: {}", error.message);
                survey.refused.push(refused);
                return Ok(answer);
            }
            Asked::Spent => {
                let spent = "the venue search was not sent again: no call was left, or the rate limit leaves too little";
                survey.refused.push(spent.to_owned());
                return Ok(answer);
            }
        }
        let list = answer.as_ref().map(|it| own.venues(&it.clone().into()));
        if matches!(list, Some(Ok(list)) if !list.item.items.is_empty()) {
            return Ok(answer);
        }
    }
    survey.open("no venue was found to look at; name a place with --near");
    Ok(answer)
}

enum Asked {
    Answer(Value),
    Refused(Error),
    Spent,
}

/// Asks for the venues of a place, without what is refused and with the time in another form where it is refused.
async fn ask(
    reads: &mut Reads<'_>,
    lookout: &Lookout,
    own: &Adapter,
    place: &str,
    request: &mut SearchRequest,
) -> Result<Asked> {
    // An expression of the profile writes the request: another one is for a person to say.
    let is_own = own.expressions().any(|(key, _)| key == "write.search");
    let mut forms: Option<std::vec::IntoIter<Time>> = None;
    loop {
        let findings: Vec<_> = request.finding().into_iter().collect();
        reads.context.use_adapter(with_findings(own, &findings)?);
        let query = VenueQuery {
            page: None,
            vertical: lookout.vertical.clone(),
            place: SearchLocation::Near(place.to_owned()),
            datetime: tomorrow_evening(own.local_times),
            party_size: Some(2),
            providers: Vec::new(),
            fields: Map::new(),
        };
        let (body, error) = match reads.send(&Read::Venues(query)).await? {
            Seen::Answer(document) => return Ok(Asked::Answer(document)),
            Seen::Refused { body, error, .. } if !is_own => (body, error),
            Seen::Refused { error, .. } => return Ok(Asked::Refused(error)),
            Seen::Spent => return Ok(Asked::Spent),
        };
        let named = named_in(&body);
        let is_party = |name: &str| name == "party_size";
        if !request.without_party
            && named
                .iter()
                .any(|it| is_party(&it.dotted()) && it.is_unknown())
        {
            request.without_party = true;
            continue;
        }
        if !named.iter().any(|it| it.dotted() == "datetime") {
            return Ok(Asked::Refused(error));
        }
        let forms = forms.get_or_insert_with(|| Time::others(&body).into_iter());
        match forms.next() {
            Some(form) => request.form = Some(form),
            None => {
                request.form = None;
                return Ok(Asked::Refused(error));
            }
        }
    }
}
