//! What the sandbox's controls answer, as a person reads it.

use serde_json::Value;

use crate::app::{Api, Facts, Records, Ui};
use crate::config::Service;
use crate::journal::recent::RecentList;
use crate::json::{Document, plain};
use crate::outcome::{Error, Exit, Result};
use crate::service::client::Call;
use crate::service::time::text::{human, to_the_second};
use crate::terminal::output::{DocumentView, Page, TableCell, View};

pub(crate) async fn show(
    api: &Api,
    ui: &Ui,
    call: Call,
    page: fn(&Document) -> Page,
) -> Result<Exit> {
    let answer = api.control(call).await?;
    ui.emit(&DocumentView(answer.document, page))
}

/// Prints a text for a shell; under `--json` the document.
pub(crate) fn script(ui: &Ui, text: &str, document: Document) -> Result<Exit> {
    if !ui.out.is_human() {
        return ui.emit(&DocumentView(document, fields));
    }
    ui.out.print(&format!("{text}\n")).map(|_| Exit::Done)
}

/// The sandbox's error with the flags that the user typed in place of fields, as a usage error (2).
pub(crate) fn by_flags(error: Error) -> Error {
    let body = error.body.as_ref().filter(|_| error.http_status == Some(400));
    let Some(fields) = body.and_then(|it| it.value().get("fields")?.as_object()) else {
        return error;
    };
    let wording = fields.iter().map(|(field, why)| {
        let flag = match field.as_str() {
            "delay_ms" => "delay".to_owned(),
            "set" => "to".to_owned(),
            field => field.replace('_', "-"),
        };
        format!("--{flag} {}", plain(why))
    });
    Error::usage(wording.collect::<Vec<_>>().join("; "))
}

pub(crate) const KEEPS_REQUESTS: &str =
    "bookctl's own sandbox keeps no request log; a sandbox server does";

/// The sandbox server that the profile points to. `lacking` is what to say of the embedded sandbox.
pub(crate) fn server<'a>(facts: &'a Facts, lacking: &str) -> Result<&'a Service> {
    facts.target().service().ok_or_else(|| {
        Error::config(lacking).hint(
            "start `bookctl sandbox serve`, and set BOOKCTL_BASE_URL and BOOKCTL_API_KEY as it prints",
        )
    })
}

pub(crate) fn of_organization(path: &str, organization: Option<&str>) -> String {
    Call::query(path, &[("organization", organization)])
}

pub(crate) fn fields(answer: &Document) -> Page {
    let mut page = Page::default();
    add_fields(&mut page, answer.value(), &[]);
    page
}

pub(crate) fn add_fields(page: &mut Page, value: &Value, without: &[&str]) {
    let mut rows = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            _ if without.contains(&name.as_str()) => {}
            Value::Object(inner) => rows.extend(inner.iter().map(|(part, value)| {
                let name = format!("{name}.{part}");
                vec![name.into(), plain(value).into()]
            })),
            value => rows.push(vec![name.as_str().into(), cell_of(name, value)]),
        }
    }
    page.table(vec!["field", "value"], rows, vec![]);
}

fn readable(name: &str, value: &Value) -> String {
    match value {
        Value::String(at) if name == "at" || name == "now" || name.ends_with("_at") => {
            to_the_second(at)
        }
        Value::String(at) if name == "datetime" => human(at),
        Value::Array(elements) if elements.iter().all(|element| !element.is_object()) => {
            elements.iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        value => plain(value),
    }
}

/// The columns of a list: their fields, each with its heading if that is another word
/// (`when=datetime`), and the cell of an element's field.
#[derive(Clone, Copy)]
pub(crate) struct Columns(pub(crate) &'static str, pub(crate) fn(&Value, &str) -> TableCell);

impl Columns {
    fn headings(self) -> impl Iterator<Item = &'static str> {
        self.0.split(", ").map(|column| column.split('=').next().unwrap_or(column))
    }

    pub(crate) fn cells(self, element: &Value) -> impl Iterator<Item = TableCell> {
        let fields = self.0.split(", ").map(|column| column.rsplit('=').next().unwrap_or(column));
        fields.map(move |field| (self.1)(element, field))
    }
}

/// The cell of the field at a path, such as `keys.live`.
pub(crate) fn cell(element: &Value, path: &str) -> TableCell {
    cell_of(path, path.split('.').fold(element, |value, name| &value[name]))
}

/// A pipe has what a script can compare.
fn cell_of(name: &str, value: &Value) -> TableCell {
    TableCell::from(plain(value)).in_short(Some(readable(name, value)))
}

/// The array `field` of an answer as a table, the newest first.
pub(crate) struct AnswerList {
    pub(crate) document: Document,
    pub(crate) field: &'static str,
    pub(crate) columns: Columns,
    /// Whose rows are then `@1` and so on.
    pub(crate) recent: Option<RecentList>,
}

impl AnswerList {
    pub(crate) async fn read(
        api: &Api,
        call: Call,
        field: &'static str,
        columns: Columns,
    ) -> Result<Self> {
        Ok(AnswerList { document: api.control(call).await?.document, field, columns, recent: None })
    }

    pub(crate) fn rows(&self) -> Vec<&Value> {
        let rows = self.document.value()[self.field].as_array();
        let mut rows: Vec<_> = rows.into_iter().flatten().collect();
        // These two begin with the oldest.
        if matches!(self.field, "bookings" | "deliveries") {
            rows.reverse();
        }
        rows
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.rows().into_iter().filter_map(|it| it.get("event_id").or(it.get("id"))?.as_str())
    }

    pub(crate) fn emit(&self, records: &Records, ui: &Ui, none: &str) -> Result<Exit> {
        if let Some(recent) = self.recent {
            records.remember_rows(recent, self.ids());
        }
        ui.out.emit_list(self, self.rows().is_empty(), none)
    }
}

impl View for AnswerList {
    fn json(&self) -> Document {
        self.document.clone()
    }

    fn draw(&self, page: &mut Page) {
        let rows = self.rows().into_iter().enumerate().map(|(row, element)| {
            let number = self.recent.map(|_| format!("@{}", row + 1).into());
            number.into_iter().chain(self.columns.cells(element)).collect()
        });
        let headings = self.recent.map(|_| "").into_iter().chain(self.columns.headings());
        page.table(headings.collect(), rows.collect(), vec![]);
    }
}

pub(crate) fn add_message(page: &mut Page, what: &'static str, message: &Value) {
    let headers = message["headers"].as_object().into_iter().flatten();
    let headers = headers.map(|(name, value)| vec![name.as_str().into(), plain(value).into()]);
    page.table(vec![what, ""], headers.collect(), vec![]);
    if message["encoding"] == "base64" {
        page.line("(the body is not text; as Base64:)");
    }
    if let Some(body) = message["body"].as_str().filter(|it| !it.is_empty()) {
        page.body(body);
    }
    if message["truncated"] == true {
        page.line("(the body was longer; the rest was not kept)");
    }
}
