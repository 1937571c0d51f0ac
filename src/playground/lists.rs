//! Bookings, text messages and keys as they are, and the status of a booking.

use jiff::Timestamp;
use serde_json::json;

use super::answer::{self, AnswerList, Columns, cell, of_organization};
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

pub(crate) const BOOKINGS: Columns = Columns(
    "id, status, venue=venue_name, when=datetime, party=party_size, provider, error=error_code",
    cell,
);
const MESSAGES: Columns =
    Columns("code, for=booking_id, sent to=to, sent=created_at, text", |it, field| match field {
        "booking_id" if !it[field].is_string() => cell(it, "session_id"),
        // Beside a text, which needs the room of a terminal.
        "created_at" => {
            let at = it[field].as_str().and_then(|it| it.parse::<Timestamp>().ok());
            cell(it, field).in_short(at.map(|it| it.strftime("%-d %b %T").to_string()))
        }
        _ => cell(it, field),
    });
const KEYS: Columns = Columns("key, kind, organization, purpose, scopes", cell);

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

/// Give a booking a status, as its provider does later
///
/// The sandbox sends the event of the change. STATUS is any word: one that the service documents,
/// or one that it does not.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox set @last confirmed\n  \
    bookctl sandbox set bk_01 failed --error-code provider_timeout")]
pub(crate) struct SetArgs {
    /// Id of the booking, or @N, @last
    booking: String,
    /// Status to set, such as confirmed or failed
    status: String,
    /// Set the booking's error_code
    #[arg(long, value_name = "CODE")]
    error_code: Option<String>,
    /// Set the booking's error_message
    #[arg(long, value_name = "TEXT")]
    error_message: Option<String>,
}

pub(crate) async fn set(Parts { api, records, ui, .. }: &Parts, args: SetArgs) -> Result<Exit> {
    let id = locate_booking(records, &args.booking)?;
    let (error_code, error_message) = (args.error_code, args.error_message);
    let body =
        json!({"status": args.status, "error_code": error_code, "error_message": error_message});
    let call = Call::put(format!("/sandbox/bookings/{}", Call::segment(&id)), body);
    answer::show(api, ui, call, answer::fields).await.map_err(answer::by_flags)
}
