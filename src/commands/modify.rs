use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::field::ExtraFields;
use super::timing::Zone;
use crate::app::Context;
use crate::client::Changes;
use crate::flows::{
    Confirmation, NamedBooking, Offer, Offered, Reads, add_stakes, booking_or_pick, card, change,
    choose_slot, finish, finish_modified, known_zone, locate_venue, not_found, note_unused_zone,
    offered, preview, read_booking, refused, resolve, unknown_zone,
};
use crate::json::plain;
use crate::model::booking::{Booking, Status};
use crate::model::contact;
use crate::model::document_time::{DocumentTime, time_text as shown_time};
use crate::model::id::id;
use crate::model::shell;
use crate::model::time_text;
use crate::model::when::When;
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::{Page, Tone};
use crate::terminal::prompt::Question;

/// Change a confirmed booking: its time, party size or seating
///
/// Anything that you leave out stays as it is. A time without a day stays on the booking's day, a weekday is the one nearest
/// to it, and a time without an offset is the venue's local time. On a terminal, bookctl asks for what you leave out, shows what would change, and
/// asks before it changes anything.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl modify bk_01 --party 4\n  \
    bookctl modify bk_01 --at 20:00\n  \
    bookctl modify bk_01 --at 'tomorrow 20:30' --seating terrace")]
pub(crate) struct Args {
    /// Booking id, @N for a row of the last list of bookings, or @last
    #[arg(value_parser = id)]
    booking: Option<String>,
    /// New time
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    at: Option<When>,
    #[command(flatten)]
    zone: Zone,
    /// New party size
    #[arg(long, value_name = "N", value_parser = contact::party, allow_negative_numbers = true)]
    party: Option<u32>,
    /// New seating preference
    #[arg(long, value_name = "TEXT")]
    seating: Option<String>,
    #[command(flatten)]
    extra: ExtraFields,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    /// Show the request and send no change; for a time without an offset, the booking is read
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(context: &Context, mut args: Args) -> Result<Exit> {
    if !args.dry_run {
        context.before_change()?;
    }
    let fields = std::mem::take(&mut args.extra).body()?;
    let is_open =
        args.at.is_none() && args.party.is_none() && args.seating.is_none() && fields.is_empty();
    let what = Question::new(
        "What would you like to change?",
        "--at, --party or --seating",
        "what to change",
    );
    if is_open {
        context.prompter.check(&what)?;
    }
    let reads = match args.dry_run {
        true => Reads::Never,
        false => Reads::ToFind,
    };
    let named = args.booking.as_deref();
    let mut named = booking_or_pick(context, named, Offered::Alive, reads).await?;
    let id = &named.id.clone();
    let mut before = None;
    if is_open {
        before = Some(changeable(context, &mut named).await?);
        ask_for_change(context, &what, &mut args).await?;
    }
    let asks = context.prompter.interactive() && !args.yes && !args.dry_run;
    let adapter = context.adapter();
    // On the venue's own clock, a time with an offset has to be converted.
    let exact = args.at.as_ref().and_then(When::exact);
    let exact = exact.filter(|_| !adapter.local_times);
    if before.is_none() && (asks || args.at.is_some() && exact.is_none()) {
        before = Some(changeable(context, &mut named).await?);
    }
    let datetime = match (exact, &args.at, &before) {
        (Some(moment), ..) => Some(adapter.wire_time(moment).into()),
        (None, Some(when), Some(booking)) => {
            Some(new_time(context, booking, when, args.zone.tz.as_ref(), args.party).await?)
        }
        _ => None,
    };
    let changes = Changes {
        datetime,
        party_size: args.party,
        seating: args.seating,
    };
    if args.dry_run {
        return preview(context, changes.call(id, adapter)?.with_fields(&fields)?);
    }
    if before.is_none() {
        before = confirmed(named.booking(context).await)?;
    }
    send(context, id, before.as_ref(), changes, &fields, asks).await
}

/// Sends the changes, unless the booking shows them already. Where the venue has no slot at the new time, a person may
/// choose another one.
async fn send(
    context: &Context,
    id: &str,
    before: Option<&Booking>,
    mut changes: Changes,
    fields: &Map<String, Value>,
    asks: bool,
) -> Result<Exit> {
    loop {
        let call = changes.call(id, context.adapter())?.with_fields(fields)?;
        let shows_all = |booking: &Booking| {
            let has = |(name, value): (&String, &Value)| booking.value().get(name) == Some(value);
            shows(booking, &changes) && fields.iter().all(has)
        };
        if let Some(booking) = before.filter(|before| shows_all(before)) {
            let note = "Nothing to change: the booking is like this already.";
            context.out.note(note);
            return finish(context, booking);
        }
        let mut asked = changes.body();
        asked.extend(fields.clone());
        if let Some(before) = before.filter(|_| asks) {
            confirm(context, before, &asked).await?;
        }
        let changed = change(context, id, call, "change", shows_all).await;
        match changed.map_err(|error| not_found(context, id, error)) {
            Ok(booking) => {
                return finish_modified(context, booking, &asked).await;
            }
            Err(error) => {
                let other = another_time(context, id, before, &changes, error);
                changes.datetime = Some(other.await?);
            }
        }
    }
}

async fn ask_for_change(context: &Context, what: &Question, args: &mut Args) -> Result<()> {
    let prompter = &context.prompter;
    match prompter
        .choose(what, &["time", "party size", "seating"])
        .await?
    {
        0 => {
            let question = Question::new(
                "New time? (e.g. 20:00 or tomorrow 20:30)",
                "--at",
                "the new time",
            );
            let check = |text: &str| {
                When::parse(text)
                    .map(drop)
                    .map_err(|error| error.to_string())
            };
            let text = prompter.text(&question, None, &check).await?;
            args.at = Some(When::parse(&text).map_err(|error| Error::usage(error.to_string()))?);
        }
        1 => {
            let question = Question::new("New party size?", "--party", "the new party size");
            let check = |text: &str| contact::party(text).map(drop);
            let text = prompter.text(&question, None, &check).await?;
            args.party = Some(contact::party(&text).map_err(Error::usage)?);
        }
        _ => {
            let question = Question::new("New seating?", "--seating", "the new seating");
            let check = |text: &str| match text.is_empty() {
                true => Err("type a seating, such as terrace".to_owned()),
                false => Ok(()),
            };
            args.seating = Some(prompter.text(&question, None, &check).await?);
        }
    }
    Ok(())
}

/// Reads the booking, which must be one that can be changed.
async fn changeable(context: &Context, named: &mut NamedBooking) -> Result<Booking> {
    let booking = named.booking(context).await?;
    match booking.status() {
        Status::Confirmed => Ok(booking),
        _ => Err(refused(&booking, "only a confirmed booking can be changed")),
    }
}

/// The booking that was read for a script, if it is confirmed. Whether any other can be changed is left to the service.
fn confirmed(read: Result<Booking>) -> Result<Option<Booking>> {
    match read {
        Err(error) if error.exit == Exit::Interrupted => Err(error),
        read => Ok(read.ok().filter(|it| it.status() == Status::Confirmed)),
    }
}

/// Shows what would change, what the booking's terms are, and which real service it is, and asks.
async fn confirm(context: &Context, before: &Booking, asked: &Map<String, Value>) -> Result<()> {
    let is_live = !context.is_sandbox().await;
    let mut page = Page::default();
    let field = |name: &str| before.value().get(name);
    let guest = field("customer").and_then(|guest| guest.get("name"));
    let venue = field("venue_name").or(field("venue_id"));
    let about = [Some(&Value::from(before.id())), guest, venue];
    let about: Vec<String> = about.into_iter().flatten().map(plain).collect();
    page.heading(Tone::Strong, "change", about.join(" · "));
    page.field_if("note", card(context, before).limits());
    for (name, new) in asked {
        let label = match name.as_str() {
            "datetime" => "when",
            "party_size" => "party",
            "seating_preference" => "seating",
            _ => "other",
        };
        let shown = |value: &Value| match label {
            "when" => shown_time(value),
            _ => plain(value),
        };
        let old = field(name).filter(|old| !old.is_null()).map(shown);
        let old = old.filter(|old| !old.is_empty());
        let mut sides = format!("{} → {}", old.as_deref().unwrap_or("not set"), shown(new));
        if let Some(far) = moved_far(field(name), new).filter(|_| label == "when") {
            sides.push_str(&format!(" · {far}"));
        }
        page.field(
            label,
            match label {
                "other" => format!("{name} {sides}"),
                _ => sides,
            },
        );
    }
    add_stakes(context, &mut page, before, is_live).await;
    context.out.show(&page);
    let confirmation = Confirmation {
        action: "changing a booking",
        question: "Change this booking?".to_owned(),
        declined: "Nothing was changed.",
    };
    confirmation.ask(&context.prompter).await
}

/// How far the booking moves, if that is more than a week.
fn moved_far(old: Option<&Value>, new: &Value) -> Option<String> {
    let instant = |time: &Value| DocumentTime::read(time)?.instant_in(Some(&TimeZone::UTC));
    time_text::moved_far(instant(old?)?, instant(new)?)
}

/// Where the venue has no slot at the new time: the nearest ones. A person chooses one of them. A script gets them
/// listed with the error.
async fn another_time(
    context: &Context,
    id: &str,
    before: Option<&Booking>,
    changes: &Changes,
    error: Error,
) -> Result<Value> {
    let offer = match error.code == Code::NoAvailability {
        true => offer_around(context, id, before, changes).await,
        false => None,
    };
    let Some(offer) = offer else {
        return Err(error);
    };
    if context.prompter.interactive() {
        return Ok(choose_slot(context, &offer).await?.datetime_value());
    }
    let mut error = error;
    let nearest = offer.nearest(5);
    let times: Vec<String> = nearest.iter().map(|slot| slot.time_text()).collect();
    if let Some(slot) = nearest.first() {
        let at = plain(&slot.datetime_value());
        let flags = shell::flag("--at", &at);
        error.hint = Some(format!(
            "the nearest times are {}; to take the first: {}",
            times.join(", "),
            shell::command("modify", id, &flags),
        ));
    }
    Err(error)
}

/// The slots around the new time, if there are any.
async fn offer_around(
    context: &Context,
    id: &str,
    before: Option<&Booking>,
    changes: &Changes,
) -> Option<Offer> {
    let read = match before {
        Some(_) => None,
        None => Some(read_booking(context, id).await.ok()?),
    };
    let booking = before.or(read.as_ref())?;
    let venue = locate_venue(context, &booking.venue_id()?).ok()?;
    let when = When::parse(changes.datetime.as_ref()?.as_str()?).ok()?;
    let zone = known_zone(venue.remembered.as_ref(), own_clock(booking).as_ref());
    let (size, provider) = (
        changes.party_size.unwrap_or(booking.party()),
        booking.str("provider"),
    );
    let offer = offered(context, &venue, &when, zone.as_ref(), size, provider).await;
    offer.ok().filter(|offer| !offer.slots.is_empty())
}

fn shows(booking: &Booking, changes: &Changes) -> bool {
    let is = |field: &str, wanted: Option<String>| {
        wanted.is_none_or(|wanted| booking.value().get(field).map(plain) == Some(wanted))
    };
    let moved = changes.datetime.as_ref().is_none_or(|wanted| {
        // The service writes the same moment with the venue's offset, or both write the venue's own clock.
        let stands = booking.value().get("datetime").and_then(DocumentTime::read);
        match (stands, DocumentTime::read(wanted)) {
            (Some(stands), Some(wanted)) => match (stands.instant, wanted.instant) {
                (Some(stands), Some(wanted)) => stands == wanted,
                _ => stands.local.is_some() && stands.local == wanted.local,
            },
            _ => false,
        }
    });
    moved
        && is(
            "party_size",
            changes.party_size.map(|party| party.to_string()),
        )
        && is("seating_preference", changes.seating.clone())
}

/// The new time on the venue's clock: the slot's own time if one is offered then.
async fn new_time(
    context: &Context,
    booking: &Booking,
    when: &When,
    zone: Option<&TimeZone>,
    party: Option<u32>,
) -> Result<Value> {
    let adapter = context.adapter();
    let venue = match booking.venue_id() {
        Some(venue) => Some(locate_venue(context, &venue)?),
        None => None,
    };
    let remembered = venue.as_ref().and_then(|venue| venue.remembered.as_ref());
    note_unused_zone(context, remembered, when, zone);
    let known_zone = known_zone(remembered, zone);
    let when = &match when.depends_on_a_day() {
        true => when.near(own_day(booking, known_zone.as_ref())?),
        false => when.clone(),
    };
    let in_zone = |zone: &TimeZone| -> Result<Value> {
        let moment = resolve(when, context.now()?, zone)?;
        Ok(adapter.wire_time_in(&moment, Some(zone)).into())
    };
    if let Some(zone) = &known_zone {
        return in_zone(zone);
    }
    let venue = venue.ok_or_else(|| {
        unknown_zone("the booking names no venue, so the venue's time zone is unknown")
    })?;
    let (size, provider) = (party.unwrap_or(booking.party()), booking.str("provider"));
    let offer = offered(context, &venue, when, None, size, provider).await?;
    if let Some(slot) = offer.at_wanted() {
        return Ok(slot.datetime_value());
    }
    if !offer.is_assumed || adapter.local_times {
        return Ok(adapter.wire_time(&offer.wanted).into());
    }
    // Without a slot that shows it, the booking's own time shows the venue's offset.
    let own = own_clock(booking).ok_or_else(|| {
        unknown_zone("neither a slot nor the booking shows the venue's time zone")
    })?;
    in_zone(&own)
}

/// The day of the booking on the venue's clock.
fn own_day(booking: &Booking, zone: Option<&TimeZone>) -> Result<Date> {
    let time = booking.value().get("datetime").and_then(DocumentTime::read);
    let instant = time.and_then(|time| time.instant);
    let day = match (zone, instant) {
        (Some(zone), Some(instant)) => Some(zone.to_datetime(instant).date()),
        // A time with an offset, or without one, shows the venue's clock. One in UTC does not.
        _ => time.and_then(|time| time.local).map(DateTime::date),
    };
    day.ok_or_else(|| {
        unknown_zone("the venue's time zone is unknown, and so is the day of the booking there")
    })
}

/// The offset of the booking's own time. A time in UTC (`Z`) shows none of the venue's.
fn own_clock(booking: &Booking) -> Option<TimeZone> {
    let text = booking.str("datetime")?;
    let when = When::parse(text).ok()?;
    let offset = when.exact()?.zoned.offset();
    (!text.ends_with(['Z', 'z'])).then(|| TimeZone::fixed(offset))
}
