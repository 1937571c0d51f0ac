//! Idempotency keys of a batch's rows. The same batch has the same keys on every machine, so it can be started again
//! anywhere without booking twice.

use std::collections::HashMap;

use super::rows::{BatchRow, ranges};
use crate::outcome::{Error, Result};
use crate::platform::crypto::{Digest, sha256};
use crate::service::documents::request::canonical;

#[derive(Debug)]
pub(crate) struct KeyedRow {
    pub(crate) row: BatchRow,
    seed: Digest,
}

/// An attempt under a later key of a row counts as that of somebody else.
const MOST_RETRIES: u32 = 9;

impl KeyedRow {
    /// The keys under which the row may have been sent.
    pub(crate) fn keys(&self) -> impl Iterator<Item = String> {
        (0..=MOST_RETRIES).map(|retry| self.key(retry))
    }

    /// The key of the row's `retry`-th new try, from 0. If the row names a key, that is key 0.
    pub(crate) fn key(&self, retry: u32) -> String {
        match (&self.row.idempotency_key, retry) {
            (Some(own), 0) => own.clone(),
            _ => {
                let digest = digest(&[&self.seed, &retry.to_be_bytes()]);
                format!("batch-{}", hex::encode(&digest[..16]))
            }
        }
    }
}

/// Derives the keys of each row from the batch (its name, else the `text` of its file), the row's content and its position among
/// equal rows. In the `embedded` sandbox they differ, so that a rehearsal there does not count as the real batch.
pub(crate) fn keyed(
    rows: Vec<BatchRow>,
    name: Option<&str>,
    text: &str,
    embedded: bool,
) -> Vec<KeyedRow> {
    let mut batch = match name {
        Some(name) => digest(&[b"name", name.as_bytes()]),
        None => digest(&[b"content", &sha256([text.as_bytes()])]),
    };
    if embedded {
        batch = digest(&[b"embedded sandbox", &batch]);
    }
    let mut seen: HashMap<Digest, u64> = HashMap::new();
    let keyed = rows.into_iter().map(|row| {
        let own = row.idempotency_key.as_deref().unwrap_or_default();
        let content = digest(&[canonical(&row.body).as_bytes(), own.as_bytes()]);
        let occurrence = seen.entry(content).or_default();
        let seed = digest(&[&batch, &content, &occurrence.to_be_bytes()]);
        *occurrence += 1;
        KeyedRow { row, seed }
    });
    keyed.collect()
}

/// A digest of length-prefixed parts, so that moving a byte from one part to the next changes it.
fn digest(parts: &[&[u8]]) -> Digest {
    let lengths: Vec<_> = parts.iter().map(|part| part.len().to_be_bytes()).collect();
    let prefixed = lengths.iter().zip(parts);
    sha256(prefixed.flat_map(|(length, part)| [&length[..], part]))
}

/// Refuses (2) two rows that name the same key, because a key belongs to one booking, and, unless they are meant, rows without a
/// key that ask for the same booking.
pub(crate) fn refuse_twins(rows: &[BatchRow], equal_rows_are_meant: bool) -> Result<()> {
    if let [twins, ..] = twins(rows, |row| row.idempotency_key.clone()).as_slice() {
        let what = format!("rows {twins} use the same idempotency_key; nothing was sent");
        let hint = "a key can be used for one booking only: give each row its own key, or none";
        return Err(Error::usage(what).hint(hint));
    }
    let without_key = |row: &BatchRow| row.idempotency_key.is_none().then(|| canonical(&row.body));
    let equal = twins(rows, without_key);
    if equal_rows_are_meant || equal.is_empty() {
        return Ok(());
    }
    let rows = equal.join(" are equal; rows ");
    let what = format!("rows {rows} are equal; nothing was sent");
    let hint = "remove the rows that are there by mistake, or book each of them with --equal-rows";
    Err(Error::usage(what).hint(hint))
}

/// The numbers of the rows for which something is the same, as people write them.
fn twins(rows: &[BatchRow], of: impl Fn(&BatchRow) -> Option<String>) -> Vec<String> {
    let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
    for row in rows {
        if let Some(it) = of(row) {
            alike.entry(it).or_default().push(row.number);
        }
    }
    let mut twins: Vec<Vec<usize>> = alike.into_values().filter(|rows| rows.len() > 1).collect();
    twins.sort();
    twins.iter().map(|rows| ranges(rows)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

    fn rows() -> Vec<BatchRow> {
        let row = |number, party| BatchRow {
            number,
            body: json!({"party_size": party}),
            idempotency_key: None,
        };
        vec![row(1, 2), row(2, 3), row(3, 2)]
    }

    fn keys(rows: Vec<BatchRow>, batch: &str) -> Vec<String> {
        let rows = keyed(rows, Some(batch), "", false);
        rows.iter().map(|row| row.key(0)).collect()
    }

    #[test]
    fn each_row_of_each_batch_has_a_key_of_its_own_and_their_order_does_not_matter() {
        let first = keys(rows(), "friday");
        assert_eq!(first[0], "batch-2c91ddc93869eb8f8d9c332afb2b6ebc");
        assert_eq!(first.iter().collect::<HashSet<_>>().len(), 3);
        let mut turned = rows();
        turned.rotate_left(1);
        let turned: HashSet<_> = keys(turned, "friday").into_iter().collect();
        assert_eq!(turned, first.iter().cloned().collect());
        let monday = keys(rows(), "monday");
        assert!(monday.iter().all(|key| !first.contains(key)));
        let tried = &keyed(rows(), Some("friday"), "", true)[0];
        assert_ne!(tried.key(0), first[0], "a rehearsal in the sandbox");
    }

    #[test]
    fn a_row_that_names_its_key_has_it_and_a_new_one_for_a_retry() {
        let mut rows = rows();
        rows[0].idempotency_key = Some("own".into());
        let keyed = &keyed(rows, None, "x", false)[0];
        assert_eq!(keyed.key(0), "own");
        assert!(keyed.key(1).starts_with("batch-") && keyed.key(1) != keyed.key(2));
    }
}
