//! How an app's answer is shown.

use serde_json::{Value, json};

use crate::json::plain;
use crate::terminal::output::Page;
use crate::webhook::{AppAnswer, Content};

/// `200 in 3 ms`, or why there was no answer.
pub(super) fn answer_in_words(answer: &AppAnswer) -> String {
    match &answer.status {
        Ok(status) if answer.latency_ms < 10_000 => format!("{status} in {} ms", answer.latency_ms),
        Ok(status) => format!("{status} in {} s", answer.latency_ms / 1000),
        Err(why) => why.clone(),
    }
}

/// An attempt in JSON, with the fields of the sandbox's `deliveries`.
pub(super) fn attempt_json(number: u32, answer: &AppAnswer) -> Value {
    let mut attempt = json!({ "number": number });
    match &answer.status {
        Ok(status) => attempt["status"] = json!(status),
        Err(why) => attempt["error"] = json!(why),
    }
    attempt["latency_ms"] = json!(answer.latency_ms);
    attempt
}

pub(super) fn add_response(page: &mut Page, response: &Content) {
    for (name, value) in &response.headers {
        page.line(format!("  {name}: {}", plain(value)));
    }
    for line in response.body.lines() {
        page.line(format!("  {line}"));
    }
    if response.truncated {
        page.line("  (the body was longer; the rest was not kept)");
    }
}
