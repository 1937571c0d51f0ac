//! Keys, scopes, billing and rate limits.

use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn the_checks_answer_in_the_contracts_order() {
    let sandbox = Served::fresh().await;
    let bookings = "/v1/bookings";
    for (key, status, field, value) in [
        ("sk_nobody", 401, "error", "unauthorized"),
        ("sk_v3_sandbox", 403, "error_code", "wrong_key_environment"),
        ("sk_live_suspended", 403, "error_code", "org_suspended"),
        ("sk_live_readonly", 403, "required_scope", "bookings:create"),
        ("sk_live_nobilling", 402, "error", "billing_required"),
        (LIVE_KEY, 400, "error", "invalid request body"),
    ] {
        let got = sandbox
            .ask(key, "POST", bookings, json!({"party_size": "2"}))
            .await;
        assert_eq!((got.0, &got.1[field]), (status, &json!(value)), "{key}");
    }
    let huge = "x".repeat(1_048_577);
    let response = sandbox
        .request("POST", bookings)
        .body(huge)
        .send()
        .await
        .unwrap();
    assert_eq!(answer(response).await.0, 413);
    assert_eq!(
        sandbox.get("/v1/nothing").await,
        (404, json!({"error": "no such path"}))
    );
    assert_eq!(
        sandbox
            .ask(LIVE_KEY, "PATCH", bookings, Value::Null)
            .await
            .0,
        405
    );
}

#[tokio::test]
async fn the_third_confirmed_test_booking_is_the_last() {
    let sandbox = Served::limited(true).await;
    let book = |venue: &'static str| {
        sandbox.ask(
            "sk_test_sandbox",
            "POST",
            "/v1/bookings",
            order(venue, Value::Null),
        )
    };
    for venue in [
        "ven_confirms",
        "ven_provider_fails",
        "ven_otp",
        "ven_confirms",
        "ven_confirms",
    ] {
        assert_eq!(book(venue).await.0, 201);
    }
    let (status, error) = book("ven_confirms").await;
    assert_eq!(
        (status, names(&error)),
        (402, vec!["error", "limit", "message"])
    );
    assert_eq!(
        (&error["error"], &error["limit"]),
        (&json!("free_tier_exhausted"), &json!(3))
    );
}

#[tokio::test]
async fn the_keys_of_an_organization_share_its_rate_limits() {
    let sandbox = Served::limited(true).await;
    let read = async |key: &str| {
        let request = sandbox.request("GET", "/v1/sessions/card").bearer_auth(key);
        request.send().await.unwrap()
    };
    let left = |response: &Response| {
        response.headers()["ratelimit-remaining"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    for used in 1..=30 {
        let key = if used % 2 == 0 {
            LIVE_KEY
        } else {
            "sk_live_readonly"
        };
        let response = read(key).await;
        assert_eq!(
            (response.status().as_u16(), left(&response)),
            (400, (30 - used).to_string())
        );
    }
    let response = read(LIVE_KEY).await;
    assert_eq!(
        (response.status().as_u16(), left(&response)),
        (429, "0".to_owned())
    );
    let wait = response.headers()["retry-after"]
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(response.headers()["ratelimit-reset"], wait);
    let (_, error) = answer(response).await;
    assert_eq!(
        names(&error),
        ["error", "message", "limit", "retry_after_seconds"]
    );
    assert_eq!(
        (&error["limit"], error["retry_after_seconds"].to_string()),
        (&json!(30), wait)
    );
    assert_eq!(read("sk_live_other").await.status(), 400);
    sandbox.advance("5m").await;
    assert_eq!(read(LIVE_KEY).await.status(), 400);
}

#[tokio::test]
async fn the_organizations_settings_reach_every_refusal_that_hangs_on_them() {
    let sandbox = Served::fresh().await;
    let search = json!({"vertical": "dining", "datetime": dinner_time(), "location": "Sandbox"});
    for (settings, status, code) in [
        (
            json!({"billing_check": "unavailable"}),
            503,
            "billing_check_unavailable",
        ),
        (
            json!({"entitlement_check": "unavailable"}),
            503,
            "entitlement_check_unavailable",
        ),
        (json!({"search_providers": []}), 503, "no_search_provider"),
        (
            json!({"suspended": true, "suspension_reason": "spam"}),
            403,
            "org_suspended",
        ),
    ] {
        sandbox.post("/sandbox/reset", Value::Null).await;
        let put = sandbox
            .ask("", "PUT", "/sandbox/organization", settings)
            .await;
        assert_eq!(put.0, 200);
        let (got, error) = sandbox.post("/v1/venues/search", search.clone()).await;
        assert_eq!((got, &error["error_code"]), (status, &json!(code)));
    }
    sandbox.post("/sandbox/reset", Value::Null).await;
    sandbox
        .ask(
            "",
            "PUT",
            "/sandbox/organization",
            json!({"vendor_payments": false}),
        )
        .await;
    let pays = json!({"payment_collection": "vendor_external"});
    let (status, error) = sandbox.book("ven_payment", pays).await;
    assert_eq!(
        (status, &error["error_code"]),
        (503, &json!("vendor_disabled"))
    );
    let (_, other) = sandbox
        .get("/sandbox/organization?organization=other")
        .await;
    assert_eq!(
        (&other["id"], &other["vendor_payments"]),
        (&json!("org_other"), &json!(true))
    );
}
