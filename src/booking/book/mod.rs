//! `book`: one booking, from flags or from questions.

pub(crate) mod create;
pub(crate) mod doubt;
pub(crate) mod draft;
pub(crate) mod duplicates;
pub(crate) mod offer;
pub(crate) mod review;
pub(crate) mod walk;

use std::collections::HashSet;
use std::time::Duration;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use jiff::tz::TimeZone;
use serde_json::Value;
use uuid::Uuid;

use super::arguments::{ExtraFields, JournalFlags, PATIENCE, Wait, Zone, near};
use super::attempts::open_attempts::{self, EarlierAttempts};
use super::{find::locate, finish, pause::prompts, watch::wait};
use crate::app::{Facts, Parts};
use crate::journal::KeyOrigin;
use crate::journal::recent::RecentList;
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::{SearchLocation, create_call, named_in};
use crate::service::documents::{Booking, Slot, Status, Wish, id};
use crate::service::time::{DocumentTime, When};
use crate::terminal::output::View;
use draft::{BookingDraft, Options};

/// Book a slot at a venue
///
/// On a terminal, bookctl prompts for what you leave out, and shows the terms. It asks before it
/// books if the service is real, if a card is needed, if the guest already has a booking there on
/// that day, or if the slot starts at another time. If there is no slot at your time, a terminal
/// offers the nearest ones; a script lists them and exits with 7 (rejected).
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl book\n  \
    bookctl book ven_confirms --at 'tomorrow 19:30' --party 2 \\\n    --name 'Ada Lovelace'\n  \
    bookctl book --slot @1 --name 'Ada Lovelace' --json --jq .id\n  \
    bookctl book --like @last --at 'fri 19:30'\n  \
    bookctl book ven_payment --at 'tomorrow 19:30' --party 2 \\\n    --name 'Ada Lovelace' --payment vendor")]
pub(crate) struct Args {
    /// Venue id, or @N for a row of the last search
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    venue: Option<String>,
    /// Book this slot, or @N of the last list of slots
    #[arg(long, value_name = "ID")]
    slot: Option<String>,
    /// Choose the time, such as `fri 19:30` or `2030-12-01 19:30`
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    at: Option<When>,
    /// Search for venues of this kind
    #[arg(long, value_name = "VERTICAL", value_parser = PossibleValuesParser::new(walk::VERTICALS), conflicts_with = "venue")]
    vertical: Option<String>,
    /// Search around a city, a district, or LAT,LON
    #[arg(long, value_name = "PLACE", value_parser = near)]
    near: Option<SearchLocation>,
    #[command(flatten)]
    zone: Zone,
    #[command(flatten)]
    options: Options,
    /// Book this booking's venue, guest, party and seating again
    #[arg(long, value_name = "BOOKING", value_parser = id)]
    like: Option<String>,
    /// Send this key, so that a repeated request books once
    #[arg(long, value_name = "KEY", value_parser = idempotency_key)]
    idempotency_key: Option<String>,
    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    journal: JournalFlags,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    extra: ExtraFields,
    /// Show the request and book nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(parts: &Parts, args: Args) -> Result<Exit> {
    if !args.dry_run {
        parts.records.connect_ahead();
    }
    let (wait, journal, dry_run) = (args.wait.longest, args.journal, args.dry_run);
    let given = args.idempotency_key.clone();
    let mut command = BookCommand {
        parts,
        draft: draft(parts, args).await?,
        key_is_given: given.is_some(),
        key: given.unwrap_or_else(new_key),
        is_guided: false,
        is_reviewed: false,
    };
    if dry_run {
        return command.show_request().await;
    }
    journal.apply(&parts.records)?;
    parts.api.facts.before_change()?;
    let own = HashSet::from([command.key.clone()]);
    let earlier = open_attempts::warn_of_open_attempts(parts, &own).await?;
    loop {
        let booking = match command.book(&earlier).await {
            Err(error) => open_attempts::offer_to_find_out(parts, error).await?,
            Ok(booking) => booking,
        };
        let was_waiting = booking.status() == Status::RequiresAction;
        let is_on_screen =
            was_waiting && parts.ui.out.is_terminal() && parts.ui.prompter.interactive();
        let booking = follow(parts, booking, wait).await?;
        if !command.chooses_another_slot(&booking).await? {
            return finish::finish_created(parts, &booking, is_on_screen);
        }
    }
}

async fn draft(parts @ Parts { records, .. }: &Parts, args: Args) -> Result<BookingDraft> {
    let mut draft = BookingDraft {
        vertical: args.vertical,
        place: args.near,
        at: args.at,
        zone: args.zone.tz,
        options: args.options,
        fields: args.extra.body()?,
        is_confirmed: args.yes,
        ..BookingDraft::default()
    };
    draft.check_fields()?;
    if let Some(venue) = &args.venue {
        draft.venue = Some(locate::locate_venue(records, venue)?);
    }
    if let Some(slot) = &args.slot {
        let id = locate::locate_row(records, RecentList::Slots, slot)?;
        match records.known_slot(&id) {
            None => draft.slot_id = Some(id),
            Some(seen) => {
                let venue = &seen.venue_id;
                if draft.venue.as_ref().is_some_and(|given| given.id != *venue) {
                    let what = format!("slot {id} belongs to another venue: {venue}");
                    let hint = "leave out the venue: the slot id includes it";
                    return Err(Error::usage(what).hint(hint));
                }
                draft.venue = Some(locate::locate_venue(records, venue)?);
                let options = &mut draft.options;
                options.provider = options.provider.take().or(seen.provider);
                options.party = options.party.or(Some(seen.party_size));
                draft.slot = Some(seen.slot);
            }
        }
    }
    if let Some(like) = &args.like {
        draft.prefill_from(parts, like).await?;
    }
    Ok(draft)
}

/// One booking, from what is known of it to the service's answer.
struct BookCommand<'a> {
    parts: &'a Parts,
    draft: BookingDraft,
    key: String,
    /// Whether the caller named the key, and so may have sent it before.
    key_is_given: bool,
    /// Whether a person was guided through the questions.
    is_guided: bool,
    /// Whether a person has confirmed what is to be sent.
    is_reviewed: bool,
}

impl BookCommand<'_> {
    /// Completes the draft and makes the booking. A person who was guided is asked again for a
    /// guest that the service refuses.
    async fn book(&mut self, earlier: &EarlierAttempts) -> Result<Booking> {
        let parts = self.parts;
        if self.key_is_given
            && let Some(attempt) =
                duplicates::repeated(&parts.api.facts, &parts.records, &self.draft, &self.key)?
        {
            let (origin, is_confirmed) = (KeyOrigin::Caller, self.draft.is_confirmed);
            let booked = open_attempts::send_again(parts, &attempt, origin, is_confirmed).await;
            return booked.map_err(|error| self.explained(error));
        }
        loop {
            self.complete().await?;
            let origin = if self.key_is_given {
                KeyOrigin::Caller
            } else {
                let allow_duplicate = duplicates::wants_second_beside_open(
                    &parts.api.facts,
                    &parts.ui,
                    &self.draft,
                    &earlier.open,
                )
                .await?;
                KeyOrigin::Generated { allow_duplicate }
            };
            let (datetime, is_another_time) = self.find_time().await?;
            let draft = &self.draft;
            let request = draft.request(parts.api.facts.mapping(), datetime.clone())?;
            let wish = Wish::from_request(&request.requested);
            let (booked, sending) = (&earlier.booked, &earlier.sending);
            let is_confirmed = draft.is_confirmed;
            duplicates::ask_about_same_guest(parts, &wish, booked, sending, is_confirmed).await?;
            if !self.is_reviewed {
                review::review(parts, draft, &datetime, is_another_time).await?;
            }
            let refuses_guest = |error: &Error| {
                error.code == Code::PlaceholderCustomer || error.code == Code::MissingLastName
            };
            match create::create_and_tell(parts, &self.key, origin, request).await {
                Err(error) if refuses_guest(&error) && self.is_guided && !self.key_is_given => {
                    walk::guide(parts, &mut self.draft, Some(walk::Refused::Name(&error))).await?;
                    self.key = new_key();
                }
                Err(error) => return Err(self.explained(error)),
                Ok(booking) => {
                    if self.is_guided {
                        review::show_command(&parts.api.facts, &parts.ui, &self.draft);
                    }
                    return Ok(booking);
                }
            }
        }
    }

    /// Asks a person for what the draft lacks. Without prompts, that is refused (2).
    async fn complete(&mut self) -> Result<()> {
        if !self.parts.ui.prompter.interactive() {
            return self.draft.refuse_missing();
        }
        let draft = &self.draft;
        let is_complete = draft.missing_fields().is_empty();
        let (has_slot, provider) = (draft.has_slot(), &draft.options.provider);
        // The service rejects a request that leaves the choice of a provider open.
        let is_open = provider.is_none() && !has_slot && draft.providers().len() > 1;
        if !is_complete || !self.is_guided && is_open {
            walk::guide(self.parts, &mut self.draft, None).await?;
            (self.is_guided, self.is_reviewed) = (true, true);
        }
        Ok(())
    }

    /// Leads a guided user back to the slots if theirs is gone. The new request has a new key.
    async fn chooses_another_slot(&mut self, booking: &Booking) -> Result<bool> {
        let (parts @ Parts { ui, .. }, draft) = (self.parts, &mut self.draft);
        let gone = [Some("slot_taken"), Some("no_availability")];
        let is_gone = booking.status() == Status::Failed && gone.contains(&booking.error_code());
        if !is_gone || !self.is_guided || self.key_is_given {
            return Ok(false);
        }
        let Some(slot) = draft.slot.take() else {
            return Ok(false);
        };
        let page = finish::booking_view(parts, booking).page();
        ui.out.show(&page.without_commands());
        let note = "Another guest booked the slot. Choose another one; Esc ends without a booking.";
        ui.out.note(note);
        draft.at = slot.time().as_ref().and_then(When::of_document);
        self.key = new_key();
        match walk::guide(parts, draft, Some(walk::Refused::Slot)).await {
            Err(error) if error.code == Code::Declined => Ok(false),
            guided => guided.map(|()| true),
        }
    }

    /// The time to send, which is the slot's own, byte for byte, and whether a person chose it
    /// instead of the given one. If only a time was given, the slot is looked up.
    async fn find_time(&mut self) -> Result<(Value, bool)> {
        let (parts @ Parts { api, records, .. }, draft) = (self.parts, &mut self.draft);
        if let Some(slot) = &draft.slot {
            return Ok((time_beside(&api.facts, draft, slot)?, false));
        }
        let Some(when) = &draft.at else {
            return Err(Error::usage("no time given"));
        };
        if draft.slot_id.is_some() {
            return Ok((offer::wire_time(&api.facts, when, draft.known_zone())?.into(), false));
        }
        let offer = draft.offer(api, when).await?;
        // With its terms, which the booking itself may not repeat.
        offer.remember(records);
        let Some((slot, is_another_time)) = review::choose(parts, &offer, draft).await? else {
            return Err(offer.no_slot("pass --slot"));
        };
        draft.choose(&offer, slot);
        Ok((slot.datetime_value(), is_another_time))
    }

    /// The output of `--dry-run`: the request as it would be sent. The venue's slots are read if
    /// the request depends on them.
    async fn show_request(&mut self) -> Result<Exit> {
        self.draft.refuse_missing()?;
        let (datetime, _) = self.find_time().await?;
        let request = self.draft.request(self.parts.api.facts.mapping(), datetime)?;
        finish::preview(&self.parts.api.facts, &self.parts.ui, create_call(request.body, &self.key))
    }

    /// Adds to an error what the person needs to continue.
    fn explained(&self, mut error: Error) -> Error {
        // Whose key is named may have booked: then it is not sent again.
        if self.is_guided
            && error.idempotency_key.is_none()
            && let Some(command) = self.draft.command(review::profile(&self.parts.api.facts))
        {
            error = error.detail(format!("to try again: {command}"));
        }
        // Without a provider the service may have to choose (spec, Errors: 400 without a code).
        let is_general = error.hint.as_deref() == Some(Code::Http400.entry().next);
        if !is_general || !named_in(&error).is_empty() || self.draft.options.provider.is_some() {
            return error;
        }
        error.hint(match self.draft.providers().join(" or ").as_str() {
            "" => "if the venue has several providers, choose one: --provider NAME".to_owned(),
            providers => format!("choose one with --provider: {providers}"),
        })
    }
}

/// The time of a slot that was given by its id, as it was offered. A time given next to it is
/// refused if it is another one, and sent as it was meant where that cannot be said.
fn time_beside(facts: &Facts, draft: &BookingDraft, slot: &Slot) -> Result<Value> {
    let offered = slot.datetime_value();
    let Some(when) = &draft.at else {
        return Ok(offered);
    };
    if slot.local().is_some() && slot.local() == when.wall() {
        return Ok(offered);
    }
    // The slot is on the venue's clock, and may show its offset.
    let zone = draft.known_zone().or(slot.offset().map(TimeZone::fixed));
    let sent = Value::from(offer::wire_time(facts, when, zone)?);
    let requested = DocumentTime::read(&sent);
    let own = offer::slot_time(slot, requested).map_err(|error| {
        error.hint("leave out --at to book that slot, or --slot to book at that time")
    })?;
    Ok(own.unwrap_or(sent))
}

/// Guides a person through what follows. A script gets the first answer, unless it waits.
async fn follow(parts: &Parts, booking: Booking, wait: Option<Duration>) -> Result<Booking> {
    let interactive = parts.ui.prompter.interactive();
    let Some(longest) = wait.or(interactive.then_some(PATIENCE)) else {
        return Ok(booking);
    };
    let mut booking = wait::wait_while_processing(parts, booking, longest).await?;
    while interactive && booking.status() == Status::RequiresAction {
        booking = prompts::answer_pauses(parts, booking).await?;
        booking = wait::wait_while_processing(parts, booking, longest).await?;
    }
    Ok(booking)
}

fn new_key() -> String {
    Uuid::now_v7().to_string()
}

fn idempotency_key(text: &str) -> Result<String, String> {
    super::batch::rows::is_key(text)
        .then(|| text.to_owned())
        .ok_or_else(|| "a key has 1 to 255 ASCII characters without spaces".to_owned())
}
