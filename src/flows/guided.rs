//! The guided booking: asks for everything that flags have not set.

use serde_json::Map;

use super::booking_draft::BookingDraft;
use super::locate::LocatedVenue;
use super::offer::{More, Offer, ZoneSource, offered, resolve};
use super::pages::DEFAULT_LIMIT;
use super::venues::find_venues;
use crate::app::Context;
use crate::client::{SearchLocation, VenueQuery};
use crate::journal::Shown;
use crate::model::certainty::Certainty;
use crate::model::document_time::as_text;
use crate::model::slot::Slot;
use crate::model::time_text::{human, with_own_time};
use crate::model::venue::Venue;
use crate::model::when::When;
use crate::model::zone::system_zone;
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::{Page, Tone, visible};
use crate::terminal::prompt::Question;
use crate::terminal::view::{SlotDetails, slot_line, venue_line};

/// The four verticals (spec, What the service does).
pub(crate) const VERTICALS: [&str; 4] = ["dining", "fitness", "entertainment", "travel"];

/// Asks for everything that `draft` lacks, shows a summary, and asks for confirmation.
pub(crate) async fn guide(context: &Context, draft: &mut BookingDraft) -> Result<()> {
    // Notes about the service (such as the embedded sandbox) come before the first question.
    context.client()?;
    let time_is_flagged = draft.at.is_some();
    if draft.venue.is_none() {
        pick_venue(context, draft).await?;
    }
    if draft.slot.is_none() && draft.slot_id.is_none() {
        pick_slot(context, draft, time_is_flagged).await?;
    }
    if draft.party_size.is_none() {
        draft.party_size = Some(ask_party(context).await?);
    }
    if draft.name.is_none() {
        let question = Question::new(
            "Guest's name (first and last)",
            "--name",
            "the guest's name",
        );
        draft.name = Some(ask_line(context, &question, "the guest's name is required").await?);
        if draft.email.is_none() {
            draft.email = ask_optional(context, "Guest's email (optional)", "--email").await?;
        }
        if draft.phone.is_none() {
            draft.phone = ask_optional(context, "Guest's phone (optional)", "--phone").await?;
        }
    }
    context.out.show(&summary(draft, context.certainty()));
    let question = Question::new("Book it?", "--yes", "the confirmation");
    if draft.goes_ahead || context.prompter.confirm(&question, true).await? {
        Ok(())
    } else {
        Err(Error::new(Code::Declined, "Nothing was booked."))
    }
}

async fn pick_venue(context: &Context, draft: &mut BookingDraft) -> Result<()> {
    let question = Question::new("What would you like to book?", "VENUE", "the venue");
    let vertical = VERTICALS[context.prompter.choose(&question, &VERTICALS).await?];
    loop {
        let place = ask_line(
            context,
            &Question::new("Where? (city or district)", "VENUE", "the venue"),
            "enter a place",
        )
        .await?;
        if draft.at.is_none() {
            draft.at = Some(ask_time(context).await?);
        }
        if draft.party_size.is_none() {
            draft.party_size = Some(ask_party(context).await?);
        }
        let venues = match search(context, draft, vertical, place).await {
            Ok(venues) => venues,
            Err(error) if matches!(error.exit, Exit::Invalid | Exit::Providers) => {
                say(context, &error);
                continue;
            }
            Err(error) if error.exit == Exit::Usage => {
                say(context, &error);
                draft.at = None;
                continue;
            }
            Err(error) => return Err(error),
        };
        if venues.is_empty() {
            context.out.note(&format!(
                "No {vertical} venues found there. Try another place."
            ));
            continue;
        }
        let rows: Vec<String> = venues
            .iter()
            .map(|venue| visible(&venue_line(venue)).into_owned())
            .collect();
        let row = context
            .prompter
            .pick(
                &Question::new("Which venue?", "VENUE", "the venue"),
                None,
                &rows,
                0,
            )
            .await?;
        let venue = venues[row].clone();
        draft.venue = Some(LocatedVenue {
            id: venue.id().to_owned(),
            remembered: Some(venue),
        });
        return Ok(());
    }
}

async fn search(
    context: &Context,
    draft: &BookingDraft,
    vertical: &str,
    place: String,
) -> Result<Vec<Venue>> {
    let zone = draft.zone.clone().unwrap_or_else(system_zone);
    let moment = match &draft.at {
        Some(when) => resolve(when, context.now()?, &zone)?,
        None => return Err(Error::usage("no time given")),
    };
    let query = VenueQuery {
        vertical: vertical.to_owned(),
        place: SearchLocation::Near(place),
        datetime: context.adapter().wire_time(&moment),
        party_size: draft.party_size,
        providers: draft.provider.clone().into_iter().collect(),
        fields: Map::new(),
        page: None,
    };
    find_venues(context, &query, DEFAULT_LIMIT, Shown::No)
        .await
        .map(|pages| pages.items)
}

async fn pick_slot(
    context: &Context,
    draft: &mut BookingDraft,
    time_is_flagged: bool,
) -> Result<()> {
    if draft.party_size.is_none() {
        draft.party_size = Some(ask_party(context).await?);
    }
    ask_provider(context, draft).await?;
    // If the time from the flags is offered, it is not asked for again.
    let mut from_flags = time_is_flagged;
    loop {
        let when = match draft.at.take() {
            Some(when) => when,
            None => {
                from_flags = false;
                ask_time(context).await?
            }
        };
        let Some(venue) = &draft.venue else {
            return Err(Error::usage("no venue given"));
        };
        let zone_source = ZoneSource::of(venue.remembered.as_ref(), draft.zone.as_ref());
        let party = draft.party_size.unwrap_or(1);
        let offer = match offered(
            context,
            venue,
            &when,
            &zone_source,
            party,
            draft.provider.as_deref(),
            More::default(),
        )
        .await
        {
            Ok(offer) => offer,
            Err(error) if matches!(error.exit, Exit::Usage | Exit::Invalid) => {
                say(context, &error);
                continue;
            }
            Err(error) => return Err(error),
        };
        if offer.slots.is_empty() {
            context.out.note(&format!(
                "No slots found at {} on that day. Try another day.",
                venue.name()
            ));
            continue;
        }
        let taken = offer.at_wanted().cloned().filter(|_| from_flags);
        let slot = match taken {
            Some(slot) => slot,
            None => choose_slot(context, &offer).await?,
        };
        offer.remember(context, Shown::No);
        draft.provider = draft.provider.take().or(offer.provider);
        draft.slot = Some(slot);
        return Ok(());
    }
}

/// Lets the person choose one of the offered slots. The slot nearest to the requested time is selected first.
pub(crate) async fn choose_slot(context: &Context, offer: &Offer) -> Result<Slot> {
    let rows: Vec<String> = offer
        .slots
        .iter()
        .map(|slot| visible(&slot_line(slot, context.certainty())).into_owned())
        .collect();
    if offer.at_wanted().is_none() {
        let wanted = human(&offer.wanted.wire());
        context.out.note(&format!(
            "No slot at {wanted}. The nearest one is selected."
        ));
    }
    let day = offer
        .slots
        .first()
        .and_then(Slot::local)
        .map(|local| local.strftime("%a %-d %b").to_string());
    let question = Question::new(
        format!("Which slot on {}?", day.unwrap_or_default()),
        "--slot",
        "the slot",
    );
    let row = context
        .prompter
        .pick(&question, None, &rows, offer.nearest_row())
        .await?;
    Ok(offer.slots[row].clone())
}

/// Asks for the provider at a venue that has several, because one of them must be named (spec, Booking: provider).
async fn ask_provider(context: &Context, draft: &mut BookingDraft) -> Result<()> {
    let venue = draft
        .venue
        .as_ref()
        .and_then(|venue| venue.remembered.as_ref());
    let providers: Vec<String> = venue
        .map(Venue::providers)
        .unwrap_or_default()
        .into_iter()
        .map(str::to_owned)
        .collect();
    if draft.provider.is_none() && providers.len() > 1 {
        let rows: Vec<&str> = providers.iter().map(String::as_str).collect();
        let row = context
            .prompter
            .choose(
                &Question::new("Which provider?", "--provider", "the provider"),
                &rows,
            )
            .await?;
        draft.provider = Some(providers[row].clone());
    }
    Ok(())
}

async fn ask_time(context: &Context) -> Result<When> {
    let check = |text: &str| {
        When::parse(text)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let question = Question::new("When? (e.g. tomorrow 19:30)", "--at", "the time");
    let text = context.prompter.text(&question, None, &check).await?;
    When::parse(&text).map_err(|error| Error::usage(error.to_string()))
}

async fn ask_party(context: &Context) -> Result<u32> {
    let check = |text: &str| crate::model::party::parse(text).map(drop);
    let text = context
        .prompter
        .text(
            &Question::new("How many people?", "--party", "the party size"),
            Some("2"),
            &check,
        )
        .await?;
    crate::model::party::parse(&text).map_err(Error::usage)
}

async fn ask_line(context: &Context, question: &Question, why: &str) -> Result<String> {
    let check = |text: &str| {
        if text.trim().is_empty() {
            Err(why.to_owned())
        } else {
            Ok(())
        }
    };
    Ok(context
        .prompter
        .text(question, None, &check)
        .await?
        .trim()
        .to_owned())
}

async fn ask_optional(
    context: &Context,
    question: &str,
    flag: &'static str,
) -> Result<Option<String>> {
    let text = context
        .prompter
        .text(&Question::new(question, flag, "an answer"), None, &|_| {
            Ok(())
        })
        .await?;
    let text = text.trim().to_owned();
    Ok((!text.is_empty()).then_some(text))
}

fn say(context: &Context, error: &Error) {
    context.out.warn(&error.message);
}

fn summary(draft: &BookingDraft, certainty: Certainty) -> Page {
    let mut page = Page::default();
    let venue = draft.venue.as_ref();
    page.heading(
        Tone::Strong,
        "booking",
        venue.map(LocatedVenue::name).unwrap_or_default(),
    );
    let slot = draft.slot.as_ref();
    let when = slot.map(|slot| with_own_time(&as_text(&slot.datetime_value()), &system_zone()));
    page.field_if("when", when);
    page.field_if("party", draft.party_size.map(|party| party.to_string()));
    if let Some(slot) = slot.map(|slot| SlotDetails::of(slot, certainty)) {
        page.field_if("seating", slot.seating);
        page.field_if("price", slot.price);
        page.field_if("card", slot.card.map(|terms| terms.text));
        page.field_if("cancellation", slot.cancellation.map(|terms| terms.text));
        page.field_if("also", slot.also);
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
