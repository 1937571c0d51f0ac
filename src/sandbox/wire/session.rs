//! The session document.

use jiff::Timestamp;
use serde::Serialize;

use super::id::Kind;
use super::moment::Moment;
use crate::sandbox::rules::session::Session;

/// A session as the calls answer it. Neither phone nor code is in it.
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
    /// The session as it stands at that time.
    pub(crate) fn of(session: &'a Session, now: Timestamp) -> Self {
        Self {
            id: Kind::Session.id(session.number),
            object: "session",
            provider: session.provider.id(),
            state: session.state(now).as_str(),
            end_user: &session.end_user,
            created_at: Moment(session.created_at),
        }
    }
}
