//! A key that a service repeats in another spelling is masked wherever a person, or a log, would read it.

use ::base64::Engine;
use ::base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::json;

use crate::harness::{Home, Reply, Scripted};

const KEY: &str = "sk_live_canary0815yellow";

fn each(spell: impl Fn(u8) -> String) -> String {
    KEY.bytes().map(spell).collect()
}

/// The key in other spellings, as they stand in a document of JSON, and what of them must not be seen.
fn spellings() -> Vec<(String, String)> {
    let base64 = BASE64.encode(KEY);
    let whole = [
        each(|byte| format!("%{byte:02X}")),
        each(|byte| format!("%{byte:02x}")),
        each(|byte| format!("&#{byte};")),
        each(|byte| format!("&#x{byte:x};")),
        hex(),
        hex().to_uppercase(),
        BASE64.encode(format!("ada:{KEY}")),
        BASE64.encode(&base64),
        BASE64.encode(hex()),
        base64,
    ];
    let mut spellings: Vec<_> = whole.map(|it| (it.clone(), it)).into();
    spellings.push((each(|byte| format!("\\u{byte:04x}")), KEY.to_owned()));
    for hidden in [
        "\u{200d}", "\u{200c}", "\u{200b}", "\u{feff}", "\u{ad}", "\\u001b",
    ] {
        let split = KEY.replace("0815", &format!("{hidden}0815"));
        spellings.push((split, "0815yellow".to_owned()));
    }
    spellings
}

fn hex() -> String {
    each(|byte| format!("{byte:02x}"))
}

/// "Secrets are never in logs, errors" (design, What must never happen)
#[test]
fn a_key_in_any_spelling_is_masked_in_errors_and_in_the_trace() {
    for (spelled, unseen) in spellings() {
        let body = format!(r#"{{"error": "not with {spelled}", "error_code": "odd"}}"#);
        let server = Scripted::start(move |_| Reply::Whole(422, "application/json", body.clone()));
        let home = Home::pointing_to(server.base_url(), KEY);
        for form in ["-v", "--json", "--quiet"] {
            let output = home.run(["show", "bk_1", form]).exits(7);
            output.tells("***");
            assert!(!output.stderr.contains(&unseen), "{spelled}: {output}");
        }
    }
}

/// A success is as much the service's word as an error. A script gets the document as it came.
#[test]
fn a_key_that_a_success_repeats_is_masked_in_what_a_person_reads() {
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
    for arguments in [
        vec!["status"],
        vec!["show", "bk_1"],
        vec!["session", "show", "ses_1"],
    ] {
        home.ok(&arguments).prints("***");
        let output = home.run(&arguments);
        for unseen in [KEY, &BASE64.encode(KEY)] {
            assert!(!output.stdout.contains(unseen), "{output}");
        }
    }
    home.ok(["show", "bk_1", "--json"]).prints(KEY);
}
