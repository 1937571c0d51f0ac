//! What the specification fixes of each kind of object, so that its shape identifies it.

use serde_json::{Map, Value};

use super::names::{is_one_of, key_of, member};
use crate::service::documents::id::is_id;
use crate::service::documents::text_fold::same_words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Venue,
    Slot,
    Booking,
    Session,
    Card,
}

/// Of each kind, in the enum's order: its noun, the fields without which an object is of no use,
/// those of which it has one wherever it stands, and those that are read in any style
/// (`partySize`).
type ShapeRow = ([&'static str; 2], &'static str, &'static str, &'static str);

const ROWS: [ShapeRow; 5] = [
    (
        ["venue", "venues"],
        "`venue_id`",
        "venue_id",
        "venue_id name vertical provider providers address city country latitude longitude timezone distance_km price_level \
         tags",
    ),
    (
        ["slot", "slots"],
        "`availability_id` and `datetime`",
        "availability_id",
        "availability_id datetime party_size duration_minutes seating price card_terms cancellation_terms provider amount \
         currency text required hold_amount free_until fee_amount",
    ),
    (
        ["booking", "bookings"],
        "`id` and `status`",
        "object provider",
        "id object status provider venue_id venue_name datetime party_size customer name email phone end_user \
         seating_preference payment_collection card_terms cancellation_terms error_code error_message next_action \
         last_modification expires_at created_at updated_at type message channel sent_to amount currency psp_request fields \
         at changes from to text required hold_amount free_until fee_amount",
    ),
    (
        ["session", "sessions"],
        "`id` and `state`",
        "end_user provider",
        "id object provider state end_user created_at",
    ),
    (["card response", "card responses"], "`has_card` as true or false", "has_card", "has_card"),
];

impl Shape {
    /// Whether an object is of this kind, wherever it stands, by fields of its own.
    pub(crate) fn fits(self, object: &Map<String, Value>) -> bool {
        let mut own = ROWS[self as usize].2.split(' ');
        self.is_usable(object) && own.any(|name| member(object, name).is_some())
    }

    /// Whether an object that stands where one of this kind is expected can be used as one.
    pub(crate) fn is_usable(self, object: &Map<String, Value>) -> bool {
        let is_text = |name| member(object, name).is_some_and(Value::is_string);
        match self {
            Shape::Venue => has_id(object, "venue_id") && !has_id(object, "availability_id"),
            Shape::Slot => {
                has_id(object, "availability_id") && member(object, "datetime").is_some()
            }
            Shape::Booking => {
                let kind = member(object, "object").and_then(Value::as_str);
                has_id(object, "id")
                    && is_text("status")
                    && kind.is_none_or(|kind| !is_one_of(OTHER_KINDS, kind))
            }
            Shape::Session => has_id(object, "id") && is_text("state"),
            Shape::Card => member(object, "has_card").is_some_and(Value::is_boolean),
        }
    }

    /// One, and several.
    pub(crate) fn nouns(self) -> [&'static str; 2] {
        ROWS[self as usize].0
    }

    pub(crate) fn mark(self) -> &'static str {
        ROWS[self as usize].1
    }

    fn fields(self) -> impl Iterator<Item = &'static str> {
        ROWS[self as usize].3.split(' ')
    }
}

fn has_id(object: &Map<String, Value>, name: &str) -> bool {
    member(object, name).is_some_and(is_id)
}

/// What else has an id and a status, and says by its `object` that it is no booking.
const OTHER_KINDS: &str = "account alternative api authorization card charge customer error event guest invoice job list \
    member message offer organization partner payment payment_intent payment_method person price provider refund \
    request response restaurant result session slot table task transaction user vendor venue webhook";

/// Objects whose keys are chosen by others, and are kept as they are.
const FREE_FORM: &[&str] = &["psp_request", "fields"];

/// An object with the contract's names where it has them in another style.
pub(crate) fn with_contract_names(object: &Map<String, Value>, shape: Shape) -> Value {
    let renamed = object.iter().map(|(key, value)| {
        let key = contract_name(object, key, shape).unwrap_or(key);
        let value = match value {
            Value::Object(inner) if !FREE_FORM.contains(&key) => with_contract_names(inner, shape),
            other => other.clone(),
        };
        (key.to_owned(), value)
    });
    Value::Object(renamed.collect())
}

/// The contract's name for a key that has the same words in another style, and no rival beside it.
fn contract_name(object: &Map<String, Value>, key: &str, shape: Shape) -> Option<&'static str> {
    if shape.fields().any(|name| name == key) {
        return None;
    }
    let name = shape.fields().find(|name| same_words(name, key))?;
    (key_of(object, name) == Some(key)).then_some(name)
}
