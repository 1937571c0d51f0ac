//! Reads a list to its end, page by page, within limits.

use std::collections::HashSet;

use reqwest::Url;
use serde_json::{Map, Value};

use super::understood::understood;
use crate::adapter::{List, Misread, NextPage, Reading, next_page};
use crate::app::Context;
use crate::client::Call;
use crate::json::Document;
use crate::outcome::{Exit, Result};

/// How many elements are read where nothing else is said.
pub(crate) const DEFAULT_LIMIT: usize = 100;
/// How many pages are read at most, whatever they hold.
const MOST_PAGES: usize = 50;

/// The elements of a list, from all pages that were read.
pub(crate) struct Pages<T> {
    /// The service's own document where there was one page, else the first one with its list extended.
    pub(crate) document: Document,
    pub(crate) items: Vec<T>,
    /// What stands around the list in the first page, as paths and texts.
    pub(crate) around: Vec<(String, String)>,
}

/// Reads the elements of one page.
type PageReader<'a, T> = dyn Fn(&Document) -> Result<Reading<List<T>>, Misread> + 'a;

/// What kind of list is read.
pub(super) struct Listing<'a, T> {
    /// What its elements are called.
    pub(super) nouns: &'static str,
    /// How many elements are read.
    pub(super) limit: usize,
    /// The setting that says how the next page is asked for, where an expression can.
    pub(super) setting: Option<&'static str>,
    /// What tells two elements apart.
    pub(super) key: fn(&T) -> String,
    /// Reads one page.
    pub(super) read: &'a PageReader<'a, T>,
    /// The call for the page that this field of the request leads to.
    pub(super) next: &'a dyn Fn(&str, &Value) -> Result<Call>,
}

impl<T> Listing<'_, T> {
    /// Reads the pages from the first call on.
    ///
    /// # Errors
    /// Those of the first page; of a later one, those that do not mean that it was asked for in a wrong way.
    pub(super) async fn read(&self, context: &Context, first: Call) -> Result<Pages<T>> {
        let mut call = first;
        let (mut documents, mut items) = (Vec::new(), Vec::new());
        let mut around = Vec::new();
        let mut seen = HashSet::new();
        let mut has_more = false;
        let stopped = loop {
            let answer = match context.read(call.clone()).await {
                Ok(answer) => answer,
                Err(error)
                    if !documents.is_empty()
                        && matches!(error.exit, Exit::Invalid | Exit::NotFound) =>
                {
                    break Some(error.message.clone());
                }
                Err(error) => return Err(error),
            };
            let page = match (self.read)(&answer.document) {
                Err(misread) if !documents.is_empty() => break Some(misread.why),
                read => understood(context, read)?,
            };
            let known = seen.len();
            seen.extend(page.items.iter().map(self.key));
            if !documents.is_empty() && seen.len() == known {
                break Some("the service sends the same page again".to_owned());
            }
            let next = next_page(answer.document.value(), answer.link.as_deref());
            if documents.is_empty() {
                around = page.around;
            }
            items.extend(page.items);
            documents.push((answer.document, page.place));
            let Some(next) = next else { break None };
            if items.len() >= self.limit {
                has_more = true;
                break None;
            }
            if documents.len() == MOST_PAGES {
                break Some(format!("{MOST_PAGES} pages were read"));
            }
            call = match self.following(context, &call, &next) {
                Ok(call) => call,
                Err(why) => break Some(why),
            };
        };
        if let Some(why) = stopped {
            self.say_stopped(context, &why);
        } else if has_more || items.len() > self.limit {
            self.say_limit(context);
        }
        items.truncate(self.limit);
        let document = joined(documents).unwrap_or_else(|document| {
            context
                .out
                .warn("the pages cannot be joined into one document: JSON has the first one");
            document
        });
        Ok(Pages {
            document,
            items,
            around,
        })
    }

    fn say_limit(&self, context: &Context) {
        context.out.note(&format!(
            "Showing the first {} {}. Use --limit to show more.",
            self.limit, self.nouns
        ));
    }

    fn say_stopped(&self, context: &Context, why: &str) {
        let mut said = format!(
            "the service has more {}, and they cannot be read: {why}",
            self.nouns
        );
        if let Some(setting) = self.setting {
            let adapter = context.adapter();
            said.push_str(&format!(
                "; to say how the next page is asked for (.cursor or .page): {}",
                adapter.set_command(&format!("{setting}=EXPRESSION"))
            ));
        }
        context.out.warn(&said);
    }

    /// The call for the next page, or why there is none.
    fn following(&self, context: &Context, call: &Call, next: &NextPage) -> Result<Call, String> {
        match next {
            NextPage::Field { name, value } => {
                (self.next)(name, value).map_err(|error| error.message.clone())
            }
            NextPage::Unknown => Err("the answer does not say how".to_owned()),
            NextPage::At(address) => {
                let base = context
                    .client()
                    .map_err(|error| error.message.clone())?
                    .base();
                let key = context.adapter().transport.auth_query();
                at(base, call, address, key)
                    .ok_or_else(|| "the address of the next page is not the service's".to_owned())
            }
        }
    }
}

/// The call of an address that the service names, if it is below the service's own. A link to the path of the call itself
/// repeats it with another query.
fn at(base: &str, call: &Call, address: &str, key_parameter: Option<&str>) -> Option<Call> {
    let service = Url::parse(base).ok()?;
    let current = Url::parse(&format!("{base}{}", call.path)).ok()?;
    let next = current.join(address).ok()?;
    let is_own = next.origin() == service.origin()
        && next.username().is_empty()
        && next.password().is_none();
    let path = next
        .path()
        .strip_prefix(service.path().trim_end_matches('/'))?;
    if !is_own || !path.starts_with("/v1/") {
        return None;
    }
    // The key is added to each call again, and must not stand in what is shown of it.
    let parameters = next
        .query()
        .unwrap_or_default()
        .split('&')
        .filter(|parameter| !parameter.is_empty())
        .filter(|parameter| {
            key_parameter.is_none() || decoded_name(parameter).as_deref() != key_parameter
        });
    let query: Vec<&str> = parameters.collect();
    let with_query = match query.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", query.join("&")),
    };
    let own_path = call.path.split(['?', '#']).next();
    Some(match own_path == Some(path) {
        true => Call {
            path: with_query,
            ..call.clone()
        },
        false => Call::get(with_query),
    })
}

/// The name of a parameter of a query, without percent-encoding.
fn decoded_name(parameter: &str) -> Option<String> {
    let url = Url::parse(&format!("http://x?{parameter}")).ok()?;
    let (name, _) = url.query_pairs().next()?;
    Some(name.into_owned())
}

/// A GET with one parameter of its query set.
pub(super) fn with_parameter(call: &Call, name: &str, value: &Value) -> Call {
    let (path, query) = call.path.split_once('?').unwrap_or((&call.path, ""));
    let name = Call::query_value(name);
    let value = Call::query_value(&crate::json::plain(value));
    let others = query.split('&').filter(|parameter| {
        !parameter.is_empty() && parameter.split('=').next() != Some(name.as_str())
    });
    let mut query: Vec<String> = others.map(str::to_owned).collect();
    query.push(format!("{name}={value}"));
    Call {
        path: format!("{path}?{}", query.join("&")),
        ..call.clone()
    }
}

/// One document of several: the first, with the elements of the others added to its list. The error is the first one
/// alone.
fn joined(documents: Vec<(Document, String)>) -> Result<Document, Document> {
    let mut documents = documents.into_iter();
    let Some((first, place)) = documents.next() else {
        return Ok(Value::Object(Map::new()).into());
    };
    let others: Vec<(Document, String)> = documents.collect();
    if others.is_empty() {
        return Ok(first);
    }
    let mut whole = first.value().clone();
    for (document, place_there) in others {
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
    let names = path.split('.').filter(|name| !name.is_empty());
    let mut value = document;
    for name in names {
        value = value.get_mut(name)?;
    }
    value.as_array_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_link_is_followed_at_the_services_own_address_alone_and_without_the_key() {
        let base = "https://a.example/api";
        let call = Call::post("/v1/venues/search", json!({"vertical": "dining"}));
        let followed =
            |address: &str| at(base, &call, address, Some("api_key")).map(|it| it.name());
        for (address, name) in [
            ("?page=2", Some("POST /v1/venues/search?page=2")),
            (
                "/api/v1/venues/search?page=2&api_key=k",
                Some("POST /v1/venues/search?page=2"),
            ),
            (
                "/api/v1/venues/search?page=2&api%5Fkey=%6b",
                Some("POST /v1/venues/search?page=2"),
            ),
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
            (
                Document::from(json!({"data": {"rows": rows}, "next": "x"})),
                "data.rows[]".to_owned(),
            )
        };
        let whole = joined(vec![page(json!([1, 2])), page(json!([3]))]).unwrap();
        assert_eq!(
            whole.value(),
            &json!({"data": {"rows": [1, 2, 3]}, "next": "x"})
        );
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
