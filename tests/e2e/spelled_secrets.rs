//! A key that a service repeats is masked wherever a person would read it. Every spelling is in
//! `secrets::redact`.

use ::base64::Engine;
use ::base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::json;

use crate::harness::{Home, Reply, Scripted};

const KEY: &str = "sk_live_canary0815yellow";

/// A success is as much the service's word as an error. A script gets the document as it came.
#[test]
fn key_that_success_repeats_is_masked_in_what_person_reads() {
    let server = Scripted::start(|request| match request.path.as_str() {
        "/v1/" => Reply::json(
            200,
            &json!({"object": "api", "name": format!("Acme {KEY}"), "version": "v1"}),
        ),
        path if path.starts_with("/v1/sessions") => Reply::json(
            200,
            &json!({"id": "ses_1", "object": "session", "state": "active", "end_user": KEY}),
        ),
        _ => Reply::json(
            200,
            &json!({"id": "bk_1", "object": "booking", "status": "confirmed", "venue_id": KEY, "venue_name": KEY,
                "customer": {"name": format!("Ada {KEY}")}, "error_message": BASE64.encode(KEY), "more": KEY}),
        ),
    });
    let home = Home::pointing_to(server.base_url(), KEY);
    for arguments in [vec!["status"], vec!["show", "bk_1"], vec!["session", "show", "ses_1"]] {
        home.ok(&arguments).prints("***");
        let output = home.run(&arguments);
        for unseen in [KEY, &BASE64.encode(KEY)] {
            assert!(!output.stdout.contains(unseen), "{output}");
        }
    }
    home.ok(["show", "bk_1", "--json"]).prints(KEY);
}
