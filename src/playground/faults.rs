use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::answer::{self, AnswerList, Columns, cell, of_organization};
use crate::app::Parts;
use crate::booking::arguments::header;
use crate::outcome::{Exit, Result};
use crate::service::client::Call;
use crate::service::documents::field::{Field, field};
use crate::service::time::duration::duration;

/// Make requests and webhooks fail on purpose
///
/// A fault delays a response, replaces it with an error, drops the connection, or breaks the
/// response.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox faults\n  \
    bookctl sandbox faults add --preset flaky\n  \
    bookctl sandbox faults clear")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<FaultsAction>,
    /// List or clear only those of this organization
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
}

#[derive(clap::Subcommand, Debug)]
enum FaultsAction {
    /// List faults
    List,
    /// Add a fault
    ///
    /// `drop_after` handles the request and closes the connection without a response. The preset
    /// flaky answers one request in five with 503, slow waits 3s, down closes the connection. With
    /// `--on webhook`: delay, drop, duplicate, reorder, unsigned, old.
    #[command(after_help = "Examples:\n  \
        bookctl sandbox faults add --on 'POST /v1/bookings' --kind drop_after\n  \
        bookctl sandbox faults add --on 'GET /v1/bookings/{id}' \\\n    \
          --kind delay --delay 2s --times 3\n  \
        bookctl sandbox faults add --on 'POST /v1/venues/search' \\\n    \
          --kind status --status 502\n  \
        bookctl sandbox faults add --on 'POST /v1/bookings' \\\n    \
          --kind status --status 503 --after --from 2\n  \
        bookctl sandbox faults add --preset flaky --seed 7\n  \
        bookctl sandbox faults add --on webhook --kind duplicate --times always")]
    Add(Box<FaultFlags>),
    /// Remove one fault
    #[command(after_help = "Examples:\n  bookctl sandbox faults remove flt_01")]
    Remove {
        /// Id of the fault
        fault: String,
    },
    /// Remove all faults
    Clear,
}

/// The flags by the names of the sandbox's fields.
#[derive(clap::Args, Debug, Serialize)]
struct FaultFlags {
    /// Add a fault for all requests, changed by the other flags
    #[arg(long, value_parser = ["flaky", "slow", "down", "rate_limited"])]
    preset: Option<String>,
    /// Choose the request, `any`, or `webhook` for deliveries
    #[arg(long, value_name = "CALL", required_unless_present = "preset")]
    on: Option<String>,
    /// Choose what happens to the request or delivery
    #[arg(long, value_parser = ["delay", "status", "drop_before", "drop_after", "truncate", "garbage", "drop", "duplicate", "reorder", "unsigned", "old"], required_unless_present = "preset")]
    kind: Option<String>,
    /// Fail this many requests, or always [default: 1; `always` with --rate]
    #[arg(long, value_name = "N", value_parser = json_or_text)]
    times: Option<Value>,
    /// Fail this share of the requests, such as 0.2
    #[arg(long, value_name = "SHARE")]
    rate: Option<f64>,
    /// Repeat the random choices of a --rate with this number
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Choose only this organization's requests and webhooks
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
    /// Handle the request first, then fail
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    after: bool,
    /// Fail from the Nth request on
    #[arg(long, value_name = "N")]
    from: Option<u32>,
    /// Choose requests whose body has this field, repeatable
    #[arg(long = "match", value_name = "FIELD=VALUE", value_parser = field)]
    #[serde(rename = "match", serialize_with = "fields")]
    matches: Vec<Field>,
    /// Respond with this header too, repeatable
    #[arg(long = "header", value_name = "K: V", value_parser = header)]
    #[serde(serialize_with = "pairs")]
    headers: Vec<(String, String)>,
    /// Delay by this much [default: 1s]
    #[arg(long = "delay", value_name = "DURATION", value_parser = delay)]
    delay_ms: Option<u64>,
    /// Respond with this status [default: 500]
    #[arg(long, value_name = "N")]
    status: Option<u16>,
    /// Respond with this body: JSON or text
    #[arg(long, value_parser = json_or_text)]
    body: Option<Value>,
    /// Truncate the response after this many bytes
    #[arg(long, value_name = "N")]
    after_bytes: Option<u64>,
}

fn delay(text: &str) -> Result<u64, String> {
    let delay = duration(text).map_err(|error| error.to_string())?;
    u64::try_from(delay.as_millis()).map_err(|error| error.to_string())
}

fn json_or_text(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|_| Ok(text.into()))
}

fn fields<S: Serializer>(fields: &[Field], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(fields.iter().map(|it| (&it.key, &it.value)))
}

fn pairs<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

const COLUMNS: Columns = Columns(
    "id, on, kind, times, rate, seed, delay ms=delay_ms, status, cut after=after_bytes",
    cell,
);

pub(crate) async fn run(Parts { api, records, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    const PATH: &str = "/sandbox/faults";
    let path = of_organization(PATH, args.organization.as_deref());
    let call = match args.action.unwrap_or(FaultsAction::List) {
        FaultsAction::List => Call::get(path),
        FaultsAction::Add(fault) => {
            let add = Call::post(PATH, json!(fault));
            return answer::show(api, ui, add, answer::fields).await.map_err(answer::by_flags);
        }
        FaultsAction::Remove { fault } => Call::delete(format!("{PATH}/{}", Call::segment(&fault))),
        FaultsAction::Clear => Call::delete(path),
    };
    AnswerList::read(api, call, "faults", COLUMNS).await?.emit(records, ui, "no faults configured")
}
