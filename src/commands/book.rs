mod batch;
mod missing;

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use jiff::tz::TimeZone;
use serde_json::Value;
use uuid::Uuid;

use super::field::ExtraFields;
use super::place::Place;
use super::timing::Zone;
use crate::app::Context;
use crate::client::create_call;
use crate::flows::{
    BatchOptions, BookingDraft, EarlierAttempts, More, SlotChoice, VERTICALS, ZoneSource,
    answer_pauses, ask_about_same_guest, ask_guest_again, create, finish, guide, is_key,
    locate_slot, locate_venue, note_unused_zone, offer_to_find_out, offered, preview, profile,
    refuse_to_repeat, repeated, resolve, review, show_command, take_slot, wait_while_processing,
    warn_of_open_attempts,
};
use crate::journal::KeyOrigin;
use crate::model::booking::{Booking, Status};
use crate::model::retention::Retention;
use crate::model::shell;
use crate::model::slot::Slot;
use crate::model::venue::Venue;
use crate::model::when::When;
use crate::model::zone::system_zone;
use crate::model::{contact, duration};
use crate::outcome::{Code, Error, Exit, Result};
use crate::recent::Shown;
use missing::{lacking, missing};

/// How long a person waits for a booking that is processing.
const PATIENCE: &str = "2m";

/// Book a venue
///
/// On a terminal, bookctl prompts for everything that the flags leave out, shows the terms, and asks before it books at a
/// real service, if a card is needed, for a guest who is booked there on that day already, or at another time than the given
/// one. With a venue and a time it books the slot at that time; if there is none, a terminal offers the nearest slots, and a
/// script gets them listed with the error.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl book\n  \
    bookctl book ven_confirms --at 'tomorrow 19:30' --party 2 \\\n    --name 'Ada Lovelace'\n  \
    bookctl book --slot @1 --name 'Ada Lovelace' --json --jq .id\n  \
    bookctl book ven_payment --at 'tomorrow 19:30' --party 2 \\\n    --name 'Ada Lovelace' --payment vendor\n  \
    bookctl book --from friday.csv --batch friday\n\n\
    A row of a batch as a JSON line; CSV has the same names as columns, e.g. customer.name:\n  \
    {\"venue_id\": \"ven_confirms\", \"datetime\": \"2026-12-01T19:30:00Z\", \"party_size\": 2, \
    \"customer\": {\"name\": \"Ada Lovelace\"}}\n  \
    Optional: provider, availability_id, end_user, payment_collection, webhook_url, idempotency_key.")]
pub(crate) struct Args {
    /// Venue id, or @N for a row of the last search
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    venue: Option<String>,
    /// Slot id, or @N for a row of the last list of slots
    #[arg(long, value_name = "ID")]
    slot: Option<String>,
    /// Time: `2026-12-01 19:30`, `tomorrow 19:30`, `fri 8pm`, `in 3 days 19:30`, or RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    at: Option<When>,
    /// What to search, if no venue is given: dining, fitness, entertainment or travel
    #[arg(long, value_name = "V", value_parser = PossibleValuesParser::new(VERTICALS), conflicts_with = "venue")]
    vertical: Option<String>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    zone: Zone,
    /// Party size
    #[arg(long, value_name = "N", value_parser = contact::party, allow_negative_numbers = true)]
    party: Option<u32>,
    /// Guest's real name; some venues need first and last name
    #[arg(long)]
    name: Option<String>,
    /// Guest's email
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    email: Option<String>,
    /// Guest's phone
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    phone: Option<String>,
    /// Provider, if the venue has several
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// Book with the connected account of this person
    #[arg(long, value_name = "U", value_parser = NonEmptyStringValueParser::new())]
    end_user: Option<String>,
    /// Payment method: `vendor` is the external payment vendor
    #[arg(long, value_name = "HOW", value_parser = ["vendor"])]
    payment: Option<String>,
    /// Idempotency key: the service makes one booking per key, however often the request is sent
    #[arg(long, value_name = "K", value_parser = idempotency_key)]
    idempotency_key: Option<String>,
    /// Wait while the booking is processing, up to 2 minutes or DURATION
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = PATIENCE, value_parser = duration::duration)]
    wait: Option<Duration>,
    /// How long to keep guests' data on this computer; deletes older data now, and 0 keeps none
    #[arg(long, value_name = "DURATION", value_parser = Retention::parse)]
    retention: Option<Retention>,
    /// Treat attempts that were made with another API key as this organization's
    #[arg(long)]
    same_organization: bool,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    extra: ExtraFields,
    /// Show the request and book nothing; may read the venue's slots
    #[arg(long)]
    dry_run: bool,
    /// Book every row of a JSON lines or CSV file; `-` reads standard input
    #[arg(long, value_name = "FILE", help_heading = "Batches", conflicts_with_all = ONE_BOOKING)]
    from: Option<PathBuf>,
    /// Name of the batch [default: the file's content]; restarting a batch books nothing twice
    #[arg(long, value_name = "NAME", help_heading = "Batches", requires = "from")]
    batch: Option<String>,
    /// Retry rows whose booking failed in an earlier run
    #[arg(long, help_heading = "Batches", requires = "from")]
    retry_failed: bool,
    /// Book rows that ask for the same booking, each of them
    #[arg(long, help_heading = "Batches", requires = "from")]
    equal_rows: bool,
    /// Show the results of the rows so far, from any computer that shares the journal, and book nothing
    #[arg(long, help_heading = "Batches", requires = "from", conflicts_with_all = ["retry_failed", "dry_run", "wait"])]
    results: bool,
}

/// The arguments that describe one booking, and so exclude `--from`.
const ONE_BOOKING: &[&str] = &[
    "venue",
    "slot",
    "vertical",
    "near",
    "lat",
    "lon",
    "at",
    "tz",
    "party",
    "name",
    "email",
    "phone",
    "provider",
    "end_user",
    "payment",
    "idempotency_key",
    "fields",
];

#[derive(Clone, Copy)]
struct JournalFlags {
    any_account: bool,
    retention: Option<Retention>,
}

impl JournalFlags {
    /// Tells the journal. It is opened only once the rest of the input is known to be usable.
    fn apply(self, context: &Context) -> Result<()> {
        if self.any_account {
            context.journal()?.take_any_account();
        }
        if let Some(retention) = self.retention {
            context.journal()?.keep_for(retention);
        }
        Ok(())
    }
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    if !args.dry_run {
        context.connect_ahead();
    }
    let journal_flags = JournalFlags {
        any_account: args.same_organization,
        retention: args.retention,
    };
    if let Some(from) = args.from {
        let manner = BatchOptions {
            wait: args.wait,
            retry_failed: args.retry_failed,
            equal_rows: args.equal_rows,
        };
        let batch = batch::Batch {
            from: from.into(),
            name: args.batch,
            manner,
            dry_run: args.dry_run,
            goes_ahead: args.yes,
            results: args.results,
            journal_flags,
        };
        return batch::run(context, batch).await;
    }
    let given = args.idempotency_key.is_some();
    let key = args.idempotency_key.clone().unwrap_or_else(new_key);
    let (wait, dry_run) = (args.wait, args.dry_run);
    let mut draft = draft(context, args)?;
    if dry_run {
        return show_request(context, &mut draft, &key).await;
    }
    journal_flags.apply(context)?;
    context.before_change()?;
    let earlier = warn_of_open_attempts(context, &HashSet::from([key.clone()])).await?;
    let booking = match given {
        true => repeated(context, &draft, &key)?,
        false => None,
    };
    let booking = match booking {
        Some(request) => create(context, &key, KeyOrigin::Caller, request)
            .await
            .map_err(|error| explained(context, error, &draft, false)),
        None => make(context, &mut draft, key, given, &earlier).await,
    };
    let booking = match booking {
        Err(error) => offer_to_find_out(context, error).await?,
        Ok(booking) => booking,
    };
    let booking = follow(context, booking, wait).await?;
    finish(context, &booking)
}

/// Completes the draft and makes the booking.
///
/// A person who was guided is asked again for a guest that the service refuses. The changed request gets a new key.
async fn make(
    context: &Context,
    draft: &mut BookingDraft,
    key: String,
    given: bool,
    earlier: &EarlierAttempts,
) -> Result<Booking> {
    let mut key = key;
    let mut walked = false;
    loop {
        let lacking = lacking(draft);
        let interactive = context.prompter.interactive();
        if !lacking.is_empty() || interactive && !walked && has_a_choice_of_providers(draft) {
            if !interactive {
                return Err(missing(&lacking));
            }
            guide(context, draft).await?;
            walked = true;
        }
        let may_be_second = given || refuse_to_repeat(context, draft, &earlier.open).await?;
        let (datetime, choice) = find_time(context, draft).await?;
        let request = draft.request(context.adapter(), datetime.clone())?;
        let (asked, resolved) = (&request.asked, &earlier.booked);
        ask_about_same_guest(context, asked, resolved, draft.goes_ahead).await?;
        if !walked {
            review(context, draft, &datetime, choice).await?;
        }
        let origin = match given {
            true => KeyOrigin::Caller,
            false => KeyOrigin::Generated { may_be_second },
        };
        let error = match create(context, &key, origin, request).await {
            Ok(booking) => {
                if walked {
                    show_command(context, draft);
                }
                return Ok(booking);
            }
            Err(error) => error,
        };
        let of_the_guest =
            error.code == Code::PlaceholderCustomer || error.code == Code::MissingLastName;
        if walked && of_the_guest && !given {
            ask_guest_again(context, draft, &error).await?;
            key = new_key();
            continue;
        }
        return Err(explained(context, error, draft, walked));
    }
}

/// Whether the venue is known to have several providers, and none is named. The service then refuses to choose.
fn has_a_choice_of_providers(draft: &BookingDraft) -> bool {
    draft.provider.is_none()
        && draft.slot.is_none()
        && draft.slot_id.is_none()
        && providers(draft).len() > 1
}

/// The providers of the venue, if a search has shown them.
fn providers(draft: &BookingDraft) -> Vec<&str> {
    let venue = draft.venue.as_ref();
    let venue = venue.and_then(|venue| venue.remembered.as_ref());
    venue.map(Venue::providers).unwrap_or_default()
}

/// Adds to an error what the person needs to continue.
fn explained(context: &Context, error: Error, draft: &BookingDraft, walked: bool) -> Error {
    // Whose key is named may have booked: then it is not sent again.
    let error = match draft.command(profile(context)) {
        Some(command) if walked && error.idempotency_key.is_none() => {
            error.detail(format!("to try again: {command}"))
        }
        _ => error,
    };
    // Without a provider the service may not know which provider to ask (spec, Errors: 400 without a code).
    let names_a_field = error.body.as_ref().is_some_and(|body| {
        let body = body.value();
        body.get("fields").is_some() || body.get("field").is_some() || body.get("missing").is_some()
    });
    if error.code == Code::Http400 && draft.provider.is_none() && !names_a_field {
        let flags = providers(draft).into_iter();
        let flags: Vec<String> = flags
            .map(|it| format!("--provider {}", shell::word(it)))
            .collect();
        return error.hint(match flags.len() {
            0 | 1 => "if the venue has several providers, choose one with --provider; a search for the venue names them"
                .to_owned(),
            _ => format!("choose a provider: {}", flags.join(" or ")),
        });
    }
    error
}

fn new_key() -> String {
    Uuid::now_v7().to_string()
}

/// Guides a person through what follows. A script gets the first answer, unless it waits.
async fn follow(context: &Context, booking: Booking, wait: Option<Duration>) -> Result<Booking> {
    let interactive = context.prompter.interactive();
    let patience = duration::duration(PATIENCE).unwrap_or_default();
    let Some(longest) = wait.or(interactive.then_some(patience)) else {
        return Ok(booking);
    };
    let mut booking = wait_while_processing(context, booking, longest).await?;
    while interactive && booking.status() == Status::RequiresAction {
        booking = answer_pauses(context, booking).await?;
        booking = wait_while_processing(context, booking, longest).await?;
    }
    Ok(booking)
}

fn draft(context: &Context, args: Args) -> Result<BookingDraft> {
    let mut draft = BookingDraft {
        vertical: args.vertical,
        place: args.place.location(),
        at: args.at,
        zone: args.zone.tz,
        party_size: args.party,
        name: args.name,
        email: args.email,
        phone: args.phone,
        provider: args.provider,
        end_user: args.end_user,
        vendor_payment: args.payment.is_some(),
        fields: args.extra.body()?,
        goes_ahead: args.yes,
        ..BookingDraft::default()
    };
    draft.check_fields()?;
    if let Some(venue) = &args.venue {
        draft.venue = Some(locate_venue(context, venue)?);
    }
    if let Some(slot) = &args.slot {
        let (id, seen) = locate_slot(context, slot)?;
        if let Some(seen) = seen {
            if draft
                .venue
                .as_ref()
                .is_some_and(|venue| venue.id != seen.venue_id)
            {
                return Err(Error::usage(format!(
                    "slot {id} belongs to another venue: {}",
                    seen.venue_id
                ))
                .hint("leave out the venue: the slot id includes it"));
            }
            draft.venue = Some(locate_venue(context, &seen.venue_id)?);
            draft.provider = draft.provider.or(seen.provider);
            draft.party_size = draft.party_size.or(Some(seen.party_size));
            draft.slot = Some(seen.slot);
        } else {
            draft.slot_id = Some(id);
        }
    }
    let remembered = draft.venue.as_ref().and_then(|it| it.remembered.as_ref());
    if let Some(when) = &draft.at {
        note_unused_zone(context, remembered, when, draft.zone.as_ref());
    }
    Ok(draft)
}

/// The time to send: the slot's own, byte for byte. If only a time was given, the slot is looked up.
async fn find_time(context: &Context, draft: &mut BookingDraft) -> Result<(Value, SlotChoice)> {
    if let Some(slot) = &draft.slot {
        return Ok((time_beside(context, draft, slot)?, SlotChoice::Given));
    }
    let Some(when) = &draft.at else {
        return Err(Error::usage("no time given"));
    };
    let Some(venue) = &draft.venue else {
        return Err(Error::usage("no venue given"));
    };
    let zone_source = ZoneSource::of(venue.remembered.as_ref(), draft.zone.as_ref());
    if draft.slot_id.is_some() {
        let time = zone_source.wire_time(context, when, None)?;
        return Ok((time.into(), SlotChoice::Given));
    }
    let offer = offered(
        context,
        venue,
        when,
        &zone_source,
        draft.party_size.unwrap_or(1),
        draft.provider.as_deref(),
        More::default(),
    )
    .await?;
    // With its terms, which the booking itself may not repeat.
    offer.remember(context, Shown::No);
    let Some((row, choice)) = take_slot(context, &offer, draft.goes_ahead).await? else {
        return Err(offer.no_slot(venue.name(), "pass --slot"));
    };
    draft.choose(&offer, row);
    let slot = draft.slot.as_ref();
    let time = slot.map(Slot::datetime_value).unwrap_or_default();
    Ok((time, choice))
}

/// The time of a slot that was given by its id. A time given next to it is sent as it was meant: if they differ, the
/// service decides.
fn time_beside(context: &Context, draft: &BookingDraft, slot: &Slot) -> Result<Value> {
    let offered = slot.datetime_value();
    let Some(when) = &draft.at else {
        return Ok(offered);
    };
    let venue = draft.venue.as_ref();
    let venue = venue.and_then(|venue| venue.remembered.as_ref());
    let zone_source = ZoneSource::of(venue, draft.zone.as_ref());
    // The slot is on the venue's clock, and may show its offset.
    let seen = slot.offset().map(TimeZone::fixed);
    let clock = seen.clone().unwrap_or_else(system_zone);
    let meant = match &zone_source {
        ZoneSource::Known(zone) => resolve(when, context.now()?, zone)?,
        ZoneSource::Learned => resolve(when, context.now()?, &clock)?,
    };
    let instant = slot.instant(venue.and_then(Venue::timezone).as_ref());
    if instant.is_none() && slot.local() == Some(meant.zoned.datetime()) {
        return Ok(offered);
    }
    let sent = zone_source.wire_time(context, when, seen)?;
    Ok(if instant == Some(meant.timestamp()) {
        offered
    } else {
        sent.into()
    })
}

/// The output of `--dry-run`: the request as it would be sent. The venue's slots are read if the request depends on them.
async fn show_request(context: &Context, draft: &mut BookingDraft, key: &str) -> Result<Exit> {
    let lacking = lacking(draft);
    if !lacking.is_empty() {
        return Err(missing(&lacking));
    }
    let (datetime, _) = find_time(context, draft).await?;
    let request = draft.request(context.adapter(), datetime)?;
    preview(context, create_call(request.body, key))
}

fn idempotency_key(text: &str) -> Result<String, String> {
    is_key(text)
        .then(|| text.to_owned())
        .ok_or_else(|| "a key has 1 to 255 ASCII characters without spaces".to_owned())
}
