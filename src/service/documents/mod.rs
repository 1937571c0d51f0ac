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

// What other rooms use most.
pub(crate) use booking::{Booking, Status};
pub(crate) use certainty::Certainty;
pub(crate) use field_value::FieldValue;
pub(crate) use id::{id, same_id};
pub(crate) use session::Session;
pub(crate) use slot::Slot;
pub(crate) use text_fold::fold;
pub(crate) use venue::Venue;
pub(crate) use wish::{Agreement, Compared, VenueClock, Weight, Wish, compare};

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
