//! The slots of a venue, with their card and cancellation terms. Their row numbers are saved as `@1`, `@2`, ….

use super::fields::Fields;
use super::terms::{Terms, TermsReader};
use crate::json::Document;
use crate::model::slot::Slot;
use crate::terminal::output::{Page, TableCell, View};

pub(crate) struct SlotList<'a> {
    pub(crate) document: &'a Document,
    pub(crate) slots: &'a [Slot],
    pub(crate) reader: TermsReader,
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
        let mut headers = vec![
            "",
            "slot",
            "when",
            "min",
            "seating",
            "price",
            "card",
            "cancellation",
        ];
        let details = self.slots.iter();
        let details: Vec<SlotDetails> = details
            .map(|slot| SlotDetails::of(slot, self.reader))
            .collect();
        // A service that keeps the contract has nothing else to say, and its lists end with the terms.
        let says_more = details.iter().any(|it| it.also.is_some());
        if says_more {
            headers.push("also");
        }
        let rows = self.slots.iter().zip(details).enumerate();
        let rows = rows.map(|(row, (slot, details))| {
            let mut cells = vec![
                TableCell::from(format!("@{}", row + 1)),
                TableCell::from(slot.id()),
                TableCell::from(slot.time_text()).in_short(
                    slot.local()
                        .map(|local| local.strftime("%a %H:%M").to_string()),
                ),
                TableCell::from(details.minutes.unwrap_or_default()),
                TableCell::from(details.seating.unwrap_or_default()),
                TableCell::from(details.price.unwrap_or_default()),
                terms_cell(details.card),
                terms_cell(details.cancellation),
            ];
            if says_more {
                cells.push(TableCell::from(details.also.unwrap_or_default()));
            }
            cells
        });
        page.table(headers, rows.collect(), vec![0]);
        page
    }
}

fn terms_cell(terms: Option<Terms>) -> TableCell {
    match terms {
        Some(terms) => TableCell::from(terms.text).in_short(Some(terms.short)),
        None => TableCell::from(""),
    }
}

/// What a slot says beside its id and its time, for people.
pub(crate) struct SlotDetails {
    minutes: Option<String>,
    pub(crate) seating: Option<String>,
    pub(crate) price: Option<String>,
    pub(crate) card: Option<Terms>,
    pub(crate) cancellation: Option<Terms>,
    /// All that is not understood, as it came.
    pub(crate) also: Option<String>,
}

impl SlotDetails {
    /// `90 min`
    pub(crate) fn duration(&self) -> Option<String> {
        self.minutes
            .as_ref()
            .map(|minutes| format!("{minutes} min"))
    }

    /// Whether a card is needed, or may be: terms that are not understood count as if it were.
    pub(crate) fn may_need_a_card(slot: &Slot) -> bool {
        slot.value().get("card_terms").is_some_and(|terms| {
            let is_needed = terms.get("required") != Some(&false.into());
            !terms.is_null() && (is_needed || terms.get("hold_amount").is_some())
        })
    }

    /// Whether a cancellation may cost something: terms that are not understood count as if it did.
    pub(crate) fn may_have_a_fee(slot: &Slot) -> bool {
        slot.value().get("cancellation_terms").is_some_and(|terms| {
            let is_known = terms.get("text").is_some() || terms.get("free_until").is_some();
            !terms.is_null() && (!is_known || terms.get("fee_amount").is_some())
        })
    }

    pub(crate) fn of(slot: &Slot, reader: TermsReader) -> Self {
        let mut fields = Fields::of(slot.value());
        fields.scalar("availability_id");
        fields.scalar("datetime");
        // The party that was asked for.
        fields.scalar("party_size");
        let minutes = fields.get("duration_minutes").filter(|it| it.is_u64());
        let minutes = minutes.and_then(|_| fields.scalar("duration_minutes"));
        let seating = fields.scalar("seating");
        let price = fields.take("price");
        let price = price.and_then(|it| reader.price(it));
        let card = fields.take("card_terms");
        let card = card.and_then(|it| reader.card(it));
        let cancellation = fields.take("cancellation_terms");
        let cancellation = cancellation.and_then(|it| reader.cancellation_now(it));
        SlotDetails {
            minutes,
            seating,
            price,
            card,
            cancellation,
            also: Some(fields.rest_text()).filter(|rest| !rest.is_empty()),
        }
    }
}

/// A slot on one line of a menu: the time, its length, then its terms in short, then all that is not understood.
pub(crate) fn slot_line(slot: &Slot, reader: TermsReader) -> String {
    let time = slot.local().map_or_else(
        || slot.time_text(),
        |local| local.strftime("%H:%M").to_string(),
    );
    let details = SlotDetails::of(slot, reader);
    let parts = [
        Some(time),
        details.duration(),
        details.seating,
        details.price,
        details.card.map(|terms| terms.short),
        details.cancellation.map(|terms| terms.short),
        details.also,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::certainty::Certainty;
    use jiff::Timestamp;
    use serde_json::json;

    #[test]
    fn a_menu_line_has_terms_in_any_shape_and_all_else_that_came() {
        let slot = Slot::from_value(json!({
            "availability_id": 7, "datetime": "2026-12-01T19:30", "party_size": 2, "seating": "terrace",
            "price": {"total": {"amount": 4600, "currency": "EUR"}}, "card_terms": "A card, please",
            "rules": {"notice": "24 hours"},
        }))
        .unwrap();
        assert_eq!(
            slot_line(
                &slot,
                TermsReader {
                    certainty: Certainty::Specification,
                    now: Timestamp::UNIX_EPOCH,
                    party: 2,
                }
            ),
            "19:30 · terrace · total 4600 (EUR) · A card, please · rules.notice 24 hours"
        );
    }
}
