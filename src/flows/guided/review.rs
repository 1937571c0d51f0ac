//! What flags leave open about a booking, and what a person sees of one that they describe completely.

use serde_json::Value;

use super::choose_row;
use super::questions::ask_to_book;
use super::summary::{stakes, summary, terms_line, terms_not_found};
use super::walk::{declined, has_consequences};
use crate::app::Context;
use crate::flows::booking_draft::BookingDraft;
use crate::flows::offer::Offer;
use crate::outcome::Result;
use crate::terminal::output::visible;
use crate::terminal::view::slot_line;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotChoice {
    /// By its id, or by the time that was given.
    Given,
    /// A person chose it, because the given time is not offered.
    AnotherTime,
}

/// The row of the slot to book: the one at the requested time. Where several slots there differ, or none is there, a
/// person chooses. A script gets the first of several, with a note, and `None` where there is none.
pub(crate) async fn take_slot(
    context: &Context,
    offer: &Offer,
    goes_ahead: bool,
) -> Result<Option<(usize, SlotChoice)>> {
    let rows = offer.rows_at_wanted(context);
    let can_ask = context.prompter.interactive();
    let (first, others) = match rows.as_slice() {
        [] if !can_ask || offer.slots.is_empty() => return Ok(None),
        [] => {
            let row = choose_row(context, offer).await?;
            return Ok(Some((row, SlotChoice::AnotherTime)));
        }
        [only] => return Ok(Some((*only, SlotChoice::Given))),
        [first, others @ ..] => (*first, others),
    };
    if can_ask && !goes_ahead {
        let row = choose_row(context, &offer.only(&rows)).await?;
        return Ok(rows.get(row).map(|row| (*row, SlotChoice::Given)));
    }
    let reader = offer.reader(context);
    let line = |row: usize| visible(&slot_line(&offer.slots[row], reader)).into_owned();
    let others: Vec<String> = others
        .iter()
        .map(|row| format!("{} ({})", visible(offer.slots[*row].id()), line(*row)))
        .collect();
    context.out.note(&format!(
        "{} slots begin at that time; this one is taken: {}. To take another, pass --slot: {}",
        rows.len(),
        line(first),
        others.join(", "),
    ));
    Ok(Some((first, SlotChoice::Given)))
}

/// Shows a person what is about to be booked. Where that is real, needs a card, or is at another time than the given
/// one, the whole of it is shown, and asked about; else the terms are, in one line.
/// A script is told of a card and a fee.
pub(crate) async fn review(
    context: &Context,
    draft: &BookingDraft,
    datetime: &Value,
    choice: SlotChoice,
) -> Result<()> {
    if !context.prompter.interactive() {
        match stakes(context, draft) {
            Some(stakes) => context.out.warn(&visible(&stakes)),
            None => {
                let none = terms_not_found(draft).map(|none| format!("Terms: {none}."));
                none.inspect(|none| context.out.note(none));
            }
        }
        return Ok(());
    }
    let is_another = choice == SlotChoice::AnotherTime;
    if !is_another && !has_consequences(context.is_sandbox().await, draft) {
        if let Some(terms) = terms_line(context, draft) {
            context.out.note(&format!("Terms: {}", visible(&terms)));
        }
        return Ok(());
    }
    // Without it, the question cannot be answered.
    if !draft.goes_ahead || !context.out.is_quiet() {
        let page = summary(context, draft, Some(datetime));
        context.out.show(&page);
    }
    match draft.goes_ahead || ask_to_book(context, false, true).await? == Some(true) {
        true => Ok(()),
        false => Err(declined()),
    }
}
