//! The request to create a booking, and its checks in the order of the contract ("Bookings").

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::api_error::ApiError;
use super::availability::serving;
use super::booking::Customer;
use super::fields::{self, FieldErrors};
use super::organization::Organization;
use crate::sandbox::seed::{Provider, Scenario, Slot, Venue, Vertical};

/// A request to create a booking, with valid fields.
#[derive(Debug)]
pub(crate) struct CreateRequest {
    pub(crate) venue_id: String,
    provider: Option<String>,
    pub(crate) at: Timestamp,
    availability_id: Option<String>,
    pub(crate) party_size: u8,
    pub(crate) customer: Customer,
    pub(crate) end_user: Option<String>,
    pub(crate) webhook_url: Option<String>,
    pub(crate) pays_by_vendor: bool,
}

#[derive(Deserialize)]
struct Body {
    venue_id: Option<String>,
    provider: Option<String>,
    datetime: Option<String>,
    availability_id: Option<String>,
    #[serde(default, deserialize_with = "fields::whole")]
    party_size: Option<i64>,
    customer: Option<Guest>,
    end_user: Option<String>,
    webhook_url: Option<String>,
    payment_collection: Option<String>,
}

#[derive(Default, Deserialize)]
struct Guest {
    name: Option<String>,
    email: Option<String>,
    phone: Option<String>,
}

impl CreateRequest {
    pub(crate) fn of(body: &Map<String, Value>, now: Timestamp) -> Result<Self, ApiError> {
        let body: Body = fields::read(body)?;
        let guest = body.customer.unwrap_or_default();
        let payment_collection = body.payment_collection.as_deref();
        let mut errors = FieldErrors::default();
        let venue_id = errors.required("venue_id", body.venue_id);
        let at = errors.future_moment("datetime", body.datetime, now);
        let party_size = errors.required_party_size(body.party_size);
        let name = errors.required("customer.name", guest.name);
        if payment_collection.is_some_and(|it| it != "vendor_external") {
            errors.add("payment_collection", "must be vendor_external");
        }
        let required = venue_id.zip(at).zip(party_size).zip(name);
        let (((venue_id, at), party_size), name) = errors.finish(required)?;
        Ok(Self {
            venue_id,
            provider: body.provider,
            at,
            availability_id: body.availability_id,
            party_size,
            customer: Customer {
                name,
                email: guest.email,
                phone: guest.phone,
            },
            end_user: body.end_user,
            webhook_url: body.webhook_url,
            pays_by_vendor: payment_collection.is_some(),
        })
    }

    /// The provider of the booking: the one named, else the venue's only one.
    pub(crate) fn provider(&self, venue: &Venue) -> Result<Provider, ApiError> {
        match &self.provider {
            Some(name) => serving(venue, name),
            None => venue.sole_provider().ok_or(ApiError::ProviderNeeded),
        }
    }

    /// Rejects a placeholder name, and a name without a last name if the provider needs one.
    pub(crate) fn check_guest(&self, provider: Provider) -> Result<(), ApiError> {
        check_name(&self.customer.name, provider)
    }

    /// The slot of the availability id, if the request has one. It must belong to this venue and start
    /// at the requested time.
    pub(crate) fn offered_slot(&self, venue: &Venue) -> Result<Option<Slot>, ApiError> {
        let Some(id) = &self.availability_id else {
            return Ok(None);
        };
        let slot = venue.offered(id).ok_or_else(|| {
            ApiError::invalid("availability_id", "was never offered at this venue")
        })?;
        if slot.datetime.timestamp() == self.at {
            Ok(Some(slot))
        } else {
            Err(ApiError::SlotNotOffered)
        }
    }

    pub(crate) fn check_payment(
        &self,
        organization: &Organization,
        venue: &Venue,
        provider: Provider,
    ) -> Result<(), ApiError> {
        if !self.pays_by_vendor {
            Ok(())
        } else if !organization.vendor_payments {
            Err(ApiError::VendorDisabled)
        } else if has_vault(venue, provider) {
            Ok(())
        } else {
            Err(ApiError::VaultUnavailable)
        }
    }

    /// The person whose active session the booking needs, if it needs one.
    pub(crate) fn needs_session(&self, provider: Provider) -> Option<&str> {
        self.end_user.as_deref().filter(|_| provider == Provider::B)
    }
}

/// Whether the venue takes vendor payments: dining venues of provider A do.
fn has_vault(venue: &Venue, provider: Provider) -> bool {
    venue.vertical == Vertical::Dining
        && provider == Provider::A
        && venue.scenario != Some(Scenario::VaultUnavailable)
}

/// Placeholder names, in lower case with single spaces.
#[rustfmt::skip]
pub(crate) const PLACEHOLDERS: &[&str] = &[
    "test user", "test guest", "test customer", "test test", "test", "testing", "john doe",
    "jane doe", "guest", "guest user", "customer", "customer name", "user", "name", "first last",
    "firstname lastname", "first name last name", "your name", "full name", "anonymous", "unknown",
    "none", "null", "undefined", "n/a", "na", "tbd", "placeholder", "example",
];

/// Rejects a placeholder name, and a name without a last name if the provider needs one.
fn check_name(name: &str, provider: Provider) -> Result<(), ApiError> {
    if is_placeholder(name) {
        return Err(ApiError::PlaceholderCustomer);
    }
    if provider == Provider::A && !has_last_name(name) {
        return Err(ApiError::MissingLastName);
    }
    Ok(())
}

/// Whether a name is in [`PLACEHOLDERS`], ignoring case and spacing, or has no letter.
fn is_placeholder(name: &str) -> bool {
    let letters = |name: &str| name.split_whitespace().collect::<String>().to_lowercase();
    let name = letters(name);
    !name.chars().any(char::is_alphabetic) || PLACEHOLDERS.iter().any(|it| letters(it) == name)
}

/// Whether a name has two words with a letter each.
fn has_last_name(name: &str) -> bool {
    let is_word = |word: &&str| word.chars().any(char::is_alphabetic);
    name.split_whitespace().filter(is_word).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::seed;
    use serde_json::json;

    const NOW: &str = "2026-11-21T12:00:00Z";

    fn read(patch: &Value) -> Result<CreateRequest, ApiError> {
        let mut body = json!({
            "venue_id": "ven_confirms",
            "datetime": "2026-12-01T19:00:00Z",
            "party_size": 2,
            "customer": {"name": "Ada Lovelace"},
        });
        for (field, value) in patch.as_object().unwrap() {
            body[field] = value.clone();
        }
        CreateRequest::of(body.as_object().unwrap(), NOW.parse().unwrap())
    }

    fn errors(patch: &Value) -> Vec<String> {
        match read(patch) {
            Err(ApiError::Invalid(errors)) => errors.into_iter().map(|it| it.0).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_field_that_will_not_do_is_named_at_once() {
        assert_eq!(
            errors(&json!({
                "venue_id": null, "datetime": "2026-11-21T12:00:00Z", "party_size": 21,
                "customer": {}, "payment_collection": "cash",
            })),
            [
                "venue_id",
                "datetime",
                "party_size",
                "customer.name",
                "payment_collection"
            ]
        );
        assert_eq!(
            errors(&json!({"datetime": "2026-12-01T19:30"})),
            ["datetime"]
        );
        assert_eq!(errors(&json!({"party_size": 0})), ["party_size"]);
    }

    #[test]
    fn a_wrong_type_is_named_with_its_path() {
        let error = read(&json!({"customer": {"name": 7}})).unwrap_err();
        assert!(matches!(error, ApiError::WrongType { field, .. } if field == "customer.name"));
        assert_eq!(
            read(&json!({"party_size": 2.5})).unwrap_err(),
            ApiError::wrong_type("party_size", "must be a whole number")
        );
    }

    #[test]
    fn a_venue_of_several_providers_has_no_mapping() {
        let venue = seed::venue("ven_multi_provider").unwrap();
        let provider = |name: Value| read(&json!({"provider": name})).unwrap().provider(venue);
        assert_eq!(provider(Value::Null), Err(ApiError::ProviderNeeded));
        assert_eq!(provider(json!("provider_c")), Ok(Provider::C));
        assert!(matches!(
            provider(json!("provider_b")),
            Err(ApiError::Invalid(_))
        ));
    }

    #[test]
    fn a_slot_is_booked_at_the_time_it_was_offered_at() {
        let venue = seed::venue("ven_confirms").unwrap();
        let at = "2026-12-01T19:00:00Z".parse().unwrap();
        let offered = seed::slots_at(venue, at).next().unwrap();
        let book = |id: &str, datetime: &str| {
            read(&json!({"availability_id": id, "datetime": datetime}))
                .unwrap()
                .offered_slot(venue)
        };
        let same_instant = book(&offered.id, "2026-12-01T20:00:00+01:00")
            .unwrap()
            .unwrap();
        assert_eq!(same_instant.id, offered.id);
        assert_eq!(
            book(&offered.id, "2026-12-01T19:30:00Z").unwrap_err(),
            ApiError::SlotNotOffered
        );
        let elsewhere = seed::slots_at(seed::venue("ven_otp").unwrap(), at)
            .next()
            .unwrap();
        for id in [elsewhere.id.as_str(), "slot_nonsense"] {
            let error = book(id, "2026-12-01T19:00:00Z").unwrap_err();
            assert!(matches!(error, ApiError::Invalid(_)), "{id}");
        }
    }

    #[test]
    fn vendor_payment_needs_a_vault_and_the_organizations_consent() {
        let mut organization = Organization::fresh(Organization::MAIN);
        let pay = |organization: &Organization, venue: &str| {
            let venue = seed::venue(venue).unwrap();
            let request = read(&json!({"payment_collection": "vendor_external"})).unwrap();
            request.check_payment(organization, venue, venue.providers[0])
        };
        assert_eq!(pay(&organization, "ven_payment"), Ok(()));
        assert_eq!(pay(&organization, "ven_confirms"), Ok(()));
        for venue in ["ven_vault_unavailable", "ven_confirms_b"] {
            assert_eq!(pay(&organization, venue), Err(ApiError::VaultUnavailable));
        }
        organization.vendor_payments = false;
        assert_eq!(
            pay(&organization, "ven_payment"),
            Err(ApiError::VendorDisabled)
        );
    }

    #[test]
    fn a_placeholder_is_one_in_any_case_and_spacing() {
        for name in [
            "Test User",
            "  JOHN   doe ",
            "JohnDoe",
            "N / A",
            "n/a",
            "Guest",
            "123",
            "--",
            "\u{a0}",
        ] {
            assert_eq!(
                check_name(name, Provider::B),
                Err(ApiError::PlaceholderCustomer),
                "{name}"
            );
        }
    }

    #[test]
    fn a_real_name_that_contains_a_placeholder_is_real() {
        for name in ["Ada Lovelace", "Jane Doerr", "Guest Testman", "李 小龙"] {
            assert_eq!(check_name(name, Provider::A), Ok(()), "{name}");
        }
    }

    #[test]
    fn provider_a_alone_needs_a_last_name() {
        for name in ["Ada", "Ada -", "Ada 2"] {
            assert_eq!(
                check_name(name, Provider::A),
                Err(ApiError::MissingLastName)
            );
            assert_eq!(check_name(name, Provider::B), Ok(()));
            assert_eq!(check_name(name, Provider::C), Ok(()));
        }
    }
}
