//! The questions of the guided booking in detail: when one is asked, and what its answer changes.

use super::lookup::{is_of_the_place, query, scenario_venue};
use super::questions::{
    Manner, ask_email, ask_name, ask_party, ask_phone, ask_place, ask_provider, ask_slot, ask_time,
    ask_to_book, ask_venue, ask_vertical,
};
use super::summary::summary;
use crate::app::Context;
use crate::client::{SearchLocation, VenueQuery};
use crate::flows::booking_draft::BookingDraft;
use crate::flows::locate::LocatedVenue;
use crate::flows::offer::{More, ZoneSource, offered, resolve};
use crate::flows::pages::DEFAULT_LIMIT;
use crate::flows::venues::find_venues;
use crate::model::venue::Venue;
use crate::model::when::{Moment, When};
use crate::model::zone::system_zone;
use crate::outcome::{Code, Error, Exit, Result};
use crate::recent::Shown;
use crate::terminal::prompt::Place;
use crate::terminal::view::SlotDetails;

/// The four verticals (spec, What the service does).
pub(crate) const VERTICALS: [&str; 4] = ["dining", "fitness", "entertainment", "travel"];

/// The questions, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Vertical,
    Place,
    Time,
    Party,
    Venue,
    Provider,
    Slot,
    Name,
    Email,
    Phone,
    Confirmation,
}

pub(super) enum Went {
    Asked,
    Known,
    Back,
    /// What an earlier question was answered with turned out to be wrong.
    To(Step),
}

/// The answers that flags gave, which are not asked for.
struct Given {
    venue: bool,
    vertical: bool,
    place: bool,
    at: bool,
    party: bool,
    provider: Option<String>,
    slot: bool,
    name: bool,
    email: bool,
    phone: bool,
}

pub(super) struct Walk<'a> {
    context: &'a Context,
    draft: &'a mut BookingDraft,
    given: Given,
    is_sandbox: bool,
    /// The questions that were asked, to go back to, and where each of them stands.
    pub(super) asked: Vec<(Step, Place)>,
    at: Option<When>,
    /// The time as it was typed.
    time: Option<String>,
}

impl<'a> Walk<'a> {
    pub(super) async fn begin(context: &'a Context, draft: &'a mut BookingDraft) -> Self {
        let given = Given {
            venue: draft.venue.is_some(),
            vertical: draft.vertical.is_some(),
            place: draft.place.is_some(),
            at: draft.at.is_some(),
            party: draft.party_size.is_some(),
            provider: draft.provider.clone(),
            slot: draft.slot.is_some() || draft.slot_id.is_some(),
            name: draft.name.is_some(),
            email: draft.email.is_some(),
            phone: draft.phone.is_some(),
        };
        let mut walk = Walk {
            context,
            at: draft.at.clone(),
            draft,
            given,
            is_sandbox: context.is_sandbox().await,
            asked: Vec::new(),
            time: None,
        };
        walk.learn_venue().await;
        walk
    }

    pub(super) async fn take(&mut self, step: Step) -> Result<Went> {
        match step {
            Step::Vertical => self.vertical().await,
            Step::Place => self.place().await,
            Step::Time => self.time().await,
            Step::Party => self.party().await,
            Step::Venue => self.venue().await,
            Step::Provider => self.provider().await,
            Step::Slot => self.slot().await,
            Step::Name => self.name().await,
            Step::Email => self.email().await,
            Step::Phone => self.phone().await,
            Step::Confirmation => self.confirmation().await,
        }
    }

    fn manner(&self, former: Option<String>) -> Manner {
        Manner {
            goes_back: !self.asked.is_empty(),
            former,
        }
    }

    /// Looks up the name of a sandbox's scenario venue that no search has shown yet. A service has no call for it.
    async fn learn_venue(&mut self) {
        let Some(venue) = self.draft.venue.as_mut() else {
            return;
        };
        if !self.is_sandbox || venue.remembered.is_some() {
            return;
        }
        venue.remembered = scenario_venue(self.context, &venue.id).await;
    }

    async fn vertical(&mut self) -> Result<Went> {
        if self.given.venue || self.given.vertical {
            return Ok(Went::Known);
        }
        let manner = self.manner(self.draft.vertical.clone());
        let Some(row) = ask_vertical(self.context, manner, &VERTICALS).await? else {
            return Ok(Went::Back);
        };
        self.draft.vertical = Some(VERTICALS[row].to_owned());
        Ok(Went::Asked)
    }

    /// Asks for the place until the service knows it.
    async fn place(&mut self) -> Result<Went> {
        if self.given.venue {
            return Ok(Went::Known);
        }
        let mut asked = false;
        loop {
            if !self.given.place {
                let former = match &self.draft.place {
                    Some(SearchLocation::Near(place)) => Some(place.clone()),
                    _ => None,
                };
                let manner = self.manner(former);
                match ask_place(self.context, manner, self.is_sandbox).await? {
                    Some(place) => self.draft.place = Some(SearchLocation::Near(place)),
                    None => return Ok(Went::Back),
                }
                asked = true;
            }
            match self.unknown_place().await? {
                Some(error) => self.context.out.warn(&error.message),
                None if asked => return Ok(Went::Asked),
                None => return Ok(Went::Known),
            }
            self.given.place = false;
        }
    }

    /// The service's refusal of the place. All else that a search may be refused for is left to the search itself.
    async fn unknown_place(&self) -> Result<Option<Error>> {
        let now = Moment::zulu(self.context.now()?);
        let moment = self.moment().unwrap_or(now);
        match self.search(&moment).await {
            Err(error) if error.exit == Exit::Invalid && is_of_the_place(&error) => Ok(Some(error)),
            Err(error) if error.exit == Exit::Interrupted => Err(error),
            _ => Ok(None),
        }
    }

    async fn time(&mut self) -> Result<Went> {
        if self.given.at || self.draft.slot.is_some() && self.given.slot {
            return Ok(Went::Known);
        }
        let manner = self.manner(self.time.clone());
        let Some((when, text)) = ask_time(self.context, manner).await? else {
            return Ok(Went::Back);
        };
        (self.at, self.time) = (Some(when), Some(text));
        Ok(Went::Asked)
    }

    async fn party(&mut self) -> Result<Went> {
        if self.given.party {
            return Ok(Went::Known);
        }
        let manner = self.manner(self.draft.party_size.map(|party| party.to_string()));
        let Some(party) = ask_party(self.context, manner).await? else {
            return Ok(Went::Back);
        };
        self.draft.party_size = Some(party);
        Ok(Went::Asked)
    }

    async fn venue(&mut self) -> Result<Went> {
        if self.given.venue {
            return Ok(Went::Known);
        }
        let found = match self.moment() {
            Ok(moment) => self.search(&moment).await,
            Err(error) => Err(error),
        };
        let venues = match found {
            Ok(venues) => venues,
            Err(error) if matches!(error.exit, Exit::Invalid | Exit::Providers) => {
                self.context.out.warn(&error.message);
                return Ok(self.ask_again(refused_answer(&error).unwrap_or(Step::Place)));
            }
            Err(error) if error.exit == Exit::Usage => {
                self.context.out.warn(&error.message);
                return Ok(self.ask_again(Step::Time));
            }
            Err(error) => return Err(error),
        };
        if venues.is_empty() {
            let vertical = self.draft.vertical.as_deref().unwrap_or_default();
            self.context.out.note(&format!(
                "No {vertical} venues found there. Try another place."
            ));
            return Ok(self.ask_again(Step::Place));
        }
        let manner = self.manner(self.draft.venue.as_ref().map(|venue| venue.id.clone()));
        let Some(row) = ask_venue(self.context, manner, &venues).await? else {
            return Ok(Went::Back);
        };
        self.draft.provider = self.given.provider.clone();
        self.draft.venue = venues.into_iter().nth(row).map(|venue| LocatedVenue {
            id: venue.id().to_owned(),
            remembered: Some(venue),
        });
        Ok(Went::Asked)
    }

    /// Leads back to a question whose answer was not usable, even if a flag gave it.
    fn ask_again(&mut self, step: Step) -> Went {
        match step {
            Step::Time => self.given.at = false,
            Step::Party => self.given.party = false,
            _ => self.given.place = false,
        }
        Went::To(step)
    }

    fn moment(&self) -> Result<Moment> {
        let zone = self.draft.zone.clone().unwrap_or_else(system_zone);
        let when = self.at.as_ref();
        let when = when.ok_or_else(|| Error::usage("no time given"))?;
        resolve(when, self.context.now()?, &zone)
    }

    async fn search(&self, moment: &Moment) -> Result<Vec<Venue>> {
        let place = self.draft.place.clone();
        let place = place.ok_or_else(|| Error::usage("no place given"))?;
        let vertical = self.draft.vertical.as_deref().unwrap_or_default();
        let query = VenueQuery {
            party_size: self.draft.party_size,
            providers: self.given.provider.clone().into_iter().collect(),
            ..query(self.context, vertical, place, moment)
        };
        find_venues(self.context, &query, DEFAULT_LIMIT, Shown::No)
            .await
            .map(|pages| pages.items)
    }

    /// Asks for the provider at a venue that has several, because one of them must be named (spec, Booking: provider).
    async fn provider(&mut self) -> Result<Went> {
        let venue = self.draft.venue.as_ref();
        let venue = venue.and_then(|venue| venue.remembered.as_ref());
        let providers = venue.map(Venue::providers).unwrap_or_default();
        if self.given.slot || self.given.provider.is_some() || providers.len() < 2 {
            return Ok(Went::Known);
        }
        let manner = self.manner(self.draft.provider.clone());
        let Some(row) = ask_provider(self.context, manner, &providers).await? else {
            return Ok(Went::Back);
        };
        self.draft.provider = Some(providers[row].to_owned());
        Ok(Went::Asked)
    }

    async fn slot(&mut self) -> Result<Went> {
        if self.given.slot {
            // A slot that no list has shown is booked at the time that was given.
            if self.draft.slot.is_none() {
                self.draft.at = self.at.clone();
            }
            return Ok(Went::Known);
        }
        let (Some(venue), Some(when)) = (&self.draft.venue, &self.at) else {
            return Err(Error::usage("no venue or no time given"));
        };
        let zone_source = ZoneSource::of(venue.remembered.as_ref(), self.draft.zone.as_ref());
        let party = self.draft.party_size.unwrap_or(1);
        let provider = self.draft.provider.as_deref();
        let more = More::default();
        let offer = offered(
            self.context,
            venue,
            when,
            &zone_source,
            party,
            provider,
            more,
        )
        .await;
        let offer = match offer {
            Ok(offer) => offer,
            Err(error) if matches!(error.exit, Exit::Usage | Exit::Invalid) => {
                self.context.out.warn(&error.message);
                return Ok(self.ask_again(refused_answer(&error).unwrap_or(Step::Time)));
            }
            Err(error) => return Err(error),
        };
        if offer.slots.is_empty() {
            self.context.out.note(&format!(
                "No slots found at {} on that day. Try another day.",
                venue.name()
            ));
            return Ok(self.ask_again(Step::Time));
        }
        // If the time from the flags is offered, the slot is not asked for.
        let rows = match self.given.at {
            true => offer.rows_at_wanted(self.context),
            false => Vec::new(),
        };
        let (row, is_known) = match rows.as_slice() {
            [only] => (*only, true),
            rows => {
                let shown = match rows {
                    [] => offer.clone(),
                    rows => offer.only(rows),
                };
                let former = self.draft.slot.as_ref().map(|slot| slot.id().to_owned());
                let zone = venue.remembered.as_ref();
                let zone = zone.and_then(|venue| venue.str("timezone"));
                match ask_slot(self.context, self.manner(former), &shown, zone).await? {
                    Some(row) => (rows.get(row).copied().unwrap_or(row), false),
                    None => return Ok(Went::Back),
                }
            }
        };
        offer.remember(self.context, Shown::No);
        self.draft.choose(&offer, row);
        Ok(if is_known { Went::Known } else { Went::Asked })
    }

    async fn name(&mut self) -> Result<Went> {
        if self.given.name {
            return Ok(Went::Known);
        }
        let provider = self.draft.provider.as_deref();
        let needs_both = provider == Some(self.context.dialect().provider_a.as_str());
        let manner = self.manner(self.draft.name.clone());
        let Some(name) = ask_name(self.context, manner, needs_both).await? else {
            return Ok(Went::Back);
        };
        self.draft.name = Some(name);
        Ok(Went::Asked)
    }

    async fn email(&mut self) -> Result<Went> {
        if self.given.name || self.given.email {
            return Ok(Went::Known);
        }
        let manner = self.manner(self.draft.email.clone());
        let Some(email) = ask_email(self.context, manner).await? else {
            return Ok(Went::Back);
        };
        self.draft.email = email;
        Ok(Went::Asked)
    }

    async fn phone(&mut self) -> Result<Went> {
        if self.given.name || self.given.phone {
            return Ok(Went::Known);
        }
        let manner = self.manner(self.draft.phone.clone());
        let Some(phone) = ask_phone(self.context, manner).await? else {
            return Ok(Went::Back);
        };
        self.draft.phone = phone;
        Ok(Went::Asked)
    }

    async fn confirmation(&mut self) -> Result<Went> {
        let (context, draft) = (self.context, &*self.draft);
        context.out.show(&summary(context, draft, None));
        if !draft.goes_ahead {
            let has_consequences = has_consequences(self.is_sandbox, draft);
            match ask_to_book(context, !self.asked.is_empty(), has_consequences).await? {
                Some(true) => {}
                Some(false) => return Err(declined()),
                None => return Ok(Went::Back),
            }
        }
        Ok(Went::Known)
    }
}

/// The question whose answer the service refused, if it names a field that one of them fills.
fn refused_answer(error: &Error) -> Option<Step> {
    let fields = error.body.as_ref()?.value().get("fields")?;
    fields.get("party_size").map(|_| Step::Party)
}

pub(super) fn declined() -> Error {
    Error::new(Code::Declined, "Nothing was booked.")
}

/// Whether the booking is a real one, or needs a card.
pub(super) fn has_consequences(is_sandbox: bool, draft: &BookingDraft) -> bool {
    !is_sandbox
        || draft
            .slot
            .as_ref()
            .is_some_and(SlotDetails::may_need_a_card)
}
