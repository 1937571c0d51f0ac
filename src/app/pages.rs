//! Reads a list to its end, page by page, within limits: of venues, of slots, of sessions.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use reqwest::Url;
use serde_json::Value;

use crate::app::{Api, Records};
use crate::json::{Document, plain};
use crate::outcome::{Code, Error, Result};
use crate::service::client::{Answer, Call, SearchQuery, session};
use crate::service::documents::session::Session;
use crate::service::documents::venue::Venue;
use crate::service::mapping::{List, Mapping, NextPage, Reading, next_page, total};
use crate::terminal::output::Output;

/// How many elements are read where nothing else is said.
pub(crate) const DEFAULT_LIMIT: usize = 100;
const MOST_PAGES: usize = 50;
/// How many requests of a rate limit are left for other commands.
const KEPT_REQUESTS: u32 = 3;
const LONGEST: Duration = Duration::from_secs(120);

pub(crate) struct Pages<T> {
    /// The service's own document if there was one page, else the first with its list extended.
    pub(crate) document: Document,
    pub(crate) items: Vec<T>,
    /// What stands around the list in the first page, as paths and texts.
    pub(crate) envelope_fields: Vec<(String, String)>,
}

pub(crate) struct Listing<'a, T> {
    pub(crate) nouns: &'static str,
    pub(crate) limit: usize,
    /// What tells two elements apart.
    pub(crate) key: fn(&T) -> String,
    pub(crate) read: fn(&Mapping, &Document) -> Result<Reading<List<T>>>,
    /// The call for the page that this field of the request leads to.
    pub(crate) next: &'a dyn Fn(&str, &Value) -> Result<Call>,
}

impl<T> Listing<'_, T> {
    /// Reads the pages from the first call on. After one that cannot be read there are those before
    /// it, and a warning.
    pub(crate) async fn read(&self, api: &Api, first: Call) -> Result<Pages<T>> {
        let (ui, began) = (&api.ui, Instant::now());
        let mut call = first;
        let (answer, page) = self.read_page(api, &call).await?;
        let mut next = next_of(&answer);
        let mut items = page.items;
        let mut seen: HashSet<String> = items.iter().map(self.key).collect();
        let mut documents = vec![(answer.document, page.place)];
        let (mut pages, mut is_cut_short) = (1, false);
        while items.len() < self.limit
            && let Some(wanted) = next.take()
        {
            if let Some(why) = limit_reached(api, pages, began) {
                self.warn_of_more(&ui.out, &why);
                is_cut_short = true;
                break;
            }
            pages += 1;
            let (count, nouns) = (items.len(), self.nouns);
            let reading = format!("reading page {pages}, {count} {nouns} so far");
            let _progress = ui.out.progress(&reading);
            match self.read_next(api, &mut call, &wanted, &mut seen).await {
                Ok((answer, more)) => {
                    next = next_of(&answer);
                    if !more.items.is_empty() {
                        documents.push((answer.document, more.place));
                    }
                    items.extend(more.items);
                }
                Err(error) if error.code == Code::Interrupted => return Err(error),
                Err(error) => {
                    self.warn_of_more(&ui.out, &error.message);
                    is_cut_short = true;
                    break;
                }
            }
        }
        let total = next.is_none().then(|| total(documents[0].0.value())).flatten();
        if let Some(total) = total.filter(|total| *total > items.len() as u64)
            && items.len() < self.limit
            && !is_cut_short
        {
            self.warn_of_more(
                &ui.out,
                &format!("it counts {total}, and the response does not show how"),
            );
        }
        // JSON has what the service sent, whole.
        if next.is_some() || items.len() > self.limit && ui.out.is_human() {
            let (limit, nouns) = (self.limit, self.nouns);
            ui.out.note(&format!("Showing the first {limit} {nouns}. Use --limit to show more."));
        }
        items.truncate(self.limit);
        let document = joined(documents).unwrap_or_else(|first| {
            ui.out.warn("the pages cannot be joined into one document: JSON has the first one");
            first
        });
        Ok(Pages { document, items, envelope_fields: page.envelope_fields })
    }

    /// The next page. It may be empty, because some services filter their pages after cutting them,
    /// but never a known one.
    async fn read_next(
        &self,
        api: &Api,
        call: &mut Call,
        next: &NextPage,
        seen: &mut HashSet<String>,
    ) -> Result<(Answer, List<T>)> {
        *call = match next {
            NextPage::Field { name, value } => (self.next)(name, value)?,
            NextPage::Unknown => return Err(unclear("the response does not show how")),
            NextPage::At(address) => {
                let key = api.facts.mapping().transport.auth_query.as_deref();
                next_call(&api.client()?.connection.base, call, address, key)
                    .ok_or_else(|| unclear("the address of the next page is not the service's"))?
            }
        };
        let (answer, page) = self.read_page(api, call).await?;
        let known = seen.len();
        seen.extend(page.items.iter().map(self.key));
        if seen.len() == known && !page.items.is_empty() {
            return Err(unclear("the service sends the same page again"));
        }
        Ok((answer, page))
    }

    async fn read_page(&self, api: &Api, call: &Call) -> Result<(Answer, List<T>)> {
        let answer = api.read(call.clone()).await?;
        let page = api.report_warnings((self.read)(api.facts.mapping(), &answer.document))?;
        Ok((answer, page))
    }

    fn warn_of_more(&self, out: &Output, why: &str) {
        let nouns = self.nouns;
        out.warn(&format!("the service has more {nouns}, which were not read: {why}"));
    }
}

fn next_of(answer: &Answer) -> Option<NextPage> {
    next_page(answer.document.value(), answer.link.as_deref())
}

fn unclear(why: &str) -> Error {
    Error::new(Code::UnexpectedAnswer, why)
}

/// Why no further page is asked for: other commands need requests and a person an answer.
fn limit_reached(api: &Api, pages: usize, began: Instant) -> Option<String> {
    let limit = api.client().ok().and_then(|it| it.rate_limit.get()?);
    if let Some(limit) = limit.filter(|limit| limit.remaining <= KEPT_REQUESTS) {
        let (left, seconds) = (limit.remaining, limit.resets_in.as_secs());
        return Some(format!("the service allows {left} more requests in the next {seconds} s"));
    }
    if pages == MOST_PAGES {
        return Some(format!("{MOST_PAGES} pages were read"));
    }
    (began.elapsed() > LONGEST).then(|| format!("it took longer than {} s", LONGEST.as_secs()))
}

/// The call of an address that the service names, if it is below its own and no repetition.
fn next_call(base: &str, call: &Call, address: &str, key_parameter: Option<&str>) -> Option<Call> {
    let service = Url::parse(base).ok()?;
    let mut next = Url::parse(&format!("{base}{}", call.path)).ok()?.join(address).ok()?;
    let is_own = next.origin() == service.origin()
        && next.username().is_empty()
        && next.password().is_none();
    let path = next.path().strip_prefix(service.path().trim_end_matches('/'))?.to_owned();
    if !is_own || !path.starts_with("/v1/") {
        return None;
    }
    // The key is added to each call again, and must not stand in what is shown of it.
    let mut pairs: Vec<(String, String)> = next.query_pairs().into_owned().collect();
    pairs.retain(|(name, _)| Some(name.as_str()) != key_parameter);
    next.query_pairs_mut().clear().extend_pairs(pairs);
    let is_same = call.path.split(['?', '#']).next() == Some(path.as_str());
    let path = match next.query().unwrap_or_default() {
        "" => path,
        query => format!("{path}?{query}"),
    };
    let call = if is_same { call.clone() } else { Call::get("") };
    Some(Call { path, ..call })
}

/// The call with this parameter in its query, in place of the one before.
fn with_parameter(call: &Call, name: &str, value: &Value) -> Call {
    let (path, query) = call.path.split_once('?').unwrap_or((&call.path, ""));
    let (name, value) = (Call::query_value(name), Call::query_value(&plain(value)));
    let is_other = |it: &&str| !it.is_empty() && it.split('=').next() != Some(name.as_str());
    let mut query: Vec<&str> = query.split('&').filter(is_other).collect();
    let added = format!("{name}={value}");
    query.push(&added);
    Call { path: format!("{path}?{}", query.join("&")), ..call.clone() }
}

/// The first document with the elements of the others. The error is the first one alone.
fn joined(mut documents: Vec<(Document, String)>) -> Result<Document, Document> {
    let (first, place) = documents.remove(0);
    if documents.is_empty() {
        return Ok(first);
    }
    let mut whole = first.value().clone();
    for (document, place_there) in documents {
        let mut other = document.value().clone();
        let more = list_at(&mut other, &place_there).map(std::mem::take);
        match (list_at(&mut whole, &place), more) {
            (Some(list), Some(more)) => list.extend(more),
            _ => return Err(first),
        }
    }
    Ok(whole.into())
}

/// The list at a place such as `data.results[]`.
fn list_at<'a>(document: &'a mut Value, place: &str) -> Option<&'a mut Vec<Value>> {
    let path = place.split("[]").next().unwrap_or_default();
    let mut value = document;
    for name in path.split('.').filter(|name| !name.is_empty()) {
        value = value.get_mut(name)?;
    }
    value.as_array_mut()
}

/// Searches for up to `limit` venues, from as many pages as that takes, and remembers them.
pub(crate) async fn find_venues(
    api: &Api,
    records: &Records,
    query: &SearchQuery,
    limit: usize,
) -> Result<Pages<Venue>> {
    let listing = Listing {
        nouns: "venues",
        limit,
        key: |venue: &Venue| venue.id().to_owned(),
        read: Mapping::venues,
        next: &|name, value| query.page(api.facts.mapping(), name, value),
    };
    let pages = listing.read(api, query.call(api.facts.mapping())?).await?;
    records.keep_rate_limits();
    let failed = pages.document.value().get("providers_failed");
    let failed = failed.and_then(Value::as_array).into_iter().flatten();
    let failed: Vec<String> = failed.map(plain).collect();
    if !failed.is_empty() {
        api.ui.out.warn(&format!(
            "{} did not respond; their venues are missing from the list",
            failed.join(", ")
        ));
    }
    records.remember(|recent| recent.remember_venues(&pages.items));
    Ok(pages)
}

/// Whether a session is known to wait for the code that was sent to its person.
pub(crate) async fn waits_for_code(api: &Api, id: &str) -> bool {
    let Ok(answer) = api.read(Call::get(session::path(id))).await else {
        return false;
    };
    let session = api.facts.mapping().session(&answer.document);
    session.is_ok_and(|it| it.waits_for_code(api.facts.certainty()))
}

pub(crate) async fn find_sessions(api: &Api, call: Call, limit: usize) -> Result<Pages<Session>> {
    let listing = Listing {
        nouns: "sessions",
        limit,
        key: |session: &Session| session.id.clone().unwrap_or_default(),
        read: Mapping::sessions,
        next: &|name, value| Ok(with_parameter(&call, name, value)),
    };
    listing.read(api, call.clone()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn link_is_followed_at_services_own_address_alone() {
        let base = "https://a.example/api";
        let call = Call::post("/v1/venues/search", json!({"vertical": "dining"}));
        let followed =
            |address: &str| next_call(base, &call, address, Some("api_key")).map(|it| it.name());
        for (address, name) in [
            ("?page=2", Some("POST /v1/venues/search?page=2")),
            ("/api/v1/venues/search?page=2&api_key=k", Some("POST /v1/venues/search?page=2")),
            ("/api/v1/venues/search?page=2&api%5Fkey=%6b", Some("POST /v1/venues/search?page=2")),
            ("https://a.example/api/v1/pages/7", Some("GET /v1/pages/7")),
            ("https://b.example/api/v1/venues/search?page=2", None),
            ("http://a.example/api/v1/venues/search?page=2", None),
            ("/v1/venues/search?page=2", None),
            ("/api/../v1/venues/search", None),
            ("/api/admin", None),
            ("https://user@a.example/api/v1/x", None),
        ] {
            assert_eq!(followed(address).as_deref(), name, "{address}");
        }
    }

    #[test]
    fn pages_are_joined_where_their_list_stands() {
        let page = |rows: Value| {
            (Document::from(json!({"data": {"rows": rows}, "next": "x"})), "data.rows[]".to_owned())
        };
        let whole = joined(vec![page(json!([1, 2])), page(json!([3]))]).unwrap();
        assert_eq!(whole.value(), &json!({"data": {"rows": [1, 2, 3]}, "next": "x"}));
        let odd = (Document::from(json!({"rows": [3]})), String::new());
        assert!(joined(vec![page(json!([1])), odd]).is_err());
        let bare = |rows: Value| (Document::from(rows), "[]".to_owned());
        let whole = joined(vec![bare(json!([1])), bare(json!([2]))]).unwrap();
        assert_eq!(whole.value(), &json!([1, 2]));
    }

    #[test]
    fn a_parameter_of_a_query_takes_the_place_of_the_one_before() {
        let call = Call::get("/v1/sessions?state=active&page=2");
        let next = with_parameter(&call, "page", &json!(3));
        assert_eq!(next.path, "/v1/sessions?state=active&page=3");
    }
}
