//! The API keys, and the checks of a request's key ("Authentication").

use serde::Serialize;

use super::api_error::{ApiError, Result};
use super::organization::{CheckStatus, Organization};

/// How many confirmed bookings an organization's test keys have free ("Limits", 4).
pub(crate) const TEST_ALLOWANCE: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyKind {
    Live,
    Test,
    /// A key of the v3 environment, which /v1 refuses.
    Beta,
}

pub(crate) const BOOKINGS_CREATE: &str = "bookings:create";
#[rustfmt::skip]
const EVERY_SCOPE: &[&str] = &["venues:read", "bookings:read", BOOKINGS_CREATE, "bookings:write", "sessions:read", "sessions:write"];
const READ_SCOPES: &[&str] = &["venues:read", "bookings:read", "sessions:read"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiKey {
    pub(crate) secret: String,
    pub(crate) kind: KeyKind,
    pub(crate) organization: String,
    pub(crate) scopes: &'static [&'static str],
    pub(crate) purpose: &'static str,
}

pub(crate) const LIVE_KEY: &str = "sk_live_sandbox";

type Row = (&'static str, KeyKind, &'static [&'static str], &'static str);

/// The keys of the organizations that every sandbox has.
#[rustfmt::skip]
const BUILT_IN: [(&str, Row); 7] = [
    (Organization::MAIN, (LIVE_KEY, KeyKind::Live, EVERY_SCOPE, "every scope")),
    (Organization::MAIN, ("sk_test_sandbox", KeyKind::Test, EVERY_SCOPE, "3 confirmed test bookings")),
    (Organization::MAIN, ("sk_live_readonly", KeyKind::Live, READ_SCOPES, "may only read")),
    (Organization::WITHOUT_BILLING, ("sk_live_nobilling", KeyKind::Live, EVERY_SCOPE, "an organization without billing")),
    (Organization::MAIN, ("sk_v3_sandbox", KeyKind::Beta, EVERY_SCOPE, "the wrong environment for /v1")),
    (Organization::SUSPENDED, ("sk_live_suspended", KeyKind::Live, EVERY_SCOPE, "a suspended organization")),
    (Organization::OTHER, ("sk_live_other", KeyKind::Live, EVERY_SCOPE, "another organization in good standing")),
];

/// The keys of an organization that was added: each ends with its id.
#[rustfmt::skip]
const ADDED: [Row; 3] = [
    ("sk_live_", KeyKind::Live, EVERY_SCOPE, "every scope"),
    ("sk_test_", KeyKind::Test, EVERY_SCOPE, "3 confirmed test bookings"),
    ("sk_live_readonly_", KeyKind::Live, READ_SCOPES, "may only read"),
];

const ID_DIGITS: usize = 13;

impl ApiKey {
    fn from_row(organization: &str, end: &str, (secret, kind, scopes, purpose): Row) -> Self {
        Self {
            secret: format!("{secret}{end}"),
            kind,
            organization: organization.to_owned(),
            scopes,
            purpose,
        }
    }
}

pub(crate) fn built_in_keys() -> impl Iterator<Item = ApiKey> {
    BUILT_IN.into_iter().map(|(organization, row)| ApiKey::from_row(organization, "", row))
}

pub(crate) fn keys_of(organization: &str) -> Vec<ApiKey> {
    if Organization::is_built_in(organization) {
        return built_in_keys().filter(|it| it.organization == organization).collect();
    }
    let name = organization.strip_prefix("org_").unwrap_or(organization);
    ADDED.into_iter().map(|row| ApiKey::from_row(organization, name, row)).collect()
}

/// The key with this secret. The store knows whether its organization exists.
pub(crate) fn key(secret: &str) -> Option<ApiKey> {
    if let Some((organization, row)) = BUILT_IN.into_iter().find(|(_, row)| row.0 == secret) {
        return Some(ApiKey::from_row(organization, "", row));
    }
    let (_, name) = secret.rsplit_once('_')?;
    if name.len() != ID_DIGITS {
        return None;
    }
    keys_of(&format!("org_{name}")).into_iter().find(|it| it.secret == secret)
}

/// The key of a request. The reason of an error says what came instead; `elsewhere` is where a key
/// came, if in another part of the request.
pub(crate) fn identify(
    authorization: Option<&str>,
    elsewhere: impl FnOnce() -> Option<String>,
) -> Result<ApiKey> {
    let header = authorization.unwrap_or_default().trim();
    let (scheme, secret) = header.split_once(' ').unwrap_or((header, ""));
    let secret = secret.trim();
    let is_bearer = |word: &str| word.eq_ignore_ascii_case("bearer");
    let what = match key(secret).filter(|_| is_bearer(scheme)) {
        Some(key) => return Ok(key),
        None if scheme.is_empty() => match elsewhere() {
            None => "Authorization is missing",
            Some(place) => &format!("Authorization is missing, and a key came in {place}: {SEND}"),
        },
        None if secret.is_empty() && is_bearer(scheme) => "nothing follows the word Bearer",
        None if secret.is_empty() => &format!("the word Bearer is missing: {SEND}"),
        None if !is_bearer(scheme) => &format!("the scheme is {scheme}, and must be Bearer"),
        None if secret.split(' ').next().is_some_and(is_bearer) => "the word Bearer came twice",
        None if secret.starts_with("whsec_") => {
            "a webhook secret came, which signs deliveries; a key begins with sk_"
        }
        None => return Err(unknown(secret)),
    };
    Err(ApiError::unauthorized(format!("No key: {what} (Authentication, 2).")))
}

const SEND: &str = "send Authorization: Bearer and the key";

pub(crate) fn unknown(secret: &str) -> ApiError {
    let key = masked(secret);
    ApiError::unauthorized(format!("The sandbox has no key {key} (Authentication, 2)."))
}

/// Checks environment, suspension and scope, in this order.
pub(crate) fn admit(key: &ApiKey, organization: &Organization, scope: Option<&str>) -> Result<()> {
    if key.kind == KeyKind::Beta {
        return Err(ApiError::WRONG_KEY_ENVIRONMENT);
    }
    if organization.suspended {
        return Err(ApiError::org_suspended(organization.suspension_reason.as_deref()));
    }
    match scope {
        Some(scope) if !key.scopes.contains(&scope) => Err(ApiError::insufficient_scope(scope)),
        _ => Ok(()),
    }
}

/// Checks billing, which live keys need for everything but the index, then the entitlement to
/// search, read availability and create: for a test key its quota, of which `used` are spent.
pub(crate) fn check_plan(
    key: &ApiKey,
    organization: &Organization,
    scope: Option<&str>,
    used: impl FnOnce() -> Result<u32>,
) -> Result<()> {
    if key.kind == KeyKind::Live && scope.is_some() {
        if organization.billing_check == CheckStatus::Unavailable {
            return Err(ApiError::BILLING_CHECK_UNAVAILABLE);
        }
        if !organization.billing {
            return Err(ApiError::billing_required());
        }
    }
    if !matches!(scope, Some("venues:read" | BOOKINGS_CREATE)) {
        return Ok(());
    }
    if organization.entitlement_check == CheckStatus::Unavailable {
        return Err(ApiError::ENTITLEMENT_CHECK_UNAVAILABLE);
    }
    if key.kind == KeyKind::Test && used()? >= TEST_ALLOWANCE {
        return Err(ApiError::free_tier_exhausted(TEST_ALLOWANCE));
    }
    Ok(())
}

/// A key with its middle left out: `sk_live_…dbox`.
pub(crate) fn masked(key: &str) -> String {
    let kind = key.match_indices('_').nth(1).filter(|_| key.starts_with("sk_"));
    let (kind, rest) = key.split_at(kind.map_or(0, |(at, _)| at + 1));
    // A short key would be shown whole.
    let end = rest.char_indices().nth_back(3).filter(|(at, _)| *at > 0);
    let end = end.map_or("", |(at, _)| &rest[at..]);
    format!("{kind}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_added_organization_has_keys_that_lead_back_to_it() {
        let keys = keys_of("org_0123456789abc");
        let secrets: Vec<_> = keys.iter().map(|it| it.secret.as_str()).collect();
        assert_eq!(
            secrets,
            ["sk_live_0123456789abc", "sk_test_0123456789abc", "sk_live_readonly_0123456789abc"]
        );
        for own in keys {
            assert_eq!(key(&own.secret), Some(own));
        }
        // A built-in organization has its own keys and no others.
        for secret in ["sk_test_nobilling", "sk_live_readonly_other", "sk_v3_0123456789abc"] {
            assert_eq!(key(secret), None, "{secret}");
        }
        assert_eq!(keys_of(Organization::SUSPENDED).len(), 1);
    }

    #[test]
    fn a_masked_key_shows_its_kind_and_its_end() {
        assert_eq!(masked("sk_live_sandbox"), "sk_live_…dbox");
        assert_eq!(masked("sk_test_abc"), "sk_test_…");
        assert_eq!(masked("a-strange-key"), "…-key");
        assert_eq!(masked("é"), "…");
        assert_eq!(masked("sk_"), "…");
        assert_eq!(masked(""), "…");
    }
}
