use serde_json::{Map, Value};

use super::send::{self, Sender};
use crate::app::Parts;
use crate::booking::arguments::ExtraFields;
use crate::booking::book::offer;
use crate::booking::confirmation::Confirmation;
use crate::booking::find::pick::{self, NamedBooking};
use crate::booking::finish::{Change, finish_changed};
use crate::booking::{finish, terms};
use crate::outcome::{Exit, Result};
use crate::platform::shell;
use crate::service::client::cancel_call;
use crate::service::documents::{Booking, Status, id};
use crate::service::mapping::WriteKind;
use crate::terminal::output::View;

/// The code of a booking whose provider cannot cancel at the venue.
const UNSUPPORTED: Option<&str> = Some("cancellation_unsupported");

/// Cancel a booking
///
/// Not every provider can cancel at the venue. If it cannot, the booking stays confirmed and the
/// exit code is 7.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl cancel bk_01\n  \
    bookctl cancel bk_01 --reason 'the guest is ill' --yes")]
pub(crate) struct Args {
    /// Booking id, @N for a row of the last list of bookings, or @last
    #[arg(value_parser = id)]
    booking: Option<String>,
    /// Give the venue this reason
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    extra: ExtraFields,
    /// Show the request and send nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(parts @ Parts { api, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    if !args.dry_run {
        api.facts.before_change()?;
    }
    let named = args.booking.as_deref();
    let mut named =
        pick::booking_or_pick(parts, named, Status::has_not_ended, !args.dry_run).await?;
    let id = &named.id.clone();
    let call = cancel_call(id, args.reason.as_deref(), api.facts.mapping())?;
    let fields = args.extra.body()?;
    let call = call.with_fields(&fields)?;
    if args.dry_run {
        return finish::preview(&api.facts, ui, call);
    }
    let reason = args.reason.map(|it| ("reason".to_owned(), it.into()));
    let requested: Map<String, Value> = reason.into_iter().chain(fields).collect();
    let mut sender = Sender::new(parts, id, WriteKind::Cancel, requested.clone().into());
    // An earlier refusal is none of this request.
    let before = terms::find_recorded(&parts.records, id);
    let is_old = before.is_some_and(|it| it.booking.error_code() == UNSUPPORTED);
    let is_done = |booking: &Booking| {
        booking.status() == Status::Cancelled || !is_old && booking.error_code() == UNSUPPORTED
    };
    let sent = match sender.found_done(is_done).await.transpose() {
        Some(found) => found,
        None => {
            if !args.yes {
                confirm(parts, &mut named).await?;
            }
            sender.change(call, "cancellation", is_done).await
        }
    };
    let booking = sent.map_err(|error| pick::not_found(&parts.records, ui, id, error))?;
    match booking.status() {
        Status::Confirmed => {
            let why = if booking.error_code() == UNSUPPORTED {
                "the venue still expects the guest. Call the venue."
            } else {
                "the service accepted the request, but the booking is still confirmed. Check it again."
            };
            ui.out.refused("Not cancelled:", why);
        }
        // A person has confirmed the fee that is due by the terms.
        Status::Cancelled if !ui.prompter.interactive() => {
            let party = terms::filled_in(&parts.records, &booking).head_count();
            let reader = offer::terms_reader(&api.facts, party);
            let terms = terms::cancellation_terms(&parts.records, &booking);
            if let Some(fee) = terms.and_then(|terms| reader.fee_at(&terms, reader.now)) {
                ui.out.warn(&format!("the cancellation costs {fee}, by the booking's terms"));
            }
        }
        _ => {}
    }
    let change = Change::new(WriteKind::Cancel, &requested);
    let exit = finish_changed(parts, &booking, change)?;
    Ok(match booking.status() {
        Status::Cancelled => Exit::Done,
        Status::Confirmed => Exit::Refused,
        _ if booking.error_code() == UNSUPPORTED => Exit::Refused,
        _ => exit,
    })
}

/// Shows the booking and what cancelling it costs, and asks.
async fn confirm(parts: &Parts, named: &mut NamedBooking) -> Result<()> {
    let question = "Cancel this booking?";
    let mut confirmation = Confirmation::new("cancelling", question, "Nothing was cancelled.");
    confirmation.check(&parts.ui.prompter)?;
    let booking = named.booking(parts).await?;
    match booking.status() {
        Status::RequiresAction => {
            let now = parts.api.facts.service_now();
            let ends = send::ends_by_itself(&booking, now).unwrap_or_default();
            let what = format!("only a confirmed booking can be cancelled. {ends}");
            let answer = shell::command("continue", booking.id(), "");
            let error = send::refused(parts, &booking, what.trim_end());
            return Err(match booking.is_overdue(now) {
                true => error,
                false => error.hint(format!("to answer it: {answer}")),
            });
        }
        Status::Failed | Status::Cancelled | Status::Expired => {
            return Err(send::refused(parts, &booking, "there is nothing to cancel"));
        }
        _ => {}
    }
    finish::record(parts, &booking);
    let displayed = finish::booking_view(parts, &booking);
    if let Some(limits) = displayed.restrictions() {
        parts.ui.out.warn(&format!(
            "{limits}; the venue expects the guest until it cancels the booking itself"
        ));
        confirmation.question = "Send the cancellation anyway?".to_owned();
    }
    let mut page = displayed.page().without_commands();
    let cost =
        terms::cost_now(&parts.api.facts, &parts.records, &booking, displayed.booking.head_count());
    page.without("cancellation").field("cancellation", cost);
    terms::confirm(&parts.api, &parts.records, &parts.ui, page, &booking, &confirmation).await
}
