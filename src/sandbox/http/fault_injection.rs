//! Applies a configured fault to a request and its response.

use std::time::Duration;

use axum::body::HttpBody;
use axum::http::header;
use axum::response::Response;
use serde_json::{Value, json};

use super::Service;
use super::connection::CutHandle;
use super::parsed_request::ParsedRequest;
use super::reply;
use crate::sandbox::rules::access;
use crate::sandbox::rules::fault::{Fault, FaultKind};

pub(super) struct InjectedFault {
    fault: Option<Fault>,
    connection: Option<CutHandle>,
}

impl InjectedFault {
    /// Takes the oldest fault that matches the request, which then has one use less.
    pub(super) async fn take(
        service: &Service,
        method: &'static str,
        request: &ParsedRequest,
    ) -> Self {
        Self {
            fault: fault(service, method, request).await,
            connection: request.connection().cloned(),
        }
    }

    pub(super) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Applies the fault before the request is handled. A returned response is sent instead of
    /// handling it.
    pub(super) async fn before_request(&self) -> Option<Response> {
        let fault = self.fault.as_ref()?;
        match fault.kind {
            FaultKind::Delay => {
                let delay = Duration::from_millis(fault.delay_ms.unwrap_or_default());
                tokio::time::sleep(delay).await;
                None
            }
            FaultKind::Status => {
                let status = fault.status.unwrap_or_default();
                let fallback = || json!({"error": format!("a fault answers {status}")});
                let body = fault.body.clone().unwrap_or_else(fallback);
                let mut response = match &body {
                    Value::String(text) => reply::text(status, text),
                    json => reply::response(status, json.to_string().into_bytes()),
                };
                // As the service's own refusal has it.
                if let Some(seconds) = body["retry_after_seconds"].as_u64() {
                    let headers = response.headers_mut();
                    headers.insert(header::RETRY_AFTER, seconds.into());
                }
                Some(response)
            }
            FaultKind::DropBefore => {
                self.connection.as_ref()?.cut();
                Some(reply::response(500, Vec::new()))
            }
            _ => None,
        }
    }

    pub(super) fn after_response(&self, response: Response) -> Response {
        let Some(fault) = &self.fault else {
            return response;
        };
        match (fault.kind, &self.connection) {
            (FaultKind::DropAfter, Some(connection)) => connection.cut(),
            (FaultKind::Truncate, Some(connection)) => {
                let whole = response.body().size_hint().exact().unwrap_or_default();
                let whole = usize::try_from(whole).unwrap_or_default();
                // A cut that this response does not reach would otherwise be the next one's.
                if let Some(after) = fault.cuts(whole) {
                    connection.cut_body(after);
                }
            }
            (FaultKind::Garbage, _) => {
                let (head, _) = response.into_parts();
                let mut page = reply::garbage(head.status);
                *page.extensions_mut() = head.extensions;
                return page;
            }
            _ => {}
        }
        response
    }
}

async fn fault(service: &Service, method: &'static str, request: &ParsedRequest) -> Option<Fault> {
    // An error of the store is left to the request itself to report.
    let store = &service.store;
    if store.has_faults() != Ok(true) {
        return None;
    }
    let path = request.path().to_owned();
    let key = access::identify(request.authorization()).ok();
    let organization = key.map(|it| it.organization);
    let taken = store.write(move |tx| tx.take_fault(organization.as_deref(), method, &path));
    taken.await.ok()?
}
