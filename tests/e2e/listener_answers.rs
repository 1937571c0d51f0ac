//! Deliveries of the sandbox that `webhook listen` takes: the sandbox knows the listener's answer, and bookctl the app's.

use crate::harness::listening::{App, Listening, until};
use crate::harness::{Served, text};

#[test]
fn a_delivery_that_a_listener_took_shows_what_the_app_answered() {
    let served = Served::start();
    let home = served
        .home()
        .with("BOOKCTL_WEBHOOK_SECRET", "whsec_sandbox");
    let app = App::start(|_| 500);
    let listening = Listening::start(&home, &["--forward-to", &app.url]);
    home.booked("ven_confirms", &[], 0);
    until("the app has got the first event", || app.count() >= 1);
    let deliveries = || home.run(["sandbox", "deliveries"]).exits(0).stdout;
    // The next event of the booking waits for the first.
    until("what the app did is shown", || {
        let shown = deliveries();
        shown.contains("app: 500") && shown.contains("app: not sent yet")
    });
    let shown = home
        .run(["sandbox", "deliveries", "show", "@2"])
        .exits(0)
        .stdout;
    assert!(
        shown.contains("your app\t500 (through the listener)"),
        "{shown}"
    );
    assert!(
        shown.contains("listener\tanswered by `bookctl webhook listen`"),
        "{shown}"
    );
    // The document is the sandbox's own.
    let document = home
        .run(["sandbox", "deliveries", "--json"])
        .exits(0)
        .json();
    for delivery in document["deliveries"].as_array().unwrap() {
        assert_eq!(text(delivery, "state"), "delivered");
        assert_eq!(delivery["attempts"][0]["status"], 200);
    }
    listening.end();
}
