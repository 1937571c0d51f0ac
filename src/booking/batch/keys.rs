//! Idempotency keys of a batch's rows. A row is a visit: whichever file names it, in whatever
//! notation and on whatever computer, it has the same key, so that it is booked once.

use std::collections::HashMap;
use std::hash::Hash;

use super::rows::{BatchRow, ranges};
use crate::outcome::{Error, Result};
use crate::platform::crypto::{Digest, sha256};
use crate::service::documents::Wish;
use crate::service::documents::guest::folded_name;

#[derive(Debug)]
pub(crate) struct KeyedRow {
    pub(crate) row: BatchRow,
    /// The key that the row names, or the one that is made of its visit.
    pub(crate) first: String,
}

/// An attempt under a later key of a row counts as another caller's.
const MOST_RETRIES: u32 = 9;

impl KeyedRow {
    /// The keys under which the row may have been sent.
    pub(crate) fn keys(&self) -> impl Iterator<Item = String> {
        (0..=MOST_RETRIES).map(|retry| self.key(retry))
    }

    /// The key of the row's `retry`-th new try, from 0.
    pub(crate) fn key(&self, retry: u32) -> String {
        later_key(&self.first, retry)
    }
}

/// The key of the `retry`-th new try of the row with this first key.
pub(crate) fn later_key(first: &str, retry: u32) -> String {
    match retry {
        0 => first.to_owned(),
        _ => key_of(&digest(&[first.as_bytes(), &retry.to_be_bytes()])),
    }
}

fn key_of(digest: &Digest) -> String {
    format!("batch-{}", hex::encode(&digest[..16]))
}

/// Derives the key of each row from the `service`, the batch's name if it has one, the row's visit
/// and its position among equal rows.
pub(crate) fn keyed(rows: Vec<BatchRow>, name: Option<&str>, service: &str) -> Vec<KeyedRow> {
    let mut seen: HashMap<Digest, u64> = HashMap::new();
    let keyed = rows.into_iter().map(|row| {
        if let Some(first) = row.idempotency_key.clone() {
            return KeyedRow { row, first };
        }
        let visit = visit(&row.wish());
        let occurrence = seen.entry(visit).or_default();
        let name = name.unwrap_or_default().as_bytes();
        let all = digest(&[service.as_bytes(), name, &visit, &occurrence.to_be_bytes()]);
        *occurrence += 1;
        KeyedRow { row, first: key_of(&all) }
    });
    keyed.collect()
}

/// What makes a row the visit that it is: venue, moment, party, guest, end user and payment. How to
/// reach the guest does not.
fn visit(wish: &Wish) -> Digest {
    let text = |field: &str| wish.text(field).unwrap_or_default();
    let time = wish.time();
    let instant = time.and_then(|it| it.instant).map(|it| it.to_string());
    let local = || time.and_then(|it| it.local).map(|it| it.to_string());
    let moment = instant.or_else(local).unwrap_or_default();
    let guest = folded_name(&text("customer.name"));
    let others = ["venue_id", "party_size", "end_user", "payment_collection"].map(text);
    let parts = others.iter().chain([&moment, &guest]);
    digest(&parts.map(String::as_bytes).collect::<Vec<_>>())
}

/// A digest of length-prefixed parts, so that moving a byte from one part to the next changes it.
fn digest(parts: &[&[u8]]) -> Digest {
    let lengths: Vec<_> = parts.iter().map(|part| part.len().to_be_bytes()).collect();
    sha256(lengths.iter().zip(parts).flat_map(|(length, part)| [&length[..], part]))
}

/// Refuses (2) two rows that name the same key, because a key belongs to one booking, and, unless
/// they are meant, rows without a key that ask for the same visit.
pub(crate) fn refuse_twins(rows: &[BatchRow], equal_rows_are_meant: bool) -> Result<()> {
    if let [twins, ..] = find_duplicates(rows, |row| row.idempotency_key.clone()).as_slice() {
        let what = format!("rows {twins} use the same idempotency_key; nothing was sent");
        let hint = "a key can be used for one booking only: give each row its own key, or none";
        return Err(Error::usage(what).hint(hint));
    }
    let without_key = |row: &BatchRow| row.idempotency_key.is_none().then(|| visit(&row.wish()));
    let equal = find_duplicates(rows, without_key);
    if equal_rows_are_meant || equal.is_empty() {
        return Ok(());
    }
    let rows = equal.join(" are equal; rows ");
    let what = format!("rows {rows} are equal; nothing was sent");
    let hint = "remove the rows that are there by mistake, or book each of them with --equal-rows";
    Err(Error::usage(what).hint(hint))
}

/// The numbers of the rows for which something is the same, as people write them.
fn find_duplicates<T: Eq + Hash>(
    rows: &[BatchRow],
    property: impl Fn(&BatchRow) -> Option<T>,
) -> Vec<String> {
    let mut alike: HashMap<T, Vec<usize>> = HashMap::new();
    for row in rows {
        if let Some(it) = property(row) {
            alike.entry(it).or_default().push(row.number);
        }
    }
    let mut twins: Vec<Vec<usize>> = alike.into_values().filter(|rows| rows.len() > 1).collect();
    twins.sort();
    twins.iter().map(|rows| ranges(rows)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn row(number: usize, change: &[(&str, Value)]) -> BatchRow {
        let mut body = json!({
            "venue_id": "v", "datetime": "2026-12-01T19:30:00Z", "party_size": 2,
            "customer": {"name": "Ada Lovelace"},
        });
        for (field, value) in change {
            body[field] = value.clone();
        }
        BatchRow { number, body, idempotency_key: None, zone: None }
    }

    fn key(change: &[(&str, Value)]) -> String {
        keyed(vec![row(1, change)], Some("friday"), "https://a.example")[0].key(0)
    }

    #[test]
    fn key_is_made_of_the_visit_and_of_nothing_else() {
        let first = key(&[]);
        assert_eq!(first, "batch-29cd612b0c3be763698009aa6b9e148a");
        for (field, value) in [
            ("datetime", json!("2026-12-01T20:30:00+01:00")),
            ("datetime", json!(1_796_153_400)),
            ("availability_id", json!("slot_1")),
            ("provider", json!("provider_a")),
            ("customer", json!({"name": "LOVELACE, Ada", "email": "ada@example.com"})),
        ] {
            assert_eq!(key(&[(field, value.clone())]), first, "{field} {value}");
        }
        for (field, value) in [
            ("datetime", json!("2026-12-01T20:30:00Z")),
            ("venue_id", json!("w")),
            ("party_size", json!(3)),
            ("customer", json!({"name": "Eve Lovelace"})),
            ("end_user", json!("u")),
            ("payment_collection", json!("vendor_external")),
        ] {
            assert_ne!(key(&[(field, value.clone())]), first, "{field} {value}");
        }
        let twice = || vec![row(1, &[]), row(2, &[])];
        let at = |name, service| keyed(twice(), name, service).remove(0).first;
        let twins = keyed(twice(), Some("friday"), "https://a.example");
        assert!(twins[0].first == first && twins[1].first != first);
        let others = [at(None, "https://a.example"), at(Some("friday"), "https://b.example")];
        assert!(!others.contains(&first) && others[0] != others[1]);
        // Or it is the row's own, and new ones for its retries.
        let mut own = row(1, &[]);
        own.idempotency_key = Some("own".into());
        let keyed = &keyed(vec![own], None, "x")[0];
        assert_eq!(keyed.key(0), "own");
        assert!(keyed.key(1).starts_with("batch-") && keyed.key(1) != keyed.key(2));
    }
}
