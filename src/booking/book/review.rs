//! What flags leave open about a booking, and what a person sees of one before it is made.

use serde_json::Value;

use super::draft::BookingDraft;
use super::offer::{Offer, terms_reader};
use crate::app::{Api, Facts, Parts, Ui};
use crate::booking::find::locate::LocatedVenue;
use crate::booking::find::pick::or_nothing_chosen;
use crate::config::Place;
use crate::json::plain;
use crate::outcome::{Code, Error, Result};
use crate::service::documents::Slot;
use crate::service::time::text::with_own_time;
use crate::service::time::{DocumentTime, human, system_zone};
use crate::terminal::output::{Page, Tone, visible};
use crate::terminal::prompt::{PromptError, Question};
use crate::terminal::view::{SlotDetails, joined, restriction, slot_line, venue_place};

/// The slot to book, and whether it is at another time than the given one. Where several slots at
/// that time differ, or none is there, a person chooses. A script gets the first of several, with a
/// note, and `None` where there is none.
pub(crate) async fn choose<'a>(
    parts: &Parts,
    offer: &'a Offer,
    draft: &BookingDraft,
) -> Result<Option<(&'a Slot, bool)>> {
    let slots = offer.all_at_wanted(&parts.api.facts, draft.seating.as_deref());
    let can_ask = parts.ui.prompter.interactive();
    let (first, others) = match &*slots {
        [] if !can_ask || offer.slots.is_empty() => return Ok(None),
        [only] => return Ok(Some((only, false))),
        [first, others @ ..] if !can_ask || draft.is_confirmed => (*first, others),
        _ => {
            let slot = pick_slot(parts, offer, &slots, None, false).await;
            return Ok(Some((slot.map_err(or_nothing_chosen)?, slots.is_empty())));
        }
    };
    let line = |slot: &Slot| line(&parts.api.facts, offer, slot);
    let others = others.iter().map(|slot| format!("{} ({})", visible(slot.id()), line(slot)));
    parts.ui.out.note(&format!(
        "{} slots start at that time. Booking {}. For another, pass --slot ID: {}",
        slots.len(),
        line(first),
        others.collect::<Vec<_>>().join(", "),
    ));
    Ok(Some((first, false)))
}

fn line(facts: &Facts, offer: &Offer, slot: &Slot) -> String {
    visible(&slot_line(slot, offer.reader(facts))).into_owned()
}

/// Asks to pick one of the offered slots, or of these. The one that was chosen before is selected
/// first, or else the nearest to the requested time.
pub(crate) async fn pick_slot<'a>(
    parts @ Parts { ui, .. }: &Parts,
    offer: &'a Offer,
    among: &[&'a Slot],
    previous_answer: Option<&str>,
    goes_back: bool,
) -> Result<&'a Slot, PromptError> {
    let every: Vec<&Slot> = offer.slots.iter().collect();
    let slots = if among.is_empty() { &every } else { among };
    let lines = slots.iter().map(|slot| line(&parts.api.facts, offer, slot));
    let lines: Vec<String> = lines.collect();
    let wanted = human(&offer.wanted.wire());
    if !offer.is_comparable() {
        ui.out.warn(&format!(
            "the venue's time zone is not known, so {wanted} may be another time there"
        ));
    } else if offer.at_wanted().is_none() {
        ui.out.note(&format!("No slot at {wanted}. The nearest one is selected."));
    }
    let day = offer.slots.first().and_then(Slot::local);
    let day = day.map(|local| local.strftime("%a %-d %b").to_string());
    let text = format!("Which slot on {}?", day.unwrap_or_default());
    let question = Question::new(text, "--slot", "the slot").with_noun("slots").back(goes_back);
    let former = slots.iter().position(|slot| previous_answer == Some(slot.id()));
    let nearest = || (0..slots.len()).min_by_key(|row| offer.distance(slots[*row]));
    let selected = former.or_else(nearest).unwrap_or(0);
    let picked = ui.prompter.pick(&question, &lines, selected);
    Ok(slots[picked.await?])
}

/// Shows a person what is about to be booked. Where that is real, needs a card, or is at another
/// time than the given one, the whole of it is shown, and asked about; else the terms are, in one
/// line. A script gets a card and a fee.
pub(crate) async fn review(
    parts @ Parts { api, ui, .. }: &Parts,
    draft: &BookingDraft,
    datetime: &Value,
    is_another_time: bool,
) -> Result<()> {
    let slot = draft.slot.as_ref();
    let details = slot.map(|slot| details(&api.facts, draft, slot));
    let limits = limits(&api.facts, draft);
    if !ui.prompter.interactive() {
        let none = details.as_ref().and_then(|it| terms_not_found(draft, it));
        let stakes = |(slot, it)| stakes(slot, it, limits);
        if let Some(stakes) = slot.zip(details).and_then(stakes) {
            ui.out.warn(&visible(&stakes));
        } else if let Some(none) = none {
            ui.out.note(&format!("Terms: {none}."));
        }
        return Ok(());
    }
    if !is_another_time && !has_consequences(api, draft).await {
        let terms = details.and_then(|it| {
            let (card, fee) = (it.card.map(|it| it.text), it.cancellation.map(|it| it.text));
            joined([it.seating, it.price, card, fee, it.also, limits])
        });
        if let Some(terms) = terms {
            ui.out.note(&format!("Terms: {}", visible(&terms)));
        }
        return Ok(());
    }
    let is_confirmed = is_confirmed(parts, draft, Some(datetime), false, false).await?;
    is_confirmed.then_some(()).ok_or_else(declined)
}

/// Shows what is about to be booked, and asks for the confirmation if it was not given before.
/// `default` is what Enter alone stands for.
pub(crate) async fn is_confirmed(
    parts @ Parts { ui, .. }: &Parts,
    draft: &BookingDraft,
    datetime: Option<&Value>,
    default: bool,
    goes_back: bool,
) -> Result<bool, PromptError> {
    // Without it, the question cannot be answered.
    if !draft.is_confirmed || !ui.out.quiet {
        ui.out.show(&summary(&parts.api.facts, draft, datetime));
    }
    let esc = if goes_back { ", Esc goes back" } else { "" };
    let question = Question::new("Book it?", "--yes", "the confirmation")
        .back(goes_back)
        .hint(format!("yes books it, no ends{esc}"));
    Ok(draft.is_confirmed || ui.prompter.confirm(&question, default).await?)
}

/// Whether the booking is a real one, or needs a card.
pub(crate) async fn has_consequences(api: &Api, draft: &BookingDraft) -> bool {
    draft.slot.as_ref().is_some_and(SlotDetails::may_need_a_card) || !api.is_sandbox().await
}

/// What is about to be booked. `datetime` is the time that is sent, where the slot does not say it.
fn summary(facts: &Facts, draft: &BookingDraft, datetime: Option<&Value>) -> Page {
    let mut page = Page::default();
    let venue = draft.venue.as_ref().map(LocatedVenue::name);
    page.heading(Tone::Strong, "booking", venue.unwrap_or_default());
    page.field_if("where", draft.remembered().and_then(venue_place));
    let time = datetime.cloned().or(draft.slot.as_ref().map(Slot::datetime_value));
    let when = time.map(|when| match DocumentTime::read(&when) {
        Some(time) => with_own_time(&time, &system_zone()),
        None => plain(&when),
    });
    page.field_if("when", when);
    let slot = draft.slot.as_ref();
    let slot = slot.map(|slot| details(facts, draft, slot));
    page.field_if("duration", slot.as_ref().and_then(SlotDetails::duration));
    let options = &draft.options;
    page.field_if("party", options.party.map(|party| party.to_string()));
    if let Some(slot) = slot {
        let none = terms_not_found(draft, &slot);
        page.field_if("seating", slot.seating);
        page.field_if("price", slot.price);
        page.field_if("card", slot.card.map(|terms| terms.text));
        page.field_if("cancellation", slot.cancellation.map(|terms| terms.text));
        page.field_if("also", slot.also);
        page.field_if("terms", none);
    } else if datetime.is_some() {
        page.field("terms", "not known: no list on this computer showed the slot");
    }
    let guest = [&options.name, &options.email, &options.phone].into_iter();
    let guest: Vec<&str> = guest.flatten().map(String::as_str).collect();
    page.field("guest", guest.join(" · "));
    let provider = options.provider.as_deref();
    page.field_if("provider", provider);
    page.field_if("note", limits(facts, draft));
    let payment = options.payment.as_ref().map(|_| "external payment vendor");
    page.field_if("payment", payment);
    page
}

/// What bookctl cannot do with the booking once it is made, if that is known.
fn limits(facts: &Facts, draft: &BookingDraft) -> Option<String> {
    let (dialect, venue) = (facts.dialect(), draft.remembered());
    restriction(draft.options.provider.as_deref()?, venue, dialect, facts.certainty())
}

fn details(facts: &Facts, draft: &BookingDraft, slot: &Slot) -> SlotDetails {
    SlotDetails::from_slot(slot, terms_reader(facts, draft.options.party.unwrap_or(1)))
}

/// The card and the fee of a slot, for a script.
pub(crate) fn costs(facts: &Facts, slot: &Slot, party: u32) -> Option<String> {
    stakes(slot, SlotDetails::from_slot(slot, terms_reader(facts, party)), None)
}

/// What the booking may cost beside its price, that it can never be changed, and what is not
/// understood, in one line.
fn stakes(slot: &Slot, details: SlotDetails, limits: Option<String>) -> Option<String> {
    let card = details.card.filter(|_| SlotDetails::may_need_a_card(slot));
    let fee = details.cancellation.filter(|_| SlotDetails::may_have_a_fee(slot));
    joined([
        card.map(|it| format!("card: {}", it.text)),
        fee.map(|it| format!("cancellation: {}", it.text)),
        details.also.map(|it| format!("the slot shows: {it}")),
        limits,
    ])
}

/// That a slot has no terms although it may be a restaurant's, and those have terms (spec,
/// Availability slot). What is not understood may be the terms.
fn terms_not_found(draft: &BookingDraft, slot: &SlotDetails) -> Option<&'static str> {
    let vertical = draft.remembered().and_then(|venue| venue.str("vertical"));
    let vertical = vertical.or(draft.vertical.as_deref());
    let is_nothing = slot.card.is_none() && slot.cancellation.is_none() && slot.also.is_none();
    (is_nothing && vertical.is_none_or(|it| it == "dining")).then_some("not found in the response")
}

pub(crate) fn show_command(facts: &Facts, ui: &Ui, draft: &BookingDraft) {
    if let Some(command) = draft.command(profile(facts)) {
        let mut page = Page::default();
        page.line("The same booking as a command:").command(command);
        ui.out.show(&page);
    }
}

/// The profile that a command has to name. The sandbox needs none where no service is configured.
pub(crate) fn profile(facts: &Facts) -> Option<&str> {
    let target = facts.target();
    let is_named = !matches!(target.place, Place::Sandbox { by_default: true, .. });
    is_named.then(|| target.profile())?
}

pub(crate) fn declined() -> Error {
    Error::new(Code::Declined, "Nothing was booked.")
}
