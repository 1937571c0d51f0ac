//! The guided booking: venue, time, slot, guest, confirmation. It asks for everything that flags have not set, one question after
//! the other. Esc and Shift-Tab lead back to the question before, with its answer filled in.

use serde_json::Map;

use super::draft::{BookingDraft, Options};
use super::offer::{known_zone, offered, resolve};
use super::review::{
    ask_name, declined, has_consequences, is_confirmed, name_question, not_empty, pick_slot,
};
use crate::app::Context;
use crate::app::pages::{DEFAULT_LIMIT, find_venues};
use crate::booking::find::locate::LocatedVenue;
use crate::json::Document;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::{Call, SearchLocation, VenueQuery};
use crate::service::documents::contact;
use crate::service::documents::venue::Venue;
use crate::service::time::when::When;
use crate::service::time::zone::system_zone;
use crate::terminal::output::visible;
use crate::terminal::prompt::{PromptError, Question};
use crate::terminal::view::venue_line;

/// The four verticals (spec, What the service does).
pub(crate) const VERTICALS: [&str; 4] = ["dining", "fitness", "entertainment", "travel"];

/// The places of a sandbox, that of the scenario venues first.
const SANDBOX_PLACES: [&str; 6] = ["Sandbox", "London", "Paris", "New York", "Tokyo", "Sydney"];

/// The questions, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

const STEPS: [WalkStep; 11] = [
    Vertical, Place, Time, Party, Venues, Provider, Slot, Name, Email, Phone, Confirm,
];

/// Why a question was not answered.
enum StepExit {
    /// The person wants to return to the question before.
    Back,
    /// What an earlier question was answered with turned out to be wrong, and is asked for again.
    For(WalkStep),
    Failed(Error),
}

impl From<PromptError> for StepExit {
    fn from(error: PromptError) -> Self {
        match error {
            PromptError::Back => StepExit::Back,
            error => StepExit::Failed(error.into()),
        }
    }
}

impl From<Error> for StepExit {
    fn from(error: Error) -> Self {
        StepExit::Failed(error)
    }
}

/// Whether the question was asked, and so can be returned to.
type WasAsked = Result<bool, StepExit>;

/// Asks for everything that `draft` lacks, shows a summary, and asks for confirmation.
pub(crate) async fn guide(context: &Context, draft: &mut BookingDraft) -> Result<()> {
    // Notes about the service (such as the sandbox) come before the first question.
    context.client()?;
    know_service(context).await?;
    let mut walk = Walk {
        context,
        flags: draft.clone(),
        at: draft.at.clone(),
        draft,
        is_sandbox: context.is_sandbox().await,
        asked: Vec::new(),
        time: None,
    };
    let mut next = 0;
    // A question that is asked again, before the one that it was wrong for.
    let mut again = None;
    while let Some(step) = again.or(STEPS.get(next).copied()) {
        match walk.ask(step).await {
            Ok(_) if again.is_some() => again = None,
            Ok(was_asked) => {
                if was_asked {
                    walk.asked.push(step);
                }
                next += 1;
            }
            Err(StepExit::Back) => {
                let former = walk.asked.pop().ok_or_else(declined)?;
                context.prompter.take_back();
                (next, again) = (former as usize, None);
            }
            Err(StepExit::For(wrong)) => again = Some(wrong),
            Err(StepExit::Failed(error)) => return Err(error),
        }
    }
    Ok(())
}

/// Fails before the first question if the service is down, or refuses the key.
async fn know_service(context: &Context) -> Result<()> {
    if context.target().service().is_none() {
        return Ok(());
    }
    let asked = context.read(Call::get("/v1/")).await;
    let is_known = |error: &Error| {
        let is_down = error.code == Code::Network || error.code == Code::Timeout;
        is_down || matches!(error.exit, Exit::Unauthorized | Exit::NotAllowed)
    };
    match asked {
        Err(error) if is_known(&error) => Err(error),
        _ => Ok(()),
    }
}

struct Walk<'a> {
    context: &'a Context,
    draft: &'a mut BookingDraft,
    /// What flags gave, which is not asked for.
    flags: BookingDraft,
    is_sandbox: bool,
    /// The questions that were asked, to go back to.
    asked: Vec<WalkStep>,
    at: Option<When>,
    /// The time as it was typed.
    time: Option<String>,
}

impl Walk<'_> {
    async fn ask(&mut self, step: WalkStep) -> WasAsked {
        match step {
            Vertical => self.vertical().await,
            Place => self.place().await,
            Time => self.time().await,
            Party => self.party().await,
            Venues => self.venue().await,
            Provider => self.provider().await,
            Slot => self.slot().await,
            Name => self.name().await,
            Email => {
                self.contact("email", "--email", contact::email, |it| &mut it.email)
                    .await
            }
            Phone => {
                self.contact("phone", "--phone", contact::phone, |it| &mut it.phone)
                    .await
            }
            Confirm => self.confirmation().await,
        }
    }

    fn question(&self, text: &str, flag: &'static str, what: &'static str) -> Question {
        Question::new(text, flag, what).back(!self.asked.is_empty())
    }

    async fn vertical(&mut self) -> WasAsked {
        if self.flags.venue.is_some() || self.flags.vertical.is_some() {
            return Ok(false);
        }
        let question = self.question("What would you like to book?", "VENUE", "the venue");
        let question = question.former(self.draft.vertical.clone());
        let row = self.context.prompter.choose(&question, &VERTICALS).await?;
        self.draft.vertical = Some(VERTICALS[row].to_owned());
        Ok(true)
    }

    /// A sandbox has only a few places, which are listed.
    async fn place(&mut self) -> WasAsked {
        if self.flags.venue.is_some() || self.flags.place.is_some() {
            return Ok(false);
        }
        let prompter = &self.context.prompter;
        let check = |text: &str| not_empty(text, "enter a place");
        let former = match &self.draft.place {
            Some(SearchLocation::Near(former)) => Some(former.clone()),
            _ => None,
        };
        let question = |text| self.question(text, "VENUE", "the venue").former(former);
        let place = if self.is_sandbox {
            let question = question("Where?").of("places of the sandbox");
            let places = SANDBOX_PLACES.map(str::to_owned);
            prompter.pick_or_type(&question, &places, &check).await?
        } else {
            let question = question("Where? (city or district)");
            prompter.text(&question, None, &check).await?
        };
        self.draft.place = Some(SearchLocation::Near(place));
        Ok(true)
    }

    async fn time(&mut self) -> WasAsked {
        if self.flags.at.is_some() || self.flags.slot.is_some() {
            return Ok(false);
        }
        let question = self.question("When? (e.g. tomorrow 19:30)", "--at", "the time");
        let question = question.former(self.time.clone());
        let parse = |text: &str| When::parse(text).map_err(|error| error.to_string());
        let check = |text: &str| parse(text).map(drop);
        let text = self.context.prompter.text(&question, None, &check).await?;
        self.at = Some(parse(&text).map_err(Error::usage)?);
        self.time = Some(text);
        Ok(true)
    }

    async fn party(&mut self) -> WasAsked {
        if self.flags.options.party.is_some() {
            return Ok(false);
        }
        let former = self.draft.options.party.map(|party| party.to_string());
        let default = former.is_none().then_some("2");
        let question = self.question("How many people?", "--party", "the party size");
        let question = question.former(former);
        let check = |text: &str| contact::party(text).map(drop);
        let text = self.context.prompter.text(&question, default, &check);
        self.draft.options.party = Some(contact::party(&text.await?).map_err(Error::usage)?);
        Ok(true)
    }

    async fn venue(&mut self) -> WasAsked {
        if self.flags.venue.is_some() {
            return Ok(false);
        }
        let venues = match self.search().await {
            Err(error) if matches!(error.exit, Exit::Invalid | Exit::Providers) => {
                return Err(self.ask_again(&error, Place));
            }
            Err(error) if error.exit == Exit::Usage => {
                return Err(self.ask_again(&error, Time));
            }
            found => found?,
        };
        if venues.is_empty() {
            let vertical = self.draft.vertical.as_deref().unwrap_or_default();
            let what = format!("no {vertical} venues found there; try another place");
            return Err(self.ask_again(&Error::usage(what), Place));
        }
        let lines = venues.iter().map(venue_line);
        let lines: Vec<String> = lines.map(|line| visible(&line).into_owned()).collect();
        let former = self.draft.venue.as_ref().map(|venue| venue.id.as_str());
        let row = venues.iter().position(|venue| former == Some(venue.id()));
        let question = self.question("Which venue?", "VENUE", "the venue");
        let question = question.of("venues");
        let prompter = &self.context.prompter;
        let picked = prompter.pick(&question, &lines, row.unwrap_or(0));
        let venue = &venues[picked.await?];
        self.draft.options.provider = self.flags.options.provider.clone();
        self.draft.venue = Some(LocatedVenue {
            id: venue.id().to_owned(),
            remembered: Some(venue.clone()),
            shown: None,
        });
        Ok(true)
    }

    /// Leads back to the question whose answer the service refused, even if a flag gave it: the field that it names, or else
    /// `step`.
    fn ask_again(&mut self, error: &Error, step: WalkStep) -> StepExit {
        self.context.out.warn(&error.message);
        let party = |body: &Document| body.value().pointer("/fields/party_size").is_some();
        if error.body.as_ref().is_some_and(party) {
            self.flags.options.party = None;
            return StepExit::For(Party);
        }
        if step == Time {
            self.flags.at = None;
        } else {
            self.flags.place = None;
        }
        StepExit::For(step)
    }

    async fn search(&self) -> Result<Vec<Venue>> {
        let (Some(place), Some(when)) = (&self.draft.place, &self.at) else {
            return Err(Error::usage("no place or no time given"));
        };
        let zone = self.draft.zone.clone().unwrap_or_else(system_zone);
        let moment = resolve(when, self.context.now()?, &zone)?;
        let query = VenueQuery {
            vertical: self.draft.vertical.clone().unwrap_or_default(),
            place: place.clone(),
            datetime: self.context.adapter().wire_time(&moment, None),
            party_size: self.draft.options.party,
            providers: self.flags.options.provider.clone().into_iter().collect(),
            fields: Map::new(),
            page: None,
        };
        let found = find_venues(self.context, &query, DEFAULT_LIMIT).await;
        found.map(|pages| pages.items)
    }

    /// Asks for the provider at a venue that has several, because one of them must be named (spec, Booking: provider).
    async fn provider(&mut self) -> WasAsked {
        let has_slot = self.flags.slot.is_some() || self.flags.slot_id.is_some();
        let providers = self.draft.providers();
        if has_slot || self.flags.options.provider.is_some() || providers.len() < 2 {
            return Ok(false);
        }
        let question = self.question("Which provider?", "--provider", "the provider");
        let question = question.former(self.draft.options.provider.clone());
        let row = self.context.prompter.choose(&question, &providers).await?;
        self.draft.options.provider = Some(providers[row].to_owned());
        Ok(true)
    }

    async fn slot(&mut self) -> WasAsked {
        if self.flags.slot.is_some() {
            return Ok(false);
        }
        if self.flags.slot_id.is_some() {
            // A slot that no list has shown is booked at the time that was given.
            self.draft.at = self.at.clone();
            return Ok(false);
        }
        let context = self.context;
        let (Some(venue), Some(when)) = (&self.draft.venue, &self.at) else {
            return Err(Error::usage("no venue or no time given").into());
        };
        let zone = known_zone(self.draft.remembered(), self.draft.zone.as_ref());
        let party = self.draft.options.party.unwrap_or(1);
        let provider = self.draft.options.provider.as_deref();
        let offer = match offered(context, venue, when, zone.as_ref(), party, provider).await {
            Err(error) if matches!(error.exit, Exit::Usage | Exit::Invalid) => {
                return Err(self.ask_again(&error, Time));
            }
            offer => offer?,
        };
        if offer.slots.is_empty() {
            let venue = venue.name();
            let what = format!("no slots found at {venue} on that day; try another day");
            return Err(self.ask_again(&Error::usage(what), Time));
        }
        // If the time from the flags is offered, the slot is not asked for.
        let is_given = self.flags.at.is_some();
        let rows = is_given.then(|| offer.rows_at_wanted(context, self.draft.seating.as_deref()));
        let rows = rows.unwrap_or_default();
        let row = if let [only] = rows.as_slice() {
            *only
        } else {
            let former = self.draft.slot.as_ref().map(|slot| slot.id());
            pick_slot(context, &offer, &rows, former, !self.asked.is_empty()).await?
        };
        offer.remember(context);
        self.draft.choose(&offer, row);
        Ok(rows.len() != 1)
    }

    async fn name(&mut self) -> WasAsked {
        if self.flags.options.name.is_some() {
            return Ok(false);
        }
        let provider = self.draft.options.provider.as_deref();
        let needs_both = provider == Some(self.context.dialect().provider_a.as_str());
        let question = name_question().back(!self.asked.is_empty());
        let question = question.former(self.draft.options.name.clone());
        self.draft.options.name = Some(ask_name(self.context, &question, needs_both).await?);
        Ok(true)
    }

    /// The contact of a guest whom a flag names is left to the flags.
    async fn contact(
        &mut self,
        what: &str,
        flag: &'static str,
        parse: fn(&str) -> Result<String, String>,
        of: fn(&mut Options) -> &mut Option<String>,
    ) -> WasAsked {
        if self.flags.options.name.is_some() || of(&mut self.flags.options).is_some() {
            return Ok(false);
        }
        let question = self.question(&format!("Guest's {what} (optional)"), flag, "an answer");
        let question = question.former(of(&mut self.draft.options).clone());
        let check = |text: &str| match text {
            "" => Ok(()),
            text => parse(text).map(drop),
        };
        let text = self.context.prompter.text(&question, None, &check).await?;
        *of(&mut self.draft.options) = Some(text).filter(|text| !text.is_empty());
        Ok(true)
    }

    async fn confirmation(&mut self) -> WasAsked {
        let default = !has_consequences(self.context, self.draft).await;
        let goes_back = !self.asked.is_empty();
        if is_confirmed(self.context, self.draft, None, default, goes_back).await? {
            return Ok(false);
        }
        Err(declined().into())
    }
}
