//! `GET /v1/`: what this is, and what it can be asked.

use serde_json::{Value, json};

use super::door::Visit;
use super::endpoints::ENDPOINTS;
use super::reply::{Outcome, Reply};

pub(super) fn index(visit: &Visit<'_, '_>) -> Outcome {
    let endpoints: Vec<Value> = ENDPOINTS
        .iter()
        .map(|it| json!({"method": it.method, "path": it.path, "summary": it.summary}))
        .collect();
    Reply::ok(&json!({
        "object": "api",
        "name": "bookctl sandbox",
        "version": "v1",
        "server_time": visit.ledger.now,
        "endpoints": endpoints,
        "sandbox": true,
    }))
}
