//! The wire, asked in raw HTTP.

use std::time::Duration;

use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::sandbox::{Database, LIVE_KEY, Options, Sandbox};

/// A sandbox that serves on a port of its own, for as long as the runtime lives.
struct Served {
    base: String,
    client: Client,
}

impl Served {
    async fn fresh() -> Self {
        Self::with(Options {
            database: Database::Memory,
            limits: true,
        })
        .await
    }

    async fn with(options: Options) -> Self {
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
    let sandbox = Served::fresh().await;
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
                    let options = Options {
                        database,
                        limits: false,
                    };
                    let sandbox = Served::with(options).await;
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
    let options = Options {
        database: Database::File(path),
        limits: false,
    };
    let sandbox = Served::with(options).await;
    let (_, kept) = sandbox.get("/sandbox/bookings").await;
    assert_eq!(kept["bookings"].as_array().unwrap().len(), 8);
    assert!(confirmed >= 3, "{confirmed}");
    tokio::time::timeout(Duration::from_secs(5), sandbox.get("/v1/"))
        .await
        .unwrap();
}
