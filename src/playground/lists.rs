//! Lists that are shown as they are: bookings, text messages and keys.

use jiff::Timestamp;

use super::answer::{AnswerColumn, AnswerList, cell, of_organization};
use crate::app::Parts;
use crate::booking::find::locate::locate_booking;
use crate::outcome::{Exit, Result};
use crate::secrets::reveal;
use crate::service::client::Call;
use crate::service::documents::id::id;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Only those of this organization
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct InboxArgs {
    /// Only the text messages of this booking
    #[arg(long, value_name = "BOOKING", value_parser = id)]
    booking: Option<String>,
    #[command(flatten)]
    of: Args,
}

pub(crate) const BOOKINGS: &[AnswerColumn] = &[
    ("id", |it| cell(it, "id")),
    ("status", |it| cell(it, "status")),
    ("venue", |it| cell(it, "venue_name")),
    ("when", |it| cell(it, "datetime")),
    ("party", |it| cell(it, "party_size")),
    ("provider", |it| cell(it, "provider")),
    ("error", |it| cell(it, "error_code")),
];
const MESSAGES: &[AnswerColumn] = &[
    ("code", |it| cell(it, "code")),
    ("for", |it| {
        let field = if it["booking_id"].is_string() { "booking_id" } else { "session_id" };
        cell(it, field)
    }),
    ("sent to", |it| cell(it, "to")),
    ("sent", |it| {
        // Beside a text, which needs the room of a terminal.
        let at = it["created_at"].as_str().and_then(|it| it.parse::<Timestamp>().ok());
        cell(it, "created_at").in_short(at.map(|it| it.strftime("%-d %b %T").to_string()))
    }),
    ("text", |it| cell(it, "text")),
];
const KEYS: &[AnswerColumn] = &[
    ("key", |it| cell(it, "key")),
    ("kind", |it| cell(it, "kind")),
    ("organization", |it| cell(it, "organization")),
    ("purpose", |it| cell(it, "purpose")),
    ("scopes", |it| cell(it, "scopes")),
];

pub(crate) async fn bookings(Parts { api, records, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    let path = of_organization("/sandbox/bookings", args.organization.as_deref());
    let list = AnswerList::read(api, Call::get(path), "bookings", BOOKINGS).await?;
    list.emit(records, ui, "no bookings yet")
}

pub(crate) async fn inbox(Parts { api, records, ui, .. }: &Parts, args: InboxArgs) -> Result<Exit> {
    let booking = args.booking.as_deref().map(|it| locate_booking(records, it)).transpose()?;
    let path = of_organization("/sandbox/inbox", args.of.organization.as_deref());
    let mut list = AnswerList::read(api, Call::get(path), "messages", MESSAGES).await?;
    if let Some(booking) = booking {
        let mut document = list.document.value().clone();
        if let Some(messages) = document["messages"].as_array_mut() {
            messages.retain(|it| it["booking_id"] == booking.as_str());
        }
        list.document = document.into();
    }
    list.emit(records, ui, "no messages yet")
}

pub(crate) async fn keys(Parts { api, records, ui, .. }: &Parts) -> Result<Exit> {
    let list = AnswerList::read(api, Call::get("/sandbox/keys"), "keys", KEYS).await?;
    // Everybody knows a sandbox's own keys.
    let keys = list.rows().into_iter().filter_map(|it| it["key"].as_str());
    keys.for_each(reveal);
    list.emit(records, ui, "no keys yet")
}
