//! What a search finds is compared with what stands in the bookings, whatever happened to them before.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::journal::tests::{open, plan};
use crate::model::booking::Booking;
use crate::model::text_fold::fold;

const NAMES: [&str; 5] = [
    "Jürgen Müller",
    "Ada Lovelace",
    "李 小龙",
    "Ada\nMüller",
    "",
];
const STATUSES: [&str; 3] = ["confirmed", "failed", "processing"];

fn journal(folder: &tempfile::TempDir) -> Journal {
    let path = folder.path().join("journal.db");
    let journal = open(&path, "https://a.example");
    // No test here cuts the power.
    journal.execute("PRAGMA synchronous = OFF");
    journal
}

fn booking(number: usize, guest: usize, status: usize) -> Booking {
    let document = json!({
        "id": format!("Bk_{number}"), "status": STATUSES[status], "venue_id": format!("ven_{}", number % 3),
        "datetime": format!("2026-11-{:02}T19:30:00+01:00", 1 + number % 28),
        "customer": {"name": NAMES[guest], "email": format!("g{number}@b.example"), "phone": format!("+44 20 {number:04}")},
    });
    Booking::from_document(document.into()).unwrap()
}

fn made(journal: &Journal, number: usize, guest: usize, status: usize) {
    let run = journal.run(&format!("key {number}"), &json!({}));
    journal
        .end_booked(&run, &booking(number, guest, status), 201)
        .unwrap();
}

fn ids(journal: &Journal, sought: &Sought, limit: Option<u32>) -> Vec<String> {
    let found = journal.find(sought, limit).unwrap();
    let ids = found.kept.iter().map(|kept| kept.booking.id().to_owned());
    ids.collect()
}

fn sought(text: Option<&str>, guest: Option<&str>, status: Option<&str>) -> Sought {
    Sought {
        text: text.map(str::to_owned),
        guest: guest.map(str::to_owned),
        status: status.map(str::to_owned),
        ..Sought::default()
    }
}

#[derive(Clone, Debug)]
enum Event {
    Made {
        guest: usize,
        status: usize,
    },
    Seen {
        booking: usize,
        guest: usize,
        status: usize,
    },
    /// Received at a time before that of others.
    TakenIn {
        booking: usize,
        minute: usize,
    },
    AllLost,
    Forgotten(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let booking = 0..60_usize;
    prop_oneof![
        8 => (0..NAMES.len(), 0..3_usize).prop_map(|(guest, status)| Event::Made { guest, status }),
        2 => (booking.clone(), 0..NAMES.len(), 0..3_usize)
            .prop_map(|(booking, guest, status)| Event::Seen { booking, guest, status }),
        1 => (100..140_usize, 0..60_usize).prop_map(|(booking, minute)| Event::TakenIn { booking, minute }),
        1 => Just(Event::AllLost),
        1 => booking.prop_map(Event::Forgotten),
    ]
}

fn happen(journal: &Journal, event: &Event, made_before: &mut usize) {
    match *event {
        Event::Made { guest, status } => {
            made(journal, *made_before, guest, status);
            *made_before += 1;
        }
        Event::Seen {
            booking: number,
            guest,
            status,
        } => {
            journal.update(&booking(number, guest, status)).unwrap();
        }
        Event::TakenIn {
            booking: number,
            minute,
        } => {
            let at = format!("2026-01-01T00:{minute:02}:00Z").parse().unwrap();
            journal.take_in(&[(at, booking(number, 1, 0))]).unwrap();
        }
        Event::AllLost => journal.lose_all().unwrap(),
        Event::Forgotten(number) => {
            journal.forget_booking(&format!("Bk_{number}")).unwrap();
        }
    }
}

fn matches(kept: &KeptBooking, sought: &Sought) -> bool {
    let Some(time) = kept.booking.str("datetime") else {
        return false; // Its retention is over.
    };
    let customer = &kept.booking.value()["customer"];
    let text = |field: &str| fold(customer[field].as_str().unwrap_or_default()).replace('\n', " ");
    let (name, email) = (text("name"), text("email"));
    let venue = kept.booking.venue_id().unwrap_or_default();
    let id = fold(kept.booking.id());
    let phone = text("phone").replace([' ', '+'], "");
    let has =
        |word: &str, fields: &[&String]| fields.iter().any(|field| field.contains(&fold(word)));
    let words = |text: &Option<String>, fields: &[&String]| {
        let text = text.as_deref().unwrap_or_default();
        text.split_whitespace().all(|word| has(word, fields))
    };
    words(&sought.text, &[&name, &email, &venue, &id, &phone])
        && words(&sought.guest, &[&name])
        && sought
            .status
            .as_ref()
            .is_none_or(|it| kept.booking.status().as_str() == it)
        && sought.days.is_none_or(|(first, last)| {
            let day: Date = time[..10].parse().unwrap();
            (first..=last).contains(&day)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_search_finds_what_the_bookings_say_whatever_happened_to_them(
        events in proptest::collection::vec(event(), 1..80),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(&folder);
        let mut made_before = 0;
        for event in &events {
            happen(&journal, event, &mut made_before);
        }
        let days = Some(("2026-11-05".parse().unwrap(), "2026-11-12".parse().unwrap()));
        for wanted in [
            sought(Some("muller"), None, None),
            sought(Some("ADA example"), None, None),
            sought(Some("bk_1"), Some("ada"), None),
            sought(None, Some("小龙"), Some("confirmed")),
            sought(Some("ven_2"), None, Some("failed")),
            Sought { days, ..sought(None, None, None) },
            Sought { days, ..sought(Some("ven_1"), None, Some("confirmed")) },
            sought(Some("nobody"), None, None),
        ] {
            let all = journal.bookings(None, None).unwrap();
            let expected = all.iter().filter(|it| matches(it, &wanted));
            let expected: Vec<String> = expected.map(|it| it.booking.id().to_owned()).collect();
            prop_assert_eq!(&ids(&journal, &wanted, None), &expected, "{:?}", wanted);
            let newest: Vec<String> = expected.into_iter().take(3).collect();
            prop_assert_eq!(ids(&journal, &wanted, Some(3)), newest);
        }
    }
}

#[test]
fn a_search_reads_no_documents_of_what_it_does_not_find() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(&folder);
    for (sought, index) in [
        (
            sought(None, Some("ada"), None),
            "COVERING INDEX bookings_search (origin=?)",
        ),
        (
            sought(None, None, Some("confirmed")),
            "bookings_of_status (origin=? AND status=?)",
        ),
    ] {
        let query = Query::of(&sought, "o").text(100);
        let plan = plan(&journal, &query);
        assert!(plan.contains(index), "{query}: {plan}");
    }
}
