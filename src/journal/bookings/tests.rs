use super::*;
use crate::journal::tests::fresh;
use crate::service::documents::booking::Status;
use jiff::SignedDuration;

fn with_party(status: &str, party_size: u32) -> Booking {
    let customer = json!({"name": "Canary"});
    let value =
        json!({"id": "bk_1", "status": status, "party_size": party_size, "customer": customer});
    Booking::from_document(value.into()).unwrap()
}

fn booking(id: &str, status: &str) -> Booking {
    let text = format!(r#"{{"id":"{id}", "status":"{status}", "price":1.50}}"#);
    Booking::from_document(Document::parse(text).unwrap()).unwrap()
}

fn made(journal: &Journal, key: &str, booking: &Booking) {
    let run = journal.run(key, &json!({}));
    journal.end_booked(&run, booking, 201).unwrap();
}

#[test]
fn resolved_create_is_listed_as_service_sent_it() {
    let (_folder, journal) = fresh("https://a.example");
    made(&journal, "a", &booking("bk_1", "processing"));
    made(&journal, "b", &booking("bk_2", "confirmed"));
    let later = booking("bk_1", "confirmed");
    journal.update(&later).unwrap();
    let mut older = booking("bk_1", "processing");
    older.left_at = Timestamp::now().checked_sub(SignedDuration::from_secs(60)).ok();
    journal.update(&older).unwrap();
    let stored = || journal.load_booking("bk_1").unwrap().unwrap();
    assert_eq!(stored().booking.status(), Status::Confirmed);
    let seen_at = stored().booking.left_at;
    journal.update(&stored().booking).unwrap();
    assert_eq!(stored().booking.left_at, seen_at, "it was not read again");
    let stored = journal.bookings(Some("confirmed"), None).unwrap();
    let texts: Vec<&str> = stored.iter().map(|it| it.booking.document.text()).collect();
    let sent = |id| format!(r#"{{"id":"{id}", "status":"confirmed", "price":1.50}}"#);
    assert_eq!(texts, [sent("bk_2"), sent("bk_1")]);
    assert_eq!(journal.bookings(None, Some(1)).unwrap().len(), 1);
    assert_eq!(journal.booking_ids(1).unwrap(), ["bk_2"]);
}

#[test]
fn a_booking_that_others_made_is_kept_when_it_is_read() {
    let (_folder, journal) = fresh("https://a.example");
    made(&journal, "a", &booking("bk_1", "confirmed"));
    let theirs = booking("bk_9", "confirmed");
    journal.update(&theirs).unwrap();
    assert_eq!(journal.bookings(None, None).unwrap().len(), 2);
    journal.scope.retention.set(crate::service::time::retention::Retention::parse("0").unwrap());
    journal.update(&booking("bk_8", "confirmed")).unwrap();
    assert!(journal.load_booking("bk_8").unwrap().is_none(), "nothing is to be kept");
}

#[test]
fn each_state_is_kept_once_without_guest() {
    let (_folder, journal) = fresh("a");
    let run = journal.run("k", &json!({}));
    journal.end_booked(&run, &with_party("processing", 2), 201).unwrap();
    for (status, party_size) in [("confirmed", 2), ("confirmed", 2), ("confirmed", 3)] {
        journal.update(&with_party(status, party_size)).unwrap();
    }
    let seen = journal.sightings("bk_1").unwrap();
    let states = seen.iter().map(|it| (it.status(), it.head_count()));
    let states: Vec<_> = states.collect();
    let (processing, confirmed) = (Status::Processing, Status::Confirmed);
    assert_eq!(states, [(processing, 2), (confirmed.clone(), 2), (confirmed, 3)]);
    assert!(seen.iter().all(|it| !it.document.text().contains("Canary")));
    journal.forget_booking("bk_1").unwrap();
    assert!(journal.sightings("bk_1").unwrap().is_empty());
}

/// "the journal fills in what a sparse booking does not show (venue, time, guest), marked as such"
#[test]
fn booking_shows_what_was_asked() {
    let (_folder, journal) = fresh("https://a.example");
    let requested =
        json!({"venue_id": "v", "datetime": "soon", "party_size": 2, "customer": {"name": "Ada"}});
    let run = journal.run("k", &requested);
    let sparse = booking("bk_1", "confirmed");
    journal.end_booked(&run, &sparse, 201).unwrap();
    let stored = journal.load_booking("bk_1").unwrap().unwrap();
    assert!(stored.booking.left_at.unwrap() <= Timestamp::now());
    let filled = |displayed: Json| {
        let filled = stored.fill_in(&Booking::from_document(displayed.into()).unwrap());
        (filled.from_request.to_vec(), filled.value().clone())
    };
    let (from_request, value) = filled(sparse.value().clone());
    let fields = ["venue_id", "datetime", "party_size", "customer"];
    assert_eq!(from_request, fields);
    assert!(fields.iter().all(|field| value[field] == requested[field]));
    let mut named = json!({"id": "bk_1", "status": "confirmed", "venue_name": "V"});
    assert_eq!(filled(named.clone()).0, fields[1..]);
    let displayed =
        json!({"venue_id": "w", "datetime": "late", "party_size": 3, "customer": {"name": "Eve"}});
    for field in fields {
        named[field] = displayed[field].clone();
    }
    assert_eq!(filled(named.clone()), (vec![], named));
}

/// What an event shows is less than what a booking that was read or made has.
#[test]
fn event_replaces_nothing_but_what_earlier_event_has_shown() {
    let (_folder, journal) = fresh("https://a.example");
    made(&journal, "a", &booking("bk_made", "confirmed"));
    let time = json!({"id": "bk_read", "status": "confirmed", "datetime": "2037-12-01T19:30:00Z"});
    let read = Booking::from_document(time.into()).unwrap();
    journal.update(&read).unwrap();
    for status in ["processing", "failed"] {
        let ids = ["bk_made", "bk_read", "bk_told"];
        let reported = ids.map(|id| booking(id, status));
        journal.take_in(&reported).unwrap();
    }
    let status = |id| journal.load_booking(id).unwrap().unwrap().booking.status().to_string();
    let found = ["bk_made", "bk_read", "bk_told"].map(status);
    assert_eq!(found, ["confirmed", "confirmed", "failed"]);
}

#[test]
fn accepted_change_replaces_the_recorded_request() {
    let (_folder, journal) = fresh("https://a.example");
    let run = journal.run("k", &json!({"party_size": 2, "customer": {"name": "Ada"}}));
    let sparse = booking("bk_1", "confirmed");
    journal.end_booked(&run, &sparse, 201).unwrap();
    for change in [json!({"party_size": 3}), json!({})] {
        journal.change(&sparse, change.as_object().unwrap(), None).unwrap();
        let filled = journal.load_booking("bk_1").unwrap().unwrap().fill_in(&sparse);
        assert_eq!(filled.value()["party_size"], 3);
        assert_eq!(filled.value()["customer"]["name"], "Ada");
    }
}
