//! Who may do what: keys, scopes and the order of their checks ("Authentication").

use super::organization::{Check, Organization};
use super::refusal::Refusal;

/// Free confirmed bookings of an organization's test keys ("Limits", 4).
pub(crate) const TEST_ALLOWANCE: u32 = 3;

/// A key's environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Live,
    Test,
    /// Of the v3 environment, refused on /v1.
    Beta,
}

impl KeyKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Test => "test",
            Self::Beta => "beta",
        }
    }
}

/// What a key may be allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    VenuesRead,
    BookingsRead,
    BookingsCreate,
    BookingsWrite,
    SessionsRead,
    SessionsWrite,
}

impl Scope {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::VenuesRead => "venues:read",
            Self::BookingsRead => "bookings:read",
            Self::BookingsCreate => "bookings:create",
            Self::BookingsWrite => "bookings:write",
            Self::SessionsRead => "sessions:read",
            Self::SessionsWrite => "sessions:write",
        }
    }
}

const EVERY_SCOPE: &[Scope] = &[
    Scope::VenuesRead,
    Scope::BookingsRead,
    Scope::BookingsCreate,
    Scope::BookingsWrite,
    Scope::SessionsRead,
    Scope::SessionsWrite,
];
const READ_SCOPES: &[Scope] = &[Scope::VenuesRead, Scope::BookingsRead, Scope::SessionsRead];

/// An API key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// What a request carries.
    pub(crate) secret: &'static str,
    pub(crate) kind: KeyKind,
    /// The id of the organization that the key belongs to.
    pub(crate) organization: &'static str,
    pub(crate) scopes: &'static [Scope],
    /// What the key is there for.
    pub(crate) purpose: &'static str,
}

/// The live key with every scope, of the organization that the sandbox is about.
pub(crate) const LIVE_KEY: &str = "sk_live_sandbox";

/// Every key of a sandbox.
pub(crate) const KEYS: &[Key] = &[
    Key {
        secret: LIVE_KEY,
        kind: KeyKind::Live,
        organization: Organization::MAIN,
        scopes: EVERY_SCOPE,
        purpose: "every scope",
    },
    Key {
        secret: "sk_test_sandbox",
        kind: KeyKind::Test,
        organization: Organization::MAIN,
        scopes: EVERY_SCOPE,
        purpose: "3 confirmed test bookings",
    },
    Key {
        secret: "sk_live_readonly",
        kind: KeyKind::Live,
        organization: Organization::MAIN,
        scopes: READ_SCOPES,
        purpose: "may only read",
    },
    Key {
        secret: "sk_live_nobilling",
        kind: KeyKind::Live,
        organization: Organization::WITHOUT_BILLING,
        scopes: EVERY_SCOPE,
        purpose: "an organization without billing",
    },
    Key {
        secret: "sk_v3_sandbox",
        kind: KeyKind::Beta,
        organization: Organization::MAIN,
        scopes: EVERY_SCOPE,
        purpose: "the wrong environment for /v1",
    },
    Key {
        secret: "sk_live_suspended",
        kind: KeyKind::Live,
        organization: Organization::SUSPENDED,
        scopes: EVERY_SCOPE,
        purpose: "a suspended organization",
    },
    Key {
        secret: "sk_live_other",
        kind: KeyKind::Live,
        organization: Organization::OTHER,
        scopes: EVERY_SCOPE,
        purpose: "another organization in good standing",
    },
];

/// The key that an `Authorization` header carries.
pub(crate) fn identify(authorization: Option<&str>) -> Result<&'static Key, Refusal> {
    authorization
        .and_then(|header| header.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .and_then(|(_, secret)| KEYS.iter().find(|key| key.secret == secret.trim()))
        .ok_or(Refusal::Unauthorized)
}

/// Environment, suspension and scope, in this order.
pub(crate) fn admit(
    key: &Key,
    organization: &Organization,
    scope: Option<Scope>,
) -> Result<(), Refusal> {
    if key.kind == KeyKind::Beta {
        return Err(Refusal::WrongKeyEnvironment);
    }
    if organization.suspended {
        return Err(Refusal::OrgSuspended {
            reason: organization.suspension_reason.clone(),
        });
    }
    match scope {
        Some(scope) if !key.scopes.contains(&scope) => Err(Refusal::InsufficientScope(scope)),
        _ => Ok(()),
    }
}

/// Billing, which every call but the index needs of a live key.
pub(crate) fn check_billing(key: &Key, organization: &Organization) -> Result<(), Refusal> {
    match key.kind {
        KeyKind::Live if organization.billing_check == Check::Unavailable => {
            Err(Refusal::BillingCheckUnavailable)
        }
        KeyKind::Live if !organization.billing => Err(Refusal::BillingRequired),
        _ => Ok(()),
    }
}

/// The entitlement to search, read availability and create; a test key's is its allowance, of
/// which `used` bookings are gone.
pub(crate) fn check_entitlement(
    key: &Key,
    organization: &Organization,
    used: u32,
) -> Result<(), Refusal> {
    if organization.entitlement_check == Check::Unavailable {
        return Err(Refusal::EntitlementCheckUnavailable);
    }
    if key.kind == KeyKind::Test && used >= TEST_ALLOWANCE {
        return Err(Refusal::FreeTierExhausted {
            limit: TEST_ALLOWANCE,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(secret: &str) -> &'static Key {
        identify(Some(&format!("Bearer {secret}"))).unwrap()
    }

    #[test]
    fn a_key_comes_as_a_bearer_and_is_known_to_the_letter() {
        assert_eq!(key(LIVE_KEY).kind, KeyKind::Live);
        for header in [
            None,
            Some(LIVE_KEY),
            Some("Basic sk_live_sandbox"),
            Some("Bearer sk_live_sandbo"),
            Some("Bearer "),
        ] {
            assert_eq!(identify(header), Err(Refusal::Unauthorized), "{header:?}");
        }
    }

    #[test]
    fn environment_comes_before_suspension_and_suspension_before_scope() {
        let mut organization = Organization::fresh(Organization::MAIN);
        organization.suspended = true;
        let wants = Some(Scope::BookingsCreate);
        assert_eq!(
            admit(key("sk_v3_sandbox"), &organization, wants),
            Err(Refusal::WrongKeyEnvironment)
        );
        let readonly = key("sk_live_readonly");
        assert_eq!(
            admit(readonly, &organization, wants),
            Err(Refusal::OrgSuspended { reason: None })
        );
        organization.suspended = false;
        assert_eq!(
            admit(readonly, &organization, wants),
            Err(Refusal::InsufficientScope(Scope::BookingsCreate))
        );
        assert_eq!(admit(readonly, &organization, None), Ok(()));
    }

    #[test]
    fn billing_concerns_live_keys_and_the_allowance_test_keys() {
        let mut organization = Organization::fresh(Organization::MAIN);
        organization.billing = false;
        assert_eq!(
            check_billing(key(LIVE_KEY), &organization),
            Err(Refusal::BillingRequired)
        );
        assert_eq!(check_billing(key("sk_test_sandbox"), &organization), Ok(()));
        assert_eq!(check_entitlement(key(LIVE_KEY), &organization, 9), Ok(()));
        let test = key("sk_test_sandbox");
        assert_eq!(check_entitlement(test, &organization, 2), Ok(()));
        assert_eq!(
            check_entitlement(test, &organization, 3),
            Err(Refusal::FreeTierExhausted { limit: 3 })
        );
    }
}
