//! `/sandbox/deliveries`: every attempt to deliver an event.

use serde_json::json;

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::store::Tx;
use crate::sandbox::wire::id::IdKind;

pub(super) fn list(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = super::organization_asked(tx, request)?;
    let deliveries = tx.deliveries(None, organization.as_deref())?;
    Reply::ok(&json!({ "deliveries": deliveries }))
}

/// One delivery, with what was sent and what the consumer answered to each attempt.
pub(super) fn show(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let event = IdKind::Event
        .number(request.id())
        .ok_or(ApiError::DeliveryNotFound)?;
    Reply::ok(&tx.delivery(event)?.ok_or(ApiError::DeliveryNotFound)?)
}

/// Restarts the schedule of a delivery, whatever its state.
pub(super) fn resend(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let event = IdKind::Event
        .number(request.id())
        .ok_or(ApiError::DeliveryNotFound)?;
    if !tx.resend(event)? {
        return Err(ApiError::DeliveryNotFound);
    }
    let delivery = tx.deliveries(Some(event), None)?.pop();
    Reply::ok(&delivery.ok_or(ApiError::DeliveryNotFound)?)
}
