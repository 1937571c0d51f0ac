//! `bookctl sandbox requests`.

mod curl;
mod list;
mod show;

use std::time::Duration;

use serde_json::Value;

use crate::app::{Context, Signals};
use crate::client::Call;
use crate::config::Target;
use crate::flows::{locate_booking, locate_row};
use crate::json::Document;
use crate::outcome::{Code, Error, Exit, Result};
use crate::recent::RecentList;
use crate::terminal::output::DocumentView;

use self::list::{Line, List};
pub(super) use self::show::add_message;

/// The pause between two looks for new requests.
const PAUSE: Duration = Duration::from_millis(250);

/// List the requests that a served sandbox has answered, or show one
///
/// `sandbox serve` and `sandbox run` keep the last 1,000 requests in memory, with headers and bodies; keys are masked. Each
/// refusal has the rule that answered it, and each request has notes on what the service ignored. The embedded sandbox
/// keeps none, because each command serves it for itself.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox requests\n  \
    bookctl sandbox requests --follow --status 4xx\n  \
    bookctl sandbox requests show @1\n  \
    bookctl sandbox requests show @last --curl")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    filter: Filter,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Show a request: its headers and body, the response, the rule that refused it, and notes
    #[command(after_help = "Examples:\n  \
        bookctl sandbox requests show @1\n  \
        bookctl sandbox requests show @last --curl")]
    Show {
        /// Id of the request, @N for a row of the last list of requests, or @last
        request: String,
        /// Print it as a curl command, with $BOOKCTL_API_KEY for the key
        #[arg(long)]
        curl: bool,
    },
}

#[derive(clap::Args, Debug)]
struct Filter {
    /// Print the newest requests and then each that comes, until Ctrl-C or the end of the sandbox; with --json, one document
    /// per line
    #[arg(long, short)]
    follow: bool,
    /// Only this status or class, such as 404 or 4xx
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Option<String>,
    /// Only this method
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Only paths that begin so, such as /v1/bookings
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Only requests about this booking
    #[arg(long, value_name = "ID")]
    booking: Option<String>,
    /// Only requests with a key of this organization
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
    /// Longest list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

/// A status or a class of them.
fn status(text: &str) -> Result<String, String> {
    let is_class = text
        .to_ascii_lowercase()
        .strip_suffix("xx")
        .is_some_and(|it| matches!(it.parse(), Ok(1..=5_u8)));
    if is_class || matches!(text.parse(), Ok(0 | 100..=599_u16)) {
        Ok(text.to_owned())
    } else {
        Err(
            "give a status from 100 to 599, 0 for no response, or a class from 1xx to 5xx"
                .to_owned(),
        )
    }
}

impl Filter {
    fn call(&self, limit: u32, after: Option<&str>) -> Call {
        let mut query = format!("limit={limit}");
        for (name, value) in [
            ("status", self.status.as_deref()),
            ("method", self.method.as_deref()),
            ("path", self.path.as_deref()),
            ("booking", self.booking.as_deref()),
            ("organization", self.organization.as_deref()),
            ("after", after),
        ] {
            if let Some(value) = value {
                query.push_str(&format!("&{name}={}", Call::segment(value)));
            }
        }
        Call::get(format!("/sandbox/requests?{query}"))
    }
}

impl Args {
    /// Whether it runs until it is told to end, which is then no interruption.
    pub(super) const fn is_server(&self) -> bool {
        self.filter.follow && self.action.is_none()
    }
}

pub(super) async fn run(context: &Context, mut args: Args) -> Result<Exit> {
    if matches!(context.target(), Target::Embedded { .. }) {
        return Err(Error::config(
            "the embedded sandbox keeps no requests, because each command serves it for itself",
        )
        .hint(
            "start `bookctl sandbox serve`, and set BOOKCTL_BASE_URL and BOOKCTL_API_KEY as it prints",
        ));
    }
    let booking = args.filter.booking.as_deref();
    args.filter.booking = booking.map(|it| locate_booking(context, it)).transpose()?;
    match args.action {
        Some(Action::Show { request, curl }) => show(context, &request, curl).await,
        None if args.filter.follow => {
            let mut signals = Signals::listen()?;
            tokio::select! {
                biased;
                _ = signals.next() => {
                    context.out.note("stopped");
                    Ok(Exit::Done)
                }
                ended = follow(context, &args.filter) => ended,
            }
        }
        None => list(context, &args.filter).await,
    }
}

/// The list that a call answers.
///
/// # Errors
/// `config` if the sandbox keeps no requests, besides those of the call.
async fn listed(context: &Context, call: Call) -> Result<Document> {
    let answer = context.control(call).await?;
    match answer.document.value().get("kept").and_then(Value::as_bool) {
        Some(false) => Err(Error::config(
            "this sandbox keeps no requests, because it was started with --no-request-log",
        )
        .hint("start `bookctl sandbox serve` without --no-request-log")),
        _ => Ok(answer.document),
    }
}

async fn list(context: &Context, filter: &Filter) -> Result<Exit> {
    let list = List(listed(context, filter.call(filter.limit, None)).await?);
    let ids: Vec<&str> = list
        .rows()
        .filter_map(|it| it.get("id")?.as_str())
        .collect();
    super::remember(context, RecentList::Requests, &ids);
    context
        .out
        .emit_list(&list, ids.is_empty(), "No requests found.")?;
    Ok(Exit::Done)
}

/// Prints the newest requests, the oldest of them first, and then each that comes, until the sandbox stops.
async fn follow(context: &Context, filter: &Filter) -> Result<Exit> {
    let mut document = listed(context, filter.call(filter.limit, None)).await?;
    let mut last: Option<String> = None;
    loop {
        let list = List(document);
        let rows: Vec<_> = list.rows().cloned().collect();
        for row in rows.into_iter().rev() {
            last = row.get("id").and_then(|it| it.as_str()).map(str::to_owned);
            if !context.out.emit_next(&Line(Document::from(row)))? {
                return Ok(Exit::Done);
            }
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = context.out.reader_gone() => return Ok(Exit::Done),
        }
        let newer = filter.call(1000, last.as_deref());
        document = match context.read(newer).await {
            Ok(answer) => answer.document,
            Err(error) if error.code == Code::Network => {
                context.out.note("The sandbox has stopped.");
                return Ok(Exit::Done);
            }
            Err(error) => return Err(error),
        };
    }
}

async fn show(context: &Context, request: &str, as_curl: bool) -> Result<Exit> {
    let document = match request {
        "@last" => {
            let list = listed(context, Call::get("/sandbox/requests?limit=1")).await?;
            let newest = List(list).rows().next().cloned();
            let none = || Error::usage("the sandbox has answered no request yet");
            newest.ok_or_else(none)?.into()
        }
        request => {
            let id = locate_row(context, RecentList::Requests, request)?;
            let call = Call::get(format!("/sandbox/requests/{}", Call::segment(&id)));
            context.control(call).await?.document
        }
    };
    if as_curl {
        return curl::print(context, &document);
    }
    context.out.emit(&DocumentView(document, show::page))?;
    Ok(Exit::Done)
}
