//! The table of configured faults.

use rusqlite::Row;

use super::number::next_number;
use super::tx::{Tx, invalid_column};
use crate::sandbox::rules::fault::{FaultRequest, covers};

/// A fault with requests left to apply to.
pub(crate) struct WaitingFault {
    pub(crate) number: i64,
    pub(crate) request: FaultRequest,
}

impl Tx<'_> {
    /// Adds a fault.
    pub(crate) fn add_fault(&self, request: FaultRequest) -> rusqlite::Result<WaitingFault> {
        let number = next_number();
        self.sql("INSERT INTO faults VALUES (?, ?, ?, ?, ?)")?
            .execute((
                number,
                &request.method,
                &request.path,
                request.times,
                serde_json::json!(request.fault).to_string(),
            ))?;
        Ok(WaitingFault { number, request })
    }

    /// Every fault, oldest first.
    pub(crate) fn faults(&self) -> rusqlite::Result<Vec<WaitingFault>> {
        self.sql("SELECT number, method, path, times, fault FROM faults ORDER BY number")?
            .query_map((), waiting)?
            .collect()
    }

    /// Whether any fault is configured.
    pub(crate) fn has_faults(&self) -> rusqlite::Result<bool> {
        self.sql("SELECT 1 FROM faults LIMIT 1")?.exists(())
    }

    /// Deletes all faults.
    pub(crate) fn clear_faults(&self) -> rusqlite::Result<()> {
        self.sql("DELETE FROM faults")?.execute(()).map(|_| ())
    }

    /// Takes one use of the oldest fault that matches the request.
    pub(crate) fn take_fault(
        &self,
        method: &str,
        path: &str,
    ) -> rusqlite::Result<Option<WaitingFault>> {
        let found = self
            .faults()?
            .into_iter()
            .find(|it| it.request.method == method && covers(&it.request.path, path));
        if let Some(fault) = &found {
            self.sql("UPDATE faults SET times = times - 1 WHERE number = ?")?
                .execute([fault.number])?;
            self.sql("DELETE FROM faults WHERE times = 0")?
                .execute(())?;
        }
        Ok(found)
    }
}

fn waiting(row: &Row<'_>) -> rusqlite::Result<WaitingFault> {
    let fault: String = row.get(4)?;
    Ok(WaitingFault {
        number: row.get(0)?,
        request: FaultRequest {
            method: row.get(1)?,
            path: row.get(2)?,
            times: row.get(3)?,
            fault: serde_json::from_str(&fault).map_err(|_| invalid_column(4, &fault))?,
        },
    })
}
