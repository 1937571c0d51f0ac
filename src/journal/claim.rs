//! Claims: of several machines that resume one attempt, or book one row of a batch, at the same time, one does it, and the
//! others read what came of it.

use std::time::Duration;

use super::Journal;
use crate::outcome::Result;
use crate::platform::sql::values;

/// Whether something is this process's to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Ours,
    /// Another process does it, and has this many seconds left.
    Others {
        seconds: i64,
    },
}

/// A claim takes the place of one that is over, or is this process's own.
const CLAIM: &str = "
    INSERT INTO claims (idempotency_key, claimed_by, until) VALUES (?1, ?2, ?3)
    ON CONFLICT (idempotency_key) DO UPDATE SET claimed_by = excluded.claimed_by, until = excluded.until
    WHERE claims.claimed_by = excluded.claimed_by OR claims.until <= ?4";

impl Journal {
    /// Claims an idempotency key for this process, unless another one has claimed it. The claim ends with `release`, or
    /// after `lease`, because its process may have died. The time is that of the journal's clock, which all
    /// machines share.
    ///
    /// Two processes that send one attempt all the same get the same booking, because they send the same key.
    pub(crate) fn claim(&mut self, key: &str, lease: Duration) -> Result<Claim> {
        let lease = i64::try_from(lease.as_millis()).unwrap_or(i64::MAX);
        self.write(|statements, scope| {
            let now = statements.clock()?;
            let until = now.saturating_add(lease);
            let claim = values![key, scope.claimer(), until, now];
            if statements.execute(CLAIM, claim)? == 1 {
                return Ok(Claim::Ours);
            }
            let until = "SELECT until FROM claims WHERE idempotency_key = ?1";
            let row = statements.first(until, values![key])?;
            let until: i64 = row.map_or(Ok(now), |mut row| row.take(0))?;
            let seconds = until.saturating_sub(now).max(0) / 1000 + 1;
            Ok(Claim::Others { seconds })
        })
    }

    pub(crate) fn release(&mut self, key: &str) -> Result<()> {
        self.write(|statements, scope| {
            let release = "DELETE FROM claims WHERE idempotency_key = ?1 AND claimed_by = ?2";
            let row = values![key, scope.claimer()];
            statements.execute(release, row).map(drop)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Maker;

    const LEASE: Duration = Duration::from_secs(60);

    #[test]
    fn an_attempt_that_another_process_has_claimed_is_not_ours_until_it_is_released_or_its_time_is_over()
     {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let open = |host: &str| {
            let maker = Maker {
                user: "ada".into(),
                host: host.into(),
            };
            Journal::open(&path, "o".into(), None).unwrap().by(maker)
        };
        let (mut one, mut two) = (open("one"), open("two"));
        assert_eq!(one.claim("k", LEASE).unwrap(), Claim::Ours);
        assert_eq!(one.claim("k", LEASE).unwrap(), Claim::Ours);
        assert!(matches!(
            two.claim("k", LEASE).unwrap(),
            Claim::Others { seconds: 59..=61 }
        ));
        two.release("k").unwrap();
        assert!(matches!(
            two.claim("k", LEASE).unwrap(),
            Claim::Others { .. }
        ));
        one.release("k").unwrap();
        assert_eq!(two.claim("k", LEASE).unwrap(), Claim::Ours);
        one.execute("UPDATE claims SET until = until - 61000");
        assert_eq!(one.claim("k", LEASE).unwrap(), Claim::Ours);
    }
}
