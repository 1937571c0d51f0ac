//! Who a guest is: names, email addresses and phone numbers, compared as people write them.

use super::field_value::Agreement;
use super::text_fold::{digits, fold};

/// Characters with which a service masks part of a text.
pub(super) const MASKS: [char; 5] = ['*', '•', '●', '…', '#'];

/// Words before or after a name that are no part of it.
const TITLES: &str = "mr mrs ms miss mx dr prof sir madam mme mlle herr frau sr sra";

pub(super) fn email_agreement(wanted: &str, text: &str) -> Agreement {
    let (wanted, own) = (wanted.trim().to_lowercase(), text.trim().to_lowercase());
    match own.split_once(MASKS) {
        Some((first, _)) if wanted.starts_with(first) => Agreement::NotShown,
        None if wanted == own => Agreement::Same,
        None if wanted.contains(MASKS) => Agreement::NotShown,
        _ => Agreement::Differs(text.to_owned()),
    }
}

/// Two phone numbers may be one with or without codes of country and area. A short or masked one
/// shows nothing.
pub(super) fn phone_agreement(wanted: &str, text: &str) -> Agreement {
    let last = |text: &str| {
        let digits = digits(text);
        let from = digits.len().checked_sub(7)?;
        (!text.contains(MASKS)).then(|| digits[from..].to_owned())
    };
    match last(wanted).zip(last(text)) {
        None if wanted == text => Agreement::Same,
        None => Agreement::NotShown,
        Some((wanted, own)) if wanted == own => Agreement::Same,
        Some(_) => Agreement::Differs(text.to_owned()),
    }
}

/// The words of a name without case, accents and titles. People also write `Lovelace, Ada` and
/// `LOVELACE/ADA MRS`.
fn name_words(name: &str) -> Vec<String> {
    let folded = fold(&name.replace("...", "…"));
    let is_between = |it: char| it.is_whitespace() || matches!(it, ',' | '.' | '/');
    let words: Vec<&str> = folded.split(is_between).filter(|it| !it.is_empty()).collect();
    let is_title = |word: &&&str| TITLES.split(' ').any(|title| title == **word);
    let mut own: Vec<&&str> = words.iter().filter(|word| !is_title(word)).collect();
    if own.is_empty() {
        own = words.iter().collect();
    }
    let mut own: Vec<String> = own.into_iter().map(ToString::to_string).collect();
    own.sort_unstable();
    own
}

/// A name is the same in any order of its words. Of one that is masked or shortened, what it shows
/// is compared.
pub(super) fn name_agreement(name: &str, text: &str) -> Agreement {
    let (wanted, mut own) = (name_words(name), name_words(text));
    // A word that is masked whole shows nothing.
    own.retain(|word| !word.chars().all(|it| MASKS.contains(&it)));
    if own.is_empty() {
        return Agreement::NotShown;
    }
    let fits = |word: &String| match word.split_once(MASKS) {
        Some((first, _)) => wanted.iter().any(|it| it.starts_with(first)),
        None => {
            let is_initial = word.chars().count() == 1;
            wanted.iter().any(|it| it == word || is_initial && it.starts_with(word.as_str()))
        }
    };
    if own.len() <= wanted.len() && own.iter().all(fits) {
        return Agreement::Same;
    }
    // What was seen before may be the one that is masked or shortened.
    let is_short = |word: &String| word.contains(MASKS) || word.chars().count() == 1;
    let is_shortened = wanted.iter().any(is_short) && !own.iter().any(is_short);
    match is_shortened && name_agreement(text, name) == Agreement::Same {
        true => Agreement::Same,
        false => Agreement::Differs(text.to_owned()),
    }
}

/// A name as it is searched for: its words in one order.
pub(crate) fn folded_name(name: &str) -> String {
    name_words(name).join(" ")
}

/// What a field of a guest is recognized by: the folded name, the phone number, the email address.
pub(super) fn guest_mark(field: &str, text: &str) -> String {
    match field {
        "name" => folded_name(text),
        "phone" => digits(text).trim_start_matches('0').to_owned(),
        _ => text.trim().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_masked_or_shortened_on_either_side_is_compared_by_the_rest() {
        let full = "Ada Lovelace";
        for (wanted, name, is_same) in [
            ("A. Lovelace", full, true),
            ("Ad* Lovelace", full, true),
            ("B. Lovelace", full, false),
            ("A. Lovelace", "B. Lovelace", false),
        ] {
            let found = name_agreement(wanted, name);
            assert_eq!(found == Agreement::Same, is_same, "{wanted} {name}");
        }
        assert_eq!(email_agreement("a***@x.example", "ada@x.example"), Agreement::NotShown);
        assert_eq!(phone_agreement("112", "112"), Agreement::Same);
    }
}
