//! Claims: of several computers that resume one attempt, or book one row of a batch, at the same
//! time, one does it.

use std::time::Duration;

use super::Journal;
use crate::outcome::Result;
use crate::platform::sql::values;

/// The longest time for which anything is claimed: longer than a row of a batch waits for a window
/// of the rate limit, and is sent.
pub(crate) const LONGEST_LEASE: Duration = Duration::from_secs(6 * 60);

pub(super) const LONGEST: i64 = LONGEST_LEASE.as_millis() as i64;

/// Whether what lasts `longest` at most, and should end at `until`, is over. If it ends later than
/// that, the clock was set back since it began, and nothing is known of it. All in milliseconds.
pub(super) fn is_over(until: i64, now: i64, longest: i64) -> bool {
    until <= now || until > now.saturating_add(longest)
}

impl Journal {
    /// Claims an idempotency key for this process, unless another one has claimed it. The claim
    /// ends with `release`, or after `lease` by the journal's clock, because its process may have
    /// died. Two processes that send one attempt all the same get the same booking, because they
    /// send the same key. Returns how many seconds another process has left, if it has claimed it.
    pub(crate) fn claim(&self, key: &str, lease: Duration) -> Result<Option<i64>> {
        let lease = i64::try_from(lease.min(LONGEST_LEASE).as_millis()).unwrap_or(LONGEST);
        self.write(|statements, scope| {
            let now = statements.clock()?;
            let claimer = scope.claimer();
            let find = "SELECT claimed_by, until FROM claims WHERE idempotency_key = ?1 FOR UPDATE";
            let found = statements.first(find, values![key])?;
            // Of two that insert a claim, one has a conflict, and looks again.
            let mut claim =
                "INSERT INTO claims (idempotency_key, claimed_by, until) VALUES (?1, ?2, ?3)";
            if let Some(row) = found {
                let (by, until): (String, i64) = (row.get("claimed_by")?, row.get("until")?);
                if by != claimer && !is_over(until, now, LONGEST) {
                    return Ok(Some((until - now) / 1000 + 1));
                }
                claim = "UPDATE claims SET claimed_by = ?2, until = ?3 WHERE idempotency_key = ?1";
            }
            statements.execute_deferred(claim, values![key, claimer, now.saturating_add(lease)])?;
            Ok(None)
        })
    }

    pub(crate) fn release(&self, key: &str) -> Result<()> {
        self.write(|statements, scope| {
            let release = "DELETE FROM claims WHERE idempotency_key = ?1 AND claimed_by = ?2";
            statements.execute(release, values![key, scope.claimer()]).map(drop)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::tests::place;
    use crate::journal::{Actor, Scope};

    const LEASE: Duration = Duration::from_secs(60);

    #[test]
    fn attempt_that_another_process_has_claimed_is_not_ours() {
        let (_folder, path) = place();
        let open = |host: &str| {
            let maker = Actor { user: "ada".into(), host: host.into() };
            let scope = Scope { maker, ..Scope::default() };
            Journal::open(&path, scope).unwrap()
        };
        let (one, two) = (open("one"), open("two"));
        assert_eq!(one.claim("k", LEASE).unwrap(), None);
        assert_eq!(one.claim("k", LEASE).unwrap(), None);
        assert!(matches!(two.claim("k", LEASE).unwrap(), Some(59..=61)));
        two.release("k").unwrap();
        assert!(two.claim("k", LEASE).unwrap().is_some());
        one.release("k").unwrap();
        assert_eq!(two.claim("k", LEASE).unwrap(), None);
        one.execute("UPDATE claims SET until = until - 61000");
        assert_eq!(one.claim("k", LEASE).unwrap(), None);
        // The clock was set back by a day.
        two.execute("UPDATE claims SET until = until + 86400000");
        assert_eq!(two.claim("k", LEASE).unwrap(), None);
    }
}
