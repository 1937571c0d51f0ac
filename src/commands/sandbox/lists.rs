//! Lists that are shown as they are: bookings, text messages and keys.

use super::listing::{Column, Listing};
use crate::app::Context;
use crate::client::Call;
use crate::outcome::{Exit, Result};

/// List all bookings in the sandbox, newest first; --json has the oldest first
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox bookings\n  \
    bookctl sandbox bookings --jq '.bookings | length'")]
pub(crate) struct BookingsArgs {
    #[command(flatten)]
    of: Of,
}

/// List text messages with one-time codes, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox inbox\n  \
    bookctl sandbox inbox --jq '.messages[0].code'")]
pub(crate) struct InboxArgs {
    #[command(flatten)]
    of: Of,
}

/// List the sandbox's API keys and what each is for
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox keys\n  \
    BOOKCTL_PROFILE=sandbox BOOKCTL_API_KEY=sk_test_sandbox \\\n    \
      bookctl search dining --near London --at 'tomorrow 19:30'")]
pub(crate) struct KeysArgs {}

#[derive(clap::Args, Debug)]
struct Of {
    /// Only those of this organization
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

const BOOKINGS: &[Column] = &[
    ("id", "id"),
    ("status", "status"),
    ("venue", "venue_name"),
    ("when", "datetime"),
    ("party", "party_size"),
    ("provider", "provider"),
    ("error", "error_code"),
];
const MESSAGES: &[Column] = &[
    ("code", "code"),
    ("for", "booking_id|session_id"),
    ("sent to", "to"),
    ("sent", "created_at"),
    ("text", "text"),
];
const KEYS: &[Column] = &[
    ("key", "key"),
    ("kind", "kind"),
    ("organization", "organization"),
    ("purpose", "purpose"),
    ("scopes", "scopes"),
];

pub(super) async fn bookings(context: &Context, args: BookingsArgs) -> Result<Exit> {
    let call = super::list_of("/sandbox/bookings", args.of.organization.as_deref());
    show(context, call, "bookings", BOOKINGS).await
}

pub(super) async fn inbox(context: &Context, args: InboxArgs) -> Result<Exit> {
    let call = super::list_of("/sandbox/inbox", args.of.organization.as_deref());
    show(context, call, "messages", MESSAGES).await
}

pub(super) async fn keys(context: &Context) -> Result<Exit> {
    show(context, Call::get("/sandbox/keys"), "keys", KEYS).await
}

async fn show(
    context: &Context,
    call: Call,
    field: &'static str,
    columns: &'static [Column],
) -> Result<Exit> {
    let document = context.control(call).await?.document;
    let list = Listing {
        document,
        field,
        is_oldest_first: field == "bookings",
        columns,
    };
    list.emit(context, &format!("no {field} yet"))
}
