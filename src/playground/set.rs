use serde_json::json;

use super::answer;
use crate::app::Parts;
use crate::booking::find::locate::locate_booking;
use crate::outcome::{Exit, Result};
use crate::service::client::Call;

/// Give a booking a status, as its provider does later
///
/// The sandbox sends the event of the change. STATUS is any word: one that the service documents,
/// or one that it does not.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox set @last confirmed\n  \
    bookctl sandbox set bk_01 failed --error-code provider_timeout")]
pub(crate) struct Args {
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

pub(crate) async fn run(Parts { api, records, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    let id = locate_booking(records, &args.booking)?;
    let mut body = json!({ "status": args.status });
    for (name, value) in [("error_code", args.error_code), ("error_message", args.error_message)] {
        if let Some(value) = value {
            body[name] = value.into();
        }
    }
    let call = Call::put(format!("/sandbox/bookings/{}", Call::segment(&id)), body);
    answer::show(api, ui, call, answer::fields).await.map_err(answer::by_flags)
}
