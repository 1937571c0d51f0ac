use serde_json::{Value, json};

use super::answer::{
    self, AnswerColumn, AnswerList, add_fields, add_message, cell, of_organization,
};
use super::requests::clock_cell;
use crate::app::{Api, Parts, Records};
use crate::booking::find::locate::{LAST, locate_row};
use crate::journal::recent::RecentList;
use crate::json::{Document, plain};
use crate::outcome::{Error, Exit, Result};
use crate::service::client::Call;
use crate::terminal::output::{Page, TableCell, Tone};

/// List webhook deliveries, show one, or send one again
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox deliveries\n  \
    bookctl sandbox deliveries show @1\n  \
    bookctl sandbox deliveries \\\n    \
      --jq '.deliveries[] | select(.state != \"delivered\") | .event_id'\n  \
    bookctl sandbox deliveries resend evt_01")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<DeliveriesAction>,
    /// Show only those of this organization
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

#[derive(clap::Subcommand, Debug)]
enum DeliveriesAction {
    /// List deliveries, newest first; --json has the oldest first, with each attempt
    List,
    /// Show a delivery: each try, and how your handler responded
    #[command(after_help = "Examples:\n  bookctl sandbox deliveries show @1")]
    Show {
        /// Id of the event, @N for a row of the last list of deliveries, or @last for the newest
        event: String,
    },
    /// Resend an event, with new retries
    ///
    /// A `bookctl webhook listen` that has the event already does not forward it again: use
    /// `bookctl webhook events replay`.
    #[command(after_help = "Examples:\n  bookctl sandbox deliveries resend evt_01")]
    Resend {
        /// Id of the event, @N for a row of the last list of deliveries, or @last for the newest
        event: String,
    },
}

const PATH: &str = "/sandbox/deliveries";

/// A delivery with the time and the answer of its last attempt.
const COLUMNS: &[AnswerColumn] = &[
    ("at", |it| clock_cell(&last_attempt(it)["at"])),
    ("type", |it| {
        let kind = plain(&it["type"]);
        kind.strip_prefix("booking.").unwrap_or(&kind).into()
    }),
    ("state", |it| TableCell::toned(plain(&it["state"]), tone(&it["state"]))),
    ("booking", |it| cell(it, "booking_id")),
    ("event id", |it| cell(it, "event_id")),
    ("response", |it| answered(last_attempt(it)).into()),
];

pub(crate) async fn run(Parts { api, records, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    let organization = args.organization.as_deref();
    let call = match args.action {
        None | Some(DeliveriesAction::List) => {
            let none = "no deliveries yet; they need a URL: bookctl sandbox organization -F webhook_url=URL";
            return list(api, organization).await?.emit(records, ui, none);
        }
        Some(DeliveriesAction::Show { event }) => Call::get(located(api, records, &event).await?),
        Some(DeliveriesAction::Resend { event }) => {
            let path = located(api, records, &event).await?;
            Call::post(format!("{path}/resend"), json!({}))
        }
    };
    answer::show(api, ui, call, page).await
}

/// The path of a delivery, from an id, `@N` or `@last`, which is the newest.
async fn located(api: &Api, records: &Records, event: &str) -> Result<String> {
    let id = if event == LAST {
        let newest = list(api, None).await?.ids().next().map(str::to_owned);
        newest.ok_or_else(|| Error::usage("@last: there are no deliveries yet"))?
    } else {
        locate_row(records, RecentList::Deliveries, event)?
    };
    Ok(format!("{PATH}/{}", Call::segment(&id)))
}

async fn list(api: &Api, organization: Option<&str>) -> Result<AnswerList> {
    let call = Call::get(of_organization(PATH, organization));
    Ok(AnswerList {
        recent: Some(RecentList::Deliveries),
        ..AnswerList::read(api, call, "deliveries", COLUMNS).await?
    })
}

fn last_attempt(delivery: &Value) -> &Value {
    delivery["attempts"].as_array().and_then(|it| it.last()).unwrap_or(&Value::Null)
}

fn tone(state: &Value) -> Tone {
    match state.as_str() {
        Some("delivered") => Tone::Good,
        Some("abandoned") => Tone::Bad,
        _ => Tone::Warn,
    }
}

/// The status of an attempt, or why there was none.
fn answered(attempt: &Value) -> String {
    let field = if attempt["status"].is_null() { "error" } else { "status" };
    plain(&attempt[field])
}

fn page(delivery: &Document) -> Page {
    let value = delivery.value();
    let mut page = Page::default();
    let event = plain(&value["event_id"]);
    page.heading(tone(&value["state"]), plain(&value["state"]), &event);
    add_fields(&mut page, value, &["event_id", "state", "attempts", "body"]);
    for attempt in value["attempts"].as_array().into_iter().flatten() {
        page.line("");
        add_fields(&mut page, attempt, &["request", "response"]);
        for part in ["request", "response"] {
            if let Some(message) = attempt.get(part) {
                add_message(&mut page, part, message);
            }
        }
    }
    page.line("");
    page.next(format!("bookctl sandbox deliveries resend {event}"));
    page
}
