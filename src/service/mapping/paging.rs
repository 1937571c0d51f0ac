//! Whether a list goes on, and how its next page is asked for.

use serde_json::{Map, Value};

use super::names::is_one_of;
use crate::service::documents::text_fold::same_words;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextPage {
    At(String),
    Field {
        name: String,
        value: Value,
    },
    /// The answer says that there is more, and not how to get it.
    Unknown,
}

/// Names of objects that describe the page, beside the list itself.
const AROUND: &str =
    "data result results meta links _links page paging pagination page_info cursors";
/// Those of them whose members are addresses.
const LINKS: &str = "links _links";
/// Names of members that count the elements of all pages.
const TOTAL: &str = "total count total_count total_items total_results totalsize";
const MORE: &str = "has_more has_next has_next_page more";

pub(crate) fn next_page(document: &Value, link: Option<&str>) -> Option<NextPage> {
    if let Some(address) = link.and_then(next_of_link) {
        return Some(NextPage::At(address));
    }
    let mut members = Vec::new();
    describe(document.as_object()?, 0, false, &mut members);
    let mut next = members.iter().filter(|(name, ..)| leads_on(name));
    let says_more = || {
        let more =
            |(name, value, _): &Member| is_one_of(MORE, name) && value.as_bool() == Some(true);
        members.iter().any(more).then_some(NextPage::Unknown)
    };
    next.find_map(|(name, value, is_link)| read_next(name, value, *is_link))
        .or_else(|| by_number(&members))
        .or_else(says_more)
}

/// A member that may be about the page: its name and value, and whether it is a link.
type Member<'a> = (&'a str, &'a Value, bool);

fn describe<'a>(
    object: &'a Map<String, Value>,
    depth: usize,
    in_links: bool,
    members: &mut Vec<Member<'a>>,
) {
    for (name, value) in object {
        members.push((name, value, in_links));
        if let Value::Object(inner) = value
            && is_one_of(AROUND, name)
            && depth < 3
        {
            describe(inner, depth + 1, is_one_of(LINKS, name), members);
        }
    }
}

/// How many elements all pages have together, if the answer says so.
pub(crate) fn total(document: &Value) -> Option<u64> {
    let mut members = Vec::new();
    describe(document.as_object()?, 0, false, &mut members);
    let is_total = |name: &str| is_one_of(TOTAL, name.rsplit(['.', '@']).next().unwrap_or(name));
    members.iter().filter(|it| is_total(it.0)).find_map(|(_, value, _)| value.as_u64())
}

/// Whether a name is that of the next page's address, cursor or number: its last part begins with
/// `next` or ends so.
fn leads_on(name: &str) -> bool {
    let part = name.rsplit(['.', '@']).next().unwrap_or(name).to_lowercase();
    let is_last = ["next", "cursor", "token"].iter().any(|word| part.ends_with(word));
    part.starts_with("next") || is_last && !part.starts_with("prev") && !part.starts_with("start")
}

fn read_next(name: &str, value: &Value, is_link: bool) -> Option<NextPage> {
    let is_link = is_link || ["url", "link"].iter().any(|it| name.to_lowercase().ends_with(it));
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) if is_link || is_address(text) => Some(NextPage::At(text.clone())),
        // HAL, and JSON:API with a link object.
        Value::Object(object) => match object.get("href")?.as_str()? {
            "" => None,
            href => Some(NextPage::At(href.to_owned())),
        },
        Value::String(_) | Value::Number(_) => {
            Some(NextPage::Field { name: request_field(name), value: value.clone() })
        }
        _ => None,
    }
}

/// Whether a text is an address, absolute or relative (RFC 3986), and no cursor.
fn is_address(text: &str) -> bool {
    let begins = ["http://", "https://", "/", "./", "../"];
    begins.iter().any(|beginning| text.starts_with(beginning)) || text.contains('?')
}

/// `cursor` for `next_cursor`, `pageToken` for `nextPageToken`.
fn request_field(name: &str) -> String {
    let prefixes = ["next_", "next-", "next", "end_"];
    let name = name.rsplit(['.', '@']).next().unwrap_or(name);
    // A name in capitals is the only one of its style that says nothing about the request's.
    let lower = name.to_lowercase();
    let is_in_capitals = !name.chars().any(char::is_lowercase);
    let name = if is_in_capitals { &lower } else { name };
    let mut letters = prefixes.iter().find_map(|it| name.strip_prefix(it)).unwrap_or(name).chars();
    match letters.next() {
        None => "cursor".to_owned(),
        Some(first) => format!("{}{}", first.to_lowercase(), letters.as_str()),
    }
}

/// `page 1 of 3`.
fn by_number(members: &[Member<'_>]) -> Option<NextPage> {
    let number = |names: &str| {
        let mut named = members.iter().filter(|it| is_one_of(names, it.0));
        named.find_map(|(name, value, _)| Some((*name, value.as_u64()?)))
    };
    let (name, page) = number("page page_number current_page")?;
    let (_, pages) = number("pages total_pages page_count last_page")?;
    let is_current = same_words(name, "current_page");
    (page < pages).then(|| NextPage::Field {
        name: if is_current { "page" } else { name }.to_owned(),
        value: Value::from(page + 1),
    })
}

/// The address with `rel="next"` in a `Link` header (RFC 8288).
fn next_of_link(header: &str) -> Option<String> {
    header.split('<').skip(1).find_map(|link| {
        let (address, parameters) = link.split_once('>')?;
        let is_next = parameters.split([';', ',']).any(|parameter| {
            let Some((name, value)) = parameter.split_once('=') else {
                return false;
            };
            let mut words = value.trim().trim_matches('"').split_ascii_whitespace();
            name.trim().eq_ignore_ascii_case("rel")
                && words.any(|word| word.eq_ignore_ascii_case("next"))
        });
        is_next.then(|| address.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::documents::rows;
    use serde_json::json;

    /// `cursor = "abc"` for a field, `at ADDRESS`, `unknown`, or nothing.
    fn next_page_of(document: &Value, link: Option<&str>) -> String {
        match next_page(document, link) {
            Some(NextPage::At(address)) => format!("at {address}"),
            Some(NextPage::Field { name, value }) => format!("{name} = {value}"),
            Some(NextPage::Unknown) => "unknown".to_owned(),
            None => String::new(),
        }
    }

    #[test]
    fn the_next_page_is_read_from_the_body_in_each_usual_form() {
        for [document, next] in rows(
            r#"
               {"venues": [], "next_cursor": "abc"}           | cursor = "abc"
               {"meta": {"nextPageToken": "t"}}               | pageToken = "t"
               {"result": {"nextPage": 2}}                    | page = 2
               {"links": {"next": "/v1/x?page=2"}}            | at /v1/x?page=2
               {"links": {"next": "search"}}                  | at search
               {"next": "search?page=2"}                      | at search?page=2
               {"next": "ab/c=="}                             | cursor = "ab/c=="
               {"_links": {"next": {"href": "?page=2"}}}      | at ?page=2
               {"page": 1, "total_pages": 3}                  | page = 2
               {"meta": {"current_page": 1, "last_page": 2}}  | page = 2
               {"page": 3, "total_pages": 3}                  |
               {"@odata.nextLink": "https://a/v1/x?$skip=5"}   | at https://a/v1/x?$skip=5
               {"page.next": "t"}                             | cursor = "t"
               {"pagination_token": "t"}                      | pagination_token = "t"
               {"has_more": true}                             | unknown
               {"has_more": false, "next_cursor": null}       |
               {"venues": [{"next_cursor": "abc"}]}           |
               []                                             |"#,
        ) {
            assert_eq!(next_page_of(&document.parse().unwrap(), None), next, "{document}");
        }
    }

    #[test]
    fn a_link_header_is_read_as_rfc_8288_has_it() {
        for (next, header) in [
            ("at /v1/x?page=2", r#"</v1/x?page=2>; rel="next""#),
            ("at /b", r#"</a>; rel="prev", </b>; title="c,d"; rel="last next""#),
            ("at /a", r#"</a>; rel=NEXT"#),
            ("", r#"</a>; rel="prev""#),
            ("", "<"),
            ("", ""),
        ] {
            assert_eq!(next_page_of(&json!([]), Some(header)), next, "{header}");
        }
    }
}
