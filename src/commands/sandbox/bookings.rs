use super::listing::Listing;
use crate::app::Context;
use crate::outcome::{Exit, Result};

/// List all bookings in the sandbox, newest first; --json has the oldest first
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox bookings\n  \
    bookctl sandbox bookings --jq '.bookings | length'")]
pub(crate) struct Args {
    /// Only those of this organization
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let answer = context
        .control(super::list_of(
            "/sandbox/bookings",
            args.organization.as_deref(),
        ))
        .await?;
    let bookings = Listing {
        document: answer.document,
        field: "bookings",
        is_oldest_first: true,
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
