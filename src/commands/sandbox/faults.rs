use std::time::Duration;

use serde_json::{Map, Value, json};

use super::listing::Listing;
use crate::app::Context;
use crate::client::Call;
use crate::model::duration::duration;
use crate::outcome::{Exit, Result};

/// Make requests fail on purpose
///
/// A fault delays a response, replaces it with an error, drops the connection, or breaks the response.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox faults\n  \
    bookctl sandbox faults add --on 'POST /v1/bookings' --kind drop_after\n  \
    bookctl sandbox faults add --on 'GET /v1/bookings/{id}' \\\n    \
      --kind delay --delay 2s --times 3\n  \
    bookctl sandbox faults clear")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// List faults
    List,
    /// Add a fault
    #[command(after_help = "Examples:\n  \
        bookctl sandbox faults add --on 'POST /v1/bookings' --kind drop_after\n  \
        bookctl sandbox faults add --on 'GET /v1/bookings/{id}' \\\n    \
          --kind delay --delay 2s --times 3\n  \
        bookctl sandbox faults add --on 'POST /v1/venues/search' \\\n    \
          --kind status --status 502")]
    Add(Box<Fault>),
    /// Remove all faults
    Clear,
}

#[derive(clap::Args, Debug)]
struct Fault {
    /// Request that fails, such as 'POST /v1/bookings'
    #[arg(long, value_name = "CALL")]
    on: String,
    /// What happens to the request; drop_after handles it, then closes the connection without a response
    #[arg(long, value_parser = ["delay", "status", "drop_before", "drop_after", "truncate", "garbage"])]
    kind: String,
    /// How many requests fail
    #[arg(long, value_name = "N", default_value_t = 1)]
    times: u32,
    /// Length of a delay [default: 1s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    delay: Option<Duration>,
    /// Status to respond with [default: 500]
    #[arg(long, value_name = "N")]
    status: Option<u16>,
    /// Body to respond with, as JSON or text
    #[arg(long)]
    body: Option<String>,
    /// Truncate the response after this many bytes
    #[arg(long, value_name = "N")]
    after_bytes: Option<u64>,
}

impl Fault {
    fn document(self) -> Value {
        let mut fault = Map::new();
        fault.insert("on".to_owned(), json!(self.on));
        fault.insert("kind".to_owned(), json!(self.kind));
        fault.insert("times".to_owned(), json!(self.times));
        let body = self
            .body
            .map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)));
        let optional = [
            (
                "delay_ms",
                self.delay.map(|delay| json!(delay.as_millis() as u64)),
            ),
            ("status", self.status.map(|status| json!(status))),
            ("body", body),
            ("after_bytes", self.after_bytes.map(|bytes| json!(bytes))),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                fault.insert(key.to_owned(), value);
            }
        }
        Value::Object(fault)
    }
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    const PATH: &str = "/sandbox/faults";
    let call = match args.action.unwrap_or(Action::List) {
        Action::List => Call::get(PATH),
        Action::Add(fault) => Call::post(PATH, fault.document()),
        Action::Clear => Call::delete(PATH),
    };
    let document = context.control(call).await?.document;
    // An added fault is a single object. The table shows it as a list of one; the JSON form is the object.
    if document.value().get("faults").is_none() && context.out.is_human() {
        context
            .out
            .emit(&listing(json!({ "faults": [document.value()] }).into()))?;
        return Ok(Exit::Done);
    }
    let faults = listing(document);
    faults.emit(context, "no faults configured")
}

fn listing(document: crate::json::Document) -> Listing {
    Listing {
        document,
        field: "faults",
        columns: &[
            ("id", "id"),
            ("on", "on"),
            ("kind", "kind"),
            ("times", "times"),
            ("delay ms", "delay_ms"),
            ("status", "status"),
            ("cut after", "after_bytes"),
        ],
    }
}
