//! Names of fields, compared as words: `party_size`, `partySize` and `Party-Size` are one name.

use serde_json::{Map, Value};

use crate::service::documents::text_fold::same_words;

/// Whether a name is one of these, which blanks separate.
pub(crate) fn is_one_of(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| same_words(known, name))
}

/// The key of an object that is `name`, or else the only one that consists of the same words.
pub(crate) fn key_of<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    if let Some((key, _)) = object.get_key_value(name) {
        return Some(key);
    }
    let mut keys = object.keys().filter(|key| same_words(key, name));
    let key = keys.next()?;
    keys.next().is_none().then_some(key.as_str())
}

pub(crate) fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(key_of(object, name)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_is_found_in_any_style_and_in_its_own_first() {
        let object = json!({"partySize": 2, "venue_id": 1, "VenueId": 2, "e-mail": 3, "E_Mail": 4});
        let object = object.as_object().unwrap();
        assert_eq!(member(object, "party_size"), Some(&json!(2)));
        assert_eq!(member(object, "venue_id"), Some(&json!(1)));
        assert_eq!(member(object, "email"), None, "two keys have these words");
        assert_eq!(member(object, "party"), None);
    }
}
