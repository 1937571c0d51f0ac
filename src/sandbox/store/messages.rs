//! The inbox: text messages as their recipients would see them.

use serde_json::{Value, json};

use super::number::next_number;
use super::tx::{Tx, moment};
use crate::sandbox::wire::id::IdKind;
use crate::sandbox::wire::moment::Moment;

/// What a message is about.
pub(crate) enum MessageSubject {
    Booking(i64),
    Session(i64),
}

impl Tx<'_> {
    /// Records a text message with a one-time code.
    pub(crate) fn send_code(
        &self,
        organization: &str,
        recipient: &str,
        text: &str,
        code: &str,
        about: &MessageSubject,
    ) -> rusqlite::Result<()> {
        let (booking, session) = match about {
            MessageSubject::Booking(number) => (Some(number), None),
            MessageSubject::Session(number) => (None, Some(number)),
        };
        self.sql("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute((
                next_number(),
                recipient,
                text,
                code,
                booking,
                session,
                self.now.as_millisecond(),
                organization,
            ))?;
        Ok(())
    }

    /// Every message, newest first; only that one if a number is given, and only those of `organization` if given.
    pub(crate) fn messages(
        &self,
        number: Option<i64>,
        organization: Option<&str>,
    ) -> rusqlite::Result<Vec<Value>> {
        self.sql(
            "SELECT number, recipient, text, code, booking, session, created_at \
             FROM messages WHERE (?1 IS NULL OR number = ?1) AND (?2 IS NULL OR organization = ?2) ORDER BY number DESC",
        )?
        .query_map((number, organization), |row| {
            let mut message = json!({
                "id": IdKind::Message.id(row.get(0)?),
                "to": row.get::<_, String>(1)?,
                "text": row.get::<_, String>(2)?,
                "code": row.get::<_, String>(3)?,
            });
            if let Some(booking) = row.get(4)? {
                message["booking_id"] = json!(IdKind::Booking.id(booking));
            }
            if let Some(session) = row.get(5)? {
                message["session_id"] = json!(IdKind::Session.id(session));
            }
            message["created_at"] = json!(Moment(moment(row.get(6)?)?));
            Ok(message)
        })?
        .collect()
    }
}
