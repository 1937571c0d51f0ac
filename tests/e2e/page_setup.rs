//! The page of a sandbox that speaks otherwise, that is set up by others meanwhile, or that is started again.

use std::time::Duration;

use serde_json::json;

use crate::harness::http::send;
use crate::harness::{Browser, HANG, Home, Served, text};
use crate::page::{Stream, book, control, opened};

/// Other processes are noticed within a second.
const SOON: Duration = Duration::from_secs(5);

/// A choice that a person makes.
fn choose(browser: &Browser, label: &str, value: &str) {
    let script = "const select = [...document.querySelectorAll('label')]
        .find((it) => it.firstChild.textContent === arguments[0]).querySelector('select');
        select.value = arguments[1]; select.dispatchEvent(new Event('change', {bubbles: true}));
        return select.value;";
    assert_eq!(browser.run(script, &[json!(label), json!(value)]), value);
}

#[test]
#[ignore = "needs a browser"]
fn in_a_browser_a_sandbox_that_speaks_otherwise_is_answered_in_the_contracts_names() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let home = Home::new();
    let served = Served::with(&home, &["--ephemeral", "--speak", "camel"]);
    let base = served.base_url();
    let order = json!({
        "venue_id": "ven_otp", "datetime": "2099-12-01T19:30:00Z", "party_size": 2,
        "customer": {"name": "Ada Lovelace", "phone": "+442079460000"},
    });
    let headers = [
        ("Authorization", "Bearer sk_live_sandbox"),
        ("Bookctl-Contract", "sandbox"),
    ];
    let (status, booking) = send(base, "POST", "/v1/bookings", &headers, &order.to_string());
    assert_eq!(
        (status, &booking["status"]),
        (201, &json!("requires_action")),
        "{booking}"
    );
    // Without the header it is not understood.
    let (status, refusal) = send(
        base,
        "POST",
        "/v1/bookings",
        &headers[..1],
        &order.to_string(),
    );
    assert_eq!(status, 401, "{refusal}");
    let requests = control(&served, "GET", "/sandbox/requests", &json!({}));
    let reason = text(&requests["requests"][0], "reason");
    let told = "No key: the word Token is missing: send Authorization: Token and the key (Authentication, 2).";
    assert_eq!(reason, told);

    browser.open(&format!(
        "{}#bookings/{}",
        text(served.ready(), "page"),
        text(&booking, "id")
    ));
    browser.shows("became requires action");
    browser.click("#use-code");
    browser.until(
        HANG,
        "document.querySelector('main b').textContent === 'confirmed'",
    );
    browser.shows("/continue answered 200");
}

#[test]
#[ignore = "needs a browser"]
fn in_a_browser_a_fault_is_put_on_webhooks_and_an_added_organization_has_keys_at_once() {
    let Some(browser) = Browser::start() else {
        return;
    };
    let served = Served::start();
    opened(&browser, &served, "#faults");
    browser.until(
        HANG,
        "document.querySelector('select').value === 'POST /v1/bookings'",
    );
    choose(&browser, "Request", "webhook");
    for kind in ["delay", "drop", "duplicate", "reorder"] {
        choose(&browser, "Fault", kind);
    }
    browser.press("Add");
    browser.shows("delivers after the next event of the booking");
    let faults = control(&served, "GET", "/sandbox/faults", &json!({}));
    assert_eq!(faults["faults"][0]["kind"], "reorder", "{faults}");
    assert_eq!(faults["faults"][0]["on"], "webhook", "{faults}");

    browser.press("flaky");
    browser.shows("rate 0.2, seed ");

    browser.click("nav a[href='#keys']");
    let added = control(
        &served,
        "POST",
        "/sandbox/organizations",
        &json!({"name": "test 17"}),
    );
    browser.shows(&text(&added["keys"], "live"));
}

/// "`Last-Event-ID` resumes": after a restart, with a `reset` event.
#[test]
#[ignore = "needs a browser"]
fn in_a_browser_the_page_goes_on_after_a_restart_and_shows_what_other_processes_write() {
    let home = Home::new();
    let mut served = Served::of(&home);
    let address = served.base_url().to_owned();
    let port = address.rsplit(':').next().unwrap().to_owned();
    let mut stream = Stream::open(&served, None);
    book(&served, "ven_confirms", "Ada Lovelace", &json!({}));
    let (last, _) = stream.event("booking");
    // A command on the same file is another process.
    home.booked("ven_confirms", &[], 0);
    stream.until("event: reset");

    let browser = Browser::start();
    if let Some(browser) = &browser {
        opened(browser, &served, "");
        browser.shows("2 of 2");
        home.booked("ven_confirms", &[], 0);
        browser.until(SOON, "document.querySelectorAll('main li').length === 3");
    }
    assert_eq!(served.terminate(), Some(0));
    if let Some(browser) = &browser {
        browser.shows("not connected");
    }
    home.booked("ven_confirms", &[], 0);
    let served = Served::at_port(&port, &home, &[]);
    let mut resumed = Stream::open(&served, Some(&last));
    resumed.until("event: reset");
    if let Some(browser) = &browser {
        browser.until(
            HANG,
            "document.getElementById('connection').textContent === 'live'",
        );
        browser.until(SOON, "document.querySelectorAll('main li').length === 4");
    }
}
