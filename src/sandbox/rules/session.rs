//! The connection of a person's provider account ("Session").

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::api_error::{ApiError, Result};
use super::fields::{self, FieldErrors};
use crate::sandbox::seed::Provider;

const CODE_LIFETIME: SignedDuration = SignedDuration::from_mins(10);
const CODE_ATTEMPTS: u8 = 5;
const SIGN_IN_LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);
pub(crate) const SESSION_PROVIDER: Provider = Provider::B;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Session {
    /// Grows with the time of creation.
    pub(crate) number: i64,
    pub(crate) organization: String,
    pub(crate) end_user: String,
    pub(crate) phone: String,
    pub(crate) code: String,
    pub(crate) attempts_left: u8,
    pub(crate) created_at: Timestamp,
    pub(crate) active_since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionState {
    Pending,
    Active,
    /// The code was not entered in time, or was wrong too often.
    Expired,
    /// The saved sign-in is too old to be used.
    Lapsed,
}

impl Session {
    /// The session that a body asks for, pending until the code is entered.
    pub(crate) fn connect(
        body: &[u8],
        number: i64,
        organization: &str,
        code: String,
        now: Timestamp,
    ) -> Result<Self> {
        let body: ConnectBody = fields::read(body)?;
        let mut errors = FieldErrors::default();
        let end_user = errors.required("end_user", body.end_user);
        let only = SESSION_PROVIDER.id();
        if body.provider.is_some_and(|it| it != only) {
            errors.add("provider", format!("must be {only}, which alone has sessions"));
        }
        let phone = errors.required("phone", body.phone);
        if !phone.trim().is_empty() && !is_phone(&phone) {
            errors.add("phone", "must be a telephone number");
        }
        errors.finish()?;
        Ok(Self {
            number,
            organization: organization.to_owned(),
            end_user,
            phone: phone.trim().to_owned(),
            code,
            attempts_left: CODE_ATTEMPTS,
            created_at: now,
            active_since: None,
        })
    }

    /// The state at a moment: a session that waits for its code expires.
    pub(crate) fn state(&self, now: Timestamp) -> SessionState {
        match self.active_since {
            Some(since) if now < since + SIGN_IN_LIFETIME => SessionState::Active,
            Some(_) => SessionState::Lapsed,
            None if self.attempts_left > 0 && now < self.created_at + CODE_LIFETIME => {
                SessionState::Pending
            }
            None => SessionState::Expired,
        }
    }

    /// Tries a code. Fails if it is wrong or no longer valid.
    pub(crate) fn verify(&mut self, code: &str, now: Timestamp) -> Result<()> {
        match self.state(now) {
            SessionState::Active => Err(ApiError::SESSION_ACTIVE),
            SessionState::Lapsed => Err(ApiError::RECONNECT_REQUIRED),
            SessionState::Expired => Err(ApiError::INVALID_CODE),
            SessionState::Pending if code == self.code => {
                self.active_since = Some(now);
                Ok(())
            }
            SessionState::Pending => {
                self.attempts_left = self.attempts_left.saturating_sub(1);
                Err(ApiError::INVALID_CODE)
            }
        }
    }

    /// Fails without a saved sign-in.
    pub(crate) fn has_card(&self, now: Timestamp) -> Result<bool> {
        match self.state(now) {
            SessionState::Active => Ok(!self.phone.ends_with('0')),
            _ => Err(ApiError::RECONNECT_REQUIRED),
        }
    }
}

#[derive(Deserialize)]
struct ConnectBody {
    end_user: Option<String>,
    provider: Option<String>,
    phone: Option<String>,
}

/// Whether a text has at least 4 digits and only usual separators between them.
fn is_phone(text: &str) -> bool {
    let (digits, rest): (Vec<char>, Vec<char>) = text.chars().partition(char::is_ascii_digit);
    digits.len() >= 4 && rest.iter().all(|it| "+-(). ".contains(*it))
}
