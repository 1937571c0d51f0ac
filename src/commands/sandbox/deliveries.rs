use std::collections::HashMap;

use serde_json::{Value, json};

use super::requests::add_message;
use crate::app::Context;
use crate::client::Call;
use crate::flows::{LAST, locate_row};
use crate::json::{Document, plain};
use crate::model::time_text::human;
use crate::model::zone::system_zone;
use crate::outcome::{Error, Exit, Result};
use crate::recent::RecentList;
use crate::terminal::output::{Page, TableCell, Tone, View};
use crate::webhook::{DUPLICATE, LISTENER, State};

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
    action: Option<Action>,
    /// Only those of this organization
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// List deliveries, newest first; --json has the oldest first, with each attempt
    List,
    /// Show a delivery: what each attempt sent, and what your app answered
    #[command(after_help = "Examples:\n  bookctl sandbox deliveries show @1")]
    Show {
        /// Id of the event, @N for a row of the last list of deliveries, or @last for the newest
        event: String,
    },
    /// Resend an event, with new retries
    ///
    /// A `bookctl webhook listen` that has the event already does not forward it again: use `bookctl webhook events replay`.
    #[command(after_help = "Examples:\n  bookctl sandbox deliveries resend evt_01")]
    Resend {
        /// Id of the event, @N for a row of the last list of deliveries, or @last for the newest
        event: String,
    },
}

const PATH: &str = "/sandbox/deliveries";

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    match args.action.unwrap_or(Action::List) {
        Action::List => {
            let answer = context
                .control(super::list_of(PATH, args.organization.as_deref()))
                .await?;
            let list = List::of(context, answer.document);
            let ids: Vec<&str> = list
                .rows()
                .filter_map(|it| it["event_id"].as_str())
                .collect();
            super::remember(context, RecentList::Deliveries, &ids);
            let none = if ids.is_empty() && context.out.is_human() {
                none_yet(context, args.organization.as_deref()).await?
            } else {
                ""
            };
            context.out.emit_list(&list, ids.is_empty(), none)?;
        }
        Action::Show { event } => {
            let id = located(context, &event).await?;
            let path = format!("{PATH}/{}", Call::segment(&id));
            let answer = context.control(Call::get(path)).await?;
            let view = Shown::of(context, answer.document);
            context.out.emit(&view)?;
        }
        Action::Resend { event } => {
            let id = located(context, &event).await?;
            let path = format!("{PATH}/{}/resend", Call::segment(&id));
            let answer = context.control(Call::post(path, json!({}))).await?;
            let view = Shown::of(context, answer.document);
            context.out.emit(&view)?;
            if view.app.is_some() {
                context.out.warn(
                    "the listener has this event already, and does not forward it to your app again",
                );
                context.out.hint(&format!(
                    "send it to your app with: {}",
                    replay(&view.delivery)
                ));
            }
        }
    }
    Ok(Exit::Done)
}

/// The id of an event, from an id, `@N` or `@last`, which is the newest.
async fn located(context: &Context, event: &str) -> Result<String> {
    if event != LAST {
        return locate_row(context, RecentList::Deliveries, event);
    }
    let list = List(
        context.control(Call::get(PATH)).await?.document,
        HashMap::new(),
    );
    let newest = list.rows().find_map(|it| it["event_id"].as_str());
    newest.map(str::to_owned).ok_or_else(|| {
        Error::usage("@last: there are no deliveries yet")
            .hint("list deliveries with `bookctl sandbox deliveries`")
    })
}

async fn none_yet(context: &Context, organization: Option<&str>) -> Result<&'static str> {
    let settings = super::list_of("/sandbox/organization", organization);
    let settings = context.control(settings).await?.document;
    Ok(match settings.str("webhook_url") {
        Some(_) => "no deliveries yet",
        None => {
            "no deliveries yet; set a URL with: bookctl sandbox organization -F webhook_url=URL"
        }
    })
}

/// The command that sends an event to the app behind a listener.
fn replay(delivery: &Document) -> String {
    let event = delivery.str("event_id").unwrap_or_default();
    format!("bookctl webhook events replay {event} --to URL")
}

/// What an app answered to the listener that took a delivery for it, by the id of the event. A listener answers before
/// the app does, so that the sandbox knows only the listener's answer.
fn behind_listener(context: &Context, event: &str) -> Option<String> {
    let webhooks = context.received().ok()??;
    let row = webhooks.event(event).ok()??;
    let last = webhooks.attempts(row.number).ok()?.pop();
    Some(match (last.map(|it| (it.status, it.error)), row.state) {
        (Some((Some(status), _)), _) => status.to_string(),
        (Some((None, Some(why))), _) => why,
        (Some((None, None)), _) => "no answer yet".to_owned(),
        (None, State::Waiting) => "not sent yet".to_owned(),
        (None, _) => "not forwarded".to_owned(),
    })
}

/// A delivery, with what the app behind a listener answered.
struct Shown {
    delivery: Document,
    app: Option<String>,
}

impl Shown {
    fn of(context: &Context, delivery: Document) -> Self {
        let event = delivery.str("event_id").unwrap_or_default();
        let app = behind_listener(context, event);
        Self { delivery, app }
    }
}

impl View for Shown {
    fn json(&self) -> Document {
        self.delivery.clone()
    }

    fn page(&self) -> Page {
        page(&self.delivery, self.app.as_deref())
    }
}

/// The deliveries, with what the apps behind a listener answered. The document has the oldest first, the table the
/// newest.
struct List(Document, HashMap<String, String>);

impl List {
    fn of(context: &Context, document: Document) -> Self {
        let mut list = Self(document, HashMap::new());
        let answers = list.rows().filter_map(|it| {
            let event = it["event_id"].as_str()?;
            Some((event.to_owned(), behind_listener(context, event)?))
        });
        list.1 = answers.collect();
        list
    }

    fn rows(&self) -> impl Iterator<Item = &Value> {
        let deliveries = self.0.value().get("deliveries").and_then(Value::as_array);
        deliveries.into_iter().flatten().rev()
    }
}

impl View for List {
    fn json(&self) -> Document {
        self.0.clone()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        let rows = self.rows().enumerate().map(|(row, delivery)| {
            let app = delivery["event_id"].as_str().and_then(|it| self.1.get(it));
            cells(row + 1, delivery, app)
        });
        let headings = vec!["", "at", "type", "state", "booking", "event id", "answer"];
        page.table(headings, rows.collect(), vec![]);
        page
    }
}

/// A delivery with the time and the answer of its last attempt.
fn cells(row: usize, delivery: &Value, app: Option<&String>) -> Vec<TableCell> {
    let text = |field: &str| delivery[field].as_str().unwrap_or_default();
    let attempts = delivery["attempts"].as_array();
    let last = attempts.and_then(|it| it.last());
    let at = last.and_then(|it| it["at"].as_str()?.parse::<jiff::Timestamp>().ok());
    let at = at.map(|it| it.to_zoned(system_zone()).strftime("%H:%M:%S").to_string());
    let kind = text("type");
    let answer = match app {
        Some(app) => format!("app: {app}"),
        None => last.map(answer).unwrap_or_default(),
    };
    vec![
        format!("@{row}").into(),
        at.unwrap_or_default().into(),
        kind.strip_prefix("booking.").unwrap_or(kind).into(),
        TableCell::toned(text("state"), tone(text("state"))),
        text("booking_id").into(),
        text("event_id").into(),
        answer.into(),
    ]
}

fn tone(state: &str) -> Tone {
    match state {
        "delivered" => Tone::Good,
        "abandoned" => Tone::Bad,
        _ => Tone::Warn,
    }
}

/// The status of an attempt, or why there was none.
fn answer(attempt: &Value) -> String {
    match (&attempt["status"], &attempt["error"]) {
        (Value::Null, Value::Null) => String::new(),
        (Value::Null, error) => plain(error),
        (status, _) => plain(status),
    }
}

fn page(delivery: &Document, app: Option<&str>) -> Page {
    let value = delivery.value();
    let mut page = Page::default();
    let state = delivery.str("state").unwrap_or_default();
    let event = delivery.str("event_id").unwrap_or_default();
    page.heading(tone(state), state, event);
    page.field_if("kind", delivery.str("type"));
    page.field_if("booking", delivery.str("booking_id"));
    page.field_if("to", delivery.str("url"));
    page.field_if(
        "your app",
        app.map(|it| format!("{it} (through the listener)")),
    );
    page.field_if("next try", delivery.str("next_attempt_at").map(human));
    let attempts = value["attempts"].as_array();
    for attempt in attempts.into_iter().flatten() {
        page.line("");
        let at = attempt["at"].as_str().map(human).unwrap_or_default();
        page.field("attempt", format!("{}, {at}", plain(&attempt["number"])));
        let took = plain(&attempt["latency_ms"]);
        page.field("answer", format!("{} in {took} ms", answer(attempt)));
        let said = match attempt["response"]["headers"][LISTENER].as_str() {
            None => None,
            Some(DUPLICATE) => Some(
                "answered by `bookctl webhook listen`, which had the event already and sent your app nothing",
            ),
            Some(_) => {
                Some("answered by `bookctl webhook listen`, which took the event for your app")
            }
        };
        page.field_if("listener", said);
        for part in ["request", "response"] {
            if let Some(message) = attempt.get(part) {
                add_message(&mut page, part, message);
            }
        }
    }
    page.line("");
    page.next(match app {
        Some(_) => replay(delivery),
        None => format!("bookctl sandbox deliveries resend {event}"),
    });
    page
}
