//! The fields of a document, and which of them a view has shown. The rest is listed.

use serde_json::Value;

use super::joined;
use crate::json::plain;
use crate::service::documents::certainty::Certainty;
use crate::service::documents::money::{money, names_minor_units};
use crate::service::time::document_time::{DocumentTime, time_text};

/// A document, and what was taken from it: known by where it stands in memory, so that a field is
/// the same one under whichever path it is reached.
pub(crate) struct Fields<'a> {
    value: &'a Value,
    taken: Vec<&'a Value>,
}

impl<'a> Fields<'a> {
    /// The fields of a document, none of them taken. The name of its type says nothing to a person.
    pub(crate) fn from_document(value: &'a Value) -> Self {
        let mut fields = Fields { value, taken: Vec::new() };
        fields.text("object");
        fields
    }

    /// The value at a path, such as `price.tier`, without taking it.
    pub(crate) fn get(&self, path: &str) -> Option<&'a Value> {
        let found = path.split('.').try_fold(self.value, |value, name| value.get(name))?;
        (!found.is_null()).then_some(found)
    }

    /// Remembers that a value, with all that it holds, was shown.
    pub(crate) fn took(&mut self, value: &'a Value) {
        self.taken.push(value);
    }

    /// What is read of the value at a path, which is shown in whole then. Anything else is left.
    pub(crate) fn read<T>(
        &mut self,
        path: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let found = self.get(path)?;
        let read = read(found)?;
        self.took(found);
        Some(read)
    }

    pub(crate) fn take(&mut self, path: &str) -> Option<&'a Value> {
        self.read(path, Some)
    }

    /// The text at a path. Anything else there is left.
    pub(crate) fn text(&mut self, path: &str) -> Option<&'a str> {
        self.text_of(self.get(path)?)
    }

    pub(crate) fn text_of(&mut self, found: &'a Value) -> Option<&'a str> {
        let text = found.as_str().filter(|text| !text.is_empty())?;
        self.took(found);
        Some(text)
    }

    /// The scalar at a path, as text. An object or a list there is left.
    pub(crate) fn scalar(&mut self, path: &str) -> Option<String> {
        self.read(path, |it| Some(plain(it)).filter(|text| is_scalar(it) && !text.is_empty()))
    }

    /// The time at a path, in any form that is understood. Anything else there is left.
    pub(crate) fn time(&mut self, path: &str) -> Option<(&'a Value, DocumentTime)> {
        self.read(path, |it| Some((it, DocumentTime::read(it)?)))
    }

    /// The time at a path for people; a scalar that is not understood as it came.
    pub(crate) fn time_text(&mut self, path: &str) -> Option<String> {
        self.read(path, |it| Some(time_text(it)).filter(|text| is_scalar(it) && !text.is_empty()))
    }

    /// What was not taken: every value that says something, with its path. An amount with its
    /// currency is one value.
    pub(crate) fn rest(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        self.collect(self.value, String::new(), &mut found);
        found
    }

    /// [`Fields::rest`] as one text, if there is any: `tier 3 · links[0].href /x`.
    pub(crate) fn rest_text(&self) -> Option<String> {
        let rest = self.rest().into_iter();
        joined(rest.map(|(path, text)| Some(format!("{path} {text}").trim_start().to_owned())))
    }

    fn is_taken(&self, value: &Value) -> bool {
        self.taken.iter().any(|taken| std::ptr::eq(*taken, value))
    }

    fn collect(&self, value: &Value, path: String, found: &mut Vec<(String, String)>) {
        let is_whole = |member: &Value| is_scalar(member) && !self.is_taken(member);
        let text = match value {
            _ if self.is_taken(value) => return,
            Value::Object(object) => {
                let amount = money_of(value, Certainty::Specification);
                if let Some(amount) = amount.filter(|_| object.values().all(is_whole)) {
                    found.push((path, amount));
                    return;
                }
                for (key, member) in object {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    self.collect(member, path, found);
                }
                return;
            }
            Value::Array(elements) if !elements.iter().all(is_whole) => {
                for (index, element) in elements.iter().enumerate() {
                    self.collect(element, format!("{path}[{index}]"), found);
                }
                return;
            }
            Value::Array(elements) => {
                let texts = elements.iter().map(plain).filter(|text| !text.is_empty());
                texts.collect::<Vec<_>>().join(", ")
            }
            scalar => plain(scalar),
        };
        if !text.is_empty() {
            found.push((path, text));
        }
    }
}

/// An object that consists of an amount and its currency, under whichever names, as one text.
pub(crate) fn money_of(value: &Value, certainty: Certainty) -> Option<String> {
    let object = value.as_object().filter(|object| object.len() == 2)?;
    let is_currency = |name: &str| name.to_lowercase().contains("currency");
    let (_, currency) = object.iter().find(|(name, _)| is_currency(name))?;
    let (name, amount) = object.iter().find(|(name, _)| !is_currency(name))?;
    let is_minor = names_minor_units(name) || name == "amount" && certainty == Certainty::Contract;
    let certainty = if is_minor { Certainty::Contract } else { Certainty::Specification };
    money(amount, Some(currency.as_str()?), certainty)
}

pub(crate) fn field_word(name: &str) -> &str {
    match name {
        "datetime" => "when",
        "party_size" => "party",
        "seating_preference" => "seating",
        other => other,
    }
}

/// How a field was changed, with the values `from` and `to`.
pub(crate) fn change_text(field: &str, change: &Value) -> String {
    let side = |name: &str| match change.get(name).map(time_text) {
        Some(text) if text.is_empty() => "not set".to_owned(),
        Some(text) => text,
        None => "?".to_owned(),
    };
    format!("{} {} → {}", field_word(field), side("from"), side("to"))
}

/// A value of any shape on one line, as it came.
pub(crate) fn raw(value: &Value, certainty: Certainty) -> Option<String> {
    let taken = Vec::new();
    money_of(value, certainty).or_else(|| Fields { value, taken }.rest_text())
}

pub(super) fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbitrary;
    use crate::service::mapping::scalars;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn fields_that_were_read_are_not_listed_and_all_others_are() {
        let document = json!({
            "object": "venue", "name": "Hut", "price": {"tier": 3, "unit": ""}, "tags": ["a", "b"],
            "cost": {"value": "12.5", "currency_code": "EUR"}, "fee": {"cents": 250, "currency": "EUR"},
            "links": [{"href": "/x"}], "open": true, "name2": null,
        });
        let mut fields = Fields::from_document(&document);
        assert_eq!(fields.text("name"), Some("Hut"));
        assert_eq!(fields.scalar("price"), None, "an object is no scalar");
        assert_eq!(
            fields.rest_text().unwrap(),
            "price.tier 3 · tags a, b · cost 12.50 EUR · fee 2.50 EUR · links[0].href /x · open true"
        );
        assert_eq!(fields.scalar("price.tier").as_deref(), Some("3"));
        assert!(!fields.rest_text().unwrap().contains("tier"));
    }

    proptest! {
        #[test]
        fn every_scalar_of_any_document_is_in_the_rest(document in arbitrary::json()) {
            let rest = raw(&document, Certainty::Specification).unwrap_or_default();
            for (path, text) in scalars(&document) {
                let is_shown = text.trim().is_empty() || rest.contains(text.trim());
                prop_assert!(is_shown, "{path} = {text} in {rest}");
            }
        }
    }
}
