//! The request to create a booking, and its checks in the order of the contract ("Bookings").

use jiff::Timestamp;
use serde::Deserialize;

use super::api_error::{ApiError, Result};
use super::booking::StoredCustomer;
use super::fields::{self, FieldErrors};
use super::organization::Organization;
use crate::sandbox::seed::{OfferedSlot, Provider, Scenario, SeedVenue, Vertical};

#[derive(Debug)]
pub(crate) struct CreateRequest {
    pub(crate) venue_id: String,
    pub(crate) at: Timestamp,
    pub(crate) party_size: u8,
    pub(crate) customer: StoredCustomer,
    pub(crate) pays_by_vendor: bool,
    /// The fields that need no check.
    pub(crate) body: CreateBody,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CreateBody {
    venue_id: Option<String>,
    provider: Option<String>,
    datetime: Option<String>,
    availability_id: Option<String>,
    #[serde(default, deserialize_with = "fields::whole")]
    party_size: Option<i64>,
    customer: Option<Guest>,
    pub(crate) end_user: Option<String>,
    pub(crate) webhook_url: Option<String>,
    payment_collection: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Guest {
    name: Option<String>,
    email: Option<String>,
    phone: Option<String>,
    /// With it, a list is not read as the values of the fields.
    #[serde(flatten)]
    _is_object: (),
}

impl CreateRequest {
    pub(crate) fn read(body: &[u8], now: Timestamp) -> Result<Self> {
        let mut body: CreateBody = fields::read(body)?;
        let guest = body.customer.take().unwrap_or_default();
        let payment_collection = body.payment_collection.as_deref();
        let mut errors = FieldErrors::default();
        let venue_id = errors.required("venue_id", body.venue_id.take());
        let at = errors.future_moment("datetime", body.datetime.take(), now);
        let party_size = errors.required_party_size(body.party_size);
        let name = errors.required("customer.name", guest.name);
        if payment_collection.is_some_and(|it| it != "vendor_external") {
            errors.add("payment_collection", "must be vendor_external");
        }
        errors.finish()?;
        Ok(Self {
            venue_id,
            at,
            party_size,
            customer: StoredCustomer { name, email: guest.email, phone: guest.phone },
            pays_by_vendor: payment_collection.is_some(),
            body,
        })
    }

    /// The provider of the booking: the one named, else the venue's only one.
    pub(crate) fn provider(&self, venue: &SeedVenue) -> Result<Provider> {
        match &self.body.provider {
            Some(name) => serving(venue, name),
            None => venue.sole_provider().ok_or(ApiError::PROVIDER_NEEDED),
        }
    }

    pub(crate) fn check_guest(&self, provider: Provider) -> Result<()> {
        let words = || self.customer.name.split_whitespace();
        let has_letter = |text: &str| text.chars().any(char::is_alphabetic);
        let name = words().collect::<String>().to_lowercase();
        if !has_letter(&name) || PLACEHOLDERS.contains(&name.as_str()) {
            return Err(ApiError::PLACEHOLDER_CUSTOMER);
        }
        if provider == Provider::A && words().filter(|it| has_letter(it)).count() < 2 {
            return Err(ApiError::MISSING_LAST_NAME);
        }
        Ok(())
    }

    /// The slot of the availability id, if the request has one. It must belong to this venue and
    /// start at the requested time.
    pub(crate) fn offered_slot(&self, venue: &SeedVenue) -> Result<Option<OfferedSlot>> {
        let Some(id) = &self.body.availability_id else {
            return Ok(None);
        };
        let slot = venue.offered(id).ok_or_else(|| {
            ApiError::invalid("availability_id", "was never offered at this venue")
        })?;
        if slot.datetime.timestamp() == self.at {
            Ok(Some(slot))
        } else {
            Err(ApiError::SLOT_NOT_OFFERED)
        }
    }

    pub(crate) fn check_payment(
        &self,
        organization: &Organization,
        venue: &SeedVenue,
        provider: Provider,
    ) -> Result<()> {
        if !self.pays_by_vendor {
            Ok(())
        } else if !organization.vendor_payments {
            Err(ApiError::VENDOR_DISABLED)
        } else if venue.vertical == Vertical::Dining
            && provider == Provider::A
            && venue.scenario != Some(Scenario::VaultUnavailable)
        {
            Ok(())
        } else {
            Err(ApiError::VAULT_UNAVAILABLE)
        }
    }
}

/// The provider with this id. Fails if it does not serve the venue.
pub(crate) fn serving(venue: &SeedVenue, name: &str) -> Result<Provider> {
    Provider::parse(name)
        .filter(|it| venue.providers.contains(it))
        .ok_or_else(|| ApiError::invalid("provider", "does not serve this venue"))
}

/// Names that are no guest's, in lower case and without spaces; docs/sandbox-reference.md lists them.
#[rustfmt::skip]
const PLACEHOLDERS: &[&str] = &[
    "testuser", "testguest", "testcustomer", "testtest", "test", "testing", "johndoe", "janedoe",
    "guest", "guestuser", "customer", "customername", "firstlast", "firstnamelastname", "yourname",
    "fullname", "anonymous", "unknown", "null", "undefined", "n/a", "tbd", "placeholder",
];
