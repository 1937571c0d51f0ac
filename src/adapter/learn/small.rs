//! Small documents: the answer to a card check, and a refusal.

use serde_json::Value;

use super::paths::{is_word, jq_path, paths};
use super::{Certainty, Finding};
use crate::adapter::kind::ReadKind;
use crate::adapter::names::same_words;

/// Words for the sentence of a refusal.
const MESSAGE: &str =
    "error.message error.detail error.title message detail title description reason";
/// Words for its code.
const CODE: &str = "error.code error.type error.error_code code error_type type";

/// What the one yes or no of a card check is called, where it is not `has_card`.
pub(super) fn card(document: &Value) -> Option<Finding> {
    let all = paths(document.as_object()?);
    let is_card = |path: &[String]| path.last().is_some_and(|name| same_words(name, "has_card"));
    if all.iter().any(|(path, _)| is_card(path)) {
        return None;
    }
    let mut answers = all.iter().filter(|(_, value)| value.is_boolean());
    let (Some((path, _)), None) = (answers.next(), answers.next()) else {
        return None;
    };
    let why = format!("`{}` says whether there is a card", path.join("."));
    let expression = format!("{{has_card: {}}}", jq_path(path));
    Some(Finding::new(
        Certainty::Likely,
        key(ReadKind::Card),
        expression,
        why,
    ))
}

/// Where a refusal has its sentence and its code, where its `error` is no text.
pub(super) fn error(document: &Value) -> Option<Finding> {
    let object = document.as_object()?;
    if object.get("error").is_some_and(Value::is_string) {
        return None;
    }
    let all = paths(object);
    let text = |words: &str| {
        let texts = all.iter().filter(|(_, value)| value.is_string());
        let ranked = texts.filter_map(|(path, _)| Some((is_word(path, words)?, path)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, path)| path)
    };
    let message = text(MESSAGE)?;
    let mut members = vec![format!("error: {}", jq_path(message))];
    if let Some(code) = text(CODE).filter(|_| object.get("error_code").is_none()) {
        members.push(format!("error_code: {}", jq_path(code)));
    }
    let why = format!("a refusal has its sentence in `{}`", message.join("."));
    let expression = format!(". + {{{}}}", members.join(", "));
    Some(Finding::new(
        Certainty::Likely,
        key(ReadKind::Error),
        expression,
        why,
    ))
}

fn key(kind: ReadKind) -> String {
    format!("read.{}", kind.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_card_check_and_a_refusal_are_read_where_their_one_answer_stands() {
        let found = card(&json!({"data": {"card_on_file": true, "brand": "text"}})).unwrap();
        assert_eq!(found.value, "{has_card: .data.card_on_file}");
        for own in [
            json!({"has_card": true}),
            json!({"card": {"hasCard": false}}),
            json!({"a": true, "b": true}),
        ] {
            assert_eq!(card(&own), None, "{own}");
        }
        let found = error(&json!({"error": {"message": "text", "code": "text"}})).unwrap();
        assert_eq!(
            found.value,
            ". + {error: .error.message, error_code: .error.code}"
        );
        let found = error(&json!({"detail": "text"})).unwrap();
        assert_eq!(found.value, ". + {error: .detail}");
        for own in [
            json!({"error": "text", "fields": {}}),
            json!({"fields": {}}),
        ] {
            assert_eq!(error(&own), None, "{own}");
        }
    }
}
