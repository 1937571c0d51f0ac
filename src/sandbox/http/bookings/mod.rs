//! `/v1/bookings`: reading a booking, and what the other endpoints share.

mod cancel;
mod continue_;
mod create;
mod modify;

use serde_json::{Value, json};

use super::reply::{Outcome, Reply};
use super::request_context::RequestContext;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::denial::Denial;
use crate::sandbox::rules::transition::{Event, step};
use crate::sandbox::wire::booking::{BookingDocument, BookingSummary};
use crate::sandbox::wire::id::IdKind;

pub(super) use cancel::cancel;
pub(super) use continue_::continue_;
pub(super) use create::{create, replay, send_code};
pub(super) use modify::modify;

pub(super) fn read(context: &RequestContext<'_, '_>) -> Outcome {
    Reply::booking(200, &find(context)?)
}

/// Applies an event to a booking and returns the booking or why it was denied.
fn apply(context: &RequestContext<'_, '_>, mut booking: Booking, event: &Event) -> Outcome {
    let now = context.tx.now;
    let mut transition = step(&booking.state, event, now);
    let denial = transition.denial.take();
    if transition.state != booking.state || transition.webhook.is_some() {
        context.tx.apply(&mut booking, transition, now)?;
    }
    match denial {
        None => Reply::booking(200, &booking),
        Some(denial) => Err(denied(denial, &booking)),
    }
}

/// The error for a denial. A venue's denial carries the unchanged booking.
fn denied(denial: Denial, booking: &Booking) -> ApiError {
    match denial {
        Denial::VenueRefused(code) => ApiError::VenueRefused {
            code,
            booking: json!(BookingDocument::of(booking)),
        },
        denial => ApiError::Denied(denial),
    }
}

/// The organization's booking that the path names.
fn find(context: &RequestContext<'_, '_>) -> Result<Booking, ApiError> {
    let organization = &context.organization.id;
    let number = IdKind::Booking.number(context.request.id());
    let booking = match number {
        Some(number) => context.tx.booking(organization, number)?,
        None => None,
    };
    match booking {
        Some(booking) => Ok(booking),
        None => Err(ApiError::BookingNotFound {
            open_bookings: open_bookings(context)?,
        }),
    }
}

fn open_bookings(context: &RequestContext<'_, '_>) -> Result<Vec<Value>, ApiError> {
    let open = context.tx.open_bookings(&context.organization.id)?;
    let summary = |booking| json!(BookingSummary::of(booking));
    Ok(open.iter().map(summary).collect())
}
