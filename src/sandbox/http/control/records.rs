//! What happened in the sandbox: bookings, text messages, deliveries and requests.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::fixtures::state_of;
use crate::sandbox::http::bookings::send_code;
use crate::sandbox::http::exchanges::{Exchange, read_filter};
use crate::sandbox::http::loopback::Own;
use crate::sandbox::http::reply::{HandlerResult, Reply};
use crate::sandbox::http::report::Report;
use crate::sandbox::http::request::Request;
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::booking::StoredBooking;
use crate::sandbox::rules::fields::typed;
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::state::{BookingErrorCode, BookingState, BookingStatus};
use crate::sandbox::rules::transition::Transition;
use crate::sandbox::seed::{Provider, Scenario, SeedVenue, venues};
use crate::sandbox::store::Tx;
use crate::sandbox::wire::booking::BookingDocument;
use crate::sandbox::wire::{IdKind, add_owner};

/// What a reset takes: no field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reset {}

pub(super) fn reset(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let Reset {} = typed(&Value::Object(request.fields()?))?;
    let deliveries = tx.sent_deliveries(request.organization.as_deref())?;
    tx.reset()?;
    request.judge_leaving(None, &deliveries);
    Reply::ok(&json!({"reset": true}))
}

pub(super) fn bookings(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let bookings = tx.bookings(request.organization.as_deref())?;
    let names = tx.organization_names()?;
    let documents: Vec<_> = bookings.iter().map(|it| document(it, &names)).collect();
    Reply::ok(&json!({"bookings": documents}))
}

fn document(booking: &StoredBooking, names: &HashMap<String, String>) -> Value {
    let mut document = json!(BookingDocument(booking));
    add_owner(&mut document, &booking.organization, names);
    document
}

pub(super) fn events(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    Reply::ok(&json!({"events": tx.events(owned(tx, request)?.number)?}))
}

pub(super) fn booking(tx: &Tx<'_>, number: i64) -> Result<Option<Value>> {
    let (booking, names) = (tx.any_booking(Some(number))?, tx.organization_names()?);
    Ok(booking.map(|it| document(&it, &names)))
}

/// The booking that the path names.
pub(super) fn owned(tx: &Tx<'_>, request: &Request) -> Result<StoredBooking> {
    tx.any_booking(IdKind::BOOKING.number(&request.id))?
        .filter(|it| request.is_about(&it.organization))
        .ok_or_else(|| ApiError::booking_not_found(&[]))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetBooking {
    status: String,
    error_code: Option<String>,
    error_message: Option<String>,
}

/// What a provider does to a booking later, without a request.
pub(super) fn set(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let change: SetBooking = typed(&Value::Object(request.fields()?))?;
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !(1..=64).contains(&change.status.len()) || !change.status.chars().all(is_of_word) {
        let demand = "must be 1 to 64 letters, digits, dots, dashes and underscores";
        return Err(ApiError::invalid("status", demand));
    }
    let mut booking = owned(tx, request)?;
    let tx = &tx.for_organization(&booking.organization)?;
    let venue = tx.venue(&booking.organization, &booking.venue_id)?;
    let state = change.state(&booking, venue.as_deref(), tx);
    tx.apply(&mut booking, Transition::to(state), tx.now)?;
    if let Some(venue) = &venue {
        send_code(tx, &booking, venue)?;
    }
    Reply::ok(&self::booking(tx, booking.number)?)
}

impl SetBooking {
    /// One of the states that every sandbox knows, if the words are those of one.
    fn state(
        self,
        booking: &StoredBooking,
        venue: Option<&SeedVenue>,
        tx: &Tx<'_>,
    ) -> BookingState {
        let known = serde_json::from_value(json!(self.status)).ok();
        let code = self.error_code.as_ref().map(|it| serde_json::from_value(json!(it)).ok());
        let takes_code = matches!(known, Some(BookingStatus::Failed | BookingStatus::Confirmed));
        let is_plain = code.is_none_or(|it: Option<BookingErrorCode>| it.is_some() && takes_code);
        if let (true, None, Some(status), Some(venue)) =
            (is_plain, &self.error_message, known, venue)
        {
            let slot = booking.slot_id.as_ref().and_then(|it| venue.offered(it));
            return state_of(booking, (status, code.flatten()), venue, slot.as_ref(), tx.now);
        }
        let fields = [("error_code", self.error_code), ("error_message", self.error_message)];
        let fields =
            fields.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?.into())));
        BookingState::Reported { status: self.status, fields: fields.collect() }
    }
}

pub(super) fn inbox(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    Reply::ok(&json!({"messages": tx.messages(None, request.organization.as_deref())?}))
}

pub(super) fn deliveries(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    Reply::ok(&json!({"deliveries": tx.deliveries(None, request.organization.as_deref())?}))
}

pub(super) fn delivery(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let (event, mut delivery) = find_delivery(tx, request)?;
    tx.add_content(event, &mut delivery)?;
    Reply::ok(&delivery)
}

/// Restarts the schedule of a delivery, whatever its state.
pub(super) fn resend(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let (event, _) = find_delivery(tx, request)?;
    tx.resend(event)?;
    Reply::ok(&tx.deliveries(Some(event), None)?.pop())
}

/// The event that the path names, and its delivery.
fn find_delivery(tx: &Tx<'_>, request: &Request) -> Result<(i64, Value)> {
    let event = IdKind::EVENT.number(&request.id).ok_or(ApiError::DELIVERY_NOT_FOUND)?;
    let found = tx.deliveries(Some(event), request.organization.as_deref())?.pop();
    Ok((event, found.ok_or(ApiError::DELIVERY_NOT_FOUND)?))
}

/// What a booking does at each scenario's venues, those of fixtures among them.
pub(super) fn scenarios(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let own = tx.own_venues(request.organization.as_deref().unwrap_or(Organization::MAIN))?;
    let scenarios = Scenario::all().map(|scenario| {
        let seeded = venues().filter(|it| it.scenario == Some(scenario));
        // A fixture without an outcome confirms at once.
        let own = own.iter().filter(|it| it.scenario.unwrap_or(Scenario::Confirms) == scenario);
        json!({
            "name": scenario.name(),
            "description": scenario.describe(),
            "payment": scenario.is_payment(),
            "venues": seeded.map(venue).chain(own.map(venue)).collect::<Vec<_>>(),
        })
    });
    Reply::ok(&json!({"scenarios": scenarios.collect::<Vec<_>>()}))
}

fn venue(venue: &SeedVenue) -> Value {
    let providers: Vec<_> = venue.providers.iter().copied().map(Provider::id).collect();
    json!({"venue_id": venue.id, "name": venue.name, "providers": providers})
}

/// What the requests and deliveries never met, and which rules they broke.
pub(super) fn report(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let log = request.service.exchanges.as_ref().ok_or(ApiError::NO_REPORT)?;
    let organization = request.organization.as_deref();
    let (deliveries, names) = (tx.sent_deliveries(organization)?, tx.organization_names()?);
    let report = Report::from_log(log, &deliveries, organization, &names);
    Reply::ok(&report.ok_or(ApiError::NO_REPORT)?)
}

pub(super) fn requests(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let names = tx.organization_names()?;
    let (limit, is_wanted) = read_filter(request)?;
    let stored = request.service.exchanges.as_ref().map(|it| it.list(limit, is_wanted));
    let requests: Vec<_> = stored.iter().flatten().map(|it| it.document(&names, None)).collect();
    Reply::ok(&json!({"requests": requests, "kept": stored.is_some()}))
}

pub(super) fn request(tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let stored = request.service.exchanges.as_ref().zip(IdKind::REQUEST.number(&request.id));
    let found = stored.and_then(|(log, number)| log.numbered(number));
    let is_its =
        |it: &Arc<Exchange>| request.is_about(it.organization.as_deref().unwrap_or_default());
    let found = found.filter(is_its).ok_or(ApiError::REQUEST_NOT_FOUND)?;
    let own = Own::from_service(&request.service);
    let curl = found.curl(|host| own.is_host(host));
    Reply::ok(&found.document(&tx.organization_names()?, curl))
}
