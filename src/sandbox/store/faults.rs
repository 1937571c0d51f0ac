//! The table of configured faults.

use rusqlite::Row;

use super::number::{next_number, random};
use super::tx::{Tx, invalid_column};
use crate::sandbox::rules::fault::{Chance, Fault, FaultRequest, FaultTarget};

/// What the method column says of a fault that is not one endpoint's.
const ANY_REQUEST: &str = "any";
const WEBHOOK: &str = "webhook";

/// A fault that may still happen.
pub(crate) struct WaitingFault {
    pub(crate) number: i64,
    pub(crate) request: FaultRequest,
    /// At how many requests its rate has decided.
    drawn: u32,
}

impl Tx<'_> {
    /// Adds a fault.
    pub(crate) fn add_fault(&self, request: FaultRequest) -> rusqlite::Result<WaitingFault> {
        let number = next_number();
        let (method, path) = match &request.target {
            FaultTarget::Endpoint { method, path } => (method.as_str(), path.as_str()),
            FaultTarget::AnyRequest => (ANY_REQUEST, ""),
            FaultTarget::Webhook => (WEBHOOK, ""),
        };
        self.sql(
            "INSERT INTO faults (number, method, path, times, fault, rate, seed, organization) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute((
            number,
            method,
            path,
            request.times.map_or(-1, i64::from),
            serde_json::json!(request.fault).to_string(),
            request.chance.map(|it| it.rate),
            request.chance.map(|it| it.seed),
            &request.organization,
        ))?;
        Ok(WaitingFault {
            number,
            request,
            drawn: 0,
        })
    }

    /// The seed of a rate whose request names none.
    pub(crate) fn new_seed(&self) -> u32 {
        random()
    }

    /// Every fault, oldest first.
    pub(crate) fn faults(&self) -> rusqlite::Result<Vec<WaitingFault>> {
        self.sql(
            "SELECT number, method, path, times, fault, rate, seed, drawn, organization \
             FROM faults ORDER BY number",
        )?
        .query_map((), waiting)?
        .collect()
    }

    /// Whether any fault is configured.
    pub(crate) fn has_faults(&self) -> rusqlite::Result<bool> {
        self.sql("SELECT 1 FROM faults")?.exists(())
    }

    /// Deletes all faults.
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
    ) -> rusqlite::Result<Option<Fault>> {
        self.take(organization, |it| it.is_request(method, path))
    }

    /// Takes one use of the oldest fault that happens to a delivery of the organization.
    pub(crate) fn take_webhook_fault(&self, organization: &str) -> rusqlite::Result<Option<Fault>> {
        self.take(Some(organization), |it| *it == FaultTarget::Webhook)
    }

    fn take(
        &self,
        organization: Option<&str>,
        is_target: impl Fn(&FaultTarget) -> bool,
    ) -> rusqlite::Result<Option<Fault>> {
        for fault in self.faults()? {
            let wanted = fault.request.organization.as_deref();
            let is_wanted = wanted.is_none() || wanted == organization;
            if !is_wanted || !is_target(&fault.request.target) {
                continue;
            }
            if let Some(chance) = fault.request.chance {
                self.sql("UPDATE faults SET drawn = drawn + 1 WHERE number = ?")?
                    .execute([fault.number])?;
                if !chance.strikes(fault.drawn) {
                    continue;
                }
            }
            self.sql("UPDATE faults SET times = times - 1 WHERE number = ? AND times > 0")?
                .execute([fault.number])?;
            self.sql("DELETE FROM faults WHERE times = 0")?
                .execute(())?;
            return Ok(Some(fault.request.fault));
        }
        Ok(None)
    }
}

fn waiting(row: &Row<'_>) -> rusqlite::Result<WaitingFault> {
    let method: String = row.get(1)?;
    let fault: String = row.get(4)?;
    let times: i64 = row.get(3)?;
    let chance: (Option<f64>, Option<u32>) = (row.get(5)?, row.get(6)?);
    Ok(WaitingFault {
        number: row.get(0)?,
        request: FaultRequest {
            target: match method.as_str() {
                ANY_REQUEST => FaultTarget::AnyRequest,
                WEBHOOK => FaultTarget::Webhook,
                _ => FaultTarget::Endpoint {
                    path: row.get(2)?,
                    method,
                },
            },
            times: u32::try_from(times).ok(),
            fault: serde_json::from_str(&fault).map_err(|_| invalid_column(4, &fault))?,
            chance: chance
                .0
                .zip(chance.1)
                .map(|(rate, seed)| Chance { rate, seed }),
            organization: row.get(8)?,
        },
        drawn: row.get(7)?,
    })
}
