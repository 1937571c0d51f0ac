use serde_json::json;

use super::listing::Listing;
use crate::app::Context;
use crate::client::Call;
use crate::outcome::{Exit, Result};

/// List webhook deliveries, or send one again
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox deliveries\n  \
    bookctl sandbox deliveries \\\n    \
      --jq '.deliveries[] | select(.state != \"delivered\") | .event_id'\n  \
    bookctl sandbox deliveries resend evt_01")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// List deliveries; --json includes each attempt
    List,
    /// Resend an event, with new retries
    #[command(after_help = "Examples:\n  bookctl sandbox deliveries resend evt_01")]
    Resend {
        /// Id of the event
        event: String,
    },
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let call = match args.action.unwrap_or(Action::List) {
        Action::List => Call::get("/sandbox/deliveries"),
        Action::Resend { event } => {
            let path = format!("/sandbox/deliveries/{}/resend", Call::segment(&event));
            Call::post(path, json!({}))
        }
    };
    let document = context.control(call).await?.document;
    let alone = document.value().get("deliveries").is_none();
    let document = if alone && context.out.is_human() {
        json!({ "deliveries": [document.value()] }).into()
    } else {
        document
    };
    let deliveries = Listing {
        document,
        field: "deliveries",
        columns: &[
            ("event", "event_id"),
            ("kind", "type"),
            ("booking", "booking_id"),
            ("state", "state"),
            ("attempts", "attempts"),
            ("next try", "next_attempt_at"),
            ("url", "url"),
        ],
    };
    deliveries.emit(
        context,
        "no deliveries yet; set a URL with: bookctl sandbox organization -F webhook_url=URL",
    )
}
