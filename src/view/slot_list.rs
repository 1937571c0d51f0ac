//! The slots of a venue, with their card and cancellation terms; row numbers are remembered as `@1`, `@2`, ….

use serde_json::Value;

use crate::model::document::Document;
use crate::model::moment::human;
use crate::model::slot::Slot;
use crate::output::{Page, TableCell, View};

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
                TableCell::from(human(slot.datetime())),
                TableCell::from(duration(slot)),
                TableCell::from(slot.str("seating").unwrap_or_default()),
                TableCell::from(slot.price().unwrap_or_default()),
                TableCell::from(slot.card_terms().unwrap_or_default()),
                TableCell::from(slot.cancellation_terms().unwrap_or_default()),
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

/// A slot in one line, as it stands in a menu: the time first, then its terms.
pub(crate) fn slot_line(slot: &Slot) -> String {
    let time = slot.local().map_or_else(
        || slot.datetime().to_owned(),
        |local| local.strftime("%H:%M").to_string(),
    );
    let parts = [
        Some(time),
        slot.str("seating").map(str::to_owned),
        slot.price(),
        slot.card_terms(),
        slot.cancellation_terms(),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
