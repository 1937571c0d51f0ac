//! `bookctl sandbox requests`.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{
    self, AnswerColumn, AnswerList, KEEPS_REQUESTS, add_fields, add_message, cell, server,
};
use crate::app::{Api, Parts, Records, Ui, listen_for_signals};
use crate::booking::find::locate::{LAST, locate_booking, locate_row};
use crate::journal::recent::RecentList;
use crate::json::{Document, plain};
use crate::outcome::{Code, Error, Exit, Result};
use crate::service::client::Call;
use crate::service::time::zone::system_zone;
use crate::terminal::output::{DocumentView, Page, TableCell, Tone};

/// The pause between two looks for new requests.
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
pub(crate) struct Args {
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

impl Args {
    /// Whether it runs until a signal, which is then no interruption.
    pub(crate) const fn is_server(&self) -> bool {
        self.filter.follow && self.action.is_none()
    }
}

pub(crate) async fn run(Parts { api, records, ui, .. }: &Parts, mut args: Args) -> Result<Exit> {
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
            list(api, call).await?.emit(records, ui, "No requests found.")
        }
    }
}

async fn list(api: &Api, call: Call) -> Result<AnswerList> {
    let list = AnswerList::read(api, call, "requests", COLUMNS).await.map_err(answer::by_flags)?;
    if list.document.value()["kept"] == false {
        return Err(Error::config(
            "this sandbox keeps no requests, because it was started with --no-request-log",
        ));
    }
    Ok(AnswerList { recent: Some(RecentList::Requests), ..list })
}

/// Prints the newest requests, oldest first, then each new one, until the sandbox stops.
async fn follow(api: &Api, ui: &Ui, filter: &RequestFilter) -> Result<Exit> {
    let mut newer = list(api, filter.call(filter.limit, None)).await?;
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
        newer = match list(api, filter.call(1000, last.as_deref())).await {
            Err(error) if error.code == Code::Network => {
                ui.out.note("The sandbox has stopped.");
                return Ok(Exit::Done);
            }
            newer => newer?,
        };
    }
}

async fn show(api: &Api, records: &Records, ui: &Ui, request: &str, as_curl: bool) -> Result<Exit> {
    let id = if request == LAST {
        let list = list(api, Call::get("/sandbox/requests?limit=1")).await?;
        let newest = list.ids().next().map(str::to_owned);
        newest.ok_or_else(|| Error::usage("the sandbox has received no request yet"))?
    } else {
        locate_row(records, RecentList::Requests, request)?
    };
    let call = Call::get(format!("/sandbox/requests/{}", Call::segment(&id)));
    let document = api.control(call).await?.document;
    if !as_curl {
        return ui.emit(&DocumentView(document, page));
    }
    let command = document.str("curl").ok_or_else(|| {
        Error::usage("the sandbox has kept only a part of the request, or it names another host")
            .hint(format!("bookctl sandbox requests show {id}"))
    })?;
    answer::script(ui, command, json!({ "curl": command }).into())
}

const COLUMNS: &[AnswerColumn] = &[
    ("at", |it| clock_cell(&it["at"])),
    ("status", |it| TableCell::toned(status(it), tone(it))),
    ("method", |it| cell(it, "method")),
    ("path", |it| cell(it, "path")),
    ("took", |it| {
        let took = format!("{:.1} ms", it["duration_ms"].as_f64().unwrap_or_default());
        TableCell::from(plain(&it["duration_ms"])).in_short(Some(took))
    }),
    ("reason", |it| describe(it).into()),
];
/// The widths of the columns of `--follow`, so that a line fits into 80 columns.
const WIDTHS: [usize; 6] = [8, 3, 6, 38, 6, 0];

fn line(request: &Document) -> Page {
    let cells = COLUMNS.iter().map(|(_, cell)| cell(request.value()));
    let mut page = Page::default();
    page.columns(cells.zip(WIDTHS).collect());
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

/// The time of day of an RFC 3339 time, in this computer's zone.
/// A time with its date for a pipe.
pub(crate) fn clock_cell(at: &Value) -> TableCell {
    TableCell::from(plain(at)).in_short(Some(time_of_day(at)))
}

fn time_of_day(at: &Value) -> String {
    let at = plain(at);
    match at.parse::<jiff::Timestamp>() {
        Ok(at) => at.to_zoned(system_zone()).strftime("%H:%M:%S").to_string(),
        Err(_) => at,
    }
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

fn page(request: &Document) -> Page {
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
