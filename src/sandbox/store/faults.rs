//! The table of configured faults.

use rusqlite::Result;

use super::number::next_number;
use super::tx::{Tx, from_json, json};
use crate::sandbox::rules::fault::{Fault, Times};

impl Tx<'_> {
    pub(crate) fn add_fault(&self, fault: &Fault) -> Result<i64> {
        let number = next_number();
        let row = (number, json(fault)?, &fault.organization);
        let sql = "INSERT INTO faults (number, fault, organization) VALUES (?, ?, ?)";
        self.run(sql, row)?;
        Ok(number)
    }

    pub(crate) fn faults(&self) -> Result<Vec<(i64, Fault)>> {
        let sql = "SELECT number, fault FROM faults ORDER BY number";
        self.all(sql, (), |row| Ok((row.get("number")?, from_json(row, "fault")?)))
    }

    pub(crate) fn clear_faults(&self) -> Result<()> {
        self.run("DELETE FROM faults", ()).map(drop)
    }

    /// Deletes a fault; returns false if there is none of that number.
    pub(crate) fn delete_fault(&self, number: i64) -> Result<bool> {
        let deleted = self.run("DELETE FROM faults WHERE number = ?", [number])?;
        Ok(deleted > 0)
    }

    /// The oldest fault of the organization that `meets` lets through. It then has one use less.
    pub(crate) fn take_fault(
        &self,
        organization: Option<&str>,
        meets: impl Fn(&Fault) -> bool,
    ) -> Result<Option<Fault>> {
        for (number, mut fault) in self.faults()? {
            let wanted = fault.organization.as_deref();
            if wanted.is_some() && wanted != organization || !meets(&fault) {
                continue;
            }
            let drawn: u32 = self
                .sql("UPDATE faults SET drawn = drawn + 1 WHERE number = ? RETURNING drawn - 1")?
                .query_row([number], |row| row.get(0))?;
            if !fault.strikes(drawn) {
                continue;
            }
            let met = fault.clone();
            if let Some(Times::Count(left)) = &mut fault.times {
                *left -= 1;
                if *left == 0 {
                    self.delete_fault(number)?;
                } else {
                    let row = (json(&fault)?, number);
                    self.run("UPDATE faults SET fault = ? WHERE number = ?", row)?;
                }
            }
            return Ok(Some(met));
        }
        Ok(None)
    }
}
