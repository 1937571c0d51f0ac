//! `/sandbox/requests`: the last requests that this process has answered, with their answers.

use serde_json::json;

use super::super::exchanges::Filter;
use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use super::super::service::Service;
use crate::sandbox::rules::api_error::ApiError;

pub(super) fn list(service: &Service, request: &ParsedRequest) -> Outcome {
    let organization = request.query("organization");
    let organization = match organization {
        Some(name) => Some(service.store.organization_id(&name)?),
        None => None,
    };
    let filter = Filter::read(organization, |name| request.query(name))?;
    let kept = service.exchanges.as_ref().map(|it| it.list(&filter));
    let requests: Vec<_> = kept.iter().flatten().map(|it| it.document()).collect();
    Reply::ok(&json!({"requests": requests, "kept": service.exchanges.is_some()}))
}

pub(super) fn show(service: &Service, request: &ParsedRequest) -> Outcome {
    let found = service.exchanges.as_ref();
    let found = found.and_then(|it| it.find(request.id()));
    Reply::ok(&found.ok_or(ApiError::RequestNotFound)?.document())
}
