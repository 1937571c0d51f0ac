//! A booking request under construction, from flags, earlier searches and prompts.

use clap::builder::NonEmptyStringValueParser;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::offer::{Offer, fetch_slots};
use crate::app::{Api, Parts};
use crate::booking::find::locate::LocatedVenue;
use crate::booking::find::pick::booking_or_pick;
use crate::booking::terms::{filled_in, find_recorded};
use crate::json::plain;
use crate::outcome::{Error, Result};
use crate::platform::shell;
use crate::service::client::call::fields_of;
use crate::service::client::{BookingRequest, SearchLocation, VENDOR_PAYMENT, with_fields};
use crate::service::documents::field::pairs;
use crate::service::documents::{Slot, Venue, contact};
use crate::service::mapping::Mapping;
use crate::service::time::When;

/// What flags and questions say of a booking beside its venue and its time.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Options {
    /// Book for this many people
    #[arg(long, value_name = "N", value_parser = contact::party, allow_negative_numbers = true)]
    pub(crate) party: Option<u32>,
    /// Give the guest's first and last name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Give the guest's email address
    #[arg(long, value_parser = contact::email)]
    pub(crate) email: Option<String>,
    /// Give the guest's phone number
    #[arg(long, value_parser = contact::phone)]
    pub(crate) phone: Option<String>,
    /// Choose the provider if the venue has several
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Book with the connected account of this guest
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) end_user: Option<String>,
    /// Pay through the payment vendor
    #[arg(long, value_name = "HOW", value_parser = ["vendor"])]
    pub(crate) payment: Option<String>,
}

impl Options {
    fn flags(&self) -> impl Iterator<Item = String> {
        let party = self.party.map(|party| party.to_string());
        let flags = [
            ("--party", party),
            ("--provider", self.provider.clone()),
            ("--name", self.name.clone()),
            ("--email", self.email.clone()),
            ("--phone", self.phone.clone()),
            ("--end-user", self.end_user.clone()),
            ("--payment", self.payment.clone()),
        ];
        flags.into_iter().filter_map(|(name, value)| Some(shell::flag(name, &value?)))
    }
}

#[derive(Clone, Debug, Default)]
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
    pub(crate) options: Options,
    /// The seating of the booking that this one is like.
    pub(crate) seating: Option<String>,
    /// Fields of the request that have no flag (`-F`).
    pub(crate) fields: Map<String, Value>,
    /// Whether the booking was already confirmed (`--yes` or a prompt).
    pub(crate) is_confirmed: bool,
}

impl BookingDraft {
    /// Rejects `-F` fields that the request sets itself, before anything is asked or looked up.
    pub(crate) fn check_fields(&self) -> Result<()> {
        let own = json!({
            "venue_id": "", "provider": "", "datetime": "", "availability_id": "", "party_size": 0,
            "customer": {"name": "", "email": "", "phone": ""}, "end_user": "", "payment_collection": "",
        });
        with_fields(own, &self.fields).map(drop)
    }

    /// Fills what is missing from an earlier booking: venue, guest, party and seating.
    pub(crate) async fn prefill_from(&mut self, parts: &Parts, booking: &str) -> Result<()> {
        let mut named = booking_or_pick(parts, Some(booking), |_| true, true).await?;
        let like = filled_in(&parts.records, &named.booking(parts).await?);
        let text = |pointer: &str| {
            let text = like.value().pointer(pointer).map(plain);
            // A service may mask a guest.
            text.filter(|text| !text.is_empty() && !text.contains('*'))
        };
        let searches = self.vertical.is_some() || self.place.is_some();
        let options = &mut self.options;
        let takes_venue = self.venue.is_none() && !searches;
        if let Some(venue) = like.venue_id().filter(|_| takes_venue) {
            let displayed = like.venue_name();
            let venue = LocatedVenue::of_id(&parts.records, venue);
            self.venue = Some(LocatedVenue { displayed, ..venue });
            options.provider = options.provider.take().or_else(|| text("/provider"));
        }
        if options.name.is_none() {
            options.name = text("/customer/name");
            options.email = options.email.take().or_else(|| text("/customer/email"));
            options.phone = options.phone.take().or_else(|| text("/customer/phone"));
        }
        let party = text("/party_size").and_then(|party| party.parse().ok());
        options.party = options.party.or(party);
        self.seating = text("/seating_preference");
        // What was asked for counts too: a service may not show it.
        let chosen = |field: &str| {
            let requested = || find_recorded(&parts.records, like.id())?.wish().text(field);
            text(&format!("/{field}")).or_else(requested)
        };
        if chosen("payment_collection").is_some_and(|it| it == VENDOR_PAYMENT) {
            options.payment.get_or_insert_with(|| "vendor".to_owned());
        }
        if options.end_user.is_none() {
            options.end_user = chosen("end_user").filter(|it| !it.is_empty());
        }
        Ok(())
    }

    pub(crate) fn remembered(&self) -> Option<&Venue> {
        self.venue.as_ref()?.remembered.as_ref()
    }

    /// The providers of the venue, if a search has shown them.
    pub(crate) fn providers(&self) -> Vec<&str> {
        self.remembered().map(Venue::providers).unwrap_or_default()
    }

    pub(crate) fn has_slot(&self) -> bool {
        self.slot.is_some() || self.slot_id.is_some()
    }

    /// The zone of a time without an offset, unless only the venue's slots can show it.
    pub(crate) fn known_zone(&self) -> Option<TimeZone> {
        let flag = self.zone.as_ref();
        self.venue.as_ref().map_or(flag.cloned(), |venue| venue.zone(flag))
    }

    pub(crate) async fn offer(&self, api: &Api, when: &When) -> Result<Offer> {
        let venue = self.venue.as_ref().ok_or_else(|| missing("venue"))?;
        let (party, provider) = (self.options.party, self.options.provider.as_deref());
        fetch_slots(api, venue, when, self.zone.as_ref(), party.unwrap_or(1), provider).await
    }

    /// What it lacks: each argument, and its description.
    pub(crate) fn missing_fields(&self) -> Vec<(&'static str, &'static str)> {
        let (options, has_time) = (&self.options, self.slot.is_some() || self.at.is_some());
        let mut missing_fields = vec![
            ("VENUE", "the venue", self.venue.is_some()),
            ("--at WHEN", "the time", has_time),
            ("--party N", "the party size", options.party.is_some()),
            ("--name NAME", "the guest's name", options.name.is_some()),
        ];
        missing_fields.retain(|(.., is_known)| !is_known);
        missing_fields.into_iter().map(|it| (it.0, it.1)).collect()
    }

    /// Refuses (2) a draft that lacks something without prompts.
    pub(crate) fn refuse_missing(&self) -> Result<()> {
        let missing_fields = self.missing_fields();
        let (arguments, what): (Vec<&str>, Vec<&str>) = missing_fields.iter().copied().unzip();
        if missing_fields.is_empty() {
            return Ok(());
        }
        let are = if what.len() == 1 { "is" } else { "are" };
        let message = format!("{} {are} missing, and prompts are disabled", listed(&what));
        let arguments = listed(&arguments);
        let hint = format!("pass {arguments}; see `bookctl book --help` for examples");
        let problems = missing_fields.iter().map(|(argument, what)| {
            let field = argument.split(' ').next();
            json!({"field": field, "message": format!("{what} is missing")})
        });
        let mut error = Error::usage(message).hint(hint);
        error.problems = problems.collect();
        Err(error)
    }

    pub(crate) fn choose(&mut self, offer: &Offer, slot: &Slot) {
        let time = slot.datetime_value();
        let same_time = offer.slots.iter().filter(|it| it.datetime_value() == time);
        self.slot_shares_its_time = same_time.count() > 1;
        let provider = self.options.provider.take();
        self.options.provider = provider.or_else(|| offer.provider.clone());
        self.slot = Some(slot.clone());
        // The slot has its own time.
        self.at = None;
    }

    /// The booking request, or `usage` (2) if the venue, the party or the guest is missing.
    pub(crate) fn request(&self, mapping: &Mapping, datetime: Value) -> Result<BookingRequest> {
        let slot = self.slot.as_ref().map(Slot::id_value);
        let venue = self.venue.as_ref().ok_or_else(|| missing("venue"))?;
        let options = self.options.clone();
        let party = options.party.ok_or_else(|| missing("party size"))?;
        let name = options.name.ok_or_else(|| missing("guest"))?;
        let booking = json!({
            "venue_id": venue.id_value(),
            "provider": options.provider,
            // Exactly as the slot was offered, a text or a number.
            "datetime": datetime,
            "availability_id": slot.or_else(|| self.slot_id.as_deref().map(Value::from)),
            "party_size": party,
            "customer": {"name": name, "email": options.email, "phone": options.phone},
            "end_user": options.end_user,
            "payment_collection": options.payment.map(|_| VENDOR_PAYMENT),
        });
        BookingRequest::new(mapping, fields_of(&booking), &self.fields)
    }

    /// The command that makes this booking, with everything that prompts have provided. The
    /// idempotency key is left out: with it, the command would not book again.
    pub(crate) fn command(&self, profile: Option<&str>) -> Option<String> {
        let (venue, slot) = (self.venue.as_ref()?, self.slot.as_ref()?);
        let time = plain(&slot.datetime_value());
        // The only provider of a venue is not worth a flag.
        let mut options = self.options.clone();
        let provider = options.provider.take();
        options.provider = provider.filter(|provider| self.providers() != [provider.as_str()]);
        let slot = self.slot_shares_its_time.then(|| shell::flag("--slot", slot.id()));
        let mut flags: Vec<String> = slot.into_iter().collect();
        flags.push(shell::flag("--at", &time));
        flags.extend(options.flags());
        let more = pairs(&self.fields).into_iter();
        flags.extend(more.map(|(name, value)| shell::flag("-F", &format!("{name}={value}"))));
        let name = profile.map(|profile| format!("{} ", shell::flag("--profile", profile)));
        let name = format!("{}book", name.unwrap_or_default());
        Some(shell::command(&name, &venue.id, &flags.join(" ")))
    }
}

/// `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        words => words.concat(),
    }
}

fn missing(what: &str) -> Error {
    Error::usage(format!("no {what} given"))
}
