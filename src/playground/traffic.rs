//! What went to the sandbox and what it sent: requests and deliveries.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{
    self, AnswerList, Columns, KEEPS_REQUESTS, add_fields, add_message, cell, of_organization,
    server,
};
use crate::app::{Api, Parts, Records, Ui, listen_for_signals};
use crate::booking::find::locate::{LAST, locate_booking, locate_row};
use crate::journal::recent::RecentList;
use crate::json::{Document, plain};
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::Call;
use crate::service::time::zone::system_zone;
use crate::terminal::output::{DocumentView, Page, TableCell, Tone};

const PAUSE: Duration = Duration::from_millis(250);

/// List the requests that a sandbox server received, or show one
///
/// `sandbox serve` and `sandbox run` keep the last 1,000 requests in memory, with headers and
/// bodies; keys are masked. Each rejected request shows the rule it broke; notes show what the
/// service ignored. Without a server, no requests are kept.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox requests\n  \
    bookctl sandbox requests --follow --status 4xx\n  \
    bookctl sandbox requests show @1\n  \
    bookctl sandbox requests show @last --curl")]
pub(crate) struct RequestsArgs {
    #[command(subcommand)]
    action: Option<RequestsAction>,
    #[command(flatten)]
    filter: RequestFilter,
}

#[derive(clap::Subcommand, Debug)]
enum RequestsAction {
    /// Show a request: its headers and body, the response, the rule that rejected it, and notes
    #[command(after_help = "Examples:\n  \
        bookctl sandbox requests show @1\n  \
        bookctl sandbox requests show @last --curl")]
    Show {
        /// Id of the request, @N for a row of the last list of requests, or @last
        request: String,
        /// Print a curl command, with $BOOKCTL_API_KEY for the key
        #[arg(long)]
        curl: bool,
    },
}

#[derive(clap::Args, Debug)]
struct RequestFilter {
    /// Print each request as it comes, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// Show only this status or class, such as 404 or 4xx
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Show only requests about this booking
    #[arg(long, value_name = "ID")]
    booking: Option<String>,
    /// Show only requests with a key of this organization
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

impl RequestFilter {
    fn call(&self, limit: u32, after: Option<&str>) -> Call {
        let parameters = [
            ("limit", Some(&*limit.to_string())),
            ("status", self.status.as_deref()),
            ("booking", self.booking.as_deref()),
            ("organization", self.organization.as_deref()),
            ("after", after),
        ];
        Call::get(Call::query("/sandbox/requests", &parameters))
    }
}

impl RequestsArgs {
    /// Whether it runs until a signal, which is then no interruption.
    pub(crate) const fn is_server(&self) -> bool {
        self.filter.follow && self.action.is_none()
    }
}

pub(crate) async fn requests(
    Parts { api, records, ui, .. }: &Parts,
    mut args: RequestsArgs,
) -> Result<Exit> {
    server(&api.facts, KEEPS_REQUESTS)?;
    let booking = args.filter.booking.as_deref();
    args.filter.booking = booking.map(|it| locate_booking(records, it)).transpose()?;
    match args.action {
        Some(RequestsAction::Show { request, curl }) => {
            show(api, records, ui, &request, curl).await
        }
        None if args.filter.follow => {
            let mut signals = listen_for_signals()?;
            tokio::select! {
                biased;
                _ = signals.next() => {
                    ui.out.note("stopped");
                    Ok(Exit::Done)
                }
                ended = follow(api, ui, &args.filter) => ended,
            }
        }
        None => {
            let call = args.filter.call(args.filter.limit, None);
            list_requests(api, call).await?.emit(records, ui, "No requests found.")
        }
    }
}

async fn list_requests(api: &Api, call: Call) -> Result<AnswerList> {
    let list = AnswerList::read(api, call, "requests", REQUESTS).await.map_err(answer::by_flags)?;
    if list.document.value()["kept"] == false {
        return Err(Error::config(
            "this sandbox keeps no requests, because it was started with --no-request-log",
        ));
    }
    Ok(AnswerList { recent: Some(RecentList::Requests), ..list })
}

/// Prints the newest requests, oldest first, then each new one, until the sandbox stops.
async fn follow(api: &Api, ui: &Ui, filter: &RequestFilter) -> Result<Exit> {
    let mut newer = list_requests(api, filter.call(filter.limit, None)).await?;
    let mut last: Option<String> = None;
    loop {
        for row in newer.rows().into_iter().rev() {
            last = row["id"].as_str().map(str::to_owned);
            let row = DocumentView(row.clone().into(), line);
            if !ui.out.emit_line(&row)? {
                return Ok(Exit::Done);
            }
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = ui.out.reader_gone() => return Ok(Exit::Done),
        }
        newer = match list_requests(api, filter.call(1000, last.as_deref())).await {
            Err(error) if error.code == Code::Network => {
                ui.out.note("The sandbox has stopped.");
                return Ok(Exit::Done);
            }
            newer => newer?,
        };
    }
}

async fn show(api: &Api, records: &Records, ui: &Ui, request: &str, as_curl: bool) -> Result<Exit> {
    let list = list_requests(api, Call::get("/sandbox/requests?limit=1"));
    let none = "the sandbox has received no request yet";
    let id = located(records, RecentList::Requests, request, list, none).await?;
    let call = Call::get(format!("/sandbox/requests/{}", Call::segment(&id)));
    let document = api.control(call).await?.document;
    if !as_curl {
        return ui.emit(&DocumentView(document, request_page));
    }
    let command = document.str("curl").ok_or_else(|| {
        Error::usage("the sandbox has kept only a part of the request, or it names another host")
            .hint(format!("bookctl sandbox requests show {id}"))
    })?;
    answer::script(ui, command, json!({ "curl": command }).into())
}

/// The id of a row: as it is named, of `@N` in the last list, or of `@last`, the newest in `list`.
async fn located(
    records: &Records,
    recent: RecentList,
    named: &str,
    list: impl Future<Output = Result<AnswerList>>,
    none: &str,
) -> Result<String> {
    if named != LAST {
        return locate_row(records, recent, named);
    }
    let newest = list.await?.ids().next().map(str::to_owned);
    newest.ok_or_else(|| Error::usage(none))
}

const REQUESTS: Columns =
    Columns("at, status, method, path, took=duration_ms, reason", |it, field| match field {
        "at" => clock_cell(&it["at"]),
        "status" => TableCell::toned(status(it), tone(it)),
        "duration_ms" => {
            let took = it[field].as_f64().unwrap_or_default();
            cell(it, field).in_short(Some(format!("{took:.1} ms")))
        }
        "reason" => describe(it).into(),
        _ => cell(it, field),
    });
/// The widths of the columns of `--follow`, so that a line fits into 80 columns.
const WIDTHS: [usize; 6] = [8, 3, 6, 38, 6, 0];

fn line(request: &Document) -> Page {
    let mut page = Page::default();
    page.columns(REQUESTS.cells(request.value()).zip(WIDTHS).collect());
    page
}

/// Why a request was refused or what it met, and what the service ignored.
fn describe(request: &Value) -> String {
    let mut wording = Vec::new();
    wording.extend(request["fault"].as_str().map(|fault| format!("fault {fault}:")));
    wording.extend(request["reason"].as_str().map(str::to_owned));
    let notes = request["notes"].as_array().into_iter().flatten();
    let notes: Vec<_> = notes.map(|it| format!("note: {}", plain(it))).collect();
    wording.extend((!notes.is_empty()).then(|| notes.join("; ")));
    wording.join(" ")
}

/// The time of day of an RFC 3339 time, in this computer's zone; for a pipe with its date.
fn clock_cell(at: &Value) -> TableCell {
    let at = plain(at);
    let local = at.parse::<jiff::Timestamp>().ok().map(|it| it.to_zoned(system_zone()));
    TableCell::from(at).in_short(local.map(|it| it.strftime("%H:%M:%S").to_string()))
}

fn status(request: &Value) -> String {
    match request["status"].as_u64() {
        None | Some(0) => "---".to_owned(),
        Some(status) => status.to_string(),
    }
}

fn tone(request: &Value) -> Tone {
    match request["status"].as_u64() {
        Some(200..=299) => Tone::Good,
        Some(300..=499) => Tone::Warn,
        _ => Tone::Bad,
    }
}

fn request_page(request: &Document) -> Page {
    let value = request.value();
    let (method, path) = (plain(&value["method"]), plain(&value["path"]));
    let query = value["query"].as_str().map_or(String::new(), |it| format!("?{it}"));
    let mut page = Page::default();
    page.heading(tone(value), status(value), format!("{method} {path}{query}"));
    page.line(describe(value));
    let displayed = [
        "status", "method", "path", "query", "reason", "notes", "fault", "curl", "request",
        "response",
    ];
    add_fields(&mut page, value, &displayed);
    for part in ["request", "response"] {
        page.line("");
        add_message(&mut page, part, &value[part]);
    }
    page.line("");
    let id = plain(&value["id"]);
    page.next(format!("bookctl sandbox requests show {id} --curl"));
    page
}

/// List webhook deliveries, show one, or send one again
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox deliveries\n  \
    bookctl sandbox deliveries show @1\n  \
    bookctl sandbox deliveries \\\n    \
      --jq '.deliveries[] | select(.state != \"delivered\") | .event_id'\n  \
    bookctl sandbox deliveries resend evt_01")]
pub(crate) struct DeliveriesArgs {
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

const DELIVERIES: &str = "/sandbox/deliveries";

const ROW: Columns =
    Columns("at, type, state, booking=booking_id, event id=event_id, response", |it, field| {
        match field {
            "at" => clock_cell(&last_attempt(it)["at"]),
            "type" => plain(&it["type"]).trim_start_matches("booking.").into(),
            "state" => TableCell::toned(plain(&it["state"]), delivery_tone(&it["state"])),
            "response" => answered(last_attempt(it)).into(),
            _ => cell(it, field),
        }
    });

pub(crate) async fn deliveries(
    Parts { api, records, ui, .. }: &Parts,
    args: DeliveriesArgs,
) -> Result<Exit> {
    let organization = args.organization.as_deref();
    let call = match args.action {
        None | Some(DeliveriesAction::List) => {
            let none = "no deliveries yet; they need a URL: bookctl sandbox organization -F webhook_url=URL";
            return list_deliveries(api, organization).await?.emit(records, ui, none);
        }
        Some(DeliveriesAction::Show { event }) => {
            Call::get(delivery_path(api, records, &event).await?)
        }
        Some(DeliveriesAction::Resend { event }) => {
            let path = delivery_path(api, records, &event).await?;
            Call::post(format!("{path}/resend"), json!({}))
        }
    };
    answer::show(api, ui, call, delivery_page).await
}

async fn delivery_path(api: &Api, records: &Records, event: &str) -> Result<String> {
    let list = list_deliveries(api, None);
    let none = "@last: there are no deliveries yet";
    let id = located(records, RecentList::Deliveries, event, list, none).await?;
    Ok(format!("{DELIVERIES}/{}", Call::segment(&id)))
}

async fn list_deliveries(api: &Api, organization: Option<&str>) -> Result<AnswerList> {
    let call = Call::get(of_organization(DELIVERIES, organization));
    let list = AnswerList::read(api, call, "deliveries", ROW).await?;
    Ok(AnswerList { recent: Some(RecentList::Deliveries), ..list })
}

fn last_attempt(delivery: &Value) -> &Value {
    delivery["attempts"].as_array().and_then(|it| it.last()).unwrap_or(&Value::Null)
}

fn delivery_tone(state: &Value) -> Tone {
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

fn delivery_page(delivery: &Document) -> Page {
    let value = delivery.value();
    let mut page = Page::default();
    let event = plain(&value["event_id"]);
    page.heading(delivery_tone(&value["state"]), plain(&value["state"]), &event);
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
