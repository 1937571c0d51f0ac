//! What `/sandbox/requests` says of a request to a sandbox that speaks otherwise, in the names that it takes.

use serde_json::{Value, json};

use crate::harness::http::send;
use crate::harness::{Home, Served, text};

const SPEECH: &str = "[dialect]\nauth_header = 'X-Key'\nauth_scheme = 'Token'\n\
                      modify_datetime_field = 'change.newTime'\nmodify_party_size_field = 'guestCount'\n";

fn last(served: &Served) -> Value {
    let (_, log) = send(
        served.base_url(),
        "GET",
        "/sandbox/requests?limit=1",
        &[],
        "",
    );
    log["requests"][0].clone()
}

#[test]
fn reasons_and_notes_use_the_names_that_the_sandbox_takes() {
    let home = Home::new();
    std::fs::write(home.folder().join("own.toml"), SPEECH).unwrap();
    let served = Served::with(&home, &["--ephemeral", "--speak", "own.toml"]);
    let base = served.base_url();
    let bearer = [("Authorization", "Bearer sk_live_sandbox")];
    for (headers, reason) in [
        (&bearer[..], "No key: X-Key is missing (Authentication, 2)."),
        (
            &[("X-Key", "sk_live_sandbox")],
            "No key: the word Token is missing: send X-Key: Token and the key (Authentication, 2).",
        ),
        (
            &[("X-Key", "Token sk_live_x")],
            "The sandbox has no key sk_live_… (Authentication, 2).",
        ),
    ] {
        assert_eq!(send(base, "GET", "/v1/", headers, "").0, 401);
        assert_eq!(text(&last(&served), "reason"), reason);
    }
    let key = [("X-Key", "Token sk_live_sandbox")];
    let order = json!({
        "venue_id": "ven_confirms", "datetime": "2099-12-01T19:30:00Z", "party_size": 2,
        "customer": {"name": "Ada Lovelace"}, "paymentCollection": "x",
    });
    let (status, booking) = send(base, "POST", "/v1/bookings", &key, &order.to_string());
    assert_eq!(status, 201, "{booking}");
    let notes = last(&served)["notes"].clone();
    let unknown = "unknown field paymentCollection is ignored; did you mean payment_collection?";
    assert!(
        notes.as_array().unwrap().contains(&json!(unknown)),
        "{notes}"
    );
    let path = format!("/v1/bookings/{}/modify", text(&booking, "id"));
    let change =
        json!({"change": {"newTime": "2099-12-02T19:30:00Z"}, "guestcount": 3, "party_size": 3});
    let (status, changed) = send(base, "POST", &path, &key, &change.to_string());
    assert_eq!(
        (status, &changed["party_size"]),
        (200, &json!(2)),
        "{changed}"
    );
    assert_eq!(
        last(&served)["notes"],
        json!([
            "unknown field guestcount is ignored; did you mean guestCount?",
            "unknown field party_size is ignored",
        ])
    );
}
