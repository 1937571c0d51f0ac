use std::time::Duration;

use tokio::time::Instant;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::model::booking::{Booking, Status};
use crate::view::BookingView;
use crate::walk::read_booking;

/// The pause between two looks: 300 reads fit into the service's five minutes.
const PAUSE: Duration = Duration::from_secs(2);
/// How long a booking is watched unless `--timeout` says: a pause ends by itself after 20 minutes.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// Watch a booking until it is settled, or waits for an action
///
/// Every change is shown as it is seen; under --json one document a line. The exit code is the one of `book`, or 0
/// where a status was named with --until and reached.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl watch bk_01\n  \
    bookctl watch bk_01 --until confirmed --until failed --timeout 5m --json")]
pub(crate) struct Args {
    /// Booking id
    booking: String,
    /// End at this status; may be given several times
    #[arg(long, value_name = "STATUS", value_parser = ["requires_action", "processing", "confirmed", "failed", "cancelled", "expired"])]
    until: Vec<String>,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let deadline = Instant::now() + context.timeout().unwrap_or(LONGEST);
    let mut shown: Option<String> = None;
    let progress = context.out.progress("");
    loop {
        let booking = read_booking(context, &args.booking).await?;
        // What changes is not the status alone: a new pause has the same one.
        if shown.as_deref() != Some(booking.document().text()) {
            show(context, &booking)?;
            shown = Some(booking.document().text().to_owned());
        }
        let status = booking.status();
        if args.until.iter().any(|until| until == status.as_str()) {
            return Ok(Exit::Done);
        }
        let settled = !matches!(status, Status::Processing | Status::Other(_));
        // A status that was asked for may still come after a pause; after an end nothing comes.
        let ended = settled && (args.until.is_empty() || status != Status::RequiresAction);
        let left = deadline.saturating_duration_since(Instant::now());
        if ended || left.is_zero() {
            return Ok(match status {
                Status::Other(_) => Exit::Processing,
                _ => booking.exit(),
            });
        }
        progress.say(&format!(
            "{status}; watching for {} s more at most",
            left.as_secs()
        ));
        tokio::time::sleep(PAUSE.min(left)).await;
    }
}

fn show(context: &Context, booking: &Booking) -> Result<()> {
    let dialect = context.dialect();
    context.out.emit_line(&BookingView {
        booking,
        dialect: &dialect,
        now: context.now()?,
    })
}
