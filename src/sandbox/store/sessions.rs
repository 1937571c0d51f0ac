//! The tables of sessions, and of the text messages that carry one-time codes.

use rusqlite::{Result, Row};
use serde::Serialize;
use serde_json::Value;

use super::number::next_number;
use super::organizations::own;
use super::tx::{Tx, from_json, json};
use crate::sandbox::rules::session::Session;
use crate::sandbox::wire::{IdKind, WireTime};

#[derive(Serialize)]
struct TextMessage<'a> {
    id: String,
    to: &'a str,
    text: String,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    booking_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    created_at: WireTime,
}

impl Tx<'_> {
    pub(crate) fn save_session(&self, session: &Session) -> Result<()> {
        let (organization, end_user) = (&session.organization, &session.end_user);
        let row = (session.number, organization, end_user, json(session)?);
        self.run("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", row).map(drop)
    }

    pub(crate) fn session(&self, organization: &str, number: i64) -> Result<Option<Session>> {
        let sql = "SELECT session FROM sessions WHERE number = ? AND organization = ?";
        self.first(sql, (number, organization), session)
    }

    pub(crate) fn sessions(
        &self,
        organization: &str,
        end_user: Option<&str>,
    ) -> Result<Vec<Session>> {
        let sql = "SELECT session FROM sessions WHERE organization = ? \
                   AND (?2 IS NULL OR end_user = ?2) ORDER BY number";
        self.all(sql, (organization, end_user), session)
    }

    pub(crate) fn delete_session(&self, session: &Session) -> Result<()> {
        self.run("DELETE FROM sessions WHERE number = ?", [session.number]).map(drop)
    }

    /// `purpose` is what the code is for, such as "connect your account".
    pub(crate) fn send_code(
        &self,
        organization: &str,
        recipient: &str,
        purpose: &str,
        code: &str,
        (kind, about): (IdKind, i64),
    ) -> Result<()> {
        let id = |wanted| (kind == wanted).then(|| kind.id(about));
        let number = next_number();
        let message = TextMessage {
            id: IdKind::Message.id(number),
            to: recipient,
            text: format!("{code} is your code to {purpose}."),
            code,
            booking_id: id(IdKind::Booking),
            session_id: id(IdKind::Session),
            created_at: WireTime(self.now),
        };
        let booking = (kind == IdKind::Booking).then_some(about);
        let row = (number, organization, booking, json(&message)?);
        self.run("INSERT INTO messages VALUES (?, ?, ?, ?)", row).map(drop)
    }

    pub(crate) fn messages(
        &self,
        number: Option<i64>,
        organization: Option<&str>,
    ) -> Result<Vec<Value>> {
        let names = self.organization_names()?;
        let sql = "SELECT message, organization FROM messages WHERE (?1 IS NULL OR number = ?1) \
                   AND (?2 IS NULL OR organization = ?2) ORDER BY number DESC";
        self.all(sql, (number, organization), |row| {
            let mut message = from_json(row, "message")?;
            own(&mut message, row.get_ref("organization")?.as_str()?, &names);
            Ok(message)
        })
    }
}

fn session(row: &Row<'_>) -> Result<Session> {
    from_json(row, "session")
}
