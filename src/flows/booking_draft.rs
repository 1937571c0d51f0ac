//! A booking request under construction: what flags, earlier searches and prompts have provided so far.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::locate::LocatedVenue;
use crate::adapter::Adapter;
use crate::client::{BookingRequest, NewBooking, with_fields};
use crate::model::shell;
use crate::model::slot::Slot;
use crate::model::when::When;
use crate::outcome::{Error, Result};

/// A booking request under construction.
#[derive(Debug, Default)]
pub(crate) struct BookingDraft {
    pub(crate) venue: Option<LocatedVenue>,
    pub(crate) slot: Option<Slot>,
    /// The value of `--slot`, if that slot was not seen before.
    pub(crate) slot_id: Option<String>,
    pub(crate) at: Option<When>,
    pub(crate) zone: Option<TimeZone>,
    pub(crate) party_size: Option<u32>,
    pub(crate) name: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) end_user: Option<String>,
    pub(crate) webhook_url: Option<String>,
    pub(crate) vendor_payment: bool,
    /// Fields of the request that have no flag (`-F`).
    pub(crate) fields: Map<String, Value>,
    /// Whether the booking was already confirmed (`--yes` or a prompt).
    pub(crate) goes_ahead: bool,
}

impl BookingDraft {
    /// Rejects `-F` fields that the request sets itself, before anything is asked or looked up.
    pub(crate) fn check_fields(&self) -> Result<()> {
        let any = || Some(String::new());
        let whole = NewBooking {
            provider: any(),
            availability_id: any().map(Value::from),
            email: any(),
            phone: any(),
            end_user: any(),
            webhook_url: any(),
            vendor_payment: true,
            ..NewBooking::default()
        };
        with_fields(Value::Object(whole.body()), &self.fields).map(drop)
    }

    /// The booking request.
    ///
    /// # Errors
    ///
    /// `usage` (2) if the venue, the party or the guest is missing; configuration (3) if an expression of the profile
    /// fails.
    pub(crate) fn request(&self, adapter: &Adapter, datetime: Value) -> Result<BookingRequest> {
        let missing = |what: &str| Error::usage(format!("no {what} given"));
        let slot = self.slot.as_ref().map(Slot::id_value);
        let venue = self.venue.as_ref().ok_or_else(|| missing("venue"))?;
        let booking = NewBooking {
            venue_id: venue.id_value(),
            provider: self.provider.clone(),
            datetime,
            availability_id: slot.or_else(|| self.slot_id.as_deref().map(Value::from)),
            party_size: self.party_size.ok_or_else(|| missing("party size"))?,
            name: self.name.clone().ok_or_else(|| missing("guest"))?,
            email: self.email.clone(),
            phone: self.phone.clone(),
            end_user: self.end_user.clone(),
            webhook_url: self.webhook_url.clone(),
            vendor_payment: self.vendor_payment,
        };
        BookingRequest::new(adapter, booking.body(), &self.fields)
    }

    /// The command that makes this booking, for a person who wants to continue later.
    pub(crate) fn command(&self) -> Option<String> {
        let slot = shell::word(self.slot.as_ref()?.id());
        let mut command = format!("bookctl book --slot {slot}");
        let options = [
            ("--name", &self.name),
            ("--email", &self.email),
            ("--phone", &self.phone),
        ];
        for (flag, value) in options {
            if let Some(value) = value {
                command.push_str(&format!(" {flag} {}", shell::word(value)));
            }
        }
        Some(command)
    }
}
