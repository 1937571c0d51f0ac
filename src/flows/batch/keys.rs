//! Idempotency keys of a batch's rows. The same batch has the same keys on every machine, so it can be started again
//! anywhere without booking twice.

use std::collections::HashMap;

use super::rows::BatchRow;
use crate::model::request::canonical;
use crate::platform::crypto::{Digest, sha256};

#[derive(Clone, Debug)]
pub(crate) enum BatchIdentity {
    Name(String),
    Content(Digest),
}

impl BatchIdentity {
    pub(crate) fn of_content(text: &str) -> Self {
        BatchIdentity::Content(sha256([text.as_bytes()]))
    }
}

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

/// Derives the keys of each row from the batch, the row's content and its position among equal rows.
///
/// `embedded` is whether the batch goes to the embedded sandbox. Its keys then differ, so that a rehearsal there does
/// not count as the real batch.
pub(crate) fn keyed(rows: Vec<BatchRow>, batch: &BatchIdentity, embedded: bool) -> Vec<KeyedRow> {
    let batch = match batch {
        BatchIdentity::Name(name) => digest(&[b"name", name.as_bytes()]),
        BatchIdentity::Content(content) => digest(&[b"content", content]),
    };
    let batch = match embedded {
        true => digest(&[b"embedded sandbox", &batch]),
        false => batch,
    };
    let mut seen: HashMap<Digest, u64> = HashMap::new();
    let keyed = rows.into_iter().map(|row| {
        let content = digest(&[canonical(&row.body).as_bytes(), own(&row)]);
        let occurrence = seen.entry(content).or_default();
        let seed = digest(&[&batch, &content, &occurrence.to_be_bytes()]);
        *occurrence += 1;
        KeyedRow { row, seed }
    });
    keyed.collect()
}

fn own(row: &BatchRow) -> &[u8] {
    row.idempotency_key
        .as_deref()
        .unwrap_or_default()
        .as_bytes()
}

/// A digest of length-prefixed parts, so that moving a byte from one part to the next changes it.
fn digest(parts: &[&[u8]]) -> Digest {
    let lengths: Vec<_> = parts.iter().map(|part| part.len().to_be_bytes()).collect();
    let prefixed = lengths.iter().zip(parts);
    sha256(prefixed.flat_map(|(length, part)| [&length[..], part]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::HashSet;

    fn rows() -> Vec<BatchRow> {
        let row = |number, party| BatchRow {
            number,
            body: json!({"party_size": party}),
            idempotency_key: None,
        };
        vec![row(1, 2), row(2, 3), row(3, 2)]
    }

    fn keys(rows: Vec<BatchRow>, batch: &BatchIdentity) -> Vec<String> {
        keyed(rows, batch, false)
            .iter()
            .map(|row| row.key(0))
            .collect()
    }

    #[test]
    fn equal_rows_have_keys_of_their_own_and_the_order_of_rows_does_not_matter() {
        let batch = BatchIdentity::Name("friday".into());
        let first = keys(rows(), &batch);
        assert_eq!(first.iter().collect::<HashSet<_>>().len(), 3);
        let mut turned = rows();
        turned.rotate_left(1);
        let turned: HashSet<_> = keys(turned, &batch).into_iter().collect();
        assert_eq!(turned, first.into_iter().collect());
    }

    #[test]
    fn another_batch_has_other_keys() {
        let friday = keys(rows(), &BatchIdentity::Name("friday".into()));
        let monday = keys(rows(), &BatchIdentity::Name("monday".into()));
        assert!(friday.iter().all(|key| !monday.contains(key)));
    }

    #[test]
    fn a_batch_that_was_tried_in_the_sandbox_is_another_one_where_it_is_meant() {
        let friday = BatchIdentity::Name("friday".into());
        let tried = &keyed(rows(), &friday, true)[0];
        assert_ne!(tried.key(0), keys(rows(), &friday)[0]);
    }

    #[test]
    fn the_keys_of_a_batch_are_what_they_were_in_every_version() {
        let key = &keys(rows(), &BatchIdentity::Name("friday".into()))[0];
        assert_eq!(key, "batch-2c91ddc93869eb8f8d9c332afb2b6ebc");
    }

    #[test]
    fn a_row_that_names_its_key_has_it_and_a_new_one_for_a_retry() {
        let mut rows = rows();
        rows[0].idempotency_key = Some("own".into());
        let keyed = keyed(rows, &BatchIdentity::of_content("x"), false);
        assert_eq!(keyed[0].key(0), "own");
        assert!(keyed[0].key(1).starts_with("batch-"));
        assert_ne!(keyed[0].key(1), keyed[0].key(2));
    }
}
