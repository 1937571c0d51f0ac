//! Reads the service's documents: finds objects by shape, and translates their names.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::envelope_fields::envelope_fields;
use super::kind::ReadKind;
use super::locate::{counted, elements, one};
use super::profile_mapping::Mapping;
use super::resource::flattened;
use super::shape::{Shape, with_contract_names};
use super::synonyms::with_own_names;
use crate::json::Document;
use crate::outcome::{Code, Error, Result};
use crate::service::documents::booking::Booking;
use crate::service::documents::money::in_main_units;
use crate::service::documents::session::Session;
use crate::service::documents::slot::Slot;
use crate::service::documents::venue::Venue;

#[derive(Debug)]
pub(crate) struct Reading<T> {
    pub(crate) item: T,
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct List<T> {
    pub(crate) items: Vec<T>,
    /// What stands around the list, as paths and texts.
    pub(crate) envelope_fields: Vec<(String, String)>,
    /// Where the list stands in the document: `data.results[]`; empty if uncertain.
    pub(crate) place: String,
}

impl Mapping {
    /// Reads a booking. `after_write` is whether the document answers a call that changed
    /// something: an expression that fails there must not hide the booking, so it is then looked
    /// for by its shape.
    pub(crate) fn booking(
        &self,
        document: Document,
        after_write: bool,
    ) -> Result<Reading<Booking>> {
        let mut warnings = Vec::new();
        if let Some(translated) = self.translate(ReadKind::Booking, &document) {
            let read = translated.and_then(|value| {
                // A field that the expression leaves in the service's style is translated.
                let object = value.as_object();
                object
                    .map(|it| contract(it, Shape::Booking, true))
                    .and_then(|value| Booking::read(document.clone(), Some(value), Vec::new()))
                    .ok_or_else(|| "does not give an `id` and a `status`".to_owned())
            });
            match read {
                Ok(item) => return Ok(Reading { item, warnings }),
                Err(why) if after_write => {
                    warnings
                        .push(format!("read.booking {why}; the booking was found by its shape"));
                }
                Err(why) => return Err(of_expression(ReadKind::Booking, &why, &document)),
            }
        }
        let value = flattened(&document);
        let unread = |why: String| unreadable(ReadKind::Booking, &why, &document);
        let found = one(&value, Shape::Booking).map_err(unread)?;
        let read = contract(found, Shape::Booking, false);
        let (translated, around) = match read == *document.value() {
            true => (None, Vec::new()),
            false => (Some(read), envelope_fields(&value, &[found])),
        };
        let item = Booking::read(document.clone(), translated, around);
        item.map(|item| Reading { item, warnings })
            .ok_or_else(|| unread("it has no `id` and `status`".to_owned()))
    }

    pub(crate) fn index(&self, document: &Document) -> Result<Value> {
        self.translate(ReadKind::Index, document)
            .unwrap_or_else(|| Ok(document.value().clone()))
            .map_err(|why| of_expression(ReadKind::Index, &why, document))
    }

    pub(crate) fn venues(&self, document: &Document) -> Result<Reading<List<Venue>>> {
        self.list(ReadKind::Venues, document, Venue::from_value)
    }

    pub(crate) fn slots(&self, document: &Document) -> Result<Reading<List<Slot>>> {
        self.list(ReadKind::Slots, document, Slot::from_value)
    }

    pub(crate) fn sessions(&self, document: &Document) -> Result<Reading<List<Session>>> {
        self.list(ReadKind::Sessions, document, |value| Some(Session::from_value(value)))
    }

    pub(crate) fn session(&self, document: &Document) -> Result<Session> {
        let (value, envelope_fields) = self.object(ReadKind::Session, document)?;
        Ok(Session { envelope_fields, ..Session::from_value(value) })
    }

    /// Reads the response to a write about a session, which may show less than one: what came then.
    pub(crate) fn written_session(&self, document: &Document) -> Session {
        let value = document.value();
        let as_it_came = || Session::from_value(value.clone());
        let mut session = self.session(document).unwrap_or_else(|_| as_it_came());
        let has_error = value.get("error").is_some_and(|error| !error.is_null());
        let around = if has_error { Some(false) } else { as_it_came().is_deleted };
        session.is_deleted = around.or(session.is_deleted);
        session
    }

    /// Reads a session or a card answer, in the contract's shape, with what stands around it.
    pub(crate) fn object(
        &self,
        kind: ReadKind,
        document: &Document,
    ) -> Result<(Value, Vec<(String, String)>)> {
        let is_card = kind == ReadKind::Card;
        let shape = if is_card { Shape::Card } else { Shape::Session };
        let (value, is_translated) = self.source(kind, document)?;
        if !is_translated {
            let found = one(&value, shape).map_err(|why| unreadable(kind, &why, document))?;
            return Ok((with_contract_names(found, shape), envelope_fields(&value, &[found])));
        }
        match value.as_object().filter(|it| shape.is_usable(it)) {
            Some(object) => Ok((with_contract_names(object, shape), Vec::new())),
            None => Err(of_expression(kind, &format!("does not give {}", shape.mark()), document)),
        }
    }

    /// The bookings in a document that is about something else, such as the unfinished ones of a
    /// 404, and how many cannot be read. `None` where there is no list at all.
    pub(crate) fn bookings_in(
        &self,
        document: &Document,
        place: &str,
    ) -> Option<(Vec<Booking>, usize)> {
        let value = match self.refusal(document) {
            Some(translated) => Cow::Owned(translated),
            None => flattened(document),
        };
        let found = elements(&value, Shape::Booking, place).ok()?;
        let bookings: Vec<Booking> = found.objects.into_iter().filter_map(booking_of).collect();
        let unread = found.elements - bookings.len();
        Some((bookings, unread))
    }

    pub(crate) fn bookings_within(&self, refusal: &Document) -> Vec<Booking> {
        let mut found = Vec::new();
        let is_booking = |object: &Map<String, Value>| Shape::Booking.is_usable(object);
        objects_within(refusal.value(), &is_booking, &mut found);
        found.into_iter().filter_map(booking_of).collect()
    }

    pub(crate) fn list<T>(
        &self,
        kind: ReadKind,
        document: &Document,
        make: impl Fn(Value) -> Option<T>,
    ) -> Result<Reading<List<T>>> {
        let (shape, own_field) = match kind {
            ReadKind::Venues => (Shape::Venue, &self.dialect.venues_field),
            ReadKind::Slots => (Shape::Slot, &self.dialect.slots_field),
            _ => (Shape::Session, &self.dialect.sessions_field),
        };
        let (value, is_translated) = self.source(kind, document)?;
        let name = kind.as_str();
        let settings = format!("`{name}_field` or `read.{name}`");
        let unread = |why| misread(why, &settings, document);
        let field = if is_translated { name } else { own_field };
        let found = elements(&value, shape, field).map_err(unread)?;
        let read = found.objects.iter();
        let items: Vec<T> =
            read.filter_map(|object| make(contract(object, shape, is_translated))).collect();
        let (place, count) = (found.place, found.elements - items.len());
        let mut warnings = Vec::new();
        if count > 0 {
            if items.is_empty() {
                return Err(unread(format!(
                    "the response has {} at `{place}` without {}",
                    counted(count),
                    shape.mark()
                )));
            }
            warnings.push(format!(
                "{count} of {} {} cannot be read: {} is missing",
                found.elements,
                shape.nouns()[1],
                shape.mark()
            ));
        }
        let envelope_fields = envelope_fields(&value, &found.objects);
        let place = if is_translated {
            elements(document.value(), shape, own_field)
                .map_or_else(|_| String::new(), |found| found.place)
        } else {
            place
        };
        let item = List { items, envelope_fields, place };
        Ok(Reading { item, warnings })
    }

    /// A refusal in the contract's shape, where the profile has an expression that works for it.
    pub(crate) fn refusal(&self, body: &Document) -> Option<Value> {
        self.translate(ReadKind::Error, body)?.ok().filter(Value::is_object)
    }

    /// A webhook event in our shape, or why the expression failed; `None` without one.
    pub(crate) fn event(&self, event: &Value) -> Option<Result<Value, String>> {
        Some(self.read.get(&ReadKind::Event)?.apply(event))
    }

    /// What a document is read from, and whether an expression wrote it in our names.
    fn source<'a>(&self, kind: ReadKind, document: &'a Document) -> Result<(Cow<'a, Value>, bool)> {
        match self.translate(kind, document) {
            Some(Ok(value)) => Ok((Cow::Owned(value), true)),
            Some(Err(why)) => Err(of_expression(kind, &why, document)),
            None => Ok((flattened(document), false)),
        }
    }

    fn translate(&self, kind: ReadKind, document: &Document) -> Option<Result<Value, String>> {
        Some(self.read.get(&kind)?.apply(document.value()))
    }
}

/// An object in our names and amounts. `is_own` is whether an expression wrote it.
fn contract(object: &Map<String, Value>, shape: Shape, is_own: bool) -> Value {
    let mut value = with_contract_names(object, shape);
    in_main_units(&mut value, is_own);
    match (shape, value.as_object_mut()) {
        (Shape::Booking, Some(booking)) if !is_own => with_own_names(booking),
        (Shape::Slot, Some(slot)) => {
            for name in ["card_terms", "cancellation_terms"] {
                let lacks_it = !slot.contains_key(name);
                // They may stand in an object of the slot, which a relationship of JSON:API names.
                let mut inner = slot.values_mut().filter_map(Value::as_object_mut);
                if let Some(terms) = inner.find_map(|it| lacks_it.then(|| it.remove(name))?) {
                    slot.insert(name.to_owned(), terms);
                }
            }
        }
        _ => {}
    }
    value
}

fn unreadable(kind: ReadKind, why: &str, document: &Document) -> Error {
    let name = kind.as_str();
    let why = format!("the response cannot be read as a {name}: {why}");
    misread(why, &format!("`read.{name}`"), document)
}

/// A booking that stands beside what a document is about.
fn booking_of(object: &Map<String, Value>) -> Option<Booking> {
    let document = Document::from(Value::Object(object.clone()));
    Booking::read(document, Some(contract(object, Shape::Booking, false)), Vec::new())
}

/// The objects in a refusal, except those of unfinished bookings (spec, Errors).
pub(crate) fn objects_within<'a>(
    value: &'a Value,
    is_it: &dyn Fn(&Map<String, Value>) -> bool,
    found: &mut Vec<&'a Map<String, Value>>,
) {
    if let Value::Object(object) = value {
        found.extend(Some(object).filter(|it| is_it(it)));
        let members = object.iter().filter(|(name, _)| *name != "open_bookings");
        members.for_each(|(_, inner)| objects_within(inner, is_it, found));
    }
    value.as_array().into_iter().flatten().for_each(|it| objects_within(it, is_it, found));
}

/// `why` is what was found instead, as a sentence, and `settings` those of a profile that say how
/// to read such a document.
fn misread(why: String, settings: &str, document: &Document) -> Error {
    let hint = format!(
        "if the service names it differently, set {settings} with `bookctl profile set`; `bookctl api` shows the \
         whole answer"
    );
    Error::new(Code::UnexpectedAnswer, why).hint(hint).body(document.clone())
}

/// `why` is the predicate of a sentence about the expression.
fn of_expression(kind: ReadKind, why: &str, document: &Document) -> Error {
    let name = kind.as_str();
    let why = format!("the profile's expression read.{name} {why}");
    misread(why, &format!("`read.{name}`"), document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::documents::rows;
    use serde_json::json;

    fn booking(document: Value) -> Result<Booking> {
        let reading = Mapping::default().booking(document.into(), false)?;
        Ok(reading.item)
    }

    #[test]
    fn booking_is_found_in_an_envelope_that_is_kept() {
        let inner = json!({"id": 7, "object": "booking", "status": "CONFIRMED", "provider": "a", "partySize": 2});
        let read = booking(json!({"data": inner, "meta": {"request_id": "r1"}})).unwrap();
        assert_eq!(read.id(), "7");
        assert_eq!(read.value()["party_size"], 2);
        let envelope_fields = ("meta.request_id".to_owned(), "r1".to_owned());
        assert_eq!(read.envelope_fields, [envelope_fields]);
        let resource =
            json!({"data": {"type": "b", "id": "9", "attributes": {"object": "b", "status": "x"}}});
        assert_eq!(booking(resource).unwrap().id(), "9");
    }

    #[test]
    fn amount_is_money_if_name_or_expression_has_its_unit() {
        let action = |amount: Value| json!({"id": 7, "status": "x", "object": "b", "next_action": {"currency": "EUR", "amount_minor": amount}});
        let amount = |read: Booking| read.value()["next_action"]["amount"].clone();
        assert_eq!(amount(booking(action(json!(2500))).unwrap()), "25.00");
        let mut mapping = Mapping::default();
        let own = ".next_action |= {amount: .amount_minor, currency}";
        mapping.set("read.booking", own).unwrap();
        let read = mapping.booking(action(json!(4505)).into(), false);
        assert_eq!(amount(read.unwrap().item), "45.05");
        let stated = json!({"id": 7, "status": "x", "object": "b", "next_action": {"currency": "EUR", "amount": 2500}});
        assert_eq!(amount(booking(stated).unwrap()), 2500);
    }

    #[test]
    fn a_booking_in_the_contracts_shape_is_kept_as_it_came() {
        let read = booking(json!({"id": "bk_1", "status": "confirmed", "more": {"b": 1}})).unwrap();
        assert_eq!(read.own_document().text(), read.document.text());
        assert!(read.envelope_fields.is_empty());
    }

    #[test]
    fn an_answer_without_a_booking_says_what_is_missing() {
        for [document, why] in rows(
            r#"
               {"ok": true}                                         | nothing in it has `id` and `status`
               [{"id": 1, "status": "a", "object": "b"}, {"id": 2, "status": "a", "object": "b"}] | it has 2 bookings in `[]`
               {"object": "error", "id": "e", "status": "failed"}   | nothing in it"#,
        ) {
            let misread = booking(document.parse().unwrap()).unwrap_err();
            assert!(misread.message.contains(why), "{document}: {}", misread.message);
        }
    }

    #[test]
    fn object_of_another_kind_is_never_read_as_the_booking() {
        let inner = json!({"id": "bk_9", "object": "booking", "status": "failed", "provider": "a"});
        let payment =
            json!({"id": "pay_1", "object": "payment", "status": "confirmed", "provider": "x"});
        let read = booking(json!({"payment": payment, "data": {"booking": inner}})).unwrap();
        assert_eq!(read.id(), "bk_9");
        for document in [
            json!({"success": false, "alternatives": [{"id": "a", "object": "slot", "status": "confirmed", "provider": "a"}]}),
            json!({"id": "req_2", "status": "confirmed", "data": inner}),
            json!({"customer": {"id": "cus_1", "object": "customer", "status": "active"}}),
            json!({"status": "Rejected", "conflicting_booking": inner}),
            json!([{"result": {"success": "False", "booking": inner}}]),
            json!({"booking": inner, "errors": [{"code": "taken"}]}),
        ] {
            assert!(booking(document.clone()).is_err(), "{document}");
        }
        for document in [
            json!({"status": "failed", "data": {"booking": inner}}),
            json!({"status": "success", "ok": true, "data": inner, "error": null, "errors": []}),
        ] {
            assert!(booking(document.clone()).is_ok(), "{document}");
        }
    }

    #[test]
    fn venues_that_cannot_be_read_are_never_none() {
        let venues = |document: Value| Mapping::default().venues(&document.into());
        let read =
            venues(json!({"results": [{"venue_id": 1}, {"name": "x"}], "total": 2})).unwrap();
        assert_eq!(read.item.items.len(), 1);
        assert_eq!(read.warnings, ["1 of 2 venues cannot be read: `venue_id` is missing"]);
        assert_eq!(read.item.envelope_fields.len(), 2, "{:?}", read.item.envelope_fields);
        for [document, why] in rows(
            r#"
               {"venues": []}                                                  |
               []                                                              |
               {"data": {"items": []}}                                         |
               {"venues": null}                                                |
               {"venues": [], "tags": ["a"], "links": [{"href": "x"}]}         |
               {"items": [], "warnings": ["slow"]}                             |
               {"results": [{"id": 1}, {"id": 2}]}                             | the response has 2 elements at `results` without
               {"venues": [{"id": 1}]}                                         | 1 element at `venues`
               {"count": 0}                                                    | no list of venues
               {"tags": [], "total": 3}                                        | no list of venues
               {"results": [{"id": 1}], "more": []}                            | 1 element at `results`
               {"rows": ["a", "b"], "more": []}                                | 2 elements at `rows`
               {"venues": null, "rows": [{"id": 1}]}                           | no venues at `venues`, and 1 element at `rows`
               {"venues": [], "data": {"items": [{"venue_id": 1}]}}            | and 1 element at `data.items[]`
               {"venues": [], "data": {"items": [{"id": 1}, {"id": 2}]}}       | 2 elements at `data.items`"#,
        ) {
            match venues(document.parse().unwrap()) {
                Ok(read) => assert!(read.item.items.is_empty() && why.is_empty(), "{document}"),
                Err(misread) => {
                    let wording = !why.is_empty() && misread.message.contains(why);
                    assert!(wording, "{document}: {}", misread.message);
                }
            }
        }
    }

    #[test]
    fn profiles_place_comes_before_contracts_and_may_be_empty() {
        let mut mapping = Mapping::default();
        mapping.dialect.rename("venues_field", "data.near").unwrap();
        for (near, ids) in [(json!([{"venue_id": "near"}]), &["near"][..]), (json!([]), &[])] {
            let document = json!({"venues": [{"venue_id": "far"}], "data": {"near": near}});
            let read = mapping.venues(&document.into()).unwrap().item.items;
            let found: Vec<&str> = read.iter().map(|venue| venue.id()).collect();
            assert_eq!(found, ids);
        }
    }
}
