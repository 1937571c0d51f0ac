//! A booking's states, drawn; and what the page keeps while bookings come: the filter, the focus,
//! the header.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Browser, HANG, Served, text};
use crate::page::{book, control, opened};

/// Where the booking is.
fn wait_for_state(page: &Browser, state: &str) {
    let here = format!("document.querySelector('svg [data-state={state}][aria-current]')");
    page.until(HANG, &here);
}

fn read(page: &Browser, expression: &str) -> String {
    let value = page.run(&format!("return String({expression})"), &[]);
    value.as_str().unwrap_or_default().to_owned()
}

/// Opens a booking's page, and waits until its state is drawn.
fn open_booking(page: &Browser, served: &Served, booking: &Value, state: &str) {
    opened(page, served, &format!("#bookings/{}", text(booking, "id")));
    wait_for_state(page, state);
}

#[test]
#[ignore = "needs a browser"]
fn in_a_browser_the_diagram_takes_a_booking_through_its_states() {
    let Some(page) = Browser::start() else { return };
    let served = Served::start();
    let booking = book(&served, "ven_otp", "Ada Lovelace", &json!({}));
    open_booking(&page, &served, &booking, "requires_action");
    let states =
        "[...document.querySelectorAll('svg [data-state]')].map((it) => it.dataset.state).sort()";
    let all = "cancelled,confirmed,expired,failed,processing,requires_action";
    assert_eq!(read(&page, states), all);
    let choices = "[...document.querySelectorAll('.choices button')].map((it) => it.textContent.replace(/\\d+/, 'N')).sort()";
    assert_eq!(read(&page, choices), "Another code…,Expire,Fail…,Use code N");

    page.click("#use-code");
    wait_for_state(&page, "confirmed");
    assert_eq!(read(&page, choices), "Cancel,Fail…,Modify…");
    page.press("Modify…");
    page.run("document.querySelector('dialog input[type=number]').value = 5", &[]);
    page.press("Modify");
    page.shows("became modified");
    page.press("Cancel");
    wait_for_state(&page, "cancelled");
    assert_eq!(read(&page, choices), "");
    assert_eq!(served.bookings()[0]["party_size"], 5);
    let path = "[...document.querySelectorAll('svg .passed, svg .here')].map((it) => it.dataset.state).sort()";
    assert_eq!(read(&page, path), "cancelled,confirmed,requires_action");
    let heard = read(&page, "document.querySelector('ol[aria-label]').textContent");
    assert!(heard.contains("requires action at ") && heard.contains("Nothing follows"), "{heard}");

    let timeline = read(&page, "document.querySelector('.timeline').innerText");
    let mut rest = timeline.as_str();
    for step in [
        "POST /v1/bookings returned 201",
        "became requires action",
        "message to",
        "/continue returned 200",
        "became confirmed",
        "/modify returned 200",
        "became modified",
        "/cancel returned 200",
        "became cancelled",
    ] {
        let (_, after) = rest.split_once(step).unwrap_or_else(|| panic!("{step}: {timeline}"));
        rest = after;
    }
}

#[test]
#[ignore = "needs a browser"]
fn in_browser_booking_expires_fails_with_code_and_has_its_curl() {
    let Some(page) = Browser::start() else { return };
    let served = Served::start();
    let booking = book(&served, "ven_otp", "Ada Lovelace", &json!({}));
    open_booking(&page, &served, &booking, "requires_action");
    page.press("Expire");
    wait_for_state(&page, "expired");
    let booking = book(&served, "ven_processing", "Grace Hopper", &json!({}));
    open_booking(&page, &served, &booking, "processing");
    page.press("Fail…");
    page.run("document.querySelector('dialog input').value = 'kitchen_fire'", &[]);
    page.press("Fail");
    wait_for_state(&page, "failed");
    page.shows("kitchen_fire");
    let other = control(
        &served,
        "PUT",
        &format!("/sandbox/bookings/{}", text(&booking, "id")),
        &json!({"status": "no_show"}),
    );
    assert_eq!(other["status"], "no_show");
    wait_for_state(&page, "no_show");

    page.run("navigator.clipboard.writeText = async (it) => { window.copied = it }", &[]);
    page.click(".timeline a[href^='#requests/']");
    page.press("Copy as curl");
    page.until(HANG, "window.copied");
    let id = read(&page, "location.hash.split('/')[1]");
    let request = control(&served, "GET", &format!("/sandbox/requests/{id}"), &json!({}));
    assert_eq!(read(&page, "window.copied"), text(&request, "curl"));
}

#[test]
#[ignore = "needs a browser"]
fn in_a_browser_filters_stay_and_a_row_keeps_its_focus() {
    let Some(page) = Browser::start() else { return };
    let served = Served::unlimited();
    let added = control(&served, "POST", "/sandbox/organizations", &json!({"name": "suite 3"}));
    let organization = text(&added, "id");
    let bearer = format!("Bearer {}", text(&added["keys"], "live"));
    let ours = [("Authorization", bearer.as_str()), ("Idempotency-Key", "other")];
    let booking = book(&served, "ven_confirms", "Ada Lovelace", &json!({}));
    let mut theirs = json!({"venue_id": "ven_confirms", "provider": "provider_a", "party_size": 2});
    theirs["customer"] = json!({"name": "Grace Hopper"});
    theirs["datetime"] = booking["datetime"].clone();
    let (status, _) = served.send("POST", "/v1/bookings", &ours, &theirs.to_string());
    assert_eq!(status, 201);

    opened(&page, &served, "");
    page.shows("suite 3");
    let choose = "const select = document.getElementById('organization'); select.value = arguments[0]; \
                  select.dispatchEvent(new Event('change')); return select.options[0].textContent";
    let first = page.run(choose, &[json!(organization)]);
    assert_eq!(first, "All organizations");
    let rows = "[...document.querySelectorAll('main tbody tr:not([hidden]) a.open')].map((it) => it.textContent)";
    let only_theirs = format!("String({rows}) === 'Grace Hopper'");
    page.until(HANG, &only_theirs);
    page.click("main tbody a.open");
    wait_for_state(&page, "confirmed");
    page.run("history.back()", &[]);
    page.until(HANG, &only_theirs);
    page.run("location.reload()", &[]);
    page.until(HANG, &only_theirs);
    for tab in ["requests", "messages", "deliveries", "keys"] {
        page.click(&format!("nav a[href='#{tab}']"));
        page.until(HANG, "document.querySelector('main h2')");
        assert!(!page.text().contains("Ada Lovelace"), "{tab}");
        assert!(!page.text().contains("sk_live_sandbox"), "{tab}");
    }

    page.run(choose, &[json!("")]);
    page.click("nav a[href='#bookings']");
    page.until(HANG, &format!("{rows}.length === 2"));
    page.run("document.querySelector('main tbody a.open').focus()", &[]);
    let focused = "document.activeElement.getAttribute('href')";
    let before = read(&page, focused);
    for number in 0..200 {
        book(&served, "ven_confirms", &format!("Guest {number} Again"), &json!({}));
    }
    page.until(
        Duration::from_secs(5),
        "document.querySelector('.foot').textContent.includes('of 202')",
    );
    assert_eq!(read(&page, focused), before);
    page.run("const it = document.getElementById('search'); it.value = 'lovelace'; it.dispatchEvent(new Event('input'))", &[]);
    page.until(HANG, &format!("{rows}.join() === 'Ada Lovelace'"));
}

#[test]
#[ignore = "needs a browser"]
fn in_a_browser_empty_tabs_are_filled_and_the_header_warns() {
    let Some(page) = Browser::start() else { return };
    let served = Served::start();
    opened(&page, &served, "#messages");
    page.shows("No messages yet");
    assert_eq!(read(&page, "document.getElementById('unusual').textContent"), "");
    page.click("main .empty button.main");
    page.shows("is your code to book");
    page.click("nav a[href='#faults']");
    page.shows("No faults");
    page.click("main .empty:not([hidden]) .row button");
    page.shows("1 fault");
    control(&served, "DELETE", "/sandbox/faults", &json!({}));
    control(&served, "POST", "/sandbox/clock", &json!({"advance": "21m"}));
    control(&served, "POST", "/sandbox/clock", &json!({"freeze": true}));
    let unusual = "document.getElementById('unusual').innerText.trim() === 'Clock +21 min, frozen'";
    page.until(HANG, unusual);
    page.click("nav a[href='#report']");
    page.shows("situations met");
    assert!(
        read(&page, "document.querySelectorAll('main progress').length").parse::<u32>().unwrap()
            > 5
    );
}
