//! Faults as they happen to a call.

use std::time::Duration;

use axum::body::HttpBody;
use axum::response::Response;
use serde_json::json;

use super::call::Call;
use super::line::Scissors;
use super::{Service, reply};
use crate::sandbox::rules::fault::Fault;

/// What is in store for a call.
pub(super) struct Mishap {
    fault: Option<Fault>,
    line: Option<Scissors>,
}

impl Mishap {
    /// Uses up the fault that waits for such a call, if one does.
    pub(super) async fn awaiting(service: &Service, method: &'static str, call: &Call) -> Self {
        Self {
            fault: fault(service, method, call.path()).await,
            line: call.line().cloned(),
        }
    }

    /// What happens before the call is heard; an answer, where that is all that happens.
    pub(super) async fn before(&self) -> Option<Response> {
        match self.fault.as_ref()? {
            Fault::Delay { delay_ms } => {
                tokio::time::sleep(Duration::from_millis(*delay_ms)).await;
                None
            }
            Fault::Status { status, body } => {
                let fallback = || json!({"error": format!("a fault answers {status}")});
                let body = body.clone().unwrap_or_else(fallback);
                Some(reply::response(*status, body.to_string().into_bytes()))
            }
            Fault::DropBefore => {
                self.line.as_ref()?.cut();
                Some(reply::response(500, Vec::new()))
            }
            Fault::DropAfter | Fault::Truncate { .. } | Fault::Garbage => None,
        }
    }

    /// What happens to the answer.
    pub(super) fn after(&self, response: Response) -> Response {
        match (&self.fault, &self.line) {
            (Some(Fault::DropAfter), Some(line)) => line.cut(),
            (Some(Fault::Truncate { after_bytes }), Some(line)) => {
                let whole = response.body().size_hint().exact().unwrap_or_default();
                let half = usize::try_from(whole / 2).unwrap_or_default();
                line.cut_body(after_bytes.unwrap_or(half));
            }
            (Some(Fault::Garbage), _) => return reply::garbage(response.status()),
            _ => {}
        }
        response
    }
}

async fn fault(service: &Service, method: &'static str, path: &str) -> Option<Fault> {
    // A store that breaks here breaks the call itself too, which then says so.
    let store = &service.store;
    if store.read(|ledger| Ok(ledger.has_faults()?)).await != Ok(true) {
        return None;
    }
    let path = path.to_owned();
    let taken = store.write(move |ledger| Ok(ledger.take_fault(method, &path)?));
    Some(taken.await.ok()??.request.fault)
}
