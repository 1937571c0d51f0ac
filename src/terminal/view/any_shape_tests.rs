//! Documents whose open points differ at random: the same objects and values are found.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{BookingView, TermsReader, slots_page, venues_page};
use crate::json::Document;
use crate::service::documents::booking::Status;
use crate::service::documents::certainty::Certainty;
use crate::service::mapping::{Dialect, Mapping, scalars};
use crate::service::time::document_time::{DocumentTime, time_text};
use crate::terminal::output::{ColorPrefs, Page, StreamStyle, View};

/// How the documents of one service differ.
#[derive(Clone, Debug)]
struct Manner {
    envelopes: Vec<String>,
    /// Another name for each open field, by its place in the alphabet of the contract's names.
    names: Vec<Option<String>>,
    ids_are_numbers: bool,
    epochs: bool,
    money_as_text: bool,
    upper_case: bool,
}

fn manner() -> impl Strategy<Value = Manner> {
    (
        prop::collection::vec("[a-m]{3,8}", 0..4),
        prop::collection::vec(prop::option::of("x_[a-z]{3,9}"), OPEN.split(' ').count()),
        any::<[bool; 4]>(),
    )
        .prop_map(|(envelopes, names, [ids, epochs, money, upper])| Manner {
            envelopes,
            names,
            ids_are_numbers: ids,
            epochs,
            money_as_text: money,
            upper_case: upper,
        })
}

/// The open names that another service may give other names to.
const OPEN: &str = "name address price_level tags party_size duration_minutes seating price card_terms cancellation_terms hold_amount currency \
    text venue_name customer email created_at message sent_to fields";

impl Manner {
    fn apply(&self, value: &Value) -> Value {
        match value {
            Value::Object(object) => {
                let mut changed = Map::new();
                for (key, value) in object {
                    let open = OPEN.split(' ').position(|open| open == key);
                    let name = open.and_then(|at| self.names[at].clone());
                    changed.insert(name.unwrap_or_else(|| key.clone()), self.member(key, value));
                }
                Value::Object(changed)
            }
            Value::Array(elements) => elements.iter().map(|it| self.apply(it)).collect(),
            scalar => scalar.clone(),
        }
    }

    fn member(&self, key: &str, value: &Value) -> Value {
        match (key, value) {
            ("id" | "venue_id" | "availability_id", Value::String(id)) if self.ids_are_numbers => {
                json!(id.bytes().fold(7_u64, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte)))
            }
            ("status", Value::String(word)) if self.upper_case => {
                json!(word.to_uppercase().replace('_', "-"))
            }
            ("amount" | "hold_amount" | "fee_amount", Value::Number(amount))
                if self.money_as_text =>
            {
                json!(format!("{}.5", amount))
            }
            (_, value) => match DocumentTime::read(value) {
                Some(time) if self.epochs && value.is_string() => {
                    json!(time.instant.unwrap().as_second())
                }
                _ => self.apply(value),
            },
        }
    }

    fn wrapped(&self, document: Value) -> Document {
        let mut document = document;
        for name in &self.envelopes {
            document = json!({ name: document });
        }
        document.into()
    }
}

fn venue() -> Value {
    json!({
        "venue_id": "ven_1", "name": "Harbour Table", "address": "1 Quay", "price_level": 3,
        "tags": ["fish", "view"], "provider": "provider_a",
    })
}

fn slot() -> Value {
    json!({
        "availability_id": "slot_1", "datetime": "2026-12-01T19:30:00Z", "party_size": 41, "duration_minutes": 95,
        "seating": "terrace", "price": {"amount": 4600, "currency": "GBP"},
        "card_terms": {"hold_amount": 2500, "currency": "GBP", "text": "A hold is made."},
        "cancellation_terms": {"fee_amount": 1700, "currency": "GBP"},
    })
}

fn booking() -> Value {
    json!({
        "id": "bk_1", "object": "booking", "status": "requires_action", "provider": "provider_b",
        "venue_id": "ven_1", "venue_name": "Harbour Table", "datetime": "2026-12-01T19:30:00Z", "party_size": 3,
        "customer": {"name": "Ada Stone", "email": "ada@stone.example"},
        "next_action": {"message": "Enter it", "sent_to": "+44 21", "fields": ["membership"]},
        "created_at": "2026-11-20T08:05:00Z",
    })
}

fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Fails where a value of the object is not on the page.
fn shows(page: &Page, object: &Value) -> Result<(), TestCaseError> {
    let page = page.render(&StreamStyle::decide(ColorPrefs::default(), false, 0));
    for (path, text) in scalars(object) {
        // The party that was asked for, the name of the type, and a price level as so many signs.
        if matches!(path.as_str(), "object" | "party_size" | "price_level") {
            continue;
        }
        let as_number: Value = text.parse::<i64>().map_or(json!(text), |it| json!(it));
        let clock = DocumentTime::read(&as_number).and_then(|time| time.instant);
        let clock = clock.map(|at| at.strftime("%H:%M").to_string());
        let is_shown = letters(&page).contains(&letters(&text))
            || clock.is_some_and(|clock| page.contains(&clock))
            || page.contains(&time_text(&as_number));
        prop_assert!(is_shown, "{path} = {text} in\n{page}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn venues_and_slots_in_any_shape_are_found_and_seen_in_whole(manner in manner()) {
        let mapping = Mapping::default();
        let venue = manner.apply(&venue());
        let document = manner.wrapped(json!({"found": [venue]}));
        let read = mapping.venues(&document).map_err(|it| TestCaseError::fail(it.message.clone()))?;
        let venues = read.item.items;
        prop_assert_eq!(venues.len(), 1);
        shows(&venues_page(&venues), &venue)?;

        let slot = manner.apply(&slot());
        let document = manner.wrapped(json!([slot]));
        let read = mapping.slots(&document).map_err(|it| TestCaseError::fail(it.message.clone()))?;
        let slots = read.item.items;
        prop_assert_eq!(slots.len(), 1);
        let (certainty, now) = (Certainty::Specification, jiff::Timestamp::UNIX_EPOCH);
        let reader = TermsReader { certainty, now, party: 2 };
        shows(&slots_page(&slots, reader), &slot)?;
    }

    #[test]
    fn a_booking_in_any_shape_is_found_and_seen_in_whole(manner in manner()) {
        let value = manner.apply(&booking());
        let document = manner.wrapped(value.clone());
        let read = Mapping::default().booking(document, false);
        let booking = read.map_err(|it| TestCaseError::fail(it.message.clone()))?.item;
        prop_assert_eq!(booking.status(), Status::RequiresAction);
        let view = BookingView {
            booking,
            dialect: Dialect::default(),
            now: "2026-12-01T10:00:00Z".parse().unwrap(),
            certainty: Certainty::Specification,
            terms: None,
            venue: None,
            made_by: None,
            map_it: String::new(),
            unshown: None,
            is_answered: false,
            is_on_screen: false,
        };
        shows(&view.page(), &value)?;
    }
}
