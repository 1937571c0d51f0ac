//! A booking request under construction: what flags, earlier searches and prompts have provided so far.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::locate::LocatedVenue;
use super::offer::Offer;
use crate::adapter::Adapter;
use crate::client::{BookingRequest, NewBooking, SearchLocation, with_fields};
use crate::json::plain;
use crate::model::shell;
use crate::model::slot::Slot;
use crate::model::venue::Venue;
use crate::model::when::When;
use crate::outcome::{Error, Result};

#[derive(Debug, Default)]
pub(crate) struct BookingDraft {
    pub(crate) venue: Option<LocatedVenue>,
    pub(crate) slot: Option<Slot>,
    /// Whether another slot begins at the same time, so that the time alone does not name this one.
    pub(crate) slot_shares_its_time: bool,
    /// The value of `--slot`, if that slot was not seen before.
    pub(crate) slot_id: Option<String>,
    /// What and where to search, if no venue was given.
    pub(crate) vertical: Option<String>,
    pub(crate) place: Option<SearchLocation>,
    pub(crate) at: Option<When>,
    pub(crate) zone: Option<TimeZone>,
    pub(crate) party_size: Option<u32>,
    pub(crate) name: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) end_user: Option<String>,
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
            vendor_payment: true,
            ..NewBooking::default()
        };
        with_fields(Value::Object(whole.body()), &self.fields).map(drop)
    }

    pub(crate) fn choose(&mut self, offer: &Offer, row: usize) {
        let Some(slot) = offer.slots.get(row) else {
            return;
        };
        let time = slot.datetime_value();
        let same_time = offer.slots.iter().filter(|it| it.datetime_value() == time);
        self.slot_shares_its_time = same_time.count() > 1;
        self.provider = self.provider.take().or_else(|| offer.provider.clone());
        self.slot = Some(slot.clone());
        // The slot has its own time.
        self.at = None;
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
            webhook_url: None,
            vendor_payment: self.vendor_payment,
        };
        BookingRequest::new(adapter, booking.body(), &self.fields)
    }

    /// The command that makes this booking, with everything that prompts have provided. The idempotency key is left
    /// out: with it, the command would not book again.
    pub(crate) fn command(&self, profile: Option<&str>) -> Option<String> {
        let (venue, slot) = (self.venue.as_ref()?, self.slot.as_ref()?);
        let text = |text: &str| Some(text.to_owned());
        let time = plain(&slot.datetime_value());
        // The only provider of a venue is not worth a flag.
        let providers = venue.remembered.as_ref().map(Venue::providers);
        let provider = self.provider.as_deref();
        let is_implied = providers.is_some_and(|all| all.as_slice() == provider.as_slice());
        let slot = Some(slot.id()).filter(|_| self.slot_shares_its_time);
        let options = [
            ("--slot", slot.and_then(text)),
            ("--at", Some(time)),
            ("--party", self.party_size.map(|party| party.to_string())),
            (
                "--provider",
                provider.filter(|_| !is_implied).and_then(text),
            ),
            ("--name", self.name.clone()),
            ("--email", self.email.clone()),
            ("--phone", self.phone.clone()),
            ("--end-user", self.end_user.clone()),
            (
                "--payment",
                self.vendor_payment.then(|| "vendor".to_owned()),
            ),
        ];
        let name = match profile {
            Some(profile) => format!("{} book", shell::flag("--profile", profile)),
            None => "book".to_owned(),
        };
        let options = options.into_iter();
        let options = options.filter_map(|(name, value)| Some(shell::flag(name, &value?)));
        let fields = leaves(&self.fields).into_iter();
        let fields = fields.map(|(path, value)| shell::flag("-F", &format!("{path}={value}")));
        let flags: Vec<String> = options.chain(fields).collect();
        Some(shell::command(&name, &venue.id, &flags.join(" ")))
    }
}

/// Every field with its path as `-F` writes it: `customer[title]`.
fn leaves(fields: &Map<String, Value>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut waiting: Vec<(String, &Value)> = fields
        .iter()
        .rev()
        .map(|(name, value)| (name.clone(), value))
        .collect();
    while let Some((path, value)) = waiting.pop() {
        match value {
            Value::Object(inner) => {
                let inner = inner.iter().rev();
                waiting.extend(inner.map(|(name, value)| (format!("{path}[{name}]"), value)));
            }
            Value::Array(inner) => {
                let inner = inner.iter().rev();
                waiting.extend(inner.map(|value| (format!("{path}[]"), value)));
            }
            Value::Null => found.push((path, "null".to_owned())),
            value => found.push((path, plain(value))),
        }
    }
    found
}
