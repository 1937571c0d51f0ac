//! Organizations that are added: each with keys, bookings, messages, slots and limits of its own.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::http::send;
use crate::harness::{Served, holds, text};

/// A generous bound for a hundred tests of ten requests each, on a machine that runs others
/// meanwhile.
const BOUND: Duration = Duration::from_secs(60);

/// An organization of its own at a served sandbox.
struct Tenant<'a> {
    base: &'a str,
    id: String,
    document: Value,
}

impl<'a> Tenant<'a> {
    fn new(server: &'a Served) -> Self {
        let base = server.base_url();
        let (status, document) = send(base, "POST", "/sandbox/organizations", &[], "");
        assert_eq!(status, 201, "{document}");
        let id = text(&document, "id");
        Tenant { base, id, document }
    }

    fn key(&self, kind: &str) -> String {
        text(&self.document["keys"], kind)
    }

    /// A call with the key of this kind.
    fn call(&self, kind: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {}", self.key(kind));
        let headers = [("Authorization", bearer.as_str()), ("Idempotency-Key", "the same in each")];
        let headers = &headers[..1 + usize::from(path == "/v1/bookings")];
        send(self.base, method, path, headers, &body.to_string())
    }

    fn book(&self, venue: &str, at: &str) -> Value {
        let order = json!({
            "venue_id": venue,
            "datetime": at,
            "party_size": 2,
            "customer": {"name": "Ada Lovelace", "phone": "+441632960001"},
        });
        let (status, booking) = self.call("live", "POST", "/v1/bookings", &order);
        assert_eq!(status, 201, "{booking}");
        booking
    }

    /// The elements of a list of the sandbox's own surface that are this organization's.
    fn list(&self, what: &str, field: &str) -> Vec<Value> {
        let path = format!("/sandbox/{what}?organization={}", self.id);
        let (status, list) = send(self.base, "GET", &path, &[], "");
        assert_eq!(status, 200, "{list}");
        list[field].as_array().unwrap().clone()
    }
}

/// A time at which a scenario venue has a slot, `days` ahead.
fn dinner(days: i64) -> String {
    let day = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * days);
    format!("{}T19:00:00Z", day.strftime("%Y-%m-%d"))
}

/// "an organization of its own per test, so that parallel tests share one server" (sandbox tools):
/// the same table, the same idempotency key, and ten times the requests that one organization may
/// send.
#[test]
fn a_hundred_tests_share_a_server_and_none_of_them_sees_another() {
    let server = Served::start();
    let started = Instant::now();
    let at = dinner(3);
    std::thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                let tenant = Tenant::new(&server);
                let table = tenant.book("ven_last_table", &at);
                assert_eq!(table["status"], "confirmed", "{table}");
                let id = text(&table, "id");
                let path = "/v1/sessions";
                let person =
                    json!({"end_user": "ada", "provider": "provider_b", "phone": "+441632960001"});
                let (status, session) = tenant.call("live", "POST", path, &person);
                assert_eq!(status, 201, "{session}");
                // The inbox has this test's code alone.
                let messages = tenant.list("inbox", "messages");
                assert_eq!(messages.len(), 1, "{messages:?}");
                let code = json!({"code": messages[0]["code"]});
                let path = format!("/v1/sessions/{}/verify", text(&session, "id"));
                let (status, session) = tenant.call("live", "POST", &path, &code);
                assert_eq!(status, 200, "{session}");
                assert_eq!(session["state"], "active", "{session}");
                let mut listed = tenant.list("bookings", "bookings");
                for booking in &mut listed {
                    let of = booking["organization"].take();
                    assert_eq!(of, tenant.id.as_str());
                    booking.as_object_mut().unwrap().remove("organization");
                }
                assert_eq!(listed, [table]);
                let requests = tenant.list("requests", "requests");
                assert_eq!(requests.len(), 3, "{requests:?}");
                let (status, read) =
                    tenant.call("readonly", "GET", &format!("/v1/bookings/{id}"), &Value::Null);
                assert_eq!(status, 200, "{read}");
            });
        }
    });
    assert!(started.elapsed() < BOUND, "{:?}", started.elapsed());
    assert_eq!(server.bookings().len(), 100);
}

#[test]
fn removed_organization_leaves_nothing_and_its_keys_are_refused() {
    let server = Served::start();
    let [kept, removed] = [Tenant::new(&server), Tenant::new(&server)];
    for tenant in [&kept, &removed] {
        tenant.book("ven_otp", &dinner(3));
        assert_eq!(tenant.list("inbox", "messages").len(), 1);
    }
    let path = format!("/sandbox/organizations/{}", removed.id);
    let (status, gone) = send(removed.base, "DELETE", &path, &[], "");
    assert_eq!((status, &gone["deleted"]), (200, &json!(true)), "{gone}");
    for kind in ["live", "test", "readonly"] {
        let (status, refusal) = removed.call(kind, "GET", "/v1/", &Value::Null);
        assert_eq!((status, &refusal["error"]), (401, &json!("unauthorized")));
    }
    let whole = |path: &str| send(kept.base, "GET", path, &[], "").1;
    assert_eq!(server.bookings(), kept.list("bookings", "bookings"));
    let requests = whole("/sandbox/requests").to_string();
    assert!(!requests.contains(&removed.id) && requests.contains(&kept.id));
    assert_eq!(whole("/sandbox/inbox")["messages"].as_array().unwrap().len(), 1);
    for path in "inbox bookings deliveries requests organization".split(' ') {
        let path = format!("/sandbox/{path}?organization={}", removed.id);
        assert_eq!(send(kept.base, "GET", &path, &[], "").0, 404, "{path}");
    }
    assert_eq!(send(kept.base, "DELETE", &path, &[], "").0, 404);
    let main = "/sandbox/organizations/org_sandbox";
    assert_eq!(send(kept.base, "DELETE", main, &[], "").0, 409);
    server.reset();
    let (status, _) = kept.call("live", "GET", "/v1/", &Value::Null);
    assert_eq!(status, 401);
}

#[test]
fn the_command_adds_lists_and_removes_organizations() {
    let (server, home) = Served::with_home();
    let organization = |words: &[&str]| {
        let command = ["sandbox", "organization"].iter().chain(words);
        home.ok(command)
    };
    let added = organization(&["add", "--name", "test 17", "--json"]).json();
    let id = text(&added, "id");
    let key = text(&added["keys"], "live");
    assert!(key.starts_with("sk_live_"), "{added}");
    assert!(text(&added, "webhook_secret").starts_with("whsec_"));
    let listed = organization(&["list"]).stdout;
    let line = listed.lines().find(|line| line.starts_with(&id)).unwrap();
    assert!(line.contains("test 17") && line.contains(&key), "{listed}");
    server.home_with(&key).booked("ven_confirms", &[], 0);
    let of = ["sandbox", "bookings", "--organization", &id, "--json"];
    let bookings = home.ok(of).json();
    assert_eq!(bookings["bookings"].as_array().unwrap().len(), 1);
    let main = ["sandbox", "bookings", "--organization", "sandbox", "--json"];
    let bookings = home.ok(main).json();
    assert_eq!(bookings, json!({"bookings": []}));
    let shown = organization(&["--organization", &id, "--json"]).json();
    holds!(shown, {"id": id, "name": "test 17"});
    organization(&["remove", &id]).prints("deleted\ttrue");
    let gone = ["sandbox", "organization", "remove", &id, "--json"];
    home.run(gone).refused(6, "http_404");
}

/// "`?organization=ID` is read by every control … An unknown query parameter is a 400" (sandbox
/// tools, The unit)
#[test]
fn control_reads_its_organization_and_refuses_other_parameters() {
    let server = Served::start();
    let [one, other] = [Tenant::new(&server), Tenant::new(&server)];
    for tenant in [&one, &other] {
        tenant.book("ven_otp", &dinner(30));
    }
    let call = |method: &str, path: &str, body: Value| {
        let (status, answer) = send(one.base, method, path, &[], &body.to_string());
        (status, answer)
    };
    for path in ["reset", "clock", "faults", "organization", "bookings", "inbox", "keys"] {
        let methods = if path == "reset" { "POST" } else { "GET" };
        let (status, answer) =
            call(methods, &format!("/sandbox/{path}?organisation={}", one.id), json!({}));
        assert_eq!((status, &answer["error"]), (400, &json!("validation failed")), "{path}");
        assert!(answer["fields"]["organisation"].is_string(), "{answer}");
        let twice = format!("/sandbox/{path}?organization=other&organization=other");
        assert_eq!(call(methods, &twice, json!({})).0, 400, "{path}");
    }
    let fault = json!({"on": "any", "kind": "status", "status": 503, "times": "always"});
    call("POST", &format!("/sandbox/faults?organization={}", one.id), fault);
    assert_eq!(one.call("live", "GET", "/v1/", &Value::Null).0, 503);
    assert_eq!(other.call("live", "GET", "/v1/", &Value::Null).0, 200);
    let ids = |tenant: &Tenant| tenant.list("bookings", "bookings").len();
    call("POST", &format!("/sandbox/reset?organization={}", one.id), json!({}));
    assert_eq!((ids(&one), ids(&other)), (0, 1));
    assert_eq!(one.call("live", "GET", "/v1/", &Value::Null).0, 200, "its faults are gone");
}

/// "`POST /sandbox/clock?organization=ID` moves that organization's clock alone" (sandbox tools,
/// The unit)
#[test]
fn each_organization_has_a_clock_of_its_own() {
    let server = Served::start();
    let [one, other] = [Tenant::new(&server), Tenant::new(&server)];
    let paths = [&one, &other].map(|it| format!("/sandbox/clock?organization={}", it.id));
    let clock = |path: &str, body: Value| {
        let method = if body.is_null() { "GET" } else { "POST" };
        let (status, clock) = send(one.base, method, path, &[], &body.to_string());
        assert_eq!(status, 200, "{clock}");
        clock
    };
    let bookings = [&one, &other].map(|it| it.book("ven_otp", &dinner(30)));
    let status = |tenant: &Tenant, booking: &Value| {
        let path = format!("/v1/bookings/{}", text(booking, "id"));
        text(&tenant.call("live", "GET", &path, &Value::Null).1, "status")
    };
    holds!(clock(&paths[0], json!({"advance": "21m"})), {"offset_seconds": 1260});
    assert_eq!(status(&one, &bookings[0]), "expired");
    assert_eq!(status(&other, &bookings[1]), "requires_action");
    clock(&paths[1], json!({"freeze": true}));
    let moved = clock("/sandbox/clock", json!({"advance": "1h"}));
    holds!(moved, {"offset_seconds": 3600});
    let listed = moved["organizations"].as_array().unwrap();
    assert_eq!(listed.len(), 6, "{moved}");
    let frozen: Vec<_> = listed.iter().filter(|it| it["frozen"] == true).collect();
    assert!(frozen.len() == 1 && frozen[0]["id"] == other.id.as_str(), "{moved}");
    assert_eq!(status(&other, &bookings[1]), "expired");
    holds!(clock(&paths[0], Value::Null), {"offset_seconds": 4860});
    let ahead = json!({"set": dinner(20)});
    clock(&paths[0], ahead);
    let path = "/sandbox/clock";
    let (status, refusal) =
        send(one.base, "POST", path, &[], &json!({"set": dinner(10)}).to_string());
    assert_eq!((status, &refusal["error"]), (400, &json!("validation failed")));
    send(one.base, "POST", &format!("/sandbox/reset?organization={}", one.id), &[], "");
    holds!(clock(&paths[0], Value::Null), {"offset_seconds": 0});
    holds!(clock("/sandbox/clock", Value::Null), {"offset_seconds": 3600});
}

/// "what a provider does later; the event is sent; any word is taken" (sandbox tools, The unit)
#[test]
fn a_provider_fails_or_reports_a_booking_later() {
    let server = Served::start();
    let tenants: Vec<_> = (0..4).map(|_| Tenant::new(&server)).collect();
    // Each has one key.
    let later = |tenant: &Tenant, venue: &str, answer: &Value| {
        let booking = tenant.book(venue, &dinner(3));
        let path = format!("/v1/bookings/{}", text(&booking, "id"));
        if !answer.is_null() {
            tenant.call("live", "POST", &format!("{path}/continue"), answer);
        }
        path
    };
    let read = |tenant: &Tenant, path: &str| tenant.call("live", "GET", path, &Value::Null).1;
    let [details, codes, processing, confirms] = &tenants[..] else { unreachable!() };
    let given = json!({"arrival_time": "19:30", "dietary_requirements": "none"});
    let failed = json!(["failed", "provider_error"]);
    let outcome = |booking: &Value| json!([booking["status"], booking["error_code"]]);
    let path = later(details, "ven_details_fails", &given);
    assert_eq!(outcome(&read(details, &path)), failed);
    let path = later(codes, "ven_otp_fails", &Value::Null);
    let code = codes.list("inbox", "messages")[0]["code"].clone();
    codes.call("live", "POST", &format!("{path}/continue"), &json!({"otp": code}));
    assert_eq!(outcome(&read(codes, &path)), failed);
    let path = later(processing, "ven_processing_fails", &Value::Null);
    assert_eq!(read(processing, &path)["status"], "processing");
    send(processing.base, "POST", "/sandbox/clock", &[], r#"{"advance": "5s"}"#);
    assert_eq!(outcome(&read(processing, &path)), failed);
    let path = later(confirms, "ven_confirms", &Value::Null);
    let home = server.home();
    let id = path.rsplit('/').next().unwrap();
    let set = ["sandbox", "set", id, "no_show", "--error-code", "late", "--json"];
    assert_eq!(outcome(&home.ok(set).json()), json!(["no_show", "late"]));
    let events = format!("/sandbox/bookings/{id}/events");
    let events = send(confirms.base, "GET", &events, &[], "").1;
    assert_eq!(events["events"].as_array().unwrap().last().unwrap()["type"], "booking.no_show");
    home.ok(["sandbox", "set", id, "confirmed"]);
    let (_, cancelled) = confirms.call("live", "POST", &format!("{path}/cancel"), &json!({}));
    assert_eq!(cancelled["status"], "cancelled");
}

/// "`after: true` with any kind (it commits first), `from: N`, `match`, `headers`" (sandbox tools,
/// The unit)
#[test]
fn a_fault_commits_first_from_the_nth_matching_request_on() {
    let server = Served::start();
    let tenant = Tenant::new(&server);
    let fault = json!({"on": "POST /v1/bookings", "kind": "status", "status": 503, "after": true,
        "from": 2, "match": {"customer.name": "Grace Hopper"}, "headers": {"retry-after": "7"}});
    let (status, _) = send(tenant.base, "POST", "/sandbox/faults", &[], &fault.to_string());
    assert_eq!(status, 201);
    let mut statuses = Vec::new();
    for (key, name) in
        ["Grace Hopper", "Ada Lovelace", "Grace Hopper", "Grace Hopper"].iter().enumerate()
    {
        let order = json!({"venue_id": "ven_confirms", "datetime": dinner(3), "party_size": 2,
            "customer": {"name": name}});
        let bearer = format!("Bearer {}", tenant.key("live"));
        let key = key.to_string();
        let headers = [("Authorization", bearer.as_str()), ("Idempotency-Key", &key)];
        statuses.push(send(tenant.base, "POST", "/v1/bookings", &headers, &order.to_string()).0);
    }
    assert_eq!(statuses, [201, 201, 503, 201]);
    assert_eq!(tenant.list("bookings", "bookings").len(), 4, "the 503 has booked");
    let failed = tenant.list("requests", "requests");
    let failed: Vec<_> = failed.iter().filter(|it| it["status"] == 503).collect();
    assert_eq!(failed[0]["response"]["headers"]["retry-after"], "7");
}
