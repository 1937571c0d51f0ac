//! The guided booking: asks for everything that flags have not set, one question after the other. Esc and Shift-Tab
//! lead back to the question before, with its answer filled in.

mod lookup;
mod questions;
mod review;
mod summary;
mod walk;

use self::questions::{Manner, ask_name, ask_slot, ask_to_book};
pub(crate) use self::review::{SlotChoice, review, take_slot};
use self::summary::summary;
pub(crate) use self::summary::{profile, show_command};
pub(crate) use self::walk::VERTICALS;
use self::walk::{Step, Walk, Went, declined, has_consequences};
use super::booking_draft::BookingDraft;
use super::offer::Offer;
use super::pick::nothing_chosen;
use crate::app::Context;
use crate::model::slot::Slot;
use crate::outcome::{Code, Error, Result};

const STEPS: [Step; 11] = [
    Step::Vertical,
    Step::Place,
    Step::Time,
    Step::Party,
    Step::Venue,
    Step::Provider,
    Step::Slot,
    Step::Name,
    Step::Email,
    Step::Phone,
    Step::Confirmation,
];

/// Asks for everything that `draft` lacks, shows a summary, and asks for confirmation.
pub(crate) async fn guide(context: &Context, draft: &mut BookingDraft) -> Result<()> {
    // Notes about the service (such as the embedded sandbox) come before the first question.
    context.client()?;
    let mut walk = Walk::begin(context, draft).await;
    let mut next = 0;
    while let Some(step) = STEPS.get(next).copied() {
        let place = context.prompter.place();
        let target = match walk.take(step).await? {
            Went::Asked => {
                walk.asked.push((step, place));
                None
            }
            Went::Known => None,
            Went::Back => match walk.asked.pop() {
                Some((former, place)) => {
                    context.prompter.return_to(place);
                    Some(former)
                }
                None => return Err(declined()),
            },
            Went::To(earlier) => {
                walk.asked.retain(|(asked, _)| *asked < earlier);
                Some(earlier)
            }
        };
        next = match target {
            Some(target) => STEPS.iter().take_while(|it| **it < target).count(),
            None => next + 1,
        };
    }
    Ok(())
}

/// Asks again for a guest that the service refused, and for nothing else but the confirmation.
pub(crate) async fn ask_guest_again(
    context: &Context,
    draft: &mut BookingDraft,
    refused: &Error,
) -> Result<()> {
    let needs_both = refused.code == Code::MissingLastName;
    context.out.warn(match needs_both {
        true => "this venue needs a first and a last name",
        false => &refused.message,
    });
    let manner = Manner {
        goes_back: false,
        former: draft.name.take(),
    };
    let name = ask_name(context, manner, needs_both).await?;
    draft.name = Some(name.ok_or_else(declined)?);
    context.out.show(&summary(context, draft, None));
    let has_consequences = has_consequences(context.is_sandbox().await, draft);
    match draft.goes_ahead || ask_to_book(context, false, has_consequences).await? == Some(true) {
        true => Ok(()),
        false => Err(declined()),
    }
}

/// Lets the person choose one of the offered slots. The slot nearest to the requested time is selected first.
pub(crate) async fn choose_slot(context: &Context, offer: &Offer) -> Result<Slot> {
    let row = choose_row(context, offer).await?;
    let slot = offer.slots.get(row).cloned();
    slot.ok_or_else(nothing_chosen)
}

async fn choose_row(context: &Context, offer: &Offer) -> Result<usize> {
    let manner = Manner {
        goes_back: false,
        former: None,
    };
    let row = ask_slot(context, manner, offer, None).await?;
    row.ok_or_else(nothing_chosen)
}
