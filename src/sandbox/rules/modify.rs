//! The request to modify a booking, and what it changes ("Bookings": modify).

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::api_error::Result;
use super::booking::{Modification, StoredBooking};
use super::fields::{self, FieldErrors};
use super::provider_response::has_room;
use super::state::BookingErrorCode;
use crate::sandbox::seed::{OfferedSlot, Scenario, SeedVenue};
use crate::sandbox::wire::WireTime;

#[derive(Debug)]
pub(crate) struct ModifyRequest {
    pub(crate) at: Option<Timestamp>,
    party_size: Option<u8>,
    pub(crate) seating: Option<String>,
}

#[derive(Deserialize)]
struct ModifyBody {
    datetime: Option<String>,
    #[serde(default, deserialize_with = "fields::whole")]
    party_size: Option<i64>,
    seating_preference: Option<String>,
}

impl ModifyRequest {
    pub(crate) fn read(body: &[u8], now: Timestamp) -> Result<Self> {
        let body: ModifyBody = fields::read(body)?;
        let (datetime, seating) = (body.datetime, body.seating_preference);
        let mut errors = FieldErrors::default();
        if datetime.is_none() && body.party_size.is_none() && seating.is_none() {
            let demand = "send at least one of datetime, party_size and seating_preference";
            errors.add("datetime", demand);
        }
        let request = Self {
            at: datetime.map(|it| errors.future_moment("datetime", Some(it), now)),
            party_size: errors.party_size(body.party_size),
            seating: seating.map(|it| errors.required("seating_preference", Some(it))),
        };
        errors.finish()?;
        Ok(request)
    }

    pub(crate) fn moves(&self, booking: &StoredBooking) -> bool {
        self.at.is_some_and(|at| booking.datetime.parse().ok() != Some(at))
    }

    /// Whether the venue accepts the change. `slot` is the new time's, with its bookings.
    pub(crate) fn venue_answer(
        &self,
        booking: &StoredBooking,
        venue: Option<&SeedVenue>,
        slot: Option<&(OfferedSlot, u32)>,
    ) -> Result<(), BookingErrorCode> {
        if venue.and_then(|it| it.scenario) == Some(Scenario::ModifyRefused) {
            return Err(BookingErrorCode::ModificationRefused);
        }
        match slot {
            _ if !self.moves(booking) => Ok(()),
            None => Err(BookingErrorCode::NoAvailability),
            Some((slot, held)) if has_room(slot, *held) => Ok(()),
            Some(_) => Err(BookingErrorCode::SlotTaken),
        }
    }

    /// The changed booking, with the changes in `last_modification`; `None` if nothing changes.
    /// `datetime` is the new time in the venue's zone.
    pub(crate) fn change(
        &self,
        booking: &StoredBooking,
        datetime: Option<String>,
        slot: Option<&OfferedSlot>,
        now: Timestamp,
    ) -> Option<StoredBooking> {
        let mut changed = booking.clone();
        let mut changes = Map::new();
        let mut note = |field: &str, from: Value, to: Value| {
            changes.insert(field.to_owned(), json!({"from": from, "to": to}));
        };
        if let Some(datetime) = datetime.filter(|_| self.moves(booking)) {
            note("datetime", json!(booking.datetime), json!(datetime));
            changed.datetime = datetime;
        }
        if let Some(party_size) = self.party_size.filter(|it| *it != booking.party_size) {
            note("party_size", json!(booking.party_size), json!(party_size));
            changed.party_size = party_size;
        }
        if self.seating.is_some() && self.seating != booking.seating {
            let (from, to) = (json!(booking.seating), json!(self.seating));
            note("seating_preference", from, to);
            changed.seating.clone_from(&self.seating);
        }
        if changes.is_empty() {
            return None;
        }
        if let Some(slot) = slot {
            changed.slot_id = Some(slot.id.clone());
        }
        changed.last_modification = Some(Modification { at: WireTime(now), changes });
        Some(changed)
    }
}
