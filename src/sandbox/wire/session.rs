//! The session document.

use jiff::Timestamp;
use serde::Serialize;

use super::id::IdKind;
use super::moment::Moment;
use crate::sandbox::rules::session::Session;

/// The session document. It contains neither the phone number nor the code.
#[derive(Serialize)]
pub(crate) struct SessionDocument<'a> {
    id: String,
    object: &'static str,
    provider: &'static str,
    state: &'static str,
    end_user: &'a str,
    created_at: Moment,
}

impl<'a> SessionDocument<'a> {
    /// The document of a session at that time.
    pub(crate) fn of(session: &'a Session, now: Timestamp) -> Self {
        Self {
            id: IdKind::Session.id(session.number),
            object: "session",
            provider: session.provider.id(),
            state: session.state(now).as_str(),
            end_user: &session.end_user,
            created_at: Moment(session.created_at),
        }
    }
}
