//! A booking as far as flags, memory and answers tell it.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::locate::Located;
use crate::client::{NewBooking, with_fields};
use crate::model::shell;
use crate::model::slot::Slot;
use crate::model::when::When;
use crate::outcome::{Error, Result};

/// A booking as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) venue: Option<Located>,
    pub(crate) slot: Option<Slot>,
    /// `--slot` where the slot was not seen before.
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
    /// Fields of the request that have no flag.
    pub(crate) fields: Map<String, Value>,
    /// Whether the go-ahead was given.
    pub(crate) goes_ahead: bool,
}

impl Draft {
    /// Refuses fields that the request has anyway, before anything is asked or looked up by them.
    pub(crate) fn check_fields(&self) -> Result<()> {
        let any = || Some(String::new());
        let whole = NewBooking {
            provider: any(),
            availability_id: any(),
            email: any(),
            phone: any(),
            end_user: any(),
            webhook_url: any(),
            vendor_payment: true,
            ..NewBooking::default()
        };
        with_fields(whole.body(), &self.fields).map(drop)
    }

    /// The request, once a venue, a time, a party and a guest are known.
    pub(crate) fn body(&self, datetime: String) -> Result<Value> {
        let missing = |what: &str| Error::usage(format!("no {what} given"));
        let slot = self.slot.as_ref().map(|slot| slot.id().to_owned());
        let venue = self.venue.as_ref().ok_or_else(|| missing("venue"))?;
        let booking = NewBooking {
            venue_id: venue.id.clone(),
            provider: self.provider.clone(),
            datetime,
            availability_id: slot.or_else(|| self.slot_id.clone()),
            party_size: self.party_size.ok_or_else(|| missing("party size"))?,
            name: self.name.clone().ok_or_else(|| missing("guest"))?,
            email: self.email.clone(),
            phone: self.phone.clone(),
            end_user: self.end_user.clone(),
            webhook_url: self.webhook_url.clone(),
            vendor_payment: self.vendor_payment,
        };
        with_fields(booking.body(), &self.fields)
    }

    /// The command that books what was walked to, for whoever has to come back to it.
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
