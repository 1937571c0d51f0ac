//! What a search finds of bookings, whatever happened to them before.

use serde_json::json;

use super::*;
use crate::journal::tests::{fresh, plan};
use crate::service::documents::booking::Booking;

fn booking(id: &str, status: &str, guest: &str, day: u8, venue: &str) -> Booking {
    let document = json!({
        "id": id, "status": status, "venue_id": venue, "datetime": format!("2026-11-{day:02}T19:30:00+01:00"),
        "customer": {"name": guest, "email": format!("{id}@b.example"), "phone": format!("+44 20 79{day:02}")},
    });
    Booking::from_document(document.into()).unwrap()
}

fn sought(text: &str, guest: &str, status: &str) -> SearchCriteria {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    SearchCriteria {
        text: given(text),
        guest: given(guest),
        status: given(status),
        ..SearchCriteria::default()
    }
}

fn ids(journal: &Journal, sought: &SearchCriteria, limit: Option<u32>) -> String {
    let found = journal.find(sought, limit).unwrap().stored.into_iter();
    let ids: Vec<String> = found.map(|it| it.booking.id().to_owned()).collect();
    ids.join(" ")
}

#[test]
fn a_search_finds_what_the_bookings_say_now_newest_first() {
    let (_folder, journal) = fresh("o");
    for (id, status, guest, day, venue) in [
        ("Bk_1", "confirmed", "Ada Lovelace", 1, "ven_1"),
        ("Bk_2", "failed", "Jürgen Müller", 5, "ven_2"),
        ("Bk_3", "confirmed", "李 小龙", 8, "ven_1"),
        ("Bk_4", "confirmed", "Ada\nMüller", 12, "ven_2"),
        ("Bk_5", "confirmed", "Forgotten Muller", 12, "ven_2"),
        ("Bk_6", "confirmed", "Lost Muller", 12, "ven_2"),
        ("Bk_7", "processing", "Was Muller", 13, "ven_2"),
    ] {
        let run = journal.run(id, &json!({}));
        let made = booking(id, status, guest, day, venue);
        journal.end_booked(&run, &made, 201).unwrap();
    }
    journal.forget_booking("Bk_5").unwrap();
    journal.execute("DELETE FROM bookings WHERE id = 'Bk_6'");
    let renamed = booking("Bk_7", "confirmed", "Grace Hopper", 13, "ven_2");
    journal.update(&renamed).unwrap();
    let mut received = booking("Bk_8", "confirmed", "Ada Received", 20, "ven_3");
    received.left_at = Some(jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1));
    journal.take_in(&[received]).unwrap();
    for (text, guest, status, found) in [
        ("muller", "", "", "Bk_4 Bk_2"),
        ("ADA example", "", "", "Bk_4 Bk_1 Bk_8"),
        ("bk_1", "ada", "", "Bk_1"),
        ("", "小龙", "confirmed", "Bk_3"),
        ("ven_2", "", "failed", "Bk_2"),
        ("20 79 13", "", "", "Bk_7"),
        ("% _", "", "", ""),
        ("nobody", "", "", ""),
    ] {
        let sought = sought(text, guest, status);
        assert_eq!(ids(&journal, &sought, None), found, "{sought:?}");
    }
    let days = Some(("2026-11-05".parse().unwrap(), "2026-11-12".parse().unwrap()));
    let within = SearchCriteria { days, ..sought("", "", "") };
    assert_eq!(ids(&journal, &within, None), "Bk_4 Bk_3 Bk_2");
    assert_eq!(ids(&journal, &within, Some(2)), "Bk_4 Bk_3");
    assert!(journal.find(&within, Some(2)).unwrap().more);
    // The next visit first, by its time.
    let early = json!({"id": "Bk_9", "status": "confirmed", "datetime": "2026-11-13T08:15:00+01:00", "customer": {"name": "Early"}});
    journal.update(&Booking::from_document(early.into()).unwrap()).unwrap();
    let coming =
        SearchCriteria { coming: Some("2026-11-12".parse().unwrap()), ..sought("", "", "") };
    assert_eq!(ids(&journal, &coming, Some(4)), "Bk_4 Bk_9 Bk_7 Bk_8");
}

#[test]
fn search_reads_no_documents_of_what_it_does_not_find() {
    let (_folder, journal) = fresh("o");
    for (sought, index) in [
        (sought("", "ada", ""), "COVERING INDEX bookings_search (origin=?)"),
        (sought("", "", "confirmed"), "bookings_of_status (origin=? AND status=?)"),
    ] {
        let query = Query::from_criteria(&sought, "o").text(100);
        let plan = plan(&journal, &query);
        assert!(plan.contains(index), "{query}: {plan}");
        let found = plan.find("SCAN first");
        let looked_up = plan.find("SEARCH bookings USING PRIMARY KEY (origin=? AND id=?)");
        assert!(found.is_some() && found < looked_up, "{query}: {plan}");
    }
}
