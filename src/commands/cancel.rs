use super::field::ExtraFields;
use crate::adapter::WriteKind;
use crate::app::Context;
use crate::client::cancel_call;
use crate::flows::{
    Confirmation, NamedBooking, Offered, Reads, add_stakes, booking_or_pick, cancellation_terms,
    card, change, finish_compared, keep_cancellation, not_found, preview, refuse_uncancellable,
    terms_reader,
};
use crate::model::booking::{Booking, Status};
use crate::model::id::id;
use crate::outcome::{Exit, Result};
use crate::terminal::output::View;

/// Cancel a booking
///
/// Not every provider can cancel at the venue. If it cannot, the booking stays confirmed and the exit code is 7.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl cancel bk_01\n  \
    bookctl cancel bk_01 --reason 'the guest is ill' --yes")]
pub(crate) struct Args {
    /// Booking id, @N for a row of the last list of bookings, or @last
    #[arg(value_parser = id)]
    booking: Option<String>,
    /// Reason to give to the venue
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

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    if !args.dry_run {
        context.before_change()?;
    }
    let asks = !args.yes && !args.dry_run && context.prompter.interactive();
    let reads = match args.dry_run {
        true => Reads::Never,
        false if asks => Reads::Always,
        false => Reads::ToFind,
    };
    let named = args.booking.as_deref();
    let mut named = booking_or_pick(context, named, Offered::Alive, reads).await?;
    let id = &named.id.clone();
    let call = cancel_call(id, args.reason.as_deref(), context.adapter())?;
    let call = args.extra.add_to(call)?;
    if args.dry_run {
        return preview(context, call);
    }
    if !args.yes {
        confirm(context, &mut named).await?;
    }
    let booking = change(context, id, call, "cancellation", |booking| {
        // The answer may also say that the provider cannot cancel.
        booking.status() == Status::Cancelled
            || booking.error_code() == Some("cancellation_unsupported")
    })
    .await
    .map_err(|error| not_found(context, id, error))?;
    if booking.status() == Status::Confirmed {
        context.out.refused(
            "Not cancelled:",
            "the venue still expects the guest. Call the venue.",
        );
    }
    if booking.status() == Status::Cancelled {
        settle(context, &booking);
    }
    let asked = args
        .reason
        .map(|reason| ("reason".to_owned(), reason.into()));
    let asked = asked.into_iter().collect();
    let exit = finish_compared(context, &booking, WriteKind::Cancel, &asked)?;
    Ok(match (booking.status(), booking.error_code()) {
        (Status::Cancelled, _) if exit != Exit::Refused => Exit::Done,
        (_, Some("cancellation_unsupported")) | (Status::Confirmed, _) => Exit::Refused,
        _ => exit,
    })
}

/// Keeps what the cancellation costs by the terms, for `show`. A script is told of a fee.
fn settle(context: &Context, booking: &Booking) {
    let Some(terms) = cancellation_terms(context, booking) else {
        return;
    };
    let reader = terms_reader(context, booking.party());
    if let Some(fee) = reader
        .fee_at(&terms, reader.now)
        .filter(|_| !context.prompter.interactive())
    {
        let what = "the cancellation costs";
        context
            .out
            .warn(&format!("{what} {fee}, by the booking's terms"));
    }
    // The booking is cancelled, whether that can be kept or not.
    let _ = keep_cancellation(context, booking, terms);
}

/// Shows the booking and what cancelling it costs, and asks.
async fn confirm(context: &Context, named: &mut NamedBooking) -> Result<()> {
    let mut confirmation = Confirmation {
        action: "cancelling",
        question: "Cancel this booking?".to_owned(),
        declined: "Nothing was cancelled.",
    };
    confirmation.check(&context.prompter)?;
    let booking = named.booking(context).await?;
    refuse_uncancellable(&booking, "there is nothing to cancel")?;
    let is_live = !context.is_sandbox().await;
    let shown = card(context, &booking);
    if let Some(limits) = shown.limits() {
        context.out.warn(&format!(
            "this will not work: {limits}; until the venue has cancelled it, it expects the guest"
        ));
        confirmation.question = "Send the cancellation anyway?".to_owned();
    }
    let mut page = shown.page().without_commands();
    add_stakes(context, &mut page, &booking, is_live).await;
    context.out.show(&page);
    confirmation.ask(&context.prompter).await
}
