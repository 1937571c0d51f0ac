//! Reads a list to its end, page by page, within limits.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use reqwest::Url;
use serde_json::{Map, Value};

use super::understood::understood;
use crate::adapter::{List, Misread, NextPage, Reading, next_page};
use crate::app::Context;
use crate::client::{Call, Client};
use crate::json::Document;
use crate::outcome::{Code, Error, Exit, Result};

/// How many elements are read where nothing else is said.
pub(crate) const DEFAULT_LIMIT: usize = 100;
/// How many pages are read at most, whatever they hold.
const MOST_PAGES: usize = 50;
/// How many pages in a row may be empty.
const MOST_EMPTY: usize = 5;
/// How many requests of a rate limit are left for other commands.
const KEPT_REQUESTS: u32 = 3;
/// How long pages are asked for.
const LONGEST: Duration = Duration::from_secs(120);

/// The elements of a list, from all pages that were read.
pub(crate) struct Pages<T> {
    /// The service's own document where there was one page, else the first one with its list extended.
    pub(crate) document: Document,
    pub(crate) items: Vec<T>,
    /// What stands around the list in the first page, as paths and texts.
    pub(crate) around: Vec<(String, String)>,
}

type PageReader<'a, T> = dyn Fn(&Document) -> Result<Reading<List<T>>, Misread> + 'a;

pub(super) struct Listing<'a, T> {
    /// What its elements are called.
    pub(super) nouns: &'static str,
    pub(super) limit: usize,
    /// The setting that says how the next page is asked for, where an expression can.
    pub(super) setting: Option<&'static str>,
    /// What tells two elements apart.
    pub(super) key: fn(&T) -> String,
    pub(super) read: &'a PageReader<'a, T>,
    /// The call for the page that this field of the request leads to.
    pub(super) next: &'a dyn Fn(&str, &Value) -> Result<Call>,
}

struct PagesRead<T> {
    documents: Vec<(Document, String)>,
    items: Vec<T>,
    seen: HashSet<String>,
    /// How many pages in a row had no elements.
    empty: usize,
    next: Option<NextPage>,
}

/// Why no more pages were read.
enum Stop {
    Interrupted(Error),
    /// The next page may have been asked for in a wrong way, which a setting can change.
    AskedWrongly(String),
    Other(String),
}

impl<T> Listing<'_, T> {
    /// Reads the pages from the first call on.
    ///
    /// # Errors
    /// Those of the first page. After a later one that cannot be read, there are the elements before it, and a warning.
    pub(super) async fn read(&self, context: &Context, first: Call) -> Result<Pages<T>> {
        let began = Instant::now();
        let answer = context.read(first.clone()).await?;
        let page = understood(context, (self.read)(&answer.document))?;
        let mut read = PagesRead {
            next: next_page(answer.document.value(), answer.link.as_deref()),
            seen: page.items.iter().map(self.key).collect(),
            documents: vec![(answer.document, page.place)],
            items: page.items,
            empty: 0,
        };
        let mut call = first;
        let mut stopped = None;
        while read.items.len() < self.limit
            && stopped.is_none()
            && let Some(next) = read.next.take()
        {
            let more = self.read_next(context, &mut call, &next, &mut read, began);
            stopped = more.await.err();
        }
        match stopped {
            Some(Stop::Interrupted(error)) => return Err(error),
            Some(Stop::AskedWrongly(why)) => {
                self.say_stopped(context, &why);
                if let Some(setting) = self.setting {
                    let setting = format!("{setting}=EXPRESSION");
                    context.out.hint(&format!(
                        "to say how the next page is asked for (.cursor or .page): {}",
                        context.adapter().set_command(&setting)
                    ));
                }
            }
            Some(Stop::Other(why)) => self.say_stopped(context, &why),
            None if read.next.is_some() || read.items.len() > self.limit => {
                context.out.note(&format!(
                    "Showing the first {} {}. Use --limit to show more.",
                    self.limit, self.nouns
                ));
            }
            None => {}
        }
        let mut items = read.items;
        items.truncate(self.limit);
        let document = joined(read.documents).unwrap_or_else(|document| {
            context
                .out
                .warn("the pages cannot be joined into one document: JSON has the first one");
            document
        });
        Ok(Pages {
            document,
            items,
            around: page.around,
        })
    }

    async fn read_next(
        &self,
        context: &Context,
        call: &mut Call,
        next: &NextPage,
        read: &mut PagesRead<T>,
        began: Instant,
    ) -> Result<(), Stop> {
        if read.documents.len() == MOST_PAGES {
            return Err(Stop::Other(format!("{MOST_PAGES} pages were read")));
        }
        // Other commands need requests too.
        let limit = context.client().ok().and_then(Client::rate_limit);
        if let Some(limit) = limit.filter(|limit| limit.remaining <= KEPT_REQUESTS) {
            let (left, seconds) = (limit.remaining, limit.resets_in.as_secs());
            let why = format!("the service allows {left} more requests in the next {seconds} s");
            return Err(Stop::Other(why));
        }
        *call = self
            .following(context, call, next)
            .map_err(Stop::AskedWrongly)?;
        let _progress = context.out.progress(&format!(
            "reading page {}, {} {} so far",
            read.documents.len() + 1,
            read.items.len(),
            self.nouns
        ));
        let left = LONGEST.saturating_sub(began.elapsed());
        let answer = tokio::time::timeout(left, context.read(call.clone())).await;
        let too_long = |_| Stop::Other(format!("it took longer than {} s", LONGEST.as_secs()));
        let answer = answer
            .map_err(too_long)?
            .map_err(|error| match error.exit {
                _ if error.code == Code::Interrupted => Stop::Interrupted(error),
                Exit::Invalid | Exit::NotFound => Stop::AskedWrongly(error.message.clone()),
                _ => Stop::Other(error.message.clone()),
            })?;
        let page = (self.read)(&answer.document).map_err(|misread| Stop::Other(misread.why))?;
        let page = understood(context, Ok(page)).map_err(Stop::Interrupted)?;
        let known = read.seen.len();
        read.seen.extend(page.items.iter().map(self.key));
        if page.items.is_empty() {
            // A service may filter its pages after it has cut them.
            read.empty += 1;
        } else if read.seen.len() == known {
            let why = "the service sends the same page again".to_owned();
            return Err(Stop::AskedWrongly(why));
        } else {
            read.empty = 0;
            read.documents.push((answer.document.clone(), page.place));
        }
        read.next = next_page(answer.document.value(), answer.link.as_deref());
        if read.next.is_some() && read.empty == MOST_EMPTY {
            return Err(Stop::Other(format!(
                "{MOST_EMPTY} pages in a row were empty"
            )));
        }
        read.items.extend(page.items);
        Ok(())
    }

    fn say_stopped(&self, context: &Context, why: &str) {
        let nouns = self.nouns;
        context.out.warn(&format!(
            "the service has more {nouns}, which were not read: {why}"
        ));
    }

    /// The call for the next page, or why there is none.
    fn following(&self, context: &Context, call: &Call, next: &NextPage) -> Result<Call, String> {
        match next {
            NextPage::Field { name, value } => {
                (self.next)(name, value).map_err(|error| error.message.clone())
            }
            NextPage::Unknown => Err("the answer does not say how".to_owned()),
            NextPage::At(address) => {
                let client = context.client().map_err(|error| error.message.clone())?;
                let key = context.adapter().transport.auth_query.as_deref();
                at(client.base(), call, address, key)
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
    let mut whole = path.to_owned();
    if !query.is_empty() {
        whole = format!("{path}?{}", query.join("&"));
    }
    let own_path = call.path.split(['?', '#']).next();
    Some(if own_path == Some(path) {
        Call {
            path: whole,
            ..call.clone()
        }
    } else {
        Call::get(whole)
    })
}

/// The name of a parameter of a query, without percent-encoding.
fn decoded_name(parameter: &str) -> Option<String> {
    let url = Url::parse(&format!("http://x?{parameter}")).ok()?;
    let (name, _) = url.query_pairs().next()?;
    Some(name.into_owned())
}

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
