//! What the program tells of itself and of the service: `explain`, `help TOPIC`, `status`.

use serde_json::{Value, json};

use crate::harness::{Home, Reply, Scripted, has, holds, text};

/// Every code of the catalog.
pub(crate) fn codes() -> Vec<Value> {
    let document = Home::new().json("explain");
    document["codes"].as_array().unwrap().clone()
}

#[test]
fn every_row_of_the_catalog_has_all_its_fields() {
    let rows = codes();
    assert!(rows.len() > 50);
    for row in &rows {
        let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        assert_eq!(keys[..5], ["code", "kind", "meaning", "next", "exit_code"]);
        for field in ["code", "kind", "meaning", "next"] {
            assert!(!text(row, field).is_empty(), "{row}");
        }
        assert!(row["exit_code"].is_u64(), "{row}");
        // Absent where nothing failed.
        let retry = row.get("retry").and_then(Value::as_str);
        let words = ["yes", "after_fix", "after_check", "no"];
        assert!(retry.is_none_or(|it| words.contains(&it)), "{row}");
    }
}

#[test]
fn one_code_is_explained_in_a_card_and_as_its_row() {
    let home = Home::new();
    for row in codes() {
        let code = text(&row, "code");
        let output = home.ok(["explain", &code, "--json"]);
        assert_eq!(output.json(), json!({"codes": [row]}));
        assert_eq!(output.stderr, "", "nothing of a sandbox is used");
    }
    // An HTTP status is a code too.
    let by_number = home.json("explain 409");
    assert_eq!(by_number["codes"][0]["code"], "http_409");
    let exit = &home.ok(["explain", "16", "--json"]).json()["codes"][0];
    holds!(exit, {"code": "16", "kind": "exit code", "exit_code": 16, "retry": "after_check"});
    has(exit, "meaning", "unknown");
    let by_help = home.ok(["help", "16"]).stdout;
    assert_eq!(by_help, home.ok(["explain", "16"]).stdout);
    holds!(home.json("explain failed")["codes"][0], {"retry": "after_check"});
    let all = home.ok(["explain"]);
    assert_eq!(all.stdout.lines().count(), codes().len(), "{all}");
}

/// What a list prints can be typed: it is explained, lists what it stands for, and can be waited
/// for.
#[test]
fn every_word_of_a_list_is_explained_and_filters() {
    let (home, waits) = Home::with_booking("ven_otp", 10);
    let failed = home.booked("ven_payment_replay_fails", &["--payment", "vendor"], 10);
    let approved = r#"{"approval_id": "x", "status": "approved"}"#;
    let approval = home.json(&format!("show {failed}"))["next_action"]["psp_request"].clone();
    let approved = approved.replace('x', &text(&approval, "approval_id"));
    home.run(["continue", &failed, "--psp-response", &approved]).exits(16);
    let listed = |word: &str| {
        let rows = home.ok(["bookings", "--status", word, "--json"]).json();
        let rows = rows["bookings"].as_array().unwrap().iter().map(|row| text(row, "id"));
        rows.collect::<Vec<String>>()
    };
    assert_eq!(listed("overdue"), Vec::<String>::new());
    home.advance("25m");
    for (word, codes, ids) in [
        ("waiting", &["requires_action"][..], vec![waits.clone()]),
        ("Overdue", &["expired", "payment_approval_expired"], vec![waits]),
        ("failed, check", &["payment_outcome_unknown", "payment_replay_failed"], vec![failed]),
    ] {
        let rows = home.ok(["explain", word, "--json"]).json();
        let rows = rows["codes"].as_array().unwrap();
        assert_eq!(rows.iter().map(|row| text(row, "code")).collect::<Vec<_>>(), codes);
        assert_eq!(listed(word), ids, "{word}");
        home.run(["watch", "nothing here", "--until", word]).exits(6);
    }
    assert_eq!(text(&home.json("explain unresolved")["codes"][0], "code"), "outcome_unknown");
}

/// `bookctl help <environment|exit-codes|output|outcomes|mapping>` (command line, Command tree)
#[test]
fn each_topic_is_a_text_with_a_table_and_a_document() {
    let home = Home::new().configured("this is no TOML [");
    for (topic, field, first) in [
        ("environment", "environment", "variable"),
        ("exit-codes", "exit_codes", "code"),
        ("output", "output", "where"),
        ("outcomes", "outcomes", "scenario"),
        ("mapping", "mapping", "key"),
    ] {
        let document = home.ok(["help", topic, "--json"]).json();
        let rows = document[field].as_array().unwrap();
        let human = home.ok(["help", topic]);
        assert_eq!(human.stderr, "", "help needs no configuration");
        for row in rows {
            human.shows(text(row, first));
        }
    }
    for (unknown, next) in [
        (&["help", "nonsense"][..], "exit-codes"),
        (&["help", "sandbox", "nonsense"], "bookctl sandbox --help"),
    ] {
        let error = home.run(unknown.iter().chain(&["--json"])).refused(2, "usage");
        has(&error, "hint", next);
    }
}

/// "GET /v1/: name, version, server time, endpoints, clock difference" (command line, Command tree)
#[test]
fn the_status_names_the_service_and_how_far_its_clock_is() {
    let home = Home::new();
    let document = home.json("status");
    holds!(document, {"version": "v1", "sandbox": true});
    let human = home.ok(["status"]);
    for endpoint in document["endpoints"].as_array().unwrap() {
        let row = format!("{}\t{}\t", text(endpoint, "method"), text(endpoint, "path"));
        human.shows(&row);
    }
    human.shows("clock\tsame as this computer's\n");
    home.advance("1h");
    let human = home.ok(["status"]).stdout;
    let clock = human.lines().find(|line| line.starts_with("clock\t"));
    assert!(clock.unwrap().ends_with(" ahead of this computer's"), "{human}");
}

#[test]
fn status_of_service_that_says_little_is_shown_all_same() {
    let (server, home) = Scripted::with_home(|_| Reply::json(200, &json!({"hello": "there"})));
    home.ok(["status"]).shows(server.base_url());
    let document = home.json("status");
    assert_eq!(document, json!({"hello": "there"}));
    let (_refusing, home) =
        Scripted::with_home(|_| Reply::json(401, &json!({"error": "unauthorized"})));
    home.refuses("status", 4, "unauthorized");
}

#[test]
fn a_code_that_is_mistyped_or_half_remembered_is_a_usage_error() {
    let home = Home::new();
    for unknown in ["procesing", "otp", "xyzzy", "999", ""] {
        home.run(["explain", unknown, "--json"]).refused(2, "usage");
    }
}
