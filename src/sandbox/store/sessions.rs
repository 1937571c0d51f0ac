//! The table of sessions.

use rusqlite::{OptionalExtension, Row};

use super::tx::{Tx, invalid_column, moment};
use crate::sandbox::rules::session::Session;
use crate::sandbox::seed::Provider;

/// A query over sessions, with the columns in the order that [`session`] reads them.
macro_rules! sessions {
    ($rest:literal) => {
        concat!(
            "SELECT number, organization, provider, end_user, phone, code, attempts_left, \
             created_at, active_since FROM sessions ",
            $rest
        )
    };
}

impl Tx<'_> {
    /// Inserts or updates a session.
    pub(crate) fn save_session(&self, session: &Session) -> rusqlite::Result<()> {
        self.sql("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute((
                session.number,
                &session.organization,
                session.provider.id(),
                &session.end_user,
                &session.phone,
                &session.code,
                session.attempts_left,
                session.created_at.as_millisecond(),
                session.active_since.map(|it| it.as_millisecond()),
            ))?;
        Ok(())
    }

    /// The organization's session of that number.
    pub(crate) fn session(
        &self,
        organization: &str,
        number: i64,
    ) -> rusqlite::Result<Option<Session>> {
        self.sql(sessions!("WHERE number = ? AND organization = ?"))?
            .query_row((number, organization), session)
            .optional()
    }

    /// The organization's sessions, of one person if one is named, oldest first.
    pub(crate) fn sessions(
        &self,
        organization: &str,
        end_user: Option<&str>,
    ) -> rusqlite::Result<Vec<Session>> {
        self.sql(sessions!(
            "WHERE organization = ? AND (?2 IS NULL OR end_user = ?2) ORDER BY number"
        ))?
        .query_map((organization, end_user), session)?
        .collect()
    }

    /// Deletes a session with its saved sign-in.
    pub(crate) fn delete_session(&self, session: &Session) -> rusqlite::Result<()> {
        self.sql("DELETE FROM sessions WHERE number = ?")?
            .execute([session.number])?;
        Ok(())
    }
}

/// Reads a row of [`sessions!`].
fn session(row: &Row<'_>) -> rusqlite::Result<Session> {
    let provider: String = row.get(2)?;
    let active_since: Option<i64> = row.get(8)?;
    Ok(Session {
        number: row.get(0)?,
        organization: row.get(1)?,
        provider: Provider::parse(&provider).ok_or_else(|| invalid_column(2, &provider))?,
        end_user: row.get(3)?,
        phone: row.get(4)?,
        code: row.get(5)?,
        attempts_left: row.get(6)?,
        created_at: moment(row.get(7)?)?,
        active_since: active_since.map(moment).transpose()?,
    })
}
