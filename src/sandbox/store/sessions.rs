//! The tables of sessions, and of the text messages that carry one-time codes.

use rusqlite::Result;
use serde_json::{Value, json};

use super::number::next_number;
use super::tx::{Tx, from_json, json as text};
use crate::sandbox::rules::session::Session;
use crate::sandbox::wire::{IdKind, WireTime, add_owner, without_nulls};

impl Tx<'_> {
    pub(crate) fn save_session(&self, session: &Session) -> Result<()> {
        let (organization, end_user) = (&session.organization, &session.end_user);
        let row = (session.number, organization, end_user, text(session)?);
        self.run("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", row).map(drop)
    }

    pub(crate) fn session(&self, owner: &str, number: Option<i64>) -> Result<Option<Session>> {
        let sql = "SELECT session FROM sessions WHERE number = ? AND organization = ?";
        self.first(sql, (number, owner), from_json)
    }

    pub(crate) fn sessions(
        &self,
        organization: &str,
        end_user: Option<&str>,
    ) -> Result<Vec<Session>> {
        let sql = "SELECT session FROM sessions WHERE organization = ? \
                   AND (?2 IS NULL OR end_user = ?2) ORDER BY number";
        self.all(sql, (organization, end_user), from_json)
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
        let message = without_nulls(json!({
            "id": IdKind::MESSAGE.id(number),
            "to": recipient,
            "text": format!("{code} is your code to {purpose}."),
            "code": code,
            "booking_id": id(IdKind::BOOKING),
            "session_id": id(IdKind::SESSION),
            "created_at": WireTime(self.now),
        }));
        let booking = (kind == IdKind::BOOKING).then_some(about);
        let row = (number, organization, booking, message.to_string());
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
            let mut message = from_json(row)?;
            add_owner(&mut message, row.get_ref("organization")?.as_str()?, &names);
            Ok(message)
        })
    }
}
