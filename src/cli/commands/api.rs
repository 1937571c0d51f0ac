use std::borrow::Cow;

use reqwest::Method;
use serde_json::Value;

use crate::app::in_flight::InFlight;
use crate::app::input::read_file;
use crate::app::{Effect, Parts};
use crate::booking::arguments::header;
use crate::booking::finish::preview;
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::platform::http_client::header_fields;
use crate::secrets::redact;
use crate::service::client::{Answer, Call, Head, with_parameter};
use crate::service::documents::field::{Field, body, field, pairs, raw_field};
use crate::terminal::output::{Page, View};

/// Send any request with the profile's address and key
///
/// Fields become the JSON body, or the query of a GET. Brackets nest: `customer[name]=Ada` sets a
/// field of an object, and `tags[]=x` appends to an array. The response is printed unchanged; a
/// status other than 2xx sets the exit code. Unlike `bookctl book`, this does not save a booking
/// request in the journal: add an Idempotency-Key of your own.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl api GET /v1/\n  \
    bookctl api GET /v1/sessions -F state=active --jq '.sessions[].id'\n  \
    bookctl api POST /v1/bookings/bk_01/continue -f otp=123456 -i\n  \
    bookctl api POST /v1/x -F party_size=2 \\\n    -F 'customer[name]=Ada' -F 'tags[]=quiet'\n  \
    bookctl api POST /v1/bookings --input booking.json \\\n    -H 'Idempotency-Key: table-7'")]
pub(crate) struct Args {
    /// GET, POST, PUT, PATCH or DELETE
    #[arg(value_parser = method)]
    method: Method,
    /// Path under the service's address, e.g. /v1/bookings/bk_01
    path: String,
    /// Add a field: JSON value, text, @FILE, or @- for stdin
    #[arg(short = 'F', long = "field", value_name = "KEY=VALUE", value_parser = field)]
    fields: Vec<Field>,
    /// Add a text field
    #[arg(short = 'f', long = "raw-field", value_name = "KEY=VALUE", value_parser = raw_field)]
    raw_fields: Vec<Field>,
    /// Read the body from a file, or - for standard input
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["fields", "raw_fields"])]
    input: Option<String>,
    /// Add a header
    #[arg(short = 'H', long = "header", value_name = "K: V", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Show the status and headers too
    #[arg(short, long)]
    include: bool,
    /// Show the request and send nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(Parts { api, ui, .. }: &Parts, args: Args) -> Result<Exit> {
    let key_header = &api.facts.dialect().auth_header;
    let is_key = |(name, _): &(String, String)| name.eq_ignore_ascii_case(key_header);
    if args.headers.iter().any(is_key) {
        let what = format!("-H {key_header} is not allowed: an API key must not be an argument");
        return Err(Error::usage(what).hint("set BOOKCTL_API_KEY, or use another profile"));
    }
    let mut path = own_path(&args.path)?;
    let mut fields = args.fields;
    for field in &mut fields {
        if let Some(source) = field.value.as_str().and_then(|it| it.strip_prefix('@')) {
            field.value = Value::String(read_file(source).await?);
        }
    }
    fields.extend(args.raw_fields);
    let fields = body(fields)?;
    let mut content = match &args.input {
        // As it stands in the file: nothing of it is read and written anew.
        Some(source) => Some(Document::parse(read_file(source).await?).map_err(|unread| {
            Error::usage(format!("the body is not valid JSON: {}", unread.why))
        })?),
        None if fields.is_empty() => None,
        None => Some(Value::Object(fields).into()),
    };
    if args.method == Method::GET
        && let Some(Value::Object(fields)) = content.take().as_ref().map(Document::value)
    {
        for (name, value) in pairs(fields) {
            let (name, value) = (Call::query_value(&name), Call::query_value(&value));
            path = with_parameter(&path, &name, &value);
        }
    }
    let mut call =
        Call { method: args.method, path, body: content, headers: args.headers, ..Call::default() };
    if args.dry_run {
        return preview(&api.facts, ui, call);
    }
    if call.is_write() && call.is_of_a_sandbox() {
        call.is_control = api.is_sandbox().await;
    }
    if call.is_write() {
        api.facts.before_change()?;
    }
    let sending = InFlight::Sent(call.name(), UNKNOWN.to_owned());
    let in_flight = if call.is_write() { sending } else { InFlight::Nothing };
    let sent = api.result(api.exchange(&call, Effect::Change(in_flight)).await, &call);
    let head = api.client().ok().and_then(|it| Some(it.answered.borrow().as_ref()?.1.clone()));
    let head = head.filter(|_| args.include);
    let error = match sent {
        Ok(Answer { document, .. }) => {
            return ui.emit(&ApiView { head, body: Some(document), refused: false });
        }
        Err(error) => error,
    };
    // A person sees a refusal as it came. A script finds it in the error object.
    if !ui.out.is_human() {
        let head = head.map(|head| head.to_string()).unwrap_or_default();
        head.lines().for_each(|line| ui.out.note(line));
    } else if head.is_some() || error.body.is_some() {
        ui.out.emit(&ApiView { head, body: error.body.clone(), refused: true })?;
    }
    Err(error)
}

/// A booking request of `api` is no attempt of the journal.
const UNKNOWN: &str = "check before you send it again: `bookctl bookings --open` lists the unfinished bookings; a booking \
                       request that has an Idempotency-Key can be sent again with the same one";

/// Checks that a path starts at the root and stays below the service's address.
fn own_path(path: &str) -> Result<String> {
    let refuse = |why: &str| {
        Error::usage(format!("path {} {why}", path.escape_debug()))
            .hint("use a path such as /v1/bookings/bk_01")
    };
    let rooted = format!("/{}", path.strip_prefix('/').unwrap_or(path));
    if path.contains("://") || rooted.starts_with("//") || rooted.contains('\\') {
        return Err(refuse("leaves the service's address"));
    }
    let climbs = rooted.split(['?', '#']).next().unwrap_or_default().split('/').any(|segment| {
        let segment = segment.to_ascii_lowercase().replace("%2e", ".");
        segment == ".." || segment == "."
    });
    if climbs {
        return Err(refuse("contains `.` or `..`"));
    }
    if rooted.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(refuse("contains spaces or control characters"));
    }
    Ok(rooted)
}

fn method(text: &str) -> Result<Method, String> {
    use Method as M;
    let known = [M::GET, M::POST, M::PUT, M::PATCH, M::DELETE];
    let named = known.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(text));
    named.ok_or_else(|| "must be GET, POST, PUT, PATCH or DELETE".to_owned())
}

struct ApiView {
    head: Option<Head>,
    body: Option<Document>,
    /// Whether the service refused. Errors get into logs, and may repeat what was sent.
    refused: bool,
}

impl ApiView {
    fn displayed<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.refused { redact(text) } else { text.into() }
    }
}

impl View for ApiView {
    /// The response's own document; with `--include` as `{"status", "headers", "body"}`.
    fn json(&self) -> Document {
        let body = self.body.clone().unwrap_or_else(|| Value::Null.into());
        let Some(head) = &self.head else {
            return body;
        };
        let headers = header_fields(&head.headers);
        Document::object(&[
            ("status", &Value::from(head.status.as_u16()).into()),
            ("headers", &Value::Object(headers).into()),
            ("body", &body),
        ])
    }

    fn draw(&self, page: &mut Page) {
        if let Some(head) = &self.head {
            for line in head.to_string().lines() {
                page.line(self.displayed(line));
            }
            page.line("");
        }
        if let Some(body) = &self.body {
            match body.value() {
                // No document: a text as it came.
                Value::String(text) if self.refused => {
                    for line in self.displayed(text).lines() {
                        page.line(line);
                    }
                }
                _ => {
                    page.json(self.displayed(body.text()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::own_path;

    #[test]
    fn a_path_stays_under_the_services_address() {
        for (given, path) in [("/v1/", "/v1/"), ("v1/bookings/bk_1?x=..", "/v1/bookings/bk_1?x=..")]
        {
            assert_eq!(own_path(given).unwrap(), path);
        }
        for leaving in [
            "https://evil.example/v1/",
            "//evil.example/",
            "/v1/../sandbox/reset",
            "/v1/%2e%2E/x",
            "/v1/./x",
            "/\\evil.example",
            "/v1/a b",
            "/v1/a\nb",
        ] {
            assert!(own_path(leaving).is_err(), "{leaving}");
        }
    }
}
