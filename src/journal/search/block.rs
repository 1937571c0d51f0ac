//! Many bookings whose fields stand beside each other, so that a text is looked for in all of them at once.
//!
//! A column holds one field of each booking, a line each, the newest booking first.

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter};

use super::Sought;
use super::needles::Needles;
use super::text::{Field, Text};

/// The columns that are searched, in the order in which a block has them: what is short comes first.
pub(super) const COLUMNS: [&str; 7] = [
    "days",
    "statuses",
    "guests",
    "emails",
    "phones",
    "venues",
    "folded_ids",
];
const DAYS: usize = 0;
const STATUSES: usize = 1;
const FIELDS: usize = 2;

/// What a block is searched for.
pub(super) struct Wanted<'n> {
    of_fields: Vec<(Field, Finder<'n>)>,
    words: Vec<Finder<'n>>,
    number: Option<Finder<'n>>,
    days: Option<(String, String)>,
    status: Option<&'n str>,
}

impl<'n> Wanted<'n> {
    pub(super) fn new(sought: &'n Sought, needles: &'n Needles) -> Self {
        let of_fields = needles.of_fields.iter();
        Wanted {
            of_fields: of_fields
                .map(|(field, part)| (*field, Finder::new(part)))
                .collect(),
            words: needles.words.iter().map(Finder::new).collect(),
            number: needles.number.as_ref().map(Finder::new),
            days: sought.days_as_text(),
            status: sought.status.as_deref(),
        }
    }

    /// Which columns are looked at.
    pub(super) fn columns(&self) -> [bool; COLUMNS.len()] {
        let mut looked_at = [!self.words.is_empty(); COLUMNS.len()];
        looked_at[DAYS] = self.days.is_some();
        looked_at[STATUSES] = self.status.is_some();
        for (field, _) in &self.of_fields {
            looked_at[FIELDS + *field as usize] = true;
        }
        looked_at
    }

    /// Which of the bookings of a block match. Columns that are not looked at may be empty.
    pub(super) fn matches(&self, columns: &[&[u8]; COLUMNS.len()], bookings: usize) -> Vec<bool> {
        let mut matching = vec![true; bookings];
        if let Some((first, last)) = &self.days {
            let days = first.as_bytes()..=last.as_bytes();
            keep(&mut matching, columns[DAYS], |day| days.contains(&day));
        }
        if let Some(status) = self.status {
            keep(&mut matching, columns[STATUSES], |it| {
                it == status.as_bytes()
            });
        }
        let column = |field: Field| columns[FIELDS + field as usize];
        for (field, part) in &self.of_fields {
            and(&mut matching, &with(part, &[column(*field)], bookings));
        }
        if !self.words.is_empty() && matching.contains(&true) {
            and(
                &mut matching,
                &self.with_words(&columns[FIELDS..], column(Field::Phone), bookings),
            );
        }
        matching
    }

    fn with_words(&self, fields: &[&[u8]], phones: &[u8], bookings: usize) -> Vec<bool> {
        let mut matching = vec![true; bookings];
        for word in &self.words {
            and(&mut matching, &with(word, fields, bookings));
            if !matching.contains(&true) {
                break;
            }
        }
        if let Some(number) = &self.number {
            mark(number, phones, &mut matching);
        }
        matching
    }
}

/// Keeps the bookings whose line in the column is wanted.
fn keep(matching: &mut [bool], column: &[u8], is_wanted: impl Fn(&[u8]) -> bool) {
    let lines = column.split(|byte| *byte == b'\n');
    for (is_match, line) in matching.iter_mut().zip(lines) {
        *is_match &= is_wanted(line);
    }
}

fn and(matching: &mut [bool], others: &[bool]) {
    for (is_match, other) in matching.iter_mut().zip(others) {
        *is_match &= other;
    }
}

/// The bookings that have a part in one of the columns.
fn with(part: &Finder<'_>, columns: &[&[u8]], bookings: usize) -> Vec<bool> {
    let mut found = vec![false; bookings];
    for column in columns {
        mark(part, column, &mut found);
    }
    found
}

/// Marks the bookings that have a part in their line of the column.
fn mark(part: &Finder<'_>, column: &[u8], found: &mut [bool]) {
    let (mut booking, mut rest) = (0, column);
    while let Some(at) = part.find(rest) {
        let (before, from) = rest.split_at(at);
        booking += memchr_iter(b'\n', before).count();
        if let Some(is_found) = found.get_mut(booking) {
            *is_found = true;
        }
        let Some(end) = memchr(b'\n', from) else {
            return;
        };
        booking += 1;
        rest = &from[end + 1..];
    }
}

/// A block that is being made.
#[derive(Default)]
pub(super) struct Block {
    pub(super) columns: [String; COLUMNS.len()],
    pub(super) ids: Vec<String>,
}

impl Block {
    /// Adds a booking behind the others: an older one.
    pub(super) fn push(&mut self, id: String, status: &str, text: &Text) {
        let status = status.replace('\n', " ");
        let day = text.day.as_deref().unwrap_or_default();
        let fields = text.fields.iter().map(String::as_str);
        let lines = [day, status.as_str()].into_iter().chain(fields);
        for (column, line) in self.columns.iter_mut().zip(lines) {
            if !self.ids.is_empty() {
                column.push('\n');
            }
            column.push_str(line);
        }
        self.ids.push(id);
    }

    pub(super) fn bytes(&self) -> [&[u8]; COLUMNS.len()] {
        self.columns.each_ref().map(String::as_bytes)
    }
}
