//! The venues of a search, and the slots of a venue with their terms. Their row numbers are saved
//! as `@1`, `@2`, ….

use serde_json::Value;

use super::fields::Fields;
use super::terms::{Terms, TermsReader};
use super::{joined, numbered, time_cell};
use crate::json::plain;
use crate::service::documents::slot::Slot;
use crate::service::documents::venue::Venue;
use crate::terminal::output::{Page, TableCell};

pub(crate) fn venues_page(venues: &[Venue]) -> Page {
    let headers = ["name", "address", "price", "provider", "away", "tags", "venue id"];
    let rows = venues.iter().map(|venue| {
        let details = VenueDetails::from_venue(venue);
        let text = |text: Option<String>| TableCell::from(text.unwrap_or_default());
        let signs = details.price.map(|level| "$".repeat(level as usize));
        let away = details.away.map(|km| format!("{km:.1} km"));
        let cells = vec![
            venue.name().into(),
            text(details.address),
            text(details.price.map(|level| level.to_string())).in_short(signs),
            text(details.providers),
            text(details.away.map(|km| km.to_string())).in_short(away),
            text(details.tags),
            venue.id().into(),
        ];
        (cells, details.also)
    });
    numbered(&headers, &[6, 0, 1, 2, 3, 4, 5], rows)
}

struct VenueDetails {
    address: Option<String>,
    price: Option<u64>,
    providers: Option<String>,
    away: Option<f64>,
    tags: Option<String>,
    /// All that is not understood, as it came.
    also: Option<String>,
}

impl VenueDetails {
    fn from_venue(venue: &Venue) -> Self {
        let mut fields = Fields::from_document(&venue.value);
        // What every row has, what was asked for, and what only programs need.
        for name in "venue_id name vertical latitude longitude timezone".split(' ') {
            fields.scalar(name);
        }
        let address = fields.scalar("address");
        if address.is_some() {
            fields.text("city");
            fields.text("country");
        }
        let price_level = |it: &Value| it.as_u64().filter(|level| (1..10).contains(level));
        VenueDetails {
            address,
            price: fields.read("price_level", price_level),
            away: fields.read("distance_km", Value::as_f64),
            providers: texts(&mut fields, "providers").or_else(|| fields.scalar("provider")),
            tags: texts(&mut fields, "tags"),
            also: fields.rest_text(),
        }
    }
}

/// A list of texts, as one text. Any other list is left.
fn texts(fields: &mut Fields<'_>, name: &str) -> Option<String> {
    let is_of_texts = |list: &&Vec<Value>| list.iter().all(Value::is_string);
    let list = fields.read(name, |it| it.as_array().filter(is_of_texts))?;
    let texts = list.iter().map(plain).filter(|text| !text.is_empty());
    let text = texts.collect::<Vec<_>>().join(", ");
    (!text.is_empty()).then_some(text)
}

pub(crate) fn venue_place(venue: &Venue) -> Option<String> {
    let address = VenueDetails::from_venue(venue).address;
    let is_new = |city: &&str| address.as_ref().is_none_or(|it| !it.contains(city));
    let city = venue.str("city").filter(is_new).map(str::to_owned);
    let zone = venue.str("timezone").map(str::to_owned);
    joined([address, city, zone])
}

/// A venue on one line of a menu: its name, its address, its tags, then all that is not understood.
pub(crate) fn venue_line(venue: &Venue) -> String {
    let details = VenueDetails::from_venue(venue);
    let name = Some(venue.name().to_owned());
    joined([name, details.address, details.tags, details.also]).unwrap_or_default()
}

/// A pipe has an id, RFC 3339 times, and the price and the terms in columns; their words stand
/// only where the columns leave something out.
pub(crate) fn slots_page(slots: &[Slot], reader: TermsReader) -> Page {
    let headers = "when min seating price card cancellation slot price-currency \
        hold hold-currency hold-unit fee fee-currency fee-unit free-until";
    let headers: Vec<&str> = headers.split_whitespace().collect();
    let rows = slots.iter().map(|slot| {
        let details = SlotDetails::from_slot(slot, reader);
        // In a column there is room for an amount, but not for that of the whole party beside it.
        let each = SlotDetails::from_slot(slot, TermsReader { party: 1, ..reader });
        let local = slot.local();
        let local = local.map(|local| local.strftime("%a %-d %b %H:%M").to_string());
        let text = |text: Option<String>| TableCell::from(text.unwrap_or_default());
        let terms = |terms: &Option<Terms>, each: Option<Terms>| {
            let each = each.map(|terms| terms.short.replace("cancelling costs ", ""));
            let words = terms.as_ref().filter(|terms| !terms.are_whole);
            text(words.map(|terms| terms.text.clone())).in_short(Some(each.unwrap_or_default()))
        };
        let columns = |terms: Option<Terms>| terms.map(|it| it.columns).unwrap_or_default();
        let [price, currency] = details.price_columns;
        let price =
            if price.is_empty() { details.price.clone().unwrap_or_default() } else { price };
        let mut cells = vec![
            time_cell(&slot.datetime_value(), local),
            text(details.minutes),
            text(details.seating),
            TableCell::from(price).in_short(Some(details.price.unwrap_or_default())),
            terms(&details.card, each.card),
            terms(&details.cancellation, each.cancellation),
            slot.id().into(),
        ];
        let [hold, hold_currency, hold_unit, _] = columns(details.card);
        let own = [currency, hold, hold_currency, hold_unit].into_iter();
        let own = own.chain(columns(details.cancellation));
        cells.extend(own.map(|it| TableCell::from(it).in_short(Some(String::new()))));
        (cells, details.also)
    });
    numbered(&headers, &[6, 0, 1, 2, 3, 7, 8, 9, 10, 4, 11, 12, 13, 14, 5], rows)
}

pub(crate) struct SlotDetails {
    minutes: Option<String>,
    pub(crate) seating: Option<String>,
    pub(crate) price: Option<String>,
    price_columns: [String; 2],
    pub(crate) card: Option<Terms>,
    pub(crate) cancellation: Option<Terms>,
    /// All that is not understood, as it came.
    pub(crate) also: Option<String>,
}

impl SlotDetails {
    pub(crate) fn duration(&self) -> Option<String> {
        let minutes = self.minutes.as_ref()?;
        Some(format!("{minutes} min"))
    }

    /// Whether a card is needed, or may be: terms that are not understood count as if it were.
    pub(crate) fn may_need_a_card(slot: &Slot) -> bool {
        slot.value.get("card_terms").is_some_and(|terms| {
            let is_needed = terms.get("required") != Some(&false.into());
            !terms.is_null() && (is_needed || terms.get("hold_amount").is_some())
        })
    }

    /// Whether a cancellation may cost something: terms that are not understood count as if it did,
    /// and a text with a number.
    pub(crate) fn may_have_a_fee(slot: &Slot) -> bool {
        slot.value.get("cancellation_terms").is_some_and(|terms| {
            let text = terms.get("text").map(plain);
            let is_free = text.is_some_and(|text| !text.contains(|it: char| it.is_ascii_digit()));
            let is_known = is_free || terms.get("free_until").is_some();
            !terms.is_null() && (!is_known || terms.get("fee_amount").is_some())
        })
    }

    pub(crate) fn from_slot(slot: &Slot, reader: TermsReader) -> Self {
        let mut fields = Fields::from_document(&slot.value);
        // What every row has, and the party that was asked for.
        for name in ["availability_id", "datetime", "party_size"] {
            fields.scalar(name);
        }
        let price = fields.take("price");
        let (card, cancellation) = (fields.take("card_terms"), fields.take("cancellation_terms"));
        SlotDetails {
            minutes: fields.read("duration_minutes", |it| it.is_u64().then(|| plain(it))),
            seating: fields.scalar("seating"),
            price: price.and_then(|it| reader.price(it)),
            price_columns: price.map(|it| reader.price_columns(it)).unwrap_or_default(),
            card: card.and_then(|it| reader.card(it)),
            cancellation: cancellation.and_then(|it| reader.cancellation_now(it)),
            also: fields.rest_text(),
        }
    }
}

/// A slot on one line of a menu: time, length, terms in short, then all that is not understood.
pub(crate) fn slot_line(slot: &Slot, reader: TermsReader) -> String {
    let time =
        slot.local().map_or_else(|| slot.time_text(), |local| local.strftime("%H:%M").to_string());
    let details = SlotDetails::from_slot(slot, reader);
    let parts = [
        Some(time),
        details.duration(),
        details.seating,
        details.price,
        details.card.map(|terms| terms.short),
        details.cancellation.map(|terms| terms.short),
        details.also,
    ];
    joined(parts).unwrap_or_default()
}
