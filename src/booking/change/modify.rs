use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::send::{self, Sender};
use crate::app::{Api, Parts, Records, Ui};
use crate::booking::arguments::{ExtraFields, Zone};
use crate::booking::book::offer;
use crate::booking::book::review::costs;
use crate::booking::confirmation::Confirmation;
use crate::booking::find::locate::LocatedVenue;
use crate::booking::find::pick;
use crate::booking::finish::{Change, finish_changed};
use crate::booking::{finish, terms};
use crate::json::plain;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::shell;
use crate::service::client::{Changes, with_fields};
use crate::service::documents::{Booking, Slot, Status, Wish, contact, id};
use crate::service::mapping::WriteKind;
use crate::service::time::text::moved_far;
use crate::service::time::{DocumentTime, When, time_text};
use crate::terminal::output::{Page, Tone, visible};
use crate::terminal::prompt::{PromptError, Question};
use crate::terminal::view::joined;

/// Change a confirmed booking: its time, party size or seating
///
/// What you leave out stays as it is. A time without a day stays on the booking's day, a weekday is
/// the nearest one, and a time without an offset is the venue's local time. On a terminal, bookctl
/// prompts for the changes, shows them with the terms before and after, and asks first.
///
/// The service cannot change a guest's name. Tell the venue, or book again with `bookctl book --like
/// BOOKING --at TIME --name NAME`, then cancel this one.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl modify bk_01 --party 4\n  \
    bookctl modify bk_01 --at 20:00\n  \
    bookctl modify bk_01 --at 'tomorrow 20:30' --seating terrace")]
pub(crate) struct Args {
    /// Booking id, @N for a row of the last list of bookings, or @last
    #[arg(value_parser = id)]
    booking: Option<String>,
    /// Move the booking to this time
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    at: Option<When>,
    #[command(flatten)]
    zone: Zone,
    /// Change the party size
    #[arg(long, value_name = "N", value_parser = contact::party, allow_negative_numbers = true)]
    party: Option<u32>,
    /// Change the seating preference
    #[arg(long, value_name = "TEXT")]
    seating: Option<String>,
    #[command(flatten)]
    extra: ExtraFields,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    /// Show the request and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(parts @ Parts { api, ui, .. }: &Parts, mut args: Args) -> Result<Exit> {
    if !args.dry_run {
        api.facts.before_change()?;
    }
    let fields = args.extra.body()?;
    let mut changes = Changes { datetime: None, party_size: args.party, seating: args.seating };
    // What a flag sets already is refused before anything is read.
    with_fields(changes.body().into(), &fields)?;
    let is_open = args.at.is_none() && changes.body().is_empty() && fields.is_empty();
    let text = "What would you like to change?";
    let what = Question::new(text, "--at, --party or --seating", "what to change");
    if is_open {
        ui.prompter.check(&what)?;
    }
    let named = args.booking.as_deref();
    let mut named =
        pick::booking_or_pick(parts, named, Status::has_not_ended, !args.dry_run).await?;
    let id = &named.id.clone();
    let mapping = api.facts.mapping();
    // On the venue's own clock, a time with an offset has to be converted.
    let is_exact = |when: &When| when.exact().is_some() && !mapping.local_times;
    let asks = ui.prompter.interactive() && !args.yes && !args.dry_run;
    let needs_booking = is_open || asks || args.at.as_ref().is_some_and(|at| !is_exact(at));
    let mut before = None;
    if needs_booking || !args.dry_run {
        let booking = named.booking(parts).await?;
        if booking.status() == Status::Confirmed {
            finish::record(parts, &booking);
            before = Some(booking);
        } else if needs_booking {
            let why = "only a confirmed booking can be changed";
            return Err(send::refused(parts, &booking, why));
        }
        // A script's change of any other booking is for the service to refuse.
    }
    let known = before.as_ref().map(|it| terms::filled_in(&parts.records, it));
    if let Some(known) = known.as_ref().filter(|_| is_open) {
        args.at = ask_for_changes(ui, &what, known, &mut changes).await?;
    }
    let party = known.as_ref().map(|known| changes.party_size.unwrap_or(known.head_count()));
    let party = party.unwrap_or_default();
    changes.datetime = match (&args.at, &known) {
        (Some(when), Some(booking)) if !is_exact(when) => {
            Some(new_time(api, &parts.records, booking, when, args.zone.tz.as_ref(), party).await?)
        }
        (when, _) => {
            let moment = when.as_ref().and_then(When::exact);
            moment.map(|moment| mapping.wire_time(moment, None).into())
        }
    };
    let call = changes.call(id, mapping)?.with_fields(&fields)?;
    if args.dry_run {
        return finish::preview(&api.facts, ui, call);
    }
    let mut requested = changes.body();
    requested.extend(fields);
    let change = Change { before: before.as_ref(), ..Change::new(WriteKind::Modify, &requested) };
    let wish = Wish::from_request(&Value::Object(requested.clone()));
    let time = wish.time();
    // A clock and an offset that may be another one's tell nothing, nor does what is not compared,
    // such as a field that is to be empty.
    let is_certain = |it: &Booking| {
        let has_offset = |time: &DocumentTime| time.instant.is_some();
        let own = it.time.read().is_none_or(has_offset);
        requested.keys().all(|name| wish.get(name).is_some())
            && time.as_ref().is_none_or(|time| has_offset(time) == own)
    };
    let unchanged = |it: &&Booking| is_certain(it) && change.is_shown(parts, it);
    if let Some(before) = before.as_ref().filter(unchanged) {
        let note = "Nothing to change: the booking is like this already.";
        ui.out.note(note);
        return finish_changed(parts, before, change);
    }
    let slot = match (&known, &time) {
        (Some(known), Some(time)) => slot_at(api, &parts.records, known, time, party).await,
        // More guests cost more by the terms of the same slot.
        (Some(known), None) => terms::kept_slot(&parts.records, known),
        (None, _) => None,
    };
    let terms = match &known {
        Some(known) if time.is_none() => {
            Some(terms::cost_now(&api.facts, &parts.records, known, party))
        }
        _ => terms::cancellation_cost(&api.facts, None, slot.as_ref(), party),
    };
    let terms = terms.unwrap_or_else(|| "the new time's terms are not known".to_owned());
    match &known {
        Some(known) if asks => confirm(parts, known, &requested, terms).await?,
        _ if time.is_some() || changes.party_size.is_some() => {
            let costs = slot.as_ref().map(|slot| costs(&api.facts, slot, party));
            if let Some(costs) = costs.unwrap_or(time.is_some().then_some(terms)) {
                ui.out.warn(&costs);
            }
        }
        _ => {}
    }
    let change = Change { slot: slot.as_ref(), ..change };
    let done = |booking: &Booking| change.is_shown(parts, booking);
    let mut sender = Sender::new(parts, id, WriteKind::Modify, json!({ "changes": requested }));
    let changed = sender.change(call, "change", done).await;
    let booking = changed.map_err(|error| {
        let venue = known.as_ref().and_then(Booking::venue_id);
        if error.code == Code::NoAvailability
            && let (Some(venue), Some(at)) = (venue, requested.get("datetime"))
        {
            let free = shell::command("slots", &venue, &shell::flag("--at", &plain(at)));
            return error.hint(format!("to see free times: {free}"));
        }
        pick::not_found(&parts.records, ui, id, error)
    })?;
    finish_changed(parts, &booking, change)
}

/// The slot of a new time, with its terms. A change is not refused because it cannot be read.
async fn slot_at(
    api: &Api,
    records: &Records,
    booking: &Booking,
    time: &DocumentTime,
    party: u32,
) -> Option<Slot> {
    let venue = LocatedVenue::of_id(records, booking.venue_id()?);
    let (when, provider) = (When::of_document(time)?, booking.str("provider"));
    let offer = offer::fetch_slots(api, &venue, &when, None, party, provider).await;
    offer.ok()?.at_wanted().cloned()
}

/// Asks for changes until they are all there, and returns the time.
async fn ask_for_changes(
    ui: &Ui,
    what: &Question,
    known: &Booking,
    changes: &mut Changes,
) -> Result<Option<When>> {
    let prompter = &ui.prompter;
    let fields =
        [("time", "datetime"), ("party size", "party_size"), ("seating", "seating_preference")];
    let mut new: [Option<String>; 3] = Default::default();
    loop {
        let rows = fields.iter().zip(&new).map(|((name, field), new)| {
            let now = known.value().get(field).filter(|now| !now.is_null());
            let now =
                now.map(|now| format!(" · {}{}", known.mark(field), visible(&time_text(now))));
            let new = new.as_ref().map(|new| format!(" → {new}"));
            format!("{name}{}{}", now.unwrap_or_default(), new.unwrap_or_default())
        });
        // Enter goes on once there is something to change.
        let done = new.iter().any(Option::is_some).then(|| "done".to_owned());
        let first = usize::from(done.is_some());
        let rows: Vec<String> = done.into_iter().chain(rows).collect();
        let Some(row) = prompter.choose(what, &rows).await?.checked_sub(first) else { break };
        let (text, flag) = [
            ("New time? (e.g. 20:00 or tomorrow 20:30)", "--at"),
            ("New party size?", "--party"),
            ("New seating?", "--seating"),
        ][row];
        let check = |text: &str| match row {
            0 => When::parse(text).map(drop),
            1 => contact::party(text).map(drop),
            _ if text.is_empty() => Err("type a seating, such as terrace".to_owned()),
            _ => Ok(()),
        };
        let question = Question::new(text, flag, "what to change");
        match prompter.text(&question, None, &check).await {
            // Esc leads back to the menu.
            Err(PromptError::Back) => {}
            answer => new[row] = Some(answer?),
        }
    }
    let [at, party, seating] = new;
    changes.party_size = party.and_then(|party| contact::party(&party).ok());
    changes.seating = seating;
    Ok(at.and_then(|at| When::parse(&at).ok()))
}

/// Shows what would change, the terms too, and which real service it is, and asks.
async fn confirm(
    parts: &Parts,
    before: &Booking,
    requested: &Map<String, Value>,
    terms: String,
) -> Result<()> {
    let mut page = Page::default();
    let venue = before.venue_name().or_else(|| before.venue_id());
    let when = before.value().get("datetime").map(time_text);
    let id = Some(before.id().to_owned());
    let about = [("customer", before.guest()), ("datetime", when), ("venue_id", venue), ("", id)];
    let about = about.map(|(field, text)| Some(before.mark(field).to_owned() + &text?));
    page.heading(Tone::Strong, "change", joined(about).unwrap_or_default());
    page.field_if("note", finish::booking_view(parts, before).restrictions());
    for (name, new) in requested {
        let old = before.value().get(name);
        let from_to = |text: fn(&Value) -> String| {
            let old = old.map(text).filter(|old| !old.is_empty());
            let old = old.map(|old| before.mark(name).to_owned() + &old);
            format!("{} → {}", old.as_deref().unwrap_or("not set"), text(new))
        };
        match name.as_str() {
            "datetime" => {
                let instant =
                    |time: &Value| DocumentTime::read(time)?.instant_in(Some(&TimeZone::UTC));
                let moved = old.and_then(instant).zip(instant(new));
                let far = moved.and_then(|(old, new)| moved_far(old, new));
                let far = far.map(|far| format!(" · {far}")).unwrap_or_default();
                page.field("when", from_to(time_text) + &far)
            }
            "party_size" => page.field("party", from_to(plain)),
            "seating_preference" => page.field("seating", from_to(plain)),
            _ => page.field("other", format!("{name} {}", from_to(plain))),
        };
    }
    let question = "Change this booking?";
    let confirmation = Confirmation::new("changing a booking", question, "Nothing was changed.");
    let cost = terms::cost_now(&parts.api.facts, &parts.records, before, before.head_count());
    page.field("cancellation", format!("as booked: {cost}"));
    if requested.contains_key("datetime") || requested.contains_key("party_size") {
        page.field("", format!("→ as changed: {terms}"));
    }
    terms::confirm(&parts.api, &parts.records, &parts.ui, page, before, &confirmation).await
}

/// The new time on the venue's clock: the slot's own time if one is offered then.
async fn new_time(
    api: &Api,
    records: &Records,
    booking: &Booking,
    when: &When,
    zone: Option<&TimeZone>,
    party: u32,
) -> Result<Value> {
    let (unknown, venue) = (offer::unknown_zone, booking.venue_id());
    let venue = venue.map(|venue| LocatedVenue::of_id(records, venue));
    let known_zone = venue.as_ref().map_or(zone.cloned(), |venue| venue.zone(zone));
    let mapping = api.facts.mapping();
    let is_known = known_zone.is_some() || mapping.local_times;
    let own = DocumentTime::from_field(booking.value(), "datetime");
    let when = &if when.depends_on_a_day() {
        // A time with an offset, or without one, shows the venue's clock; one in UTC does not.
        let day = match &known_zone {
            Some(zone) => own.and_then(|own| own.day_in(Some(zone))),
            None => own.and_then(|own| own.local).map(DateTime::date),
        };
        let without_time = || {
            Error::usage("the booking does not show its time, so its day is unknown")
                .hint("give the day as well, e.g. --at '2026-12-01 19:30'")
        };
        when.near(day.ok_or_else(|| if is_known { without_time() } else { unknown() })?)
    } else {
        when.clone()
    };
    let in_zone = |zone| Ok(offer::wire_time(&api.facts, when, zone)?.into());
    if is_known {
        return in_zone(known_zone);
    }
    let venue = venue.ok_or_else(unknown)?;
    let provider = booking.str("provider");
    let offer = offer::fetch_slots(api, &venue, when, None, party, provider).await?;
    if let Some(slot) = offer.at_wanted() {
        return Ok(slot.datetime_value());
    }
    if !offer.is_assumed {
        return Ok(mapping.wire_time(&offer.wanted, None).into());
    }
    // The clock changes on that day.
    if offer.slots.iter().any(|it| it.offset().is_some()) {
        return Err(unknown());
    }
    // Without a slot that shows it, the booking's own time shows the venue's offset.
    let offset = own.and_then(|own| own.offset()).ok_or_else(unknown)?;
    in_zone(Some(TimeZone::fixed(offset)))
}
