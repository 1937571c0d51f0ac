//! Which situations a report counts as met, and how it is written and served.

use serde_json::{Value, json};

use super::report::{KEY, Sandbox, codes};
use crate::harness::{Home, Served};

#[test]
fn run_reports_to_file_and_ends_with_1_where_that_is_asked_for() {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_bookctl");
    let book = format!(
        "{own} book ven_confirms --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace' --quiet --json >/dev/null"
    );
    let run = |flags: &[&str], script: &str, code: i32| {
        let words = [&["sandbox", "run"], flags, &["--", "sh", "-c", script]].concat();
        home.run(words).exits(code)
    };
    let file = |name: &str| home.folder().join(name).display().to_string();
    let (json_file, xml, markdown) = (file("r.json"), file("r.xml"), file("r.md"));
    run(&[&format!("--report={json_file}"), "--fail-on", "findings"], &book, 0);
    let report: Value = serde_json::from_str(&std::fs::read_to_string(json_file).unwrap()).unwrap();
    assert_eq!(codes(&report), [""; 0]);
    run(&[&format!("--report={xml}"), "--fail-on", "situations=90%"], &book, 1)
        .says("2 of 90 situations met (2%), fewer than 90%");
    let xml = std::fs::read_to_string(xml).unwrap();
    assert!(
        xml.contains("<testcase classname=\"situations\" name=\"POST /v1/bookings works\"/>"),
        "{xml}"
    );
    assert!(!xml.contains("<skipped") && xml.contains("<system-out>never met:\n"), "{xml}");
    assert!(!xml.contains("<failure"), "{xml}");
    run(&[&format!("--report={markdown}"), "--fail-on", "situations=1%"], &book, 0);
    let markdown = std::fs::read_to_string(markdown).unwrap();
    assert!(
        markdown.contains("search, POST /v1/bookings.\n")
            && markdown.contains("| A booking expires |"),
        "{markdown}"
    );
    let both = [format!("--report={}", file("r.xml")), format!("--report={}", file("s.md"))];
    run(&[&both[0], &both[1]], "true", 0).says("s.md");
    let script = format!("touch {}", file("ran"));
    let other = format!("--report={}", file("other.md"));
    std::fs::write(file("other.md"), "# Mine").unwrap();
    run(&[&both[1], &both[1]], &script, 1).says("it is being written to already");
    for wrong in [other.as_str(), "--report=/nonexistent/r.md"] {
        run(&[wrong], &script, 1).says("cannot write");
    }
    assert!(!std::path::Path::new(&file("ran")).exists(), "it ran");
    let output = run(&["--report"], "exit 7", 7);
    output.says("0 findings; 0 of");
    let repeated = "curl -s -X POST -H 'Authorization: Bearer sk_live_sandbox' -d '{}' $BOOKCTL_BASE_URL/v1/bookings";
    run(&["--fail-on", "findings"], repeated, 1).says("1 finding");
    run(&["--report", "r.md"], "true", 2).says("write --report=r.md.");
    run(&["--report=r.txt"], "true", 2).says(".json, .xml or .md");
    run(&["--fail-on", "nothing"], "true", 2).says("use findings, or situations=80%");
}

#[test]
fn served_sandbox_reports_for_person_and_for_one_organization() {
    let (_served, home) = Served::with_home();
    home.booked("ven_confirms", &[], 0);
    let other = ["sandbox", "report", "--organization", "other", "--json"];
    let report: Value = serde_json::from_str(&home.ok(other).stdout).unwrap();
    let mut situations = report["situations"].as_array().unwrap().iter();
    assert!(situations.all(|it| it["met"] == false), "{report}");
    Home::new().run(["sandbox", "report"]).exits(3).says("sandbox server");
    for flag in ["--no-request-log", "--no-report"] {
        let without = Served::with(&Home::new(), &["--ephemeral", flag]);
        without.send("GET", "/v1/", &[KEY], "");
        let refused = without.home().run(["sandbox", "report"]).exits(7);
        refused.says("hint: start the sandbox server without --no-report and --no-request-log");
        let kept = without.home().run(["sandbox", "requests", "--json"]).stdout;
        assert_eq!(kept.contains("/v1/"), flag == "--no-report");
    }
}

/// Of a booking at a venue, what an answer brings about, after some time; "" is a read.
#[test]
fn a_situation_is_counted_where_it_happens() {
    let sandbox = Sandbox::start();
    let fields = json!({"party_size": 3, "arrival_time": "19:30", "dietary_requirements": "none"});
    let (none, code) = (json!({}), json!({"otp": "CODE"}));
    let (abort, approve) = (json!({"psp_abort": true}), json!({"psp_response": "APPROVAL"}));
    let malformed = json!({"psp_response": {}});
    for (venue, after, action, answer, situation) in [
        ("provider_fails", "", "", &none, "failed_after_201"),
        ("confirms", "", "cancel", &none, "cancelled"),
        ("confirms_b", "", "cancel", &none, "cancellation_unsupported"),
        ("confirms_b", "", "modify", &fields, "modify_unsupported"),
        ("modify_refused", "", "modify", &fields, "modification_refused"),
        ("confirms", "", "continue", &code, "not_paused"),
        ("otp", "", "cancel", &none, "not_confirmed"),
        ("otp", "", "continue", &code, "otp_confirmed"),
        ("otp_fails", "", "continue", &code, "otp_failed"),
        ("confirm_details", "", "continue", &fields, "details_confirmed"),
        ("details_fails", "", "continue", &fields, "details_failed"),
        ("payment", "", "continue", &malformed, "malformed_answer"),
        ("payment", "", "continue", &abort, "payment_declined"),
        ("payment", "", "continue", &approve, "payment_confirmed"),
        ("payment_declines", "", "continue", &approve, "card_declined"),
        ("processing", "5s", "", &none, "processed"),
        ("processing_fails", "5s", "", &none, "processing_failed"),
        ("otp", "21m", "", &none, "expired"),
        ("payment", "16m", "", &none, "payment_approval_expired"),
        ("payment", "16m", "continue", &approve, "late_answer"),
    ] {
        assert!(!sandbox.has_met(situation), "{situation} before {venue} {action}");
        let mut order = sandbox.order(&format!("ven_{venue}"));
        if venue.starts_with("payment") {
            order["payment_collection"] = json!("vendor_external");
        }
        let (_, booking) = sandbox.call("POST", "/v1/bookings", situation, &order);
        let path = format!("/v1/bookings/{}", booking["id"].as_str().unwrap());
        if !after.is_empty() {
            sandbox.control("POST", "/sandbox/clock", &json!({ "advance": after }));
        }
        let inbox = sandbox.control("GET", "/sandbox/inbox", &Value::Null);
        let code = inbox["messages"][0]["code"].as_str().unwrap_or_default();
        let approval = &booking["next_action"]["psp_request"]["approval_id"];
        let approval = json!({"approval_id": approval, "status": "approved"}).to_string();
        let answer = answer.to_string().replace("\"APPROVAL\"", &approval).replace("CODE", code);
        let answer = serde_json::from_str(&answer).unwrap();
        match action {
            "" => sandbox.call("GET", &path, "", &Value::Null),
            _ => sandbox.call("POST", &format!("{path}/{action}"), "", &answer),
        };
        assert!(sandbox.has_met(situation), "{situation} after {venue} {action}");
    }
    let search = |place: &str| json!({"vertical": "dining", "datetime": "2040-01-01T19:30:00Z", "location": place});
    for (method, path, body, situation) in [
        ("POST", "/v1/venues/search", json!({}), "missing_fields"),
        ("POST", "/v1/venues/search", search("Atlantis"), "location_unresolved"),
        ("POST", "/v1/venues/search", search("Outage"), "search_failed"),
        ("POST", "/v1/bookings", json!({"party_size": "two"}), "invalid_body"),
        ("POST", "/v1/bookings", json!({"party_size": 2}), "validation_failed"),
        ("POST", "/v1/bookings", sandbox.order("ven_nowhere"), "venue_not_found"),
        ("POST", "/v1/bookings", sandbox.order("ven_multi_provider"), "provider_needed"),
        ("GET", "/v1/bookings/bk_0000000000000", Value::Null, "booking_not_found"),
        ("GET", "/v1/sessions/ses_0000000000000", Value::Null, "session_not_found"),
    ] {
        assert!(!sandbox.has_met(situation), "{situation} before {path}");
        sandbox.call(method, path, "key", &body);
        assert!(sandbox.has_met(situation), "{situation} after {path}");
    }
}
