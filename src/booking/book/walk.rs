//! The guided booking: venue, time, slot, guest, confirmation. It asks for everything that flags
//! have not set, one question after the other. Esc and Shift-Tab lead back to the question before,
//! with its answer filled in.

use serde_json::Map;

use super::draft::BookingDraft;
use super::offer::resolve;
use super::review::{declined, has_consequences, is_confirmed, pick_slot};
use crate::app::Parts;
use crate::app::pages::{DEFAULT_LIMIT, find_venues};
use crate::booking::find::locate::LocatedVenue;
use crate::json::Document;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::{Call, SearchLocation, SearchQuery, VenueWish};
use crate::service::documents::{Venue, contact};
use crate::service::mapping::WriteKind;
use crate::service::time::{When, system_zone};
use crate::terminal::prompt::{PromptError, Question};
use crate::terminal::view::venue_line;

/// The four verticals (spec, What the service does).
pub(crate) const VERTICALS: [&str; 4] = ["dining", "fitness", "entertainment", "travel"];

/// The places of a sandbox, that of the scenario venues first.
const SANDBOX_PLACES: [&str; 6] = ["Sandbox", "London", "Paris", "New York", "Tokyo", "Sydney"];

const NEEDS_BOTH: &str = "this venue needs a first and a last name";

/// The questions, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WalkStep {
    Vertical,
    Place,
    Time,
    Party,
    Venues,
    Provider,
    Slot,
    Name,
    Email,
    Phone,
    Confirm,
}

use WalkStep::{Confirm, Email, Name, Party, Phone, Place, Provider, Slot, Time, Venues, Vertical};

const STEPS: [WalkStep; 11] =
    [Vertical, Place, Time, Party, Venues, Provider, Slot, Name, Email, Phone, Confirm];

/// What the service refused, so that it is asked for again.
#[derive(Clone, Copy)]
pub(crate) enum Refused<'a> {
    Name(&'a Error),
    Slot,
}

/// Asks for everything that `draft` lacks, shows a summary, and asks for confirmation.
pub(crate) async fn guide(
    parts @ Parts { api, ui, .. }: &Parts,
    draft: &mut BookingDraft,
    refused: Option<Refused<'_>>,
) -> Result<()> {
    let refused_name = if let Some(Refused::Name(error)) = refused { Some(error) } else { None };
    // Notes about the service (such as the sandbox) come before the first question.
    api.client()?;
    // A service that is down or refuses the key is known before the first question.
    if api.facts.target().service().is_some()
        && let Err(error) = api.read(Call::get("/v1/")).await
    {
        let is_down = error.code == Code::Network || error.code == Code::Timeout;
        if is_down || matches!(error.exit, Exit::Unauthorized | Exit::NotAllowed) {
            return Err(error);
        }
    }
    let mut walk = Wizard {
        parts,
        flags: draft.clone(),
        knows_guest: draft.options.name.is_some(),
        needs_both: refused_name.is_some_and(|error| error.code == Code::MissingLastName),
        at: draft.at.clone(),
        draft,
        is_sandbox: api.is_sandbox().await,
        requested: Vec::new(),
        again: None,
        time: None,
        chooses_slot: matches!(refused, Some(Refused::Slot)),
    };
    if let Some(error) = refused_name {
        walk.flags.options.name = None;
        let why = if walk.needs_both { NEEDS_BOTH } else { &error.message };
        ui.out.warn(why);
    }
    let mut next = 0;
    loop {
        let again = walk.again.take();
        let Some(step) = again.or(STEPS.get(next).copied()) else {
            return Ok(());
        };
        match walk.ask(step).await {
            Err(PromptError::Back) => {
                next = walk.requested.pop().ok_or_else(declined)? as usize;
                ui.prompter.announce_back();
            }
            was_asked => {
                let was_asked = was_asked?;
                // An answer that was wrong is asked for first, and what it was wrong for after it.
                if again.is_none() && walk.again.is_none() {
                    walk.requested.extend(was_asked.then_some(step));
                    next += 1;
                }
            }
        }
    }
}

struct Wizard<'a> {
    parts: &'a Parts,
    draft: &'a mut BookingDraft,
    /// What flags gave, which is not asked for.
    flags: BookingDraft,
    /// Whether the guest was known before the first question. Then the contact is, too.
    knows_guest: bool,
    /// Whether the service has refused a name of one word.
    needs_both: bool,
    is_sandbox: bool,
    /// The questions that were asked, to go back to.
    requested: Vec<WalkStep>,
    /// The question whose answer turned out to be wrong.
    again: Option<WalkStep>,
    at: Option<When>,
    /// The time as it was typed.
    time: Option<String>,
    /// Whether the slot is asked for even if only one is at the given time: it was refused before,
    /// and may still be listed.
    chooses_slot: bool,
}

impl Wizard<'_> {
    /// Asks one question, unless its answer is known. Returns whether it was asked.
    async fn ask(&mut self, step: WalkStep) -> Result<bool, PromptError> {
        let (flags, options) = (&self.flags, &self.flags.options);
        match step {
            Vertical if flags.venue.is_none() && flags.vertical.is_none() => {
                self.vertical().await?;
            }
            Place if flags.venue.is_none() && flags.place.is_none() => self.place().await?,
            Time if flags.at.is_none() && flags.slot.is_none() => self.time().await?,
            Party if options.party.is_none() => self.party().await?,
            Venues if flags.venue.is_none() => self.venue().await?,
            Provider
                if options.provider.is_none()
                    && !flags.has_slot()
                    && self.draft.providers().len() > 1 =>
            {
                self.provider().await?;
            }
            Slot if flags.slot.is_none() => return self.slot().await,
            Name if options.name.is_none() => self.name().await?,
            Email if !self.knows_guest && options.email.is_none() => {
                let previous_answer = self.draft.options.email.clone();
                let email = self.contact("email", "--email", previous_answer, contact::email);
                self.draft.options.email = email.await?;
            }
            Phone if !self.knows_guest && options.phone.is_none() => {
                let previous_answer = self.draft.options.phone.clone();
                let phone = self.contact("phone", "--phone", previous_answer, contact::phone);
                self.draft.options.phone = phone.await?;
            }
            Confirm => {
                let default = !has_consequences(&self.parts.api, self.draft).await;
                let goes_back = !self.requested.is_empty();
                if !is_confirmed(self.parts, self.draft, None, default, goes_back).await? {
                    return Err(declined().into());
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn question(&self, text: &str, flag: &'static str, what: &'static str) -> Question {
        Question::new(text, flag, what).back(!self.requested.is_empty())
    }

    async fn vertical(&mut self) -> Result<(), PromptError> {
        let question = self.question("What would you like to book?", "VENUE", "the venue");
        let question = question.previous_answer(self.draft.vertical.clone());
        let row = self.parts.ui.prompter.choose(&question, &VERTICALS).await?;
        self.draft.vertical = Some(VERTICALS[row].to_owned());
        Ok(())
    }

    /// A sandbox has only a few places, which are listed.
    async fn place(&mut self) -> Result<(), PromptError> {
        let prompter = &self.parts.ui.prompter;
        let check = |text: &str| not_empty(text, "enter a place");
        let previous_answer = match &self.draft.place {
            Some(SearchLocation::Near(previous_answer)) => Some(previous_answer.clone()),
            _ => None,
        };
        let question =
            |text| self.question(text, "VENUE", "the venue").previous_answer(previous_answer);
        let place = if self.is_sandbox {
            let question = question("Where?").with_noun("places of the sandbox");
            let places = SANDBOX_PLACES.map(str::to_owned);
            prompter.pick_or_type(&question, &places, &check).await?
        } else {
            let question = question("Where? (city or district)");
            prompter.text(&question, None, &check).await?
        };
        self.draft.place = Some(SearchLocation::Near(place));
        Ok(())
    }

    async fn time(&mut self) -> Result<(), PromptError> {
        let question = self.question("When? (e.g. tomorrow 19:30)", "--at", "the time");
        let question = question.previous_answer(self.time.clone());
        let check = |text: &str| When::parse(text).map(drop);
        let text = self.parts.ui.prompter.text(&question, None, &check).await?;
        self.at = When::parse(&text).ok();
        self.time = Some(text);
        Ok(())
    }

    async fn party(&mut self) -> Result<(), PromptError> {
        let previous_answer = self.draft.options.party.map(|party| party.to_string());
        let default = previous_answer.is_none().then_some("2");
        let question = self.question("How many people?", "--party", "the party size");
        let question = question.previous_answer(previous_answer);
        let check = |text: &str| contact::party(text).map(drop);
        let text = self.parts.ui.prompter.text(&question, default, &check);
        self.draft.options.party = contact::party(&text.await?).ok();
        Ok(())
    }

    async fn venue(&mut self) -> Result<(), PromptError> {
        let venues = match self.search().await {
            Err(error) if matches!(error.exit, Exit::Invalid | Exit::Providers) => {
                self.ask_again(&error, Place);
                return Ok(());
            }
            Err(error) if error.exit == Exit::Usage => {
                self.ask_again(&error, Time);
                return Ok(());
            }
            found => found?,
        };
        if venues.is_empty() {
            let vertical = self.draft.vertical.as_deref().unwrap_or_default();
            let what = format!("no {vertical} venues found there; try another place");
            self.ask_again(&Error::usage(what), Place);
            return Ok(());
        }
        let lines: Vec<String> = venues.iter().map(venue_line).collect();
        let previous_answer = self.draft.venue.as_ref().map(|venue| venue.id.as_str());
        let row = venues.iter().position(|venue| previous_answer == Some(venue.id()));
        let question = self.question("Which venue?", "VENUE", "the venue").with_noun("venues");
        let prompter = &self.parts.ui.prompter;
        let picked = prompter.pick(&question, &lines, row.unwrap_or(0));
        let venue = &venues[picked.await?];
        self.draft.options.provider = self.flags.options.provider.clone();
        self.draft.venue = Some(LocatedVenue {
            id: venue.id().to_owned(),
            remembered: Some(venue.clone()),
            displayed: None,
        });
        Ok(())
    }

    /// Leads back to the question whose answer the service refused, even if a flag gave it: the
    /// field that it names, or else `step`.
    fn ask_again(&mut self, error: &Error, step: WalkStep) {
        self.parts.ui.out.warn(&error.message);
        let party = |body: &Document| body.value().pointer("/fields/party_size").is_some();
        let names_party = error.body.as_ref().is_some_and(party);
        let step = if names_party { Party } else { step };
        match step {
            Party => self.flags.options.party = None,
            Time => self.flags.at = None,
            _ => self.flags.place = None,
        }
        self.again = Some(step);
    }

    async fn search(&self) -> Result<Vec<Venue>> {
        let (Some(place), Some(when)) = (&self.draft.place, &self.at) else {
            return Err(Error::usage("no place or no time given"));
        };
        let zone = self.draft.zone.clone().unwrap_or_else(system_zone);
        let moment = resolve(when, self.parts.api.facts.now()?, &zone)?;
        let wish = VenueWish {
            vertical: self.draft.vertical.clone().unwrap_or_default(),
            place: place.clone(),
            datetime: self.parts.api.facts.mapping().wire_time(&moment, None),
            party_size: self.draft.options.party,
            providers: self.flags.options.provider.clone().into_iter().collect(),
        };
        let query = SearchQuery::new(WriteKind::Search, &wish, Map::new());
        let found = find_venues(&self.parts.api, &self.parts.records, &query, DEFAULT_LIMIT).await;
        found.map(|pages| pages.items)
    }

    /// Asks for the provider at a venue that has several (spec, Booking: provider).
    async fn provider(&mut self) -> Result<(), PromptError> {
        let providers = self.draft.providers();
        let question = self.question("Which provider?", "--provider", "the provider");
        let question = question.previous_answer(self.draft.options.provider.clone());
        let row = self.parts.ui.prompter.choose(&question, &providers).await?;
        self.draft.options.provider = Some(providers[row].to_owned());
        Ok(())
    }

    async fn slot(&mut self) -> Result<bool, PromptError> {
        if self.flags.slot_id.is_some() {
            // A slot that no list has shown is booked at the time that was given.
            self.draft.at = self.at.clone();
            return Ok(false);
        }
        let Parts { api, records, .. } = self.parts;
        let Some(when) = &self.at else {
            return Err(Error::usage("no time given").into());
        };
        let offer = match self.draft.offer(api, when).await {
            Err(error) if matches!(error.exit, Exit::Usage | Exit::Invalid) => {
                self.ask_again(&error, Time);
                return Ok(true);
            }
            offer => offer?,
        };
        if offer.slots.is_empty() {
            let venue = offer.venue.name();
            let what = format!("no slots found at {venue} on that day; try another day");
            self.ask_again(&Error::usage(what), Time);
            return Ok(true);
        }
        // If the time from the flags is offered, the slot is not asked for.
        let mut slots = Vec::new();
        if self.flags.at.is_some() && !self.chooses_slot {
            slots = offer.all_at_wanted(&api.facts, self.draft.seating.as_deref());
        }
        let slot = if let [only] = *slots {
            only
        } else {
            let previous_answer = self.draft.slot.as_ref().map(|slot| slot.id());
            let goes_back = !self.requested.is_empty();
            pick_slot(self.parts, &offer, &slots, previous_answer, goes_back).await?
        };
        offer.remember(records);
        self.draft.choose(&offer, slot);
        Ok(slots.len() != 1)
    }

    async fn name(&mut self) -> Result<(), PromptError> {
        let provider = self.draft.options.provider.as_deref();
        let provider_a = self.parts.api.facts.dialect().provider_a.as_str();
        let needs_both = self.needs_both || provider == Some(provider_a);
        let text = "Guest's name (first and last)";
        let question = self.question(text, "--name", "the guest's name");
        let question = question.previous_answer(self.draft.options.name.clone());
        let check = |text: &str| {
            not_empty(text, "enter the guest's name")?;
            let has_both = text.split_whitespace().nth(1).is_some();
            (has_both || !needs_both).then_some(()).ok_or_else(|| NEEDS_BOTH.to_owned())
        };
        let name = self.parts.ui.prompter.text(&question, None, &check).await?;
        self.draft.options.name = Some(name);
        Ok(())
    }

    /// An email address or a phone number, which may be left empty.
    async fn contact(
        &self,
        what: &str,
        flag: &'static str,
        previous_answer: Option<String>,
        parse: fn(&str) -> Result<String, String>,
    ) -> Result<Option<String>, PromptError> {
        let question = self.question(&format!("Guest's {what} (optional)"), flag, "an answer");
        let question = question.previous_answer(previous_answer);
        let check = |text: &str| match text {
            "" => Ok(()),
            text => parse(text).map(drop),
        };
        let text = self.parts.ui.prompter.text(&question, None, &check).await?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }
}

pub(crate) fn not_empty(text: &str, why: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(why.to_owned()) } else { Ok(()) }
}
