//! What is looked for, in the form in which bookings are searched.

use super::text::Field;
use crate::model::text_fold::{digits, fold};

/// The shortest run of digits that is taken for a part of a phone number.
const SHORTEST_NUMBER: usize = 3;

/// The texts to look for: all those of fields, and all words or the number.
pub(super) struct Needles {
    pub(super) of_fields: Vec<(Field, String)>,
    pub(super) words: Vec<String>,
    /// The words as a part of a phone number, if they can be one.
    pub(super) number: Option<String>,
}

impl Needles {
    /// `fields` are parts of single fields, `text` is words that may stand in any.
    pub(super) fn new(fields: [(Field, &Option<String>); 4], text: Option<&str>) -> Self {
        let mut of_fields = Vec::new();
        for (field, part) in fields {
            let Some(part) = part else { continue };
            match field {
                Field::Phone => of_fields.push((field, number(part))),
                _ => of_fields.extend(words(part).into_iter().map(|word| (field, word))),
            }
        }
        let is_number = |text: &&str| {
            let signs = |c: char| c.is_ascii_digit() || " +-()./".contains(c);
            text.chars().all(signs) && digits(text).len() >= SHORTEST_NUMBER
        };
        Needles {
            of_fields,
            words: text.map(words).unwrap_or_default(),
            number: text.filter(is_number).map(number),
        }
    }

    /// Whether every booking matches.
    pub(super) fn are_none(&self) -> bool {
        self.of_fields.is_empty() && self.words.is_empty()
    }
}

fn words(text: &str) -> Vec<String> {
    let mut folded = fold(text);
    if folded.trim().is_empty() {
        // An apostrophe alone, which stands in no text that is searched.
        folded = text.to_owned();
    }
    folded.split_whitespace().map(str::to_owned).collect()
}

/// The digits of a phone number, without the zeros that stand for a country.
fn number(phone: &str) -> String {
    match digits(phone) {
        // No phone number that is searched has anything but digits.
        digits if digits.is_empty() => phone.to_owned(),
        digits => digits.trim_start_matches('0').to_owned(),
    }
}
