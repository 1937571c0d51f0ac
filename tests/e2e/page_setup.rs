//! The page of a sandbox that is set up by others meanwhile, or that is started again.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Browser, HANG, Home, Served, holds, text};
use crate::page::{book, control, opened};
use crate::page_stream::Stream;

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
fn in_browser_fault_is_put_on_webhooks() {
    let Some(page) = Browser::start() else { return };
    let served = Served::start();
    opened(&page, &served, "#faults");
    page.until(HANG, "document.querySelector('main select').value === 'POST /v1/bookings'");
    choose(&page, "Request", "webhook");
    for kind in ["delay", "drop", "duplicate", "reorder"] {
        choose(&page, "Fault", kind);
    }
    page.press("Add");
    page.shows("delivers after the next event of the booking");
    let faults = control(&served, "GET", "/sandbox/faults", &json!({}));
    holds!(faults["faults"][0], {"kind": "reorder", "on": "webhook"});

    page.press("flaky");
    page.shows("rate 0.2, seed ");

    page.click("nav a[href='#keys']");
    let added = control(&served, "POST", "/sandbox/organizations", &json!({"name": "test 17"}));
    page.shows(&text(&added["keys"], "live"));
}

/// "`Last-Event-ID` resumes": after a restart, with a `reset` event.
#[test]
#[ignore = "needs a browser"]
fn in_browser_page_goes_on_after_restart() {
    let home = Home::new();
    let mut served = Served::from_home(&home);
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
        browser.until(SOON, "document.querySelectorAll('main tbody tr').length === 3");
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
        browser.until(HANG, "document.getElementById('connection').textContent === 'live'");
        browser.until(SOON, "document.querySelectorAll('main tbody tr').length === 4");
    }
}
