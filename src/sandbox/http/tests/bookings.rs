//! From a search to the end of a booking.

use serde_json::{Value, json};

use super::*;

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
    let (status, error) = sandbox.book(venue, Value::Null).await;
    assert_eq!(status, 404);
    assert_eq!(
        error,
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
    let (status, error) = sandbox.answer(&booking, json!({"otp": "000000"})).await;
    assert_eq!((status, &error["error_code"]), (400, &json!("invalid_otp")));
    assert_eq!(error["attempts_left"], 4);
    let (status, confirmed) = sandbox
        .answer(&booking, json!({"otp": message["code"]}))
        .await;
    assert_eq!((status, &confirmed["status"]), (200, &json!("confirmed")));
    assert_eq!(confirmed.get("next_action"), None);

    let (_, unlucky) = sandbox.book("ven_otp", Value::Null).await;
    for left in [4, 3, 2, 1, 0] {
        let (_, error) = sandbox.answer(&unlucky, json!({"otp": "000000"})).await;
        assert_eq!(error["attempts_left"], left);
    }
    assert_eq!(
        sandbox.reread(&unlucky).await["error_code"],
        "otp_attempts_exceeded"
    );
    let (status, error) = sandbox.answer(&unlucky, json!({"otp": "000000"})).await;
    assert_eq!((status, names(&error)), (409, vec!["error"]));
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
    let (status, error) = sandbox.answer(&booking, json!({"psp_response": {}})).await;
    assert_eq!((status, names(&error)), (400, vec!["error"]));
    sandbox.advance("15m").await;
    assert_eq!(
        sandbox.reread(&booking).await["error_code"],
        "payment_approval_expired"
    );
    let (status, error) = sandbox.answer(&booking, json!({"psp_abort": true})).await;
    assert_eq!((status, names(&error)), (400, vec!["error"]));
    let (status, error) = sandbox.answer(&booking, approval).await;
    assert_eq!((status, names(&error)), (400, vec!["error"]));
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
    let (status, error) = sandbox.book("ven_vault_unavailable", pays).await;
    assert_eq!(
        (status, &error["error_code"]),
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
    let (status, error) = sandbox.get("/v1/bookings/bk_nonsense").await;
    assert_eq!(status, 404);
    let listed = error["open_bookings"].as_array().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["id"], open["id"]);
    assert_eq!(
        names(&listed[0]),
        ["id", "object", "status", "provider", "next_action"]
    );
    let path = format!("/v1/bookings/{}", done["id"].as_str().unwrap());
    let (status, error) = sandbox
        .ask("sk_live_other", "GET", &path, Value::Null)
        .await;
    assert_eq!((status, &error["open_bookings"]), (404, &json!([])));
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
    let (status, error) = modify(&second, change.clone()).await;
    assert_eq!((status, &error["error_code"]), (422, &json!("slot_taken")));
    assert_eq!(error["booking"], second);

    let (_, elsewhere) = sandbox.book("ven_confirms_b", Value::Null).await;
    let (status, error) = modify(&elsewhere, change.clone()).await;
    assert_eq!(
        (status, &error["error_code"]),
        (422, &json!("modify_unsupported"))
    );
    let (_, waiting) = sandbox.book("ven_otp", Value::Null).await;
    let (status, error) = modify(&waiting, change).await;
    assert_eq!((status, names(&error)), (409, vec!["error"]));
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
