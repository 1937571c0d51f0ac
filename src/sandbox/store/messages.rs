//! The inbox: text messages as guests and persons would receive them.

use serde_json::{Value, json};

use super::ledger::{Ledger, moment};
use super::number::next_number;
use crate::sandbox::wire::id::Kind;
use crate::sandbox::wire::moment::Moment;

/// What a message is about.
pub(crate) enum About {
    Booking(i64),
    Session(i64),
}

impl Ledger<'_> {
    /// Texts a one-time code.
    pub(crate) fn text(
        &self,
        recipient: &str,
        text: &str,
        code: &str,
        about: &About,
    ) -> rusqlite::Result<()> {
        let (booking, session) = match about {
            About::Booking(number) => (Some(number), None),
            About::Session(number) => (None, Some(number)),
        };
        self.sql("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)")?
            .execute((
                next_number(),
                recipient,
                text,
                code,
                booking,
                session,
                self.now.as_millisecond(),
            ))?;
        Ok(())
    }

    /// Every message, newest first.
    pub(crate) fn messages(&self) -> rusqlite::Result<Vec<Value>> {
        self.sql(
            "SELECT number, recipient, text, code, booking, session, created_at \
             FROM messages ORDER BY number DESC",
        )?
        .query_map((), |row| {
            let mut message = json!({
                "id": Kind::Message.id(row.get(0)?),
                "to": row.get::<_, String>(1)?,
                "text": row.get::<_, String>(2)?,
                "code": row.get::<_, String>(3)?,
            });
            if let Some(booking) = row.get(4)? {
                message["booking_id"] = json!(Kind::Booking.id(booking));
            }
            if let Some(session) = row.get(5)? {
                message["session_id"] = json!(Kind::Session.id(session));
            }
            message["created_at"] = json!(Moment(moment(row.get(6)?)?));
            Ok(message)
        })?
        .collect()
    }
}
