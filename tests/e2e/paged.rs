//! Lists that a service sends page by page.

use serde_json::{Value, json};

use crate::harness::{Home, Reply, Request, Scripted};

fn home(server: &Scripted) -> Home {
    Home::pointing_to(server.base_url(), "sk_test_paged_0001")
}

const SEARCH: [&str; 6] = ["search", "dining", "--near", "Tokyo", "--at", "2026-12-01T19:30:00Z"];

fn venues(numbers: std::ops::Range<usize>) -> Value {
    let venue =
        |number| json!({"venue_id": format!("ven_{number}"), "name": format!("Venue {number}")});
    numbers.map(venue).collect()
}

fn ids(document: &Value) -> Vec<&str> {
    let rows = document["venues"].as_array().unwrap();
    rows.iter().map(|row| row["venue_id"].as_str().unwrap()).collect()
}

/// Three pages of two venues each, by a cursor in the body.
fn by_cursor(request: &Request) -> Reply {
    let page = request.json()["cursor"].as_u64().unwrap_or(0) as usize;
    let next = if page < 2 { json!(page + 1) } else { Value::Null };
    Reply::json(
        200,
        &json!({"venues": venues(2 * page..2 * page + 2), "next_cursor": next, "page": page}),
    )
}

#[test]
fn a_cursor_is_followed_and_the_pages_are_one_document() {
    let server = Scripted::start(by_cursor);
    let document = home(&server).ok([&SEARCH[..], &["--json"]].concat()).json();
    assert_eq!(ids(&document), ["ven_0", "ven_1", "ven_2", "ven_3", "ven_4", "ven_5"]);
    assert_eq!(document["page"], 0);
    assert_eq!(server.requests().len(), 3);
    home(&server).ok(SEARCH).prints("Venue 5");
}

#[test]
fn no_more_pages_are_read_than_the_limit_needs() {
    let server = Scripted::start(by_cursor);
    let output = home(&server).ok([&SEARCH[..], &["--limit", "3"]].concat());
    let output =
        output.prints("Venue 2").says("Showing the first 3 venues. Use --limit to show more.");
    assert!(!output.stdout.contains("Venue 3"), "{output}");
    assert_eq!(server.requests().len(), 2);
}

fn with_link(link: &str, body: &Value) -> Reply {
    Reply::headed(200, &[format!("Link: <{link}>; rel=\"next\"")], body)
}

#[test]
fn link_is_followed_at_own_address() {
    let server = Scripted::start(|request| match request.path.as_str() {
        "/v1/sessions" => with_link(
            "?page=2",
            &json!({"sessions": [{"id": "ses_1", "state": "active", "provider": "b"}]}),
        ),
        _ => Reply::json(
            200,
            &json!({"sessions": [{"id": "ses_2", "state": "active", "provider": "b"}]}),
        ),
    });
    home(&server).ok(["session", "list"]).prints("ses_1").prints("ses_2");
    let elsewhere = Scripted::start(|_| Reply::json(200, &json!({})));
    let link = format!("{}/v1/venues/search?page=2", elsewhere.base_url());
    let server = Scripted::start(move |_| with_link(&link, &json!({"venues": venues(0..2)})));
    home(&server)
        .ok(SEARCH)
        .prints("Venue 1")
        .says("the service has more venues, which were not read");
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn more_that_cannot_be_followed_is_said_in_one_line() {
    for reply in [
        json!({"venues": venues(0..2), "has_more": true}),
        // The cursor is under another name there: the same page comes again.
        json!({"venues": venues(0..2), "next_cursor": "abc"}),
    ] {
        let server = Scripted::start(move |_| Reply::json(200, &reply));
        home(&server)
            .ok(SEARCH)
            .prints("Venue 1")
            .says("the service has more venues, which were not read");
        assert!(server.requests().len() <= 2);
    }
}

#[test]
fn an_expression_gets_the_cursor_and_says_where_it_goes() {
    let server = Scripted::start(|request| {
        let page = request.json()["at"]["after"].as_u64().unwrap_or(0) as usize;
        let next = if page < 1 { json!({"next_cursor": 1}) } else { json!({}) };
        Reply::json(200, &json!({"venues": venues(2 * page..2 * page + 2), "meta": next}))
    });
    let home = Home::new()
        .with_profile(
            "acme",
            server.base_url(),
            "[profiles.acme.write]\nsearch = '{vertical, at: {after: .cursor}}'\n",
        )
        .with("BOOKCTL_API_KEY", "sk_test_paged_0001");
    home.ok(SEARCH).prints("Venue 3");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn page_field_is_added_to_what_an_expression_writes() {
    let server = Scripted::start(|request| match &request.json()["pageToken"] {
        Value::Null => Reply::json(200, &json!({"venues": venues(0..2), "nextPageToken": "t-2"})),
        token if token == "t-2" && request.json().get("party_size").is_none() => {
            Reply::json(200, &json!({"venues": venues(2..4)}))
        }
        _ => Reply::json(400, &json!({"error": "unknown page"})),
    });
    let write = "[profiles.acme.write]\nsearch = 'del(.party_size)'\n";
    let home = Home::new()
        .with_profile("acme", server.base_url(), write)
        .with("BOOKCTL_API_KEY", "sk_test_paged_0001");
    home.ok(SEARCH).prints("Venue 3");
}

#[test]
fn empty_page_in_middle_does_not_end_list_and_many_do() {
    let server = Scripted::start(|request| {
        let page = request.json()["cursor"].as_u64().unwrap_or(0) as usize;
        let rows = if page == 1 { json!([]) } else { venues(page..page + 1) };
        let next = if page < 2 { json!(page + 1) } else { Value::Null };
        Reply::json(200, &json!({"venues": rows, "next_cursor": next}))
    });
    let output = home(&server).ok(SEARCH).prints("Venue 2");
    assert!(!output.stderr.contains("warning"), "{output}");
    let server = Scripted::start(|request| {
        let page = request.json()["cursor"].as_u64().unwrap_or(0);
        let rows = if page == 0 { venues(0..1) } else { json!([]) };
        Reply::json(200, &json!({"venues": rows, "next_cursor": page + 1}))
    });
    home(&server).ok(SEARCH).prints("Venue 0").says("which were not read: 50 pages were read");
    assert_eq!(server.requests().len(), 50);
}

#[test]
fn the_pages_before_one_that_fails_are_shown_with_one_warning() {
    for (status, body) in [
        (500, json!({"error": "the cursor store is down"})),
        (200, json!({"venues": [{"name": "no id"}]})),
        (429, json!({"error": "too many requests"})),
    ] {
        let server = Scripted::start(move |request| match request.json()["cursor"].is_null() {
            true => Reply::json(200, &json!({"venues": venues(0..2), "next_cursor": "n"})),
            false => Reply::json(status, &body),
        });
        let output = home(&server)
            .ok(SEARCH)
            .prints("Venue 1")
            .says("the service has more venues, which were not read:");
        assert_eq!(output.stderr.matches("warning").count(), 1, "{output}");
        assert!(!output.stderr.contains("write.search"), "{output}");
    }
}

#[test]
fn a_search_leaves_the_last_requests_of_a_rate_limit_to_others() {
    let server = Scripted::start(|request| {
        let page = request.json()["cursor"].as_u64().unwrap_or(0) as usize;
        let left = 5_usize.saturating_sub(page);
        let limit = ["Limit: 10", "Reset: 60", &format!("Remaining: {left}")];
        let body = json!({"venues": venues(page..page + 1), "next_cursor": page + 1});
        Reply::headed(200, &limit.map(|it| format!("RateLimit-{it}")), &body)
    });
    home(&server)
        .ok(SEARCH)
        .prints("Venue 2")
        .says("which were not read: the service allows 3 more requests");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_list_says_none_only_where_no_element_came() {
    for (body, said) in [
        (json!({"results": [{"id": 1}], "notes": []}), "`results`"),
        (json!({"venues": null, "rows": [{"id": 1}]}), "`rows`"),
        (json!({"venues": [], "data": {"items": [{"venue_id": "v"}]}}), "`data.items[]`"),
    ] {
        let server = Scripted::start(move |_| Reply::json(200, &body));
        home(&server).run(SEARCH).exits(15).says(said).says("venues_field");
    }
    let empty = json!({"venues": [], "links": [{"href": "/x"}]});
    let server = Scripted::start(move |_| Reply::json(200, &empty));
    home(&server).ok(SEARCH).says("No venues found");
}
