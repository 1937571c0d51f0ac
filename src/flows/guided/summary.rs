//! What is about to be booked, and the command that would book it without a question.

use serde_json::Value;

use crate::app::Context;
use crate::config::Target;
use crate::flows::booking_draft::BookingDraft;
use crate::flows::locate::LocatedVenue;
use crate::flows::offer::terms_reader;
use crate::model::document_time::as_text;
use crate::model::slot::Slot;
use crate::model::time_text::with_own_time;
use crate::model::zone::system_zone;
use crate::terminal::output::{Page, Tone};
use crate::terminal::view::{SlotDetails, venue_place};

/// What is about to be booked. `datetime` is the time that is sent, where the slot does not say it.
pub(super) fn summary(context: &Context, draft: &BookingDraft, datetime: Option<&Value>) -> Page {
    let mut page = Page::default();
    let venue = draft.venue.as_ref();
    page.heading(
        Tone::Strong,
        "booking",
        venue.map(LocatedVenue::name).unwrap_or_default(),
    );
    let remembered = venue.and_then(|venue| venue.remembered.as_ref());
    page.field_if("where", remembered.and_then(venue_place));
    let slot = draft.slot.as_ref();
    let time = datetime.cloned().or(slot.map(Slot::datetime_value));
    let when = time
        .as_ref()
        .map(|when| with_own_time(&as_text(when), &system_zone()));
    page.field_if("when", when);
    let slot = slot.map(|slot| details(context, draft, slot));
    page.field_if("duration", slot.as_ref().and_then(SlotDetails::duration));
    page.field_if("party", draft.party_size.map(|party| party.to_string()));
    if let Some(slot) = slot {
        page.field_if("seating", slot.seating);
        page.field_if("price", slot.price);
        page.field_if("card", slot.card.map(|terms| terms.text));
        page.field_if("cancellation", slot.cancellation.map(|terms| terms.text));
        page.field_if("also", slot.also);
        page.field_if("terms", terms_not_found(draft));
    } else if datetime.is_some() {
        page.field(
            "terms",
            "not known: no list on this computer showed the slot",
        );
    }
    let guest = [&draft.name, &draft.email, &draft.phone]
        .into_iter()
        .flatten()
        .cloned()
        .collect::<Vec<_>>();
    page.field("guest", guest.join(" · "));
    page.field_if("provider", draft.provider.as_deref());
    page.field_if(
        "payment",
        draft.vendor_payment.then_some("external payment vendor"),
    );
    page
}

/// The terms of the slot in one line: seating, price, card and cancellation.
pub(super) fn terms_line(context: &Context, draft: &BookingDraft) -> Option<String> {
    let slot = details(context, draft, draft.slot.as_ref()?);
    let parts = [
        slot.seating,
        slot.price,
        slot.card.map(|terms| terms.text),
        slot.cancellation.map(|terms| terms.text),
        slot.also,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// What the booking may cost beside its price, in one line: a card or a fee.
pub(super) fn stakes(context: &Context, draft: &BookingDraft) -> Option<String> {
    let slot = draft.slot.as_ref()?;
    let details = details(context, draft, slot);
    let card = details.card.filter(|_| SlotDetails::may_need_a_card(slot));
    let fee = details
        .cancellation
        .filter(|_| SlotDetails::may_have_a_fee(slot));
    let parts = [("card", card), ("cancellation", fee)].into_iter();
    let parts = parts.filter_map(|(name, terms)| Some(format!("{name}: {}", terms?.text)));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// That a slot has no terms although it may be a restaurant's, and those have terms (spec, Availability slot).
pub(super) fn terms_not_found(draft: &BookingDraft) -> Option<&'static str> {
    let terms = |name: &str| draft.slot.as_ref()?.value().get(name);
    draft.slot.as_ref()?;
    let remembered = draft.venue.as_ref().and_then(|it| it.remembered.as_ref());
    let vertical = remembered.and_then(|venue| venue.str("vertical"));
    let vertical = vertical.or(draft.vertical.as_deref());
    let is_found = ["card_terms", "cancellation_terms"]
        .into_iter()
        .any(|name| terms(name).is_some_and(|terms| !terms.is_null()));
    (!is_found && vertical.is_none_or(|it| it == "dining")).then_some("not found in the response")
}

fn details(context: &Context, draft: &BookingDraft, slot: &Slot) -> SlotDetails {
    SlotDetails::of(slot, terms_reader(context, draft.party_size.unwrap_or(1)))
}

pub(crate) fn show_command(context: &Context, draft: &BookingDraft) {
    if let Some(command) = draft.command(profile(context)) {
        let mut page = Page::default();
        page.line("The same booking as a command:").command(command);
        context.out.show(&page);
    }
}

/// The profile that a command has to name. The embedded sandbox needs none where no service is configured.
pub(crate) fn profile(context: &Context) -> Option<&str> {
    match context.target() {
        Target::Embedded {
            by_default: true, ..
        } => None,
        target => target.profile(),
    }
}
