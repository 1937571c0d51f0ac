use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::view::{BookingList, BookingView};
use crate::walk::read_booking;

/// Show bookings: the state first, then why, then what can be done next
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl show bk_01\n  \
    bookctl show bk_01 --json --jq .status\n  \
    bookctl show bk_01 --exit-status && echo confirmed")]
pub(crate) struct Args {
    /// Booking ids; several give a table, or a JSON array
    #[arg(value_name = "BOOKING", required = true)]
    bookings: Vec<String>,
    /// Exit as `book` does: 0 confirmed, 8 processing, 10 waits for an action, 11 or 16 failed
    #[arg(long)]
    exit_status: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let mut bookings = Vec::new();
    for id in &args.bookings {
        bookings.push(read_booking(context, id).await?);
    }
    match bookings.as_slice() {
        [booking] => {
            let dialect = context.dialect();
            context.out.emit(&BookingView {
                booking,
                dialect: &dialect,
                now: context.now()?,
            })?;
        }
        bookings => context.out.emit(&BookingList { bookings })?,
    }
    // Of several bookings the first that is not confirmed speaks.
    let exit = bookings
        .iter()
        .map(|booking| booking.exit())
        .find(|exit| *exit != Exit::Done);
    Ok(exit.filter(|_| args.exit_status).unwrap_or(Exit::Done))
}
