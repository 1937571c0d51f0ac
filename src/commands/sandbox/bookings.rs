use super::listing::Listing;
use crate::app::Context;
use crate::client::Call;
use crate::outcome::{Exit, Result};

/// List all bookings in the sandbox, oldest first
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox bookings\n  \
    bookctl sandbox bookings --jq '.bookings | length'")]
pub(crate) struct Args {}

pub(super) async fn run(context: &Context, _: Args) -> Result<Exit> {
    let answer = context.control(Call::get("/sandbox/bookings")).await?;
    let bookings = Listing {
        document: answer.document,
        field: "bookings",
        columns: &[
            ("id", "id"),
            ("status", "status"),
            ("venue", "venue_name"),
            ("when", "datetime"),
            ("party", "party_size"),
            ("provider", "provider"),
            ("error", "error_code"),
        ],
    };
    bookings.emit(context, "no bookings yet")
}
