//! The wire, asked in raw HTTP.

use std::time::Duration;

use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::sandbox::rules::delivery::sign;
use crate::sandbox::{Database, LIVE_KEY, Options, Sandbox};

/// A sandbox that serves on a port of its own, for as long as the runtime lives.
struct Served {
    base: String,
    client: Client,
}

impl Served {
    async fn fresh() -> Self {
        Self::limited(false).await
    }

    async fn limited(limits: bool) -> Self {
        Self::with(Options {
            limits,
            ..Options::new(Database::Memory)
        })
        .await
    }

    async fn with(mut options: Options) -> Self {
        options.delivery_interval = Duration::from_millis(5);
        let sandbox = Sandbox::open(options).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(sandbox.serve(listener, None, std::future::pending()));
        let client = Client::builder().no_proxy().build().unwrap();
        Self { base, client }
    }

    fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.client.request(method, format!("{}{path}", self.base))
    }

    async fn ask(&self, key: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
        let mut request = self.request(method, path).bearer_auth(key);
        if !body.is_null() {
            request = request.json(&body);
        }
        answer(request.send().await.unwrap()).await
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.ask(LIVE_KEY, "GET", path, Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask(LIVE_KEY, "POST", path, body).await
    }

    /// Books a table at 19:00 in three days.
    async fn book(&self, venue: &str, more: Value) -> (u16, Value) {
        self.post("/v1/bookings", order(venue, more)).await
    }

    async fn advance(&self, by: &str) {
        let (status, _) = self.post("/sandbox/clock", json!({"advance": by})).await;
        assert_eq!(status, 200);
    }

    async fn answer(&self, booking: &Value, body: Value) -> (u16, Value) {
        let id = booking["id"].as_str().unwrap();
        self.post(&format!("/v1/bookings/{id}/continue"), body)
            .await
    }

    async fn reread(&self, booking: &Value) -> Value {
        let id = booking["id"].as_str().unwrap();
        let (status, booking) = self.get(&format!("/v1/bookings/{id}")).await;
        assert_eq!(status, 200);
        booking
    }
}

async fn answer(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    (status, response.json().await.unwrap())
}

fn dinner_time() -> String {
    let day = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(72);
    format!("{}T19:00:00Z", day.strftime("%Y-%m-%d"))
}

fn order(venue: &str, more: Value) -> Value {
    let mut order = json!({
        "venue_id": venue,
        "datetime": dinner_time(),
        "party_size": 2,
        "customer": {"name": "Ada Lovelace", "phone": "+441632960001"},
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        order[field] = value.clone();
    }
    order
}

fn names(document: &Value) -> Vec<&str> {
    document
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[tokio::test]
async fn search_leads_to_slots_and_a_slot_to_a_confirmed_booking() {
    let sandbox = Served::fresh().await;
    let search = json!({"vertical": "dining", "datetime": dinner_time(), "location": "London"});
    let (status, found) = sandbox.post("/v1/venues/search", search).await;
    assert_eq!((status, &found["object"]), (200, &json!("list")));
    let venue = found["venues"][0]["venue_id"].as_str().unwrap();

    let query = json!({"venue_id": venue, "datetime": dinner_time(), "party_size": 2});
    let (status, offered) = sandbox.post("/v1/availability/search", query).await;
    assert_eq!(status, 200);
    let slot = &offered["slots"][0];

    let choice = json!({"availability_id": slot["availability_id"], "datetime": slot["datetime"]});
    let (status, booking) = sandbox.book(venue, choice).await;
    assert_eq!((status, &booking["status"]), (201, &json!("confirmed")));
    assert_eq!(booking["datetime"], slot["datetime"]);
    assert_eq!(
        names(&booking)[..9],
        [
            "id",
            "object",
            "status",
            "provider",
            "venue_id",
            "venue_name",
            "datetime",
            "party_size",
            "customer"
        ]
    );
    assert_eq!(sandbox.reread(&booking).await, booking);
}

#[tokio::test]
async fn a_seeded_venue_is_unknown_until_a_search_of_the_organization_returned_it() {
    let sandbox = Served::fresh().await;
    let search = json!({"vertical": "dining", "datetime": dinner_time(), "location": "London"});
    let (_, found) = sandbox
        .ask("sk_live_other", "POST", "/v1/venues/search", search)
        .await;
    let venue = found["venues"][0]["venue_id"].as_str().unwrap();
    let (status, refusal) = sandbox.book(venue, Value::Null).await;
    assert_eq!(status, 404);
    assert_eq!(
        refusal,
        json!({"error": "venue not found; run venue search first"})
    );
}

#[tokio::test]
async fn the_code_of_the_inbox_confirms_and_five_wrong_ones_fail() {
    let sandbox = Served::fresh().await;
    let (_, booking) = sandbox.book("ven_otp", Value::Null).await;
    assert_eq!(booking["status"], "requires_action");
    assert_eq!(
        names(&booking["next_action"]),
        ["type", "message", "channel", "sent_to", "expires_at"]
    );
    let (_, inbox) = sandbox.get("/sandbox/inbox").await;
    let message = &inbox["messages"][0];
    assert_eq!(message["booking_id"], booking["id"]);
    let (status, refusal) = sandbox.answer(&booking, json!({"otp": "000000"})).await;
    assert_eq!(
        (status, &refusal["error_code"]),
        (400, &json!("invalid_otp"))
    );
    assert_eq!(refusal["attempts_left"], 4);
    let (status, confirmed) = sandbox
        .answer(&booking, json!({"otp": message["code"]}))
        .await;
    assert_eq!((status, &confirmed["status"]), (200, &json!("confirmed")));
    assert_eq!(confirmed.get("next_action"), None);

    let (_, unlucky) = sandbox.book("ven_otp", Value::Null).await;
    for left in [4, 3, 2, 1, 0] {
        let (_, refusal) = sandbox.answer(&unlucky, json!({"otp": "000000"})).await;
        assert_eq!(refusal["attempts_left"], left);
    }
    assert_eq!(
        sandbox.reread(&unlucky).await["error_code"],
        "otp_attempts_exceeded"
    );
    let (status, refusal) = sandbox.answer(&unlucky, json!({"otp": "000000"})).await;
    assert_eq!((status, names(&refusal)), (409, vec!["error"]));
}

#[tokio::test]
async fn what_was_due_has_happened_before_a_read_answers() {
    let sandbox = Served::fresh().await;
    let (_, slow) = sandbox.book("ven_processing", Value::Null).await;
    let (_, paused) = sandbox.book("ven_otp", Value::Null).await;
    assert_eq!(
        (&slow["status"], &paused["status"]),
        (&json!("processing"), &json!("requires_action"))
    );
    sandbox.advance("5s").await;
    assert_eq!(sandbox.reread(&slow).await["status"], "confirmed");
    sandbox.advance("19m54s").await;
    assert_eq!(sandbox.reread(&paused).await["status"], "requires_action");
    sandbox.advance("6s").await;
    let expired = sandbox.reread(&paused).await;
    assert_eq!(expired["status"], "expired");
    assert_eq!(expired.get("next_action"), None);
}

#[tokio::test]
async fn a_vendor_payment_is_approved_refused_abandoned_or_late() {
    let sandbox = Served::fresh().await;
    let pays = json!({"payment_collection": "vendor_external"});
    let (_, booking) = sandbox
        .book("ven_payment_outcome_unknown", pays.clone())
        .await;
    assert_eq!(booking["expires_at"], booking["next_action"]["expires_at"]);
    let approval = json!({"psp_response": {
        "approval_id": booking["next_action"]["psp_request"]["approval_id"],
        "status": "approved",
    }});
    let (status, refusal) = sandbox.answer(&booking, json!({"psp_response": {}})).await;
    assert_eq!((status, names(&refusal)), (400, vec!["error"]));
    sandbox.advance("15m").await;
    assert_eq!(
        sandbox.reread(&booking).await["error_code"],
        "payment_approval_expired"
    );
    let (status, refusal) = sandbox.answer(&booking, json!({"psp_abort": true})).await;
    assert_eq!((status, names(&refusal)), (400, vec!["error"]));
    let (status, refusal) = sandbox.answer(&booking, approval).await;
    assert_eq!((status, names(&refusal)), (400, vec!["error"]));
    assert_eq!(
        sandbox.reread(&booking).await["error_code"],
        "payment_outcome_unknown"
    );

    let (_, booking) = sandbox.book("ven_payment", pays.clone()).await;
    let (status, failed) = sandbox.answer(&booking, json!({"psp_abort": true})).await;
    assert_eq!(
        (status, &failed["error_code"]),
        (200, &json!("payment_declined"))
    );
    let (status, refusal) = sandbox.book("ven_vault_unavailable", pays).await;
    assert_eq!(
        (status, &refusal["error_code"]),
        (409, &json!("vault_unavailable"))
    );
}

#[tokio::test]
async fn one_key_makes_one_booking_however_often_and_with_whatever_body() {
    let sandbox = Served::fresh().await;
    let create = |body: Value| {
        let request = sandbox
            .request("POST", "/v1/bookings")
            .bearer_auth(LIVE_KEY);
        let request = request
            .header("idempotency-key", "k-1")
            .body(body.to_string());
        async { answer(request.send().await.unwrap()).await }
    };
    let tries: Vec<_> = (0..50)
        .map(|_| tokio::spawn(create(order("ven_confirms", Value::Null))))
        .collect();
    let mut made = 0;
    let mut ids = std::collections::HashSet::new();
    for attempt in tries {
        let (status, booking) = attempt.await.unwrap();
        made += u32::from(status == 201);
        ids.insert(booking["id"].to_string());
    }
    assert_eq!((made, ids.len()), (1, 1));
    let (status, booking) = create(json!("nonsense")).await;
    assert_eq!(
        (status, ids.contains(&booking["id"].to_string())),
        (200, true)
    );
}

#[tokio::test]
async fn of_fifty_that_race_for_the_last_table_one_wins() {
    let sandbox = Served::fresh().await;
    let races: Vec<_> = (0..50)
        .map(|_| {
            let request = sandbox
                .request("POST", "/v1/bookings")
                .bearer_auth(LIVE_KEY);
            let request = request.json(&order("ven_last_table", Value::Null));
            tokio::spawn(async { answer(request.send().await.unwrap()).await })
        })
        .collect();
    let mut won = 0;
    for race in races {
        let (status, booking) = race.await.unwrap();
        assert_eq!(status, 201);
        if booking["status"] == "confirmed" {
            won += 1;
        } else {
            assert_eq!(booking["error_code"], "slot_taken");
        }
    }
    assert_eq!(won, 1);
}

#[tokio::test]
async fn an_unknown_booking_is_answered_with_the_open_ones_of_the_organization() {
    let sandbox = Served::fresh().await;
    let (_, open) = sandbox.book("ven_otp", Value::Null).await;
    let (_, done) = sandbox.book("ven_confirms", Value::Null).await;
    let (status, refusal) = sandbox.get("/v1/bookings/bk_nonsense").await;
    assert_eq!(status, 404);
    let listed = refusal["open_bookings"].as_array().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["id"], open["id"]);
    assert_eq!(
        names(&listed[0]),
        ["id", "object", "status", "provider", "next_action"]
    );
    let path = format!("/v1/bookings/{}", done["id"].as_str().unwrap());
    let (status, refusal) = sandbox
        .ask("sk_live_other", "GET", &path, Value::Null)
        .await;
    assert_eq!((status, &refusal["open_bookings"]), (404, &json!([])));
}

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
    let (status, refusal) = book("ven_confirms").await;
    assert_eq!(
        (status, names(&refusal)),
        (402, vec!["error", "limit", "message"])
    );
    assert_eq!(
        (&refusal["error"], &refusal["limit"]),
        (&json!("free_tier_exhausted"), &json!(3))
    );
}

#[tokio::test]
async fn reset_forgets_everything_and_date_is_the_sandboxs_clock() {
    let sandbox = Served::fresh().await;
    sandbox.book("ven_confirms", Value::Null).await;
    sandbox.advance("2d").await;
    let response = sandbox
        .request("GET", "/sandbox/clock")
        .send()
        .await
        .unwrap();
    let date = response.headers()["date"].to_str().unwrap().to_owned();
    let date = jiff::fmt::rfc2822::parse(&date).unwrap().timestamp();
    let (_, clock) = answer(response).await;
    assert_eq!(clock["offset_seconds"], 172_800);
    let now: jiff::Timestamp = clock["now"].as_str().unwrap().parse().unwrap();
    assert!(now.duration_since(date).as_secs().abs() <= 2);
    assert_eq!(sandbox.post("/sandbox/reset", Value::Null).await.0, 200);
    assert_eq!(
        sandbox.get("/sandbox/bookings").await.1,
        json!({"bookings": []})
    );
    assert_eq!(sandbox.get("/sandbox/clock").await.1["offset_seconds"], 0);
}

#[tokio::test]
async fn eight_sandboxes_share_one_file_from_the_first_moment_on() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("sandbox.db");
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let database = Database::File(path.clone());
            std::thread::spawn(move || {
                let mut runtime = tokio::runtime::Builder::new_current_thread();
                runtime.enable_all().build().unwrap().block_on(async {
                    let sandbox = Served::with(Options::new(database)).await;
                    sandbox.book("ven_confirms", Value::Null).await
                })
            })
        })
        .collect();
    let confirmed = threads
        .into_iter()
        .map(|it| it.join().unwrap())
        .inspect(|(status, _)| assert_eq!(*status, 201))
        .filter(|(_, booking)| booking["status"] == "confirmed")
        .count();
    let sandbox = Served::with(Options::new(Database::File(path))).await;
    let (_, kept) = sandbox.get("/sandbox/bookings").await;
    assert_eq!(kept["bookings"].as_array().unwrap().len(), 8);
    assert!(confirmed >= 3, "{confirmed}");
    tokio::time::timeout(Duration::from_secs(5), sandbox.get("/v1/"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_change_keeps_what_it_was_and_is_refused_without_harm() {
    let sandbox = Served::fresh().await;
    let modify = async |booking: &Value, body: Value| {
        let id = booking["id"].as_str().unwrap();
        sandbox
            .post(&format!("/v1/bookings/{id}/modify"), body)
            .await
    };
    let (_, booking) = sandbox.book("ven_last_table", Value::Null).await;
    let later = dinner_time().replace("T19:00", "T20:30");
    let change = json!({"datetime": later, "party_size": 4});
    let (status, changed) = modify(&booking, change.clone()).await;
    assert_eq!((status, &changed["party_size"]), (200, &json!(4)));
    let changes = &changed["last_modification"]["changes"];
    assert_eq!(changes["party_size"], json!({"from": 2, "to": 4}));
    assert_eq!(changes["datetime"]["from"], booking["datetime"]);
    let (_, unchanged) = modify(&changed, change.clone()).await;
    assert_eq!(unchanged, changed);

    // The table it left is free again, the one it took is not.
    let (_, second) = sandbox.book("ven_last_table", Value::Null).await;
    assert_eq!(second["status"], "confirmed");
    let (status, refusal) = modify(&second, change.clone()).await;
    assert_eq!(
        (status, &refusal["error_code"]),
        (422, &json!("slot_taken"))
    );
    assert_eq!(refusal["booking"], second);

    let (_, elsewhere) = sandbox.book("ven_confirms_b", Value::Null).await;
    let (status, refusal) = modify(&elsewhere, change.clone()).await;
    assert_eq!(
        (status, &refusal["error_code"]),
        (422, &json!("modify_unsupported"))
    );
    let (_, waiting) = sandbox.book("ven_otp", Value::Null).await;
    let (status, refusal) = modify(&waiting, change).await;
    assert_eq!((status, names(&refusal)), (409, vec!["error"]));
}

#[tokio::test]
async fn a_cancelled_booking_frees_its_slot_and_another_providers_stays() {
    let sandbox = Served::fresh().await;
    let cancel = async |booking: &Value| {
        let id = booking["id"].as_str().unwrap();
        sandbox
            .post(&format!("/v1/bookings/{id}/cancel"), Value::Null)
            .await
    };
    let (_, booking) = sandbox.book("ven_last_table", Value::Null).await;
    let (status, cancelled) = cancel(&booking).await;
    assert_eq!((status, &cancelled["status"]), (200, &json!("cancelled")));
    assert_eq!(
        sandbox.book("ven_last_table", Value::Null).await.1["status"],
        "confirmed"
    );
    assert_eq!(cancel(&booking).await.0, 409);
    let (_, stays) = sandbox.book("ven_confirms_c", Value::Null).await;
    let (status, stays) = cancel(&stays).await;
    assert_eq!((status, &stays["status"]), (200, &json!("confirmed")));
    assert_eq!(stays["error_code"], "cancellation_unsupported");
}

#[tokio::test]
async fn a_person_connects_shows_a_card_books_and_is_forgotten() {
    let sandbox = Served::fresh().await;
    let books = json!({"end_user": "ada"});
    let (status, refusal) = sandbox.book("ven_confirms_b", books.clone()).await;
    assert_eq!(
        (status, &refusal["error_code"]),
        (409, &json!("reconnect_required"))
    );
    assert_eq!(sandbox.get("/v1/sessions/card?end_user=ada").await.0, 404);

    let connect = json!({"end_user": "ada", "provider": "provider_b", "phone": "+441632960001"});
    let (status, session) = sandbox.post("/v1/sessions", connect.clone()).await;
    assert_eq!(status, 201);
    assert_eq!(
        names(&session),
        [
            "id",
            "object",
            "provider",
            "state",
            "end_user",
            "created_at"
        ]
    );
    let path = format!("/v1/sessions/{}", session["id"].as_str().unwrap());
    let (status, refusal) = sandbox.get(&format!("{path}/card")).await;
    assert_eq!(
        (status, &refusal["error_code"]),
        (409, &json!("reconnect_required"))
    );
    let verify = format!("{path}/verify");
    let (status, refusal) = sandbox.post(&verify, json!({"code": "000000"})).await;
    assert_eq!(
        (status, &refusal["error_code"]),
        (400, &json!("invalid_code"))
    );
    let (_, inbox) = sandbox.get("/sandbox/inbox").await;
    assert_eq!(inbox["messages"][0]["session_id"], session["id"]);
    let code = json!({"code": inbox["messages"][0]["code"]});
    let (status, active) = sandbox.post(&verify, code).await;
    assert_eq!((status, &active["state"]), (200, &json!("active")));

    let card = json!({"has_card": true});
    assert_eq!(
        sandbox.get(&format!("{path}/card")).await,
        (200, card.clone())
    );
    assert_eq!(
        sandbox.get("/v1/sessions/card?end_user=ada").await,
        (200, card)
    );
    let list = async |query: &str| {
        let (_, list) = sandbox.get(&format!("/v1/sessions?{query}")).await;
        list["sessions"].as_array().unwrap().len()
    };
    assert_eq!(
        list("end_user=ada&provider=provider_b&state=active").await,
        1
    );
    assert_eq!(list("state=pending").await, 0);
    assert_eq!(sandbox.book("ven_confirms_b", books).await.0, 201);

    let (status, refusal) = sandbox
        .ask("sk_test_sandbox", "POST", "/v1/sessions", connect)
        .await;
    assert_eq!(
        (status, &refusal["error_code"]),
        (403, &json!("live_key_required"))
    );
    let other = sandbox
        .ask("sk_live_other", "GET", &path, Value::Null)
        .await;
    assert_eq!(other, (404, json!({"error": "session not found"})));
    let (_, deleted) = sandbox.ask(LIVE_KEY, "DELETE", &path, Value::Null).await;
    assert_eq!(
        deleted,
        json!({"id": session["id"], "object": "session", "deleted": true})
    );
    assert_eq!(sandbox.get(&path).await.0, 404);
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
    let (_, refusal) = answer(response).await;
    assert_eq!(
        names(&refusal),
        ["error", "message", "limit", "retry_after_seconds"]
    );
    assert_eq!(
        (
            &refusal["limit"],
            refusal["retry_after_seconds"].to_string()
        ),
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
        let (got, refusal) = sandbox.post("/v1/venues/search", search.clone()).await;
        assert_eq!((got, &refusal["error_code"]), (status, &json!(code)));
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
    let (status, refusal) = sandbox.book("ven_payment", pays).await;
    assert_eq!(
        (status, &refusal["error_code"]),
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

/// An app under test: answers with the given statuses in turn, and keeps what it was sent.
struct App {
    url: String,
    received: tokio::sync::mpsc::UnboundedReceiver<(axum::http::HeaderMap, String)>,
}

impl App {
    async fn answering(statuses: &'static [u16]) -> Self {
        let (sender, received) = tokio::sync::mpsc::unbounded_channel();
        let turn = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let hook = move |headers: axum::http::HeaderMap, body: String| async move {
            let _ = sender.send((headers, body));
            let turn = turn.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            axum::http::StatusCode::from_u16(statuses[turn % statuses.len()]).unwrap()
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = axum::Router::new().route("/hook", axum::routing::post(hook));
        tokio::spawn(async { axum::serve(listener, router).await });
        Self { url, received }
    }
}

#[tokio::test]
async fn an_event_is_delivered_signed_and_a_failed_one_retried_by_the_sandboxs_clock() {
    let sandbox = Served::fresh().await;
    sandbox.book("ven_confirms", Value::Null).await;
    let mut app = App::answering(&[200, 500, 500, 302, 404, 204]).await;
    let settings = json!({"webhook_url": app.url, "webhook_secret": "s"});
    sandbox
        .ask("", "PUT", "/sandbox/organization", settings)
        .await;
    let (_, booking) = sandbox.book("ven_confirms", Value::Null).await;

    let mut kinds = Vec::new();
    for _ in 0..2 {
        let (headers, body) = app.received.recv().await.unwrap();
        let header = |name: &str| headers[name].to_str().unwrap();
        assert_eq!(header("booking-delivery-attempt"), "1");
        let signature = header("booking-signature");
        let at = signature[2..signature.find(',').unwrap()].parse().unwrap();
        let at = jiff::Timestamp::from_second(at).unwrap();
        assert_eq!(sign("s", at, body.as_bytes()), signature);
        let event: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            names(&event),
            ["id", "object", "type", "created_at", "data"]
        );
        assert_eq!(event["data"]["object"]["id"], booking["id"]);
        kinds.push(event["type"].as_str().unwrap().to_owned());
    }
    kinds.sort();
    assert_eq!(kinds, ["booking.confirmed", "booking.created"]);

    for (pause, number) in [("30s", 2), ("2m", 3), ("10m", 4)] {
        let is_waiting = |it: &Value| {
            it["attempts"].as_array().unwrap().len() == number - 1 && it["state"] == "pending"
        };
        settled(&sandbox, is_waiting).await;
        sandbox.advance(pause).await;
        let (headers, _) = app.received.recv().await.unwrap();
        assert_eq!(headers["booking-delivery-attempt"], number.to_string());
    }
    let abandoned = settled(&sandbox, |it| it["state"] == "abandoned").await;
    assert_eq!(abandoned["attempts"][3]["status"], 404);
    assert_eq!(abandoned.get("next_attempt_at"), None);
    let id = abandoned["event_id"].as_str().unwrap();
    let (status, _) = sandbox
        .post(&format!("/sandbox/deliveries/{id}/resend"), Value::Null)
        .await;
    assert_eq!(status, 200);
    assert_eq!(
        app.received.recv().await.unwrap().0["booking-delivery-attempt"],
        "5"
    );
    settled(&sandbox, |it| {
        it["event_id"] == id && it["state"] == "delivered"
    })
    .await;
}

/// Waits for a delivery that stands as wanted.
async fn settled(sandbox: &Served, wanted: impl Fn(&Value) -> bool) -> Value {
    let search = async {
        loop {
            let (_, list) = sandbox.get("/sandbox/deliveries").await;
            let deliveries = list["deliveries"].as_array().unwrap();
            if let Some(found) = deliveries.iter().find(|it| wanted(it)) {
                return found.clone();
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(5), search)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_fault_happens_as_often_as_asked_and_commits_only_where_it_says_so() {
    let sandbox = Served::fresh().await;
    let create = async |fault: Value| {
        let mut wanted = json!({"on": "POST /v1/bookings"});
        for (field, value) in fault.as_object().unwrap() {
            wanted[field] = value.clone();
        }
        assert_eq!(sandbox.post("/sandbox/faults", wanted).await.0, 201);
        let request = sandbox
            .request("POST", "/v1/bookings")
            .bearer_auth(LIVE_KEY);
        request
            .json(&order("ven_confirms", Value::Null))
            .send()
            .await
    };
    let booked = async || {
        let (_, list) = sandbox.get("/sandbox/bookings").await;
        list["bookings"].as_array().unwrap().len()
    };
    assert!(create(json!({"kind": "drop_before"})).await.is_err());
    assert_eq!(booked().await, 0);
    let response = create(json!({"kind": "status", "status": 503, "body": {"error": "x"}})).await;
    assert_eq!(
        answer(response.unwrap()).await,
        (503, json!({"error": "x"}))
    );
    assert_eq!(booked().await, 0);
    assert!(create(json!({"kind": "drop_after"})).await.is_err());
    assert_eq!(booked().await, 1);
    let response = create(json!({"kind": "truncate", "after_bytes": 10}))
        .await
        .unwrap();
    assert_eq!(response.status(), 201);
    assert!(response.bytes().await.is_err());
    assert_eq!(booked().await, 2);
    let response = create(json!({"kind": "garbage"})).await.unwrap();
    assert!(response.json::<Value>().await.is_err());
    assert_eq!(booked().await, 3);
    let started = std::time::Instant::now();
    let response = create(json!({"kind": "delay", "delay_ms": 50}))
        .await
        .unwrap();
    assert!(started.elapsed() >= Duration::from_millis(50));
    assert_eq!(response.status(), 201);

    let waiting = json!({"on": "GET /v1/bookings/{id}", "kind": "garbage", "times": 3});
    sandbox.post("/sandbox/faults", waiting).await;
    let booking = answer(response).await.1;
    let path = format!("/v1/bookings/{}", booking["id"].as_str().unwrap());
    let response = sandbox.request("GET", &path).send().await.unwrap();
    assert!(response.json::<Value>().await.is_err());
    let (_, list) = sandbox.get("/sandbox/faults").await;
    assert_eq!(names(&list["faults"][0]), ["id", "on", "kind", "times"]);
    assert_eq!(list["faults"][0]["times"], 2);
    let (_, cleared) = sandbox
        .ask("", "DELETE", "/sandbox/faults", Value::Null)
        .await;
    assert_eq!(cleared, json!({"faults": []}));
    assert_eq!(sandbox.reread(&booking).await, booking);
}
