//! A booking, as the store holds it.

use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::state::BookingState;
use crate::sandbox::seed::{OfferedSlot, Provider, SeedVenue, local_time};
use crate::sandbox::wire::WireTime;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredCustomer {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phone: Option<String>,
}

/// What the last modify changed ("Booking", `last_modification`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Modification {
    pub(crate) at: WireTime,
    /// `field: {from, to}`.
    pub(crate) changes: Map<String, Value>,
}

/// The store has its number and its organization in columns of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredBooking {
    /// Grows with the time of creation.
    #[serde(skip)]
    pub(crate) number: i64,
    #[serde(skip)]
    pub(crate) organization: String,
    /// Whether a test key created it, so that its confirmation uses the test allowance.
    pub(crate) is_test: bool,
    pub(crate) provider: Provider,
    pub(crate) venue_id: String,
    pub(crate) venue_name: String,
    /// In the venue's zone, as the wire shows it.
    pub(crate) datetime: String,
    pub(crate) party_size: u8,
    pub(crate) customer: StoredCustomer,
    pub(crate) end_user: Option<String>,
    pub(crate) seating: Option<String>,
    pub(crate) pays_by_vendor: bool,
    /// Stored, but never used for deliveries.
    pub(crate) webhook_url: Option<String>,
    /// The slot that is or was booked; `None` if the venue had none at that time.
    pub(crate) slot_id: Option<String>,
    pub(crate) state: BookingState,
    pub(crate) last_modification: Option<Modification>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

impl StoredBooking {
    /// A booking of a venue's slot as its guest places it, before the provider responds. Who asked
    /// for it is still blank.
    pub(crate) fn placed(
        venue: &SeedVenue,
        provider: Provider,
        at: &Zoned,
        slot: Option<&OfferedSlot>,
        customer: StoredCustomer,
        party_size: u8,
        now: Timestamp,
    ) -> Self {
        Self {
            number: 0,
            organization: String::new(),
            is_test: false,
            provider,
            venue_id: venue.id.clone(),
            venue_name: venue.name.clone(),
            datetime: local_time(at),
            party_size,
            customer,
            end_user: None,
            seating: slot.and_then(|it| it.seating.clone()),
            pays_by_vendor: false,
            webhook_url: None,
            slot_id: slot.map(|it| it.id.clone()),
            state: BookingState::CONFIRMED,
            last_modification: None,
            created_at: now,
            updated_at: now,
        }
    }
}
