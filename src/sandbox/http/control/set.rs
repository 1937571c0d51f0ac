//! `PUT /sandbox/bookings/{id}`: what a provider does to a booking later, without a request.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::fixtures::state_of;
use super::records::owned;
use crate::sandbox::http::bookings::send_code;
use crate::sandbox::http::reply::{HandlerResult, Reply};
use crate::sandbox::http::request::Request;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::booking::StoredBooking;
use crate::sandbox::rules::fields::typed;
use crate::sandbox::rules::state::{BookingErrorCode, BookingState, BookingStatus};
use crate::sandbox::rules::transition::Transition;
use crate::sandbox::seed::SeedVenue;
use crate::sandbox::store::Tx;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetBooking {
    status: String,
    error_code: Option<String>,
    error_message: Option<String>,
}

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
    Reply::ok(&super::records::booking(tx, booking.number)?)
}

impl SetBooking {
    /// One of the states that every sandbox knows, if the words are those of one.
    fn state(
        self,
        booking: &StoredBooking,
        venue: Option<&SeedVenue>,
        tx: &Tx<'_>,
    ) -> BookingState {
        let known = serde_json::from_value::<BookingStatus>(json!(self.status)).ok();
        let code = self.error_code.as_ref().map(|it| serde_json::from_value(json!(it)).ok());
        let is_plain = self.error_message.is_none()
            && match code {
                None => true,
                Some(code) => {
                    let takes_code =
                        matches!(known, Some(BookingStatus::Failed | BookingStatus::Confirmed));
                    code.is_some() && takes_code
                }
            };
        if let (true, Some(status), Some(venue)) = (is_plain, known, venue) {
            let error: Option<BookingErrorCode> = code.flatten();
            let slot = booking.slot_id.as_ref().and_then(|it| venue.offered(it));
            let guest = (&booking.customer, booking.party_size);
            let pays = booking.pays_by_vendor;
            return state_of((status, error), venue, slot.as_ref(), pays, guest, tx.now);
        }
        let fields = [("error_code", self.error_code), ("error_message", self.error_message)];
        let fields =
            fields.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?.into())));
        BookingState::Reported { status: self.status, fields: fields.collect::<Map<_, _>>() }
    }
}
