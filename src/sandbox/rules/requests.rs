//! The requests about a booking: create, continue and modify, with their checks in the order of the
//! contract ("Bookings").

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::api_error::{ApiError, Result};
use super::booking::{Modification, StoredBooking, StoredCustomer};
use super::fields::{self, FieldErrors};
use super::organization::Organization;
use super::state::{Ask, BookingErrorCode};
use crate::sandbox::seed::{OfferedSlot, Provider, Scenario, SeedVenue, Vertical};
use crate::sandbox::wire::WireTime;

pub(crate) struct CreateRequest {
    pub(crate) venue_id: String,
    pub(crate) at: Timestamp,
    pub(crate) party_size: u8,
    pub(crate) customer: StoredCustomer,
    pub(crate) pays_by_vendor: bool,
    /// The fields that need no check.
    pub(crate) body: CreateBody,
}

#[derive(Deserialize)]
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

#[derive(Default, Deserialize)]
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

/// Names that are no guest's, in lower case and without spaces; docs/sandbox-reference.md lists
/// them.
#[rustfmt::skip]
const PLACEHOLDERS: &[&str] = &[
    "testuser", "testguest", "testcustomer", "testtest", "test", "testing", "johndoe", "janedoe",
    "guest", "guestuser", "customer", "customername", "firstlast", "firstnamelastname", "yourname",
    "fullname", "anonymous", "unknown", "null", "undefined", "n/a", "tbd", "placeholder",
];

pub(crate) enum ContinueRequest {
    Otp(String),
    PspResponse(Map<String, Value>),
    PspAbort,
    /// The fields of any other body: details that the venue asked for.
    Details(Map<String, Value>),
}

#[derive(Deserialize)]
struct ContinueBody {
    otp: Option<String>,
    psp_response: Option<Map<String, Value>>,
    psp_abort: Option<bool>,
}

impl ContinueRequest {
    pub(crate) fn read(body: &[u8]) -> Result<Self> {
        let answers: ContinueBody = fields::read(body)?;
        if answers.psp_abort == Some(false) {
            return Err(ApiError::invalid("psp_abort", "must be true"));
        }
        match (answers.otp, answers.psp_response, answers.psp_abort) {
            (None, None, None) => Ok(Self::Details(fields::parse_body(body)?)),
            (Some(otp), None, None) => Ok(Self::Otp(otp.trim().to_owned())),
            (None, Some(response), None) => Ok(Self::PspResponse(response)),
            (None, None, Some(_)) => Ok(Self::PspAbort),
            _ => {
                let demand = "send one of otp, psp_response and psp_abort";
                Err(ApiError::invalid("psp_response", demand))
            }
        }
    }

    pub(super) fn unanswered(
        fields: &[String],
        given: &Map<String, Value>,
    ) -> Vec<(String, String)> {
        let is_given = |field: &String| match given.get(field) {
            None | Some(Value::Null) => false,
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(_) => true,
        };
        fields
            .iter()
            .filter(|field| !is_given(field))
            .map(|field| (field.clone(), "is required".to_owned()))
            .collect()
    }

    /// The error that names the fields which a pause asks for.
    pub(super) fn wanted(ask: &Ask) -> ApiError {
        match ask {
            Ask::Otp { .. } => ApiError::invalid("otp", "is required"),
            Ask::Payment { .. } => {
                let demand = "is required, or psp_abort to give up the payment";
                ApiError::invalid("psp_response", demand)
            }
            Ask::Details { fields } => ApiError::all_invalid(Self::unanswered(fields, &Map::new())),
        }
    }
}

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
            Some((slot, held)) if slot.has_room(*held) => Ok(()),
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
        if let Some(datetime) = datetime.filter(|_| self.moves(booking)) {
            changed.datetime = datetime;
        }
        changed.party_size = self.party_size.unwrap_or(booking.party_size);
        changed.seating = self.seating.clone().or(changed.seating);
        let mut changes = Map::new();
        for (field, from, to) in [
            ("datetime", json!(booking.datetime), json!(changed.datetime)),
            ("party_size", json!(booking.party_size), json!(changed.party_size)),
            ("seating_preference", json!(booking.seating), json!(changed.seating)),
        ] {
            if from != to {
                changes.insert(field.to_owned(), json!({"from": from, "to": to}));
            }
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
