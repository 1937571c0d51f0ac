//! What a request asks for, and the one comparison of a booking with it.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::booking::Booking;
pub(crate) use super::field_value::Agreement;
use super::field_value::{FieldValue, count};
use super::guest::{MASKS, email_agreement, guest_mark, name_agreement, phone_agreement};
use super::id::same_id;
use super::text_fold::fold;
use crate::json::plain;
use crate::service::time::document_time::{DocumentTime, is_same_time, time_text};

/// The seconds of a quarter of an hour: zones' offsets are multiples, up to 14 hours.
const QUARTER: i64 = 15 * 60;
const LARGEST_OFFSET: i64 = 14 * 3600;

/// 2^53: up to here each whole number is one of its own as `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What a request asks for, read once from its body in the contract's shape: each scalar with its
/// path, such as `customer.name`.
///
/// Beside it stand `BookingRequest`, which is what is sent, and the journal's `RecordedRequest`, by
/// which a key is never used for anything else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish(Vec<(String, Value)>);

/// What a field that differs means for a booking, by the table of `booking/verdict.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Its venue or its guest: the booking is another one.
    Identity,
    /// On whose account it is: its provider, its end user, its payment.
    Account,
    /// Its time or its party.
    Terms,
    /// Its seating, and whatever else was asked for.
    Choice,
}

/// How a booking compares with one field of a wish.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub(crate) field: String,
    pub(crate) wanted: String,
    pub(crate) weight: Weight,
    pub(crate) agreement: Agreement,
    /// Whether the booking's `last_modification` says that it was as the wish asks before.
    pub(crate) was_same: bool,
    /// Whether the venue's zone was known where the booking's time was read without it.
    pub(crate) has_zone: bool,
}

impl Wish {
    /// What a new booking is to have: nothing empty, and no list.
    pub(crate) fn from_request(requested: &Value) -> Self {
        let mut wish = requested.as_object().map(Wish::from_changes).unwrap_or_default();
        wish.0.retain(|(_, value)| !value.is_array() && !is_blank(value));
        wish
    }

    /// What a booking is to have after a change, a field that is to be empty too.
    pub(crate) fn from_changes(requested: &Map<String, Value>) -> Self {
        let mut wish = Wish::default();
        wish.collect("", requested);
        wish
    }

    fn collect(&mut self, place: &str, object: &Map<String, Value>) {
        for (name, value) in object {
            match value {
                Value::Object(inner) => self.collect(&format!("{place}{name}."), inner),
                value => self.0.push((format!("{place}{name}"), value.clone())),
            }
        }
    }

    /// Takes from a newer one what is new in it, and the objects with `changes`.
    pub(crate) fn update(&mut self, newer: Wish, changes: &Map<String, Value>) {
        let root = |field: &str| field.split('.').next().map(str::to_owned);
        // What was a text may be an object by now.
        self.0.retain(|(name, _)| !changes.contains_key(name));
        for (field, value) in newer.0 {
            let is_changed = changes.keys().any(|it| root(it) == root(&field));
            if is_changed || self.get(&field).is_none() {
                self.0.retain(|(name, _)| *name != field);
                self.0.push((field, value));
            }
        }
    }

    pub(crate) fn get(&self, field: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }

    pub(crate) fn text(&self, field: &str) -> Option<String> {
        self.get(field).map(plain)
    }

    pub(crate) fn venue(&self) -> String {
        self.text("venue_id").unwrap_or_default()
    }

    /// The party size; 1 if it asks for none.
    pub(crate) fn party(&self) -> u32 {
        self.get("party_size").and_then(count).unwrap_or(1)
    }

    pub(crate) fn guest(&self) -> Option<String> {
        self.text("customer.name")
    }

    pub(crate) fn time(&self) -> Option<DocumentTime> {
        DocumentTime::read(self.get("datetime")?)
    }

    pub(crate) fn time_text(&self) -> Option<String> {
        self.get("datetime").map(time_text)
    }

    /// What identifies the guest by this field of the customer.
    pub(crate) fn guest_mark(&self, field: &str) -> Option<String> {
        let mark = guest_mark(field, &self.text(&format!("customer.{field}"))?);
        Some(mark).filter(|mark| !mark.is_empty())
    }

    pub(crate) fn guest_marks(&self) -> Vec<String> {
        ["name", "phone", "email"].into_iter().filter_map(|field| self.guest_mark(field)).collect()
    }

    pub(crate) fn is_for_guest_of(&self, other: &Self) -> bool {
        let own = self.guest_marks();
        other.guest_marks().iter().any(|mark| own.contains(mark))
    }

    pub(crate) fn is_same_booking(&self, other: &Self) -> bool {
        let is_same = |field: &&str| self.text(field) == other.text(field);
        is_same_time(self.time(), other.time())
            && ["venue_id", "party_size"].iter().all(is_same)
            && self.guest_mark("name") == other.guest_mark("name")
    }
}

/// The clock of a booking's time without an offset.
pub(crate) struct VenueClock {
    pub(crate) zone: Option<TimeZone>,
    /// Whether the profile says that such a time is the venue's own (`local_times`).
    pub(crate) is_certain: bool,
}

/// Compares a booking with what was asked for, field by field. On a first answer another name is
/// another guest; later it may have been corrected, if the email address or the phone number is the
/// same.
pub(crate) fn compare(
    wish: &Wish,
    booking: &Booking,
    clock: &VenueClock,
    is_first: bool,
) -> Vec<Compared> {
    let mut found = Vec::new();
    // What chooses the time, and what no booking repeats.
    let is_compared = |field: &str| !matches!(field, "availability_id" | "webhook_url");
    for (field, value) in wish.0.iter().filter(|(field, _)| is_compared(field)) {
        let agreement = agreement(field, value, booking, clock);
        let change = booking.last_changes().and_then(|changes| changes.get(field));
        let from = change.and_then(|it| it.get("from")).filter(|it| !it.is_null());
        let was_same = |from: &Value| match field.as_str() {
            "datetime" => {
                let time = FieldValue::from_value(Some(from), DocumentTime::read);
                time_agreement(value, &time, from, clock) == Agreement::Same
            }
            _ => text_agreement(value, &plain(from)) == Agreement::Same,
        };
        found.push(Compared {
            field: field.clone(),
            wanted: if is_blank(value) { "empty".to_owned() } else { plain(value) },
            weight: match field.as_str() {
                "venue_id" | "customer.name" | "customer.email" | "customer.phone" => {
                    Weight::Identity
                }
                "provider" | "end_user" | "payment_collection" => Weight::Account,
                "datetime" | "party_size" => Weight::Terms,
                _ => Weight::Choice,
            },
            was_same: from.is_some_and(was_same),
            has_zone: clock.zone.is_some(),
            agreement,
        });
    }
    weigh_guest(&mut found, is_first);
    found
}

/// The name decides who the guest is. Where none can be compared, the email address or the phone
/// number does.
fn weigh_guest(found: &mut [Compared], is_first: bool) {
    let of = |field: &str| found.iter().find(|it| it.field == field).map(|it| &it.agreement);
    let name = of("customer.name");
    let contacts = [of("customer.email"), of("customer.phone")];
    let has_same_contact = contacts.contains(&Some(&Agreement::Same));
    let is_name_decisive = match name {
        Some(Agreement::Same | Agreement::NotUnderstood(_)) => true,
        Some(Agreement::Differs(_)) => is_first || !has_same_contact,
        _ => false,
    };
    let is_contact_decisive = !matches!(name, Some(Agreement::Same | Agreement::Differs(_)));
    for it in found {
        let decides = match it.field.as_str() {
            "customer.name" => is_name_decisive,
            "customer.email" | "customer.phone" => is_contact_decisive && !has_same_contact,
            _ => continue,
        };
        if !decides {
            it.weight = Weight::Choice;
        }
    }
}

fn is_blank(value: &Value) -> bool {
    plain(value).trim().is_empty()
}

fn agreement(field: &str, wanted: &Value, booking: &Booking, clock: &VenueClock) -> Agreement {
    let own = || booking.value().pointer(&format!("/{}", field.replace('.', "/")));
    if wanted.is_array() || is_blank(wanted) {
        return match own().filter(|it| !is_blank(it)) {
            Some(value) if value == wanted => Agreement::Same,
            Some(value) => Agreement::Differs(plain(value)),
            None if wanted.is_array() => Agreement::NotShown,
            None => Agreement::Same,
        };
    }
    let shown = match field {
        "datetime" => {
            let text = booking.value().get("datetime").unwrap_or(&Value::Null);
            return time_agreement(wanted, &booking.time, text, clock);
        }
        "party_size" => {
            return match (&booking.party, count(wanted)) {
                (FieldValue::Absent, _) => Agreement::NotShown,
                (FieldValue::Read(party), Some(wanted)) if *party == wanted => Agreement::Same,
                (FieldValue::Read(party), _) => Agreement::Differs(party.to_string()),
                (FieldValue::NotUnderstood(text), _) => unread(wanted, text),
            };
        }
        "venue_id" => booking.venue(),
        _ => booking.field(field),
    };
    let text = match shown {
        FieldValue::Absent => return Agreement::NotShown,
        FieldValue::NotUnderstood(text) => return unread(wanted, &text),
        FieldValue::Read(text) => text,
    };
    let sent = plain(wanted);
    match field {
        "venue_id" if same_id(&sent, &text) => Agreement::Same,
        "venue_id" => Agreement::Differs(text),
        "customer.name" => name_agreement(&sent, &text),
        "customer.phone" => phone_agreement(&sent, &text),
        "customer.email" => email_agreement(&sent, &text),
        _ => text_agreement(wanted, &text),
    }
}

/// A form that is not understood is the same only as the text that was sent.
fn unread(wanted: &Value, text: &str) -> Agreement {
    match plain(wanted) == text {
        true => Agreement::Same,
        false => Agreement::NotUnderstood(text.to_owned()),
    }
}

/// Compares times. Without an offset, a time is the venue's where its zone is known, else what the
/// clock of the text that was sent shows. Where it differs by what may be an offset, it is not
/// certain whose clock it is, unless the profile says so.
fn time_agreement(
    wanted: &Value,
    time: &FieldValue<DocumentTime>,
    text: &Value,
    clock: &VenueClock,
) -> Agreement {
    let zone = clock.zone.as_ref();
    let (time, sent) = match (time, DocumentTime::read(wanted)) {
        (FieldValue::Absent, _) => return Agreement::NotShown,
        (FieldValue::NotUnderstood(text), _) => return unread(wanted, text),
        (FieldValue::Read(time), Some(sent)) => (time, sent),
        (FieldValue::Read(_), None) => return unread(wanted, &plain(text)),
    };
    let differs = || Agreement::Differs(plain(text));
    let is_same = |same: bool| if same { Agreement::Same } else { differs() };
    if sent.instant.is_some() == time.instant.is_some() {
        return is_same(is_same_time(Some(sent), Some(*time)));
    }
    let both: Option<(DateTime, _)> = sent.local_in(zone).zip(time.local_in(zone));
    let apart = both.map(|(sent, shown)| shown.duration_since(sent).as_secs());
    let offsets = [sent.offset(), zone.zip(sent.instant).map(|(zone, at)| zone.to_offset(at))];
    let is_offset = |apart: i64| match zone {
        Some(_) => offsets.iter().flatten().any(|it| i64::from(it.seconds()).abs() == apart.abs()),
        None => apart % QUARTER == 0 && apart.abs() <= LARGEST_OFFSET,
    };
    // The clock of the one without an offset.
    let is_certain = if time.instant.is_none() { clock.is_certain } else { zone.is_some() };
    match apart {
        Some(0) => Agreement::Same,
        Some(apart) if !is_certain && is_offset(apart) => Agreement::NotUnderstood(plain(text)),
        _ => differs(),
    }
}

/// Compares texts without case and accents, and numbers by their value. A text that is masked, or
/// longer than what was sent, does not show the field.
fn text_agreement(wanted: &Value, text: &str) -> Agreement {
    let (wanted, own) = (fold(plain(wanted).trim()), fold(text.trim()));
    let is_mask = |it: char| MASKS.contains(&it) && !wanted.contains(it);
    let numbers = wanted.parse::<f64>().ok().zip(own.parse::<f64>().ok());
    // Larger whole numbers are not told apart.
    let is_one_number = |(wanted, own): (f64, f64)| wanted == own && own.abs() < EXACT;
    if wanted == own || numbers.is_some_and(is_one_number) {
        Agreement::Same
    } else if numbers.is_none() && (own.contains(is_mask) || own.contains(&wanted)) {
        Agreement::NotShown
    } else {
        Agreement::Differs(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// How a booking agrees in a field with a request for Ada, two at 19:30 in Oslo.
    fn agreement_of(field: &str, displayed: &Value, zone: Option<&str>) -> (Agreement, Weight) {
        let requested = json!({
            "venue_id": "17", "datetime": "2026-12-01T19:30:00+01:00", "party_size": 2, "provider": "acme",
            "end_user": "9007199254740992", "payment_collection": "card#7",
            "customer": {"name": "Ada Lovelace", "email": "ADA@x.example", "phone": "+44 20 7946 0018"},
        });
        let mut displayed = displayed.clone();
        (displayed["id"], displayed["status"]) = ("bk_1".into(), "confirmed".into());
        let booking = Booking::from_document(displayed.into()).unwrap();
        let zone = zone.map(|zone| TimeZone::get(zone).unwrap());
        let clock = VenueClock { zone, is_certain: false };
        let found = compare(&Wish::from_request(&requested), &booking, &clock, true);
        let found = found.into_iter().find(|it| it.field == field).unwrap();
        (found.agreement, found.weight)
    }

    #[test]
    fn each_field_is_compared_in_any_notation() {
        let (name, email, phone) = ("customer.name", "customer.email", "customer.phone");
        for (field, displayed, word) in [
            ("venue_id", json!({"venue_id": 17}), "same"),
            ("venue_id", json!({"venue_id": "https://a.example/v1/venues/17"}), "same"),
            ("venue_id", json!({"venue": {"venue_id": "18"}}), "differs"),
            ("venue_id", json!({"venue": {"id": "18"}}), "not shown"),
            ("venue_id", json!({"venue_id": ["17"]}), "not understood"),
            ("party_size", json!({"party_size": "2"}), "same"),
            ("party_size", json!({"party_size": 2.0}), "same"),
            ("party_size", json!({"party_size": 2.5}), "not understood"),
            ("party_size", json!({"party_size": null}), "not shown"),
            (name, json!({"customer": {"name": "Lovelace, Dr. ADA"}}), "same"),
            (name, json!({"customer": {"name": "LOVELACE/ADA"}}), "same"),
            (name, json!({"customer": {"name": "*** Love*"}}), "same"),
            (name, json!({"customer": {"name": "Ada L."}}), "same"),
            (name, json!({"customer": {"name": "****"}}), "not shown"),
            (name, json!({"customer": "Eve Other"}), "differs"),
            (name, json!({"customer": {"name": "Ada Love"}}), "differs"),
            (name, json!({"customer": {"name": "Ada X."}}), "differs"),
            (name, json!({"customer": [{"name": "Ada Lovelace"}]}), "not understood"),
            (name, json!({"customer": {"name": {"full": "Eve"}}}), "not understood"),
            (name, json!({"customer": {}}), "not shown"),
            (email, json!({"customer": "Ada Lovelace"}), "not shown"),
            (email, json!({"customer": "cus_1"}), "not shown"),
            (email, json!({"customer": {"email": "ada@x.example"}}), "same"),
            (email, json!({"customer": {"email": "a***@x.example"}}), "not shown"),
            (email, json!({"customer": {"email": "b***@x.example"}}), "differs"),
            (email, json!({"customer": {"email": "eve@x.example"}}), "differs"),
            (phone, json!({"customer": {"phone": "+44 (0)20 7946 0018"}}), "same"),
            (phone, json!({"customer": {"phone": "+44 20 7946 ****"}}), "not shown"),
            (phone, json!({"customer": {"phone": "+44 99 9999 9999"}}), "differs"),
            ("provider", json!({"provider": "ACME"}), "same"),
            ("provider", json!({"provider": "acme (London)"}), "not shown"),
            ("provider", json!({"provider": "other"}), "differs"),
            ("provider", json!({"provider": {"id": 7}}), "not understood"),
            ("provider", json!({"provider": null}), "not shown"),
            ("end_user", json!({"end_user": 9_007_199_254_740_992_u64}), "same"),
            ("end_user", json!({"end_user": "9007199254740993"}), "differs"),
            ("payment_collection", json!({"payment_collection": "card#8"}), "differs"),
            ("payment_collection", json!({"payment_collection": "card#*"}), "not shown"),
        ] {
            let found = agreement_of(field, &displayed, None).0;
            assert_eq!(name_of(&found), word, "{field} {displayed}");
        }
    }

    fn name_of(agreement: &Agreement) -> &'static str {
        match agreement {
            Agreement::Same => "same",
            Agreement::Differs(_) => "differs",
            Agreement::NotShown => "not shown",
            Agreement::NotUnderstood(_) => "not understood",
        }
    }

    /// How a booking compares with a wish of one field.
    fn compared(wish: &Wish, displayed: Value) -> Compared {
        let mut displayed = displayed;
        (displayed["id"], displayed["status"]) = ("bk_1".into(), "confirmed".into());
        let booking = Booking::from_document(displayed.into()).unwrap();
        let clock = VenueClock { zone: None, is_certain: false };
        compare(wish, &booking, &clock, true).remove(0)
    }

    #[test]
    fn a_change_may_empty_a_field_or_set_a_list_and_a_request_does_not() {
        for (wanted, displayed, word) in [
            (json!({"notes": ""}), json!({}), "same"),
            (json!({"notes": null}), json!({"notes": " "}), "same"),
            (json!({"notes": ""}), json!({"notes": "window"}), "differs"),
            (json!({"tags": ["a"]}), json!({"tags": ["a"]}), "same"),
            (json!({"tags": ["a"]}), json!({"tags": ["b"]}), "differs"),
            (json!({"tags": ["a"]}), json!({}), "not shown"),
        ] {
            let wish = Wish::from_changes(wanted.as_object().unwrap());
            let found = compared(&wish, displayed.clone()).agreement;
            assert_eq!(name_of(&found), word, "{wanted} {displayed}");
            assert!(Wish::from_request(&wanted).0.is_empty(), "{wanted}");
        }
    }

    #[test]
    fn a_wish_shows_its_party_and_its_time() {
        let wish = Wish::from_request(&json!({"party_size": "3", "datetime": "Friday"}));
        assert_eq!((wish.party(), wish.time_text()), (3, Some("Friday".to_owned())));
    }

    #[test]
    fn what_was_changed_since_was_as_the_wish_asks_before() {
        for (field, wanted, from, was_same) in [
            ("party_size", json!(2), json!("2"), true),
            ("party_size", json!(2), json!(3), false),
            ("party_size", json!(2), json!(null), false),
            ("datetime", json!("2026-12-01T19:30:00+01:00"), json!("2026-12-01T18:30:00Z"), true),
            ("datetime", json!("2026-12-01T19:30:00+01:00"), json!("2026-12-01T19:30:00Z"), false),
        ] {
            let wish = Wish::from_request(&json!({ field: wanted }));
            let changes = json!({ field: { "from": from } });
            let found = compared(&wish, json!({"last_modification": {"changes": changes}}));
            assert_eq!(found.was_same, was_same, "{field} {from}");
        }
    }

    #[test]
    fn time_without_offset_is_the_venues_or_not_understood() {
        let oslo = Some("Europe/Oslo");
        for (time, zone, is_same) in [
            ("2026-12-01T19:30", oslo, Some(true)),
            ("2026-12-01T18:30", oslo, None),
            ("2026-12-01T20:15", oslo, Some(false)),
            ("2026-12-01T19:30", None, Some(true)),
            ("2026-12-01T20:15", None, None),
            ("2026-12-01T20:20", None, Some(false)),
            ("2026-12-01T05:30", None, None),
            ("2026-12-01T05:15", None, Some(false)),
            ("2026-12-02T19:30", None, Some(false)),
        ] {
            let found = agreement_of("datetime", &json!({ "datetime": time }), zone).0;
            let found = match found {
                Agreement::Same => Some(true),
                Agreement::Differs(_) => Some(false),
                _ => None,
            };
            assert_eq!(found, is_same, "{time} {zone:?}");
        }
    }

    #[test]
    fn name_decides_who_the_guest_is_else_a_contact() {
        let weight = |field: &str, customer: Value| {
            agreement_of(field, &json!({ "customer": customer }), None).1
        };
        let eve = json!({"name": "Eve", "email": "ada@x.example"});
        assert_eq!(weight("customer.name", eve), Weight::Identity);
        let moved = json!({"name": "Ada Lovelace", "email": "eve@x.example"});
        assert_eq!(weight("customer.name", moved.clone()), Weight::Identity);
        assert_eq!(weight("customer.email", moved), Weight::Choice);
        assert_eq!(weight("customer.email", json!({"email": "eve@x.example"})), Weight::Identity);
    }
}
