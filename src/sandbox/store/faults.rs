//! The table of configured faults.

use rusqlite::OptionalExtension;
use rusqlite::types::Type;

use super::number::{next_number, random};
use super::tx::Tx;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fault::{Fault, Times, WEBHOOK};

impl Tx<'_> {
    /// Adds a fault, and returns its number.
    pub(crate) fn add_fault(&self, fault: &Fault) -> Result<i64, ApiError> {
        let number = next_number();
        self.sql("INSERT INTO faults (number, fault, organization) VALUES (?, ?, ?)")?
            .execute((number, super::bookings::json(fault)?, &fault.organization))?;
        Ok(number)
    }

    /// The seed of a rate whose request names none.
    pub(crate) fn new_seed(&self) -> u32 {
        random()
    }

    /// Every fault with its number, oldest first.
    pub(crate) fn faults(&self) -> rusqlite::Result<Vec<(i64, Fault)>> {
        self.sql("SELECT number, fault FROM faults ORDER BY number")?
            .query_map((), |row| {
                let fault: String = row.get("fault")?;
                let fault = serde_json::from_str(&fault).map_err(|error| {
                    rusqlite::Error::FromSqlConversionFailure(1, Type::Text, error.into())
                })?;
                Ok((row.get("number")?, fault))
            })?
            .collect()
    }

    pub(crate) fn has_faults(&self) -> rusqlite::Result<bool> {
        self.sql("SELECT 1 FROM faults")?.exists(())
    }

    pub(crate) fn clear_faults(&self) -> rusqlite::Result<()> {
        self.sql("DELETE FROM faults")?.execute(()).map(|_| ())
    }

    /// Deletes a fault; returns false if there is none of that number.
    pub(crate) fn delete_fault(&self, number: i64) -> rusqlite::Result<bool> {
        let deleted = self
            .sql("DELETE FROM faults WHERE number = ?")?
            .execute([number])?;
        Ok(deleted > 0)
    }

    /// Takes one use of the oldest fault that happens to a request of the organization.
    pub(crate) fn take_fault(
        &self,
        organization: Option<&str>,
        method: &str,
        path: &str,
    ) -> Result<Option<Fault>, ApiError> {
        self.take(organization, |it| it.meets_request(method, path))
    }

    /// Takes one use of the oldest fault that happens to a delivery of the organization.
    pub(crate) fn take_webhook_fault(&self, organization: &str) -> Result<Option<Fault>, ApiError> {
        self.take(Some(organization), |it| it.on == WEBHOOK)
    }

    fn take(
        &self,
        organization: Option<&str>,
        meets: impl Fn(&Fault) -> bool,
    ) -> Result<Option<Fault>, ApiError> {
        for (number, mut fault) in self.faults()? {
            let wanted = fault.organization.as_deref();
            if wanted.is_some() && wanted != organization || !meets(&fault) {
                continue;
            }
            let drawn: Option<u32> = self
                .sql("UPDATE faults SET drawn = drawn + 1 WHERE number = ? RETURNING drawn - 1")?
                .query_row([number], |row| row.get(0))
                .optional()?;
            if !fault.strikes(drawn.unwrap_or_default()) {
                continue;
            }
            let met = fault.clone();
            match &mut fault.times {
                Some(Times::Count(left)) if *left > 1 => {
                    *left -= 1;
                    self.sql("UPDATE faults SET fault = ? WHERE number = ?")?
                        .execute((super::bookings::json(&fault)?, number))?;
                }
                Some(Times::Count(_)) => {
                    self.delete_fault(number)?;
                }
                _ => {}
            }
            return Ok(Some(met));
        }
        Ok(None)
    }
}
