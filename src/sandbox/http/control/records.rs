//! What happened in the sandbox: bookings, text messages, deliveries and requests.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::Service;
use super::super::exchanges::Filter;
use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use super::organization_asked;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::store::Tx;
use crate::sandbox::wire::booking::BookingDocument;
use crate::sandbox::wire::id::IdKind;

pub(super) fn reset(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    tx.reset()?;
    Reply::ok(&json!({"reset": true}))
}

pub(super) fn bookings(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = organization_asked(tx, request)?;
    let bookings = tx.bookings(organization.as_deref())?;
    let documents: Vec<_> = bookings.iter().map(BookingDocument::owned).collect();
    Reply::ok(&BTreeMap::from([("bookings", documents)]))
}

pub(super) fn events(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let events = match IdKind::Booking.number(request.id()) {
        Some(number) => tx.events(number)?,
        None => Vec::new(),
    };
    if events.is_empty() {
        let open_bookings = Vec::new();
        return Err(ApiError::BookingNotFound { open_bookings });
    }
    Reply::ok(&json!({"events": events}))
}

/// The state of a booking; `None` if it was deleted.
pub(super) fn booking(tx: &Tx<'_>, number: i64) -> Result<Option<Value>, ApiError> {
    let booking = tx.any_booking(number)?;
    Ok(booking.map(|it| json!(BookingDocument::owned(&it))))
}

pub(super) fn inbox(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = organization_asked(tx, request)?;
    Reply::ok(&json!({"messages": tx.messages(None, organization.as_deref())?}))
}

pub(super) fn deliveries(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = organization_asked(tx, request)?;
    Reply::ok(&json!({"deliveries": tx.deliveries(None, organization.as_deref())?}))
}

/// One delivery, with what was sent and what the consumer answered to each attempt.
pub(super) fn delivery(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let event = IdKind::Event.number(request.id());
    let event = event.ok_or(ApiError::DeliveryNotFound)?;
    Reply::ok(&tx.delivery(event)?.ok_or(ApiError::DeliveryNotFound)?)
}

/// Restarts the schedule of a delivery, whatever its state.
pub(super) fn resend(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let event = IdKind::Event.number(request.id());
    let event = event.ok_or(ApiError::DeliveryNotFound)?;
    tx.resend(event)?;
    let delivery = tx.deliveries(Some(event), None)?.pop();
    Reply::ok(&delivery.ok_or(ApiError::DeliveryNotFound)?)
}

/// The last requests that this process has answered, with their answers.
pub(super) fn requests(service: &Service, request: &ParsedRequest) -> Outcome {
    let organization = match request.query("organization") {
        Some(name) => Some(service.store.organization_id(&name)?),
        None => None,
    };
    let filter = Filter::read(organization, |name| request.query(name))?;
    let kept = service.exchanges.as_ref().map(|it| it.list(&filter));
    let requests: Vec<_> = kept.iter().flatten().map(|it| it.document()).collect();
    Reply::ok(&json!({"requests": requests, "kept": service.exchanges.is_some()}))
}

pub(super) fn request(service: &Service, request: &ParsedRequest) -> Outcome {
    let kept = service.exchanges.as_ref();
    let number = IdKind::Request.number(request.id());
    let found = number.and_then(|it| kept?.numbered(it));
    Reply::ok(&found.ok_or(ApiError::RequestNotFound)?.document())
}
