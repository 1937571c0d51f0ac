use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::app::Context;
use crate::app::in_flight::{InFlight, resume_command};
use crate::commands::timing::Zone;
use crate::flows::{Confirmation, locate_booking};
use crate::journal::{Forgotten, Journal};
use crate::json::Document;
use crate::model::id::id;
use crate::model::when::When;
use crate::model::zone::system_zone;
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::{Page, Tone, View, visible};

/// Delete guests' data from this computer
///
/// This does not cancel the booking at the service; use `bookctl cancel` for that. An attempt whose outcome is unknown
/// keeps its guest, because its request is needed to find out: see `bookctl attempts`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl bookings forget bk_01\n  \
    bookctl bookings forget --before 2026-06-01\n  \
    bookctl bookings forget --before 'today 00:00' --yes")]
#[command(group(clap::ArgGroup::new("which").args(["booking", "before"]).required(true)))]
pub(crate) struct Args {
    /// Booking id, @N for a row of the last list of bookings, or @last
    #[arg(value_parser = id)]
    booking: Option<String>,
    /// Forget everything booked before this date or time, e.g. `2026-06-01` or `today 00:00`
    #[arg(long, value_name = "DATE|WHEN", value_parser = Before::parse)]
    before: Option<Before>,
    #[command(flatten)]
    zone: Zone,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

/// A day, at whose beginning the selection ends, or a time.
#[derive(Clone, Debug)]
enum Before {
    Day(Date),
    Time(When),
}

impl Before {
    fn parse(text: &str) -> Result<Self, String> {
        if let Ok(day) = text.trim().parse::<Date>()
            && !text.contains(':')
        {
            return Ok(Before::Day(day));
        }
        let when = When::parse(text);
        when.map(Before::Time).map_err(|error| error.to_string())
    }

    /// The last moment that is selected. Bookings are dated by this machine's clock.
    fn last(&self, now: Timestamp, zone: &TimeZone) -> Result<Timestamp> {
        let end = match self {
            Before::Day(day) => day
                .to_zoned(zone.clone())
                .map_err(|error| Error::usage(error.to_string()))?
                .timestamp(),
            Before::Time(when) => {
                let moment = when.resolve(now, zone);
                let moment = moment.map_err(|error| Error::usage(error.to_string()))?;
                moment.timestamp()
            }
        };
        let nanosecond = jiff::SignedDuration::from_nanos(1);
        Ok(end.saturating_sub(nanosecond).unwrap_or(Timestamp::MIN))
    }
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let forgotten = match (&args.booking, &args.before) {
        (Some(named), _) => forget_one(context, &locate_booking(context, named)?)?,
        (None, Some(before)) => {
            let zone = args.zone.tz.clone().unwrap_or_else(system_zone);
            let until = before.last(Timestamp::now(), &zone)?;
            forget_until(context, until, args.yes).await?
        }
        // clap requires one of the two.
        (None, None) => Forgotten::default(),
    };
    // Done even if nothing was deleted, because an earlier rewrite may have been interrupted.
    leave_nothing(context).await?;
    context.out.emit(&ForgottenView(forgotten))?;
    if forgotten.unsettled > 0 {
        context.out.warn(&format!(
            "open attempts keep their guests, because a booking may exist ({}); find out what happened, then try again: \
             bookctl attempts",
            forgotten.unsettled
        ));
    }
    Ok(Exit::Done)
}

fn forget_one(context: &Context, id: &str) -> Result<Forgotten> {
    let mut journal = context.journal()?;
    if !journal.made(id)? {
        let shown = visible(id);
        let unsettled = journal.open_attempts()?;
        if unsettled
            .iter()
            .any(|attempt| attempt.idempotency_key == id)
        {
            let what =
                format!("attempt {shown} is open: it keeps its guest until its outcome is known");
            return Err(Error::new(Code::Http409, what).hint(resume_command(id)));
        }
        return Err(Error::new(
            Code::Http404,
            format!("no booking {shown} of this service in the journal"),
        )
        .hint("list bookings with `bookctl bookings`, and open attempts with `bookctl attempts`"));
    }
    let forgotten = journal.forget_booking(id)?;
    if forgotten.count == 0 {
        context.out.note("Its guest was deleted before.");
    }
    Ok(forgotten)
}

async fn forget_until(context: &Context, until: Timestamp, yes: bool) -> Result<Forgotten> {
    let found = context.journal()?.forgettable(until)?;
    if !yes && found.count > 0 {
        confirm(context, found.count).await?;
    }
    context.in_flight.replace(InFlight::DeletingGuests);
    let _progress = context.out.progress("deleting guests");
    let mut next = Some(String::new());
    while let Some(since) = next {
        let forgotten = context.journal()?.forget_next(&since, until);
        next = forgotten.map_err(|mut error| {
            if !since.is_empty() {
                error.message.push_str("; some guests are deleted already");
            }
            error
        })?;
        // An interrupt ends it here.
        tokio::task::yield_now().await;
    }
    Ok(found)
}

async fn confirm(context: &Context, count: u32) -> Result<()> {
    let bookings = match count {
        1 => "1 booking".to_owned(),
        many => format!("{many} bookings"),
    };
    let confirmation = Confirmation {
        action: &format!("deleting the guests of {bookings}"),
        question: format!("Delete the guests of {bookings} from this computer?"),
        declined: "Nothing was deleted.",
    };
    confirmation.ask(&context.prompter).await
}

/// Rewrites the journal's file, to remove remains of deleted guests.
///
/// This may take seconds, and so runs on a thread of its own. If Ctrl-C ends it, the file is as it was before.
async fn leave_nothing(context: &Context) -> Result<()> {
    if context.target().journal().is_some() {
        // PostgreSQL removes deleted rows when it vacuums.
        return Ok(());
    }
    context.in_flight.replace(InFlight::ForgettingGuests);
    let _progress = context.out.progress("overwriting deleted data");
    let path = context.journal_file().to_owned();
    let rewriting = tokio::task::spawn_blocking(move || Journal::rewrite_file(&path));
    let rewritten = rewriting
        .await
        .unwrap_or_else(|_| Err(Error::journal("the journal could not be rewritten")));
    rewritten.map_err(|mut error| {
        let why = &error.message;
        error.message =
            format!("the guests were deleted, but traces may remain in the file: {why}");
        error.hint("run the same command again to overwrite them")
    })
}

struct ForgottenView(Forgotten);

impl View for ForgottenView {
    fn json(&self) -> Document {
        json!({"forgotten": self.0.count, "unsettled": self.0.unsettled}).into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.heading(Tone::Good, "forgotten", self.0.count.to_string());
        page
    }
}
