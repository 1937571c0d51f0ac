//! The slots of a venue, with their card and cancellation terms. Their row numbers are saved as `@1`, `@2`, ….

use jiff::civil::DateTime;
use serde_json::Value;

use crate::json::Document;
use crate::model::money::money;
use crate::model::slot::Slot;
use crate::terminal::output::{Page, TableCell, View};

/// A list of slots.
pub(crate) struct SlotList<'a> {
    pub(crate) document: &'a Document,
    pub(crate) slots: &'a [Slot],
}

impl View for SlotList<'_> {
    fn json(&self) -> Document {
        self.document.clone()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        if self.slots.is_empty() {
            return page;
        }
        let rows = self.slots.iter().enumerate().map(|(row, slot)| {
            vec![
                TableCell::from(format!("@{}", row + 1)),
                TableCell::from(slot.id()),
                TableCell::from(slot.time_text()).in_short(
                    slot.local()
                        .map(|local| local.strftime("%a %H:%M").to_string()),
                ),
                TableCell::from(duration(slot)),
                TableCell::from(slot.str("seating").unwrap_or_default()),
                TableCell::from(slot.price().unwrap_or_default()),
                TableCell::from(slot.card_terms().unwrap_or_default())
                    .in_short(card_in_few_words(slot)),
                TableCell::from(slot.cancellation_terms().unwrap_or_default())
                    .in_short(cancellation_in_few_words(slot)),
            ]
        });
        let headers = vec![
            "",
            "slot",
            "when",
            "min",
            "seating",
            "price",
            "card",
            "cancellation",
        ];
        page.table(headers, rows.collect(), vec![0]);
        page
    }
}

fn duration(slot: &Slot) -> String {
    slot.value()
        .get("duration_minutes")
        .and_then(Value::as_u64)
        .map(|minutes| minutes.to_string())
        .unwrap_or_default()
}

/// A slot on one line of a menu: the time, then its terms in short.
pub(crate) fn slot_line(slot: &Slot) -> String {
    let time = slot.local().map_or_else(
        || slot.time_text(),
        |local| local.strftime("%H:%M").to_string(),
    );
    let parts = [
        Some(time),
        slot.str("seating").map(str::to_owned),
        slot.price(),
        card_in_few_words(slot),
        cancellation_in_few_words(slot),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn card_in_few_words(slot: &Slot) -> Option<String> {
    let terms = slot.value().get("card_terms")?;
    let held = terms
        .get("hold_amount")
        .and_then(|amount| money(amount, currency(terms)));
    match (terms.get("required").and_then(Value::as_bool), held) {
        (Some(false), _) => Some("no card".to_owned()),
        (Some(true), Some(held)) => Some(format!("card, {held} held")),
        (Some(true), None) => Some("card".to_owned()),
        _ => slot.card_terms(),
    }
}

fn cancellation_in_few_words(slot: &Slot) -> Option<String> {
    let terms = slot.value().get("cancellation_terms")?;
    let until = terms.get("free_until").and_then(Value::as_str);
    let until = until.and_then(|until| until.parse::<DateTime>().ok());
    let fee = terms
        .get("fee_amount")
        .and_then(|amount| money(amount, currency(terms)));
    match (until, fee) {
        (Some(until), Some(fee)) => Some(format!(
            "free until {}, then {fee}",
            until.strftime("%a %H:%M")
        )),
        (Some(until), None) => Some(format!("free until {}", until.strftime("%a %H:%M"))),
        (None, Some(fee)) => Some(format!("cancelling costs {fee}")),
        (None, None) => slot.cancellation_terms(),
    }
}

fn currency(terms: &Value) -> Option<&str> {
    terms.get("currency").and_then(Value::as_str)
}
