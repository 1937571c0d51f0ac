//! One request as a page.

use serde_json::Value;

use super::list::tone;
use crate::json::{Document, plain};
use crate::model::time_text::human;
use crate::terminal::output::Page;

pub(super) fn page(request: &Document) -> Page {
    let value = request.value();
    let text = |field: &str| request.str(field);
    let status = value.get("status").and_then(Value::as_u64);
    let mut page = Page::default();
    let shown = match status {
        None | Some(0) => "no answer".to_owned(),
        Some(status) => status.to_string(),
    };
    let query = text("query").map_or(String::new(), |it| format!("?{it}"));
    let call = format!(
        "{} {}{query}",
        text("method").unwrap_or_default(),
        text("path").unwrap_or_default()
    );
    page.heading(tone(status), shown, call);
    page.field_if("reason", text("reason"));
    for note in value
        .get("notes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        page.field("note", plain(note));
    }
    page.field_if("fault", text("fault"));
    page.field_if("at", text("at").map(human));
    let took = value.get("duration_ms").map(plain);
    page.field_if("took", took.map(|it| format!("{it} ms")));
    for (label, field) in [
        ("key", "key"),
        ("organization", "organization"),
        ("booking", "booking_id"),
        ("session", "session_id"),
        ("idempotency key", "idempotency_key"),
        ("id", "id"),
    ] {
        page.field_if(label, text(field));
    }
    for part in ["request", "response"] {
        if let Some(message) = value.get(part) {
            page.line("");
            add_message(&mut page, part, message);
        }
    }
    if let Some(id) = text("id") {
        page.line("");
        page.next(format!("bookctl sandbox requests show {id} --curl"));
    }
    page
}

pub(in super::super) fn add_message(page: &mut Page, what: &'static str, message: &Value) {
    let headers = message.get("headers").and_then(Value::as_object);
    let headers = headers.into_iter().flatten();
    let headers: Vec<_> = headers
        .map(|(name, value)| vec![name.as_str().into(), plain(value).into()])
        .collect();
    page.table(vec![what, ""], headers, vec![]);
    let body = message.get("body").and_then(Value::as_str);
    if message["encoding"] == "base64" {
        page.line("(the body is not text; as Base64:)");
    }
    if let Some(body) = body.filter(|it| !it.is_empty()) {
        match serde_json::from_str::<serde::de::IgnoredAny>(body) {
            Ok(_) => page.json(body),
            Err(_) => page.line(body),
        };
    }
    if message.get("truncated") == Some(&Value::Bool(true)) {
        page.line("(the body was longer; the rest was not kept)");
    }
}
