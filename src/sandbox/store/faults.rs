//! The table of configured faults.

use rusqlite::{Result, Row};

use super::number::next_number;
use super::tx::{Tx, from_json, json};
use crate::sandbox::rules::fault::{Fault, Times};

impl Tx<'_> {
    pub(crate) fn add_fault(&self, fault: &Fault) -> Result<i64> {
        let number = next_number();
        let row = (number, json(fault)?, &fault.organization);
        self.run("INSERT INTO faults (number, fault, organization) VALUES (?, ?, ?)", row)?;
        Ok(number)
    }

    /// All, or those of an organization alone.
    pub(crate) fn faults(&self, organization: Option<&str>) -> Result<Vec<(i64, Fault)>> {
        let sql = "SELECT fault, number FROM faults WHERE ?1 IS NULL OR organization = ?1 \
                   ORDER BY number";
        let read = |row: &Row<'_>| Ok((row.get("number")?, from_json(row)?));
        self.all(sql, [organization], read)
    }

    /// The one of this number, or all; of an organization alone, if one is named.
    pub(crate) fn delete_faults(
        &self,
        number: Option<i64>,
        organization: Option<&str>,
    ) -> Result<usize> {
        let sql = "DELETE FROM faults WHERE (?1 IS NULL OR number = ?1) \
                   AND (?2 IS NULL OR organization = ?2)";
        self.run(sql, (number, organization))
    }

    /// The oldest fault of the organization that `meets` lets through. It then has one use less.
    pub(crate) fn take_fault(
        &self,
        organization: Option<&str>,
        meets: impl Fn(&Fault) -> bool,
    ) -> Result<Option<Fault>> {
        for (number, mut fault) in self.faults(None)? {
            let wanted = fault.organization.as_deref();
            if wanted.is_some() && wanted != organization || !meets(&fault) {
                continue;
            }
            let drawn: u32 = self
                .sql("UPDATE faults SET drawn = drawn + 1 WHERE number = ? RETURNING drawn - 1")?
                .query_row([number], |row| row.get(0))?;
            if !fault.applies_to(drawn) {
                continue;
            }
            let met = fault.clone();
            if let Some(Times::Count(left)) = &mut fault.times {
                *left -= 1;
                if *left == 0 {
                    self.delete_faults(Some(number), None)?;
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
