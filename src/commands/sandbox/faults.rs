use std::time::Duration;

use serde_json::{Map, Value, json};

use super::listing::Listing;
use crate::app::Context;
use crate::client::Call;
use crate::model::duration::duration;
use crate::outcome::{Error, Exit, Result};

const LONGEST_DELAY: Duration = Duration::from_secs(600);

const FLAGS: &[(&str, &str)] = &[
    ("preset", "--preset"),
    ("on", "--on"),
    ("kind", "--kind"),
    ("times", "--times"),
    ("rate", "--rate"),
    ("seed", "--seed"),
    ("delay_ms", "--delay"),
    ("status", "--status"),
    ("after_bytes", "--after-bytes"),
];

/// Make requests and webhooks fail on purpose
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
          --kind status --status 502\n  \
        bookctl sandbox faults add --preset flaky --seed 7\n  \
        bookctl sandbox faults add --on webhook --kind duplicate --times always")]
    Add(Box<Fault>),
    /// Remove one fault
    #[command(after_help = "Examples:\n  bookctl sandbox faults remove flt_01")]
    Remove {
        /// Id of the fault
        fault: String,
    },
    /// Remove all faults
    Clear,
}

#[derive(clap::Args, Debug)]
struct Fault {
    /// A fault for all requests: flaky answers one in five with 503, slow waits 3s, down closes the connection, rate_limited
    /// answers 429; the other flags change it
    #[arg(long, value_parser = ["flaky", "slow", "down", "rate_limited"])]
    preset: Option<String>,
    /// Request that fails, such as 'POST /v1/bookings'; any for every request, webhook for deliveries of webhooks
    #[arg(long, value_name = "CALL", required_unless_present = "preset")]
    on: Option<String>,
    /// What happens to the request; drop_after handles it, then closes the connection without a response. A webhook takes
    /// delay, drop, duplicate and reorder
    #[arg(long, value_parser = ["delay", "status", "drop_before", "drop_after", "truncate", "garbage", "drop", "duplicate", "reorder"], required_unless_present = "preset")]
    kind: Option<String>,
    /// How many requests fail: a number, or always [default: 1, with --rate always]
    #[arg(long, value_name = "N", value_parser = times)]
    times: Option<Value>,
    /// Share of the requests that fail, such as 0.2
    #[arg(long, value_name = "SHARE", value_parser = share)]
    rate: Option<f64>,
    /// Which of the requests fail at a --rate; the same seed repeats a run [default: random, and shown]
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Only requests with a key of this organization, and its webhooks
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
    /// Length of a delay [default: 1s]
    #[arg(long, value_name = "DURATION", value_parser = delay)]
    delay: Option<Duration>,
    /// Status to respond with [default: 500]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(200..=599))]
    status: Option<u16>,
    /// Body to respond with: JSON, or a text, which is sent as text/plain, or as text/html if it begins with <
    #[arg(long)]
    body: Option<String>,
    /// Truncate the response after this many bytes
    #[arg(long, value_name = "N")]
    after_bytes: Option<u64>,
}

impl Fault {
    /// # Errors
    /// `usage` if a flag belongs to another kind of fault, or the kind to other calls.
    fn check_flags(&self) -> Result<()> {
        let kind = match (self.kind.as_deref(), self.preset.as_deref()) {
            (Some(kind), _) => kind,
            (None, Some("slow")) => "delay",
            (None, Some("down")) => "drop_before",
            (None, _) => "status",
        };
        let is_of_webhooks = self.on.as_deref().map(str::trim) == Some("webhook");
        let kinds: &[&str] = match is_of_webhooks {
            true => &["delay", "drop", "duplicate", "reorder"],
            false => &[
                "delay",
                "status",
                "drop_before",
                "drop_after",
                "truncate",
                "garbage",
            ],
        };
        if !kinds.contains(&kind) {
            let what = match is_of_webhooks {
                true => "webhooks",
                false => "requests",
            };
            let given = match &self.preset {
                Some(preset) => format!("--preset {preset}"),
                None => format!("--kind {kind}"),
            };
            return Err(Error::usage(format!("{given} is not for {what}"))
                .hint(format!("the kinds for {what} are {}", kinds.join(", "))));
        }
        if self.seed.is_some() && self.rate.is_none() && self.preset.as_deref() != Some("flaky") {
            let what = "--seed needs --rate: without a rate, every request fails";
            return Err(Error::usage(what).hint("add --rate, such as --rate 0.2"));
        }
        for (flag, owner, is_given) in [
            ("--delay", "delay", self.delay.is_some()),
            ("--status", "status", self.status.is_some()),
            ("--body", "status", self.body.is_some()),
            ("--after-bytes", "truncate", self.after_bytes.is_some()),
        ] {
            if is_given && owner != kind {
                let what = format!("{flag} belongs to the kind {owner}, not to {kind}");
                let hint = format!("leave out {flag}, or use --kind {owner}");
                return Err(Error::usage(what).hint(hint));
            }
        }
        Ok(())
    }

    fn document(self) -> Value {
        let mut fault = Map::new();
        // The sandbox sends a JSON string as plain text.
        let body = self.body.map(|text| match serde_json::from_str(&text) {
            Ok(Value::String(_)) | Err(_) => Value::String(text),
            Ok(json) => json,
        });
        let optional = [
            ("preset", self.preset.map(Value::String)),
            ("on", self.on.map(Value::String)),
            ("kind", self.kind.map(Value::String)),
            ("times", self.times),
            ("rate", self.rate.map(|rate| json!(rate))),
            ("seed", self.seed.map(|seed| json!(seed))),
            ("organization", self.organization.map(Value::String)),
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

fn times(text: &str) -> Result<Value, String> {
    match text.parse::<u32>() {
        Ok(times) if times > 0 => Ok(json!(times)),
        Err(_) if text == "always" => Ok(json!(text)),
        _ => Err("give a number from 1, or always".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|it| *it > 0.0 && *it <= 1.0);
    share.ok_or_else(|| "give a number above 0 and at most 1, such as 0.2".to_owned())
}

fn delay(text: &str) -> Result<Duration, String> {
    let delay = duration(text).map_err(|error| error.to_string())?;
    match delay <= LONGEST_DELAY {
        true => Ok(delay),
        false => Err("give at most 10m".to_owned()),
    }
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    const PATH: &str = "/sandbox/faults";
    let call = match args.action.unwrap_or(Action::List) {
        Action::List => Call::get(PATH),
        Action::Add(fault) => {
            fault.check_flags()?;
            Call::post(PATH, fault.document())
        }
        Action::Remove { fault } => Call::delete(format!("{PATH}/{}", Call::segment(&fault))),
        Action::Clear => Call::delete(PATH),
    };
    let answer = context.control(call).await;
    let document = answer
        .map_err(|error| super::by_flags(error, FLAGS))?
        .document;
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
        is_oldest_first: false,
        columns: &[
            ("id", "id"),
            ("on", "on"),
            ("kind", "kind"),
            ("times", "times"),
            ("rate", "rate"),
            ("seed", "seed"),
            ("delay ms", "delay_ms"),
            ("status", "status"),
            ("cut after", "after_bytes"),
        ],
    }
}
