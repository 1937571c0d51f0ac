//! The service's documents, and values that people type. Documents keep unknown fields.

pub(crate) mod booking;
pub(crate) mod certainty;
pub(crate) mod contact;
pub(crate) mod field;
pub(crate) mod field_value;
pub(crate) mod guest;
pub(crate) mod id;
pub(crate) mod money;
pub(crate) mod session;
pub(crate) mod slot;
pub(crate) mod text_fold;
pub(crate) mod venue;
pub(crate) mod wish;

/// `1 element`, `2 elements`.
pub(crate) fn plural(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// The cells of the rows of a table.
#[cfg(test)]
pub(crate) fn rows<const CELLS: usize>(table: &str) -> impl Iterator<Item = [&str; CELLS]> {
    let rows = table.lines().filter(|row| !row.trim().is_empty());
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        cells.try_into().unwrap()
    })
}
