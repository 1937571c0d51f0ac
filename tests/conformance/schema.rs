//! JSON Schema, as far as the OpenAPI documents use it. A keyword that is not known here fails the
//! test that meets it.

use jiff::{Timestamp, civil::Date};
use regex_bites::Regex;
use serde_json::Value;

/// What of a value its schema does not allow. `$ref` leads to a place in the document.
pub(crate) fn differences(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    compare(document, schema, value, "", &mut wrong);
    wrong
}

fn compare(document: &Value, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
    let fits = |schema: &Value, value: &Value| differences(document, schema, value).is_empty();
    let fields = || value.as_object().into_iter().flatten();
    let items = || value.as_array().into_iter().flatten();
    let Some(keywords) = schema.as_object() else {
        assert!(schema.is_boolean(), "{schema} is no schema");
        return wrong.extend((schema == false).then(|| format!("{at}: it must not be there")));
    };
    for (keyword, of) in keywords {
        let parts = || of.as_array().unwrap_or_else(|| panic!("{keyword} {of}")).iter();
        let at_least = |found: Option<f64>| found.is_none_or(|it| it >= of.as_f64().unwrap());
        let at_most = |found: Option<f64>| found.is_none_or(|it| it <= of.as_f64().unwrap());
        let matches = |check: fn(&str, &str) -> bool| {
            let text = value.as_str();
            text.is_none_or(|it| check(of.as_str().unwrap(), it))
        };
        let count = value.as_array().map(|it| it.len() as f64);
        let fields_count = value.as_object().map(|it| it.len() as f64);
        let is_fine = match keyword.as_str() {
            "description" | "title" | "examples" | "discriminator" | "if" => true,
            "$ref" => {
                let target = of.as_str().unwrap().trim_start_matches('#');
                let target = document.pointer(target).expect("what a $ref leads to");
                compare(document, target, value, at, wrong);
                true
            }
            "allOf" => {
                parts().for_each(|it| compare(document, it, value, at, wrong));
                true
            }
            "properties" => {
                for (name, of) in of.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        compare(document, of, value, &format!("{at}/{name}"), wrong);
                    }
                }
                true
            }
            "additionalProperties" => fields()
                .filter(|(name, _)| schema["properties"].get(name).is_none())
                .all(|(_, value)| fits(of, value)),
            "propertyNames" => fields().all(|(name, _)| fits(of, &name.as_str().into())),
            "required" => {
                parts().all(|it| !value.is_object() || value.get(it.as_str().unwrap()).is_some())
            }
            "items" => {
                for (place, item) in items().enumerate() {
                    compare(document, of, item, &format!("{at}/{place}"), wrong);
                }
                true
            }
            "uniqueItems" => items().all(|it| items().filter(|other| *other == it).count() == 1),
            "anyOf" => parts().any(|it| fits(it, value)),
            "oneOf" => parts().filter(|it| fits(it, value)).count() == 1,
            "not" => !fits(of, value),
            "else" => fits(&schema["if"], value) || fits(of, value),
            "const" => of == value,
            "enum" => parts().any(|it| it == value),
            "type" if of.is_array() => parts().any(|it| is_a(it, value)),
            "type" => is_a(of, value),
            "pattern" => matches(|of, text| Regex::new(of).unwrap().is_match(text)),
            "format" => matches(has_format),
            "minLength" => at_least(value.as_str().map(|it| it.chars().count() as f64)),
            "minimum" => at_least(value.as_f64()),
            "maximum" => at_most(value.as_f64()),
            "exclusiveMinimum" => value.as_f64() != of.as_f64() && at_least(value.as_f64()),
            "minItems" => at_least(count),
            "maxItems" => at_most(count),
            "minProperties" => at_least(fields_count),
            "maxProperties" => at_most(fields_count),
            _ => panic!("the keyword {keyword} is not known here"),
        };
        if !is_fine {
            wrong.push(format!("{at}: {value} is not as {keyword} says: {of}"));
        }
    }
}

fn is_a(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|it| it.fract() == 0.0),
        kind => panic!("the type {kind} is not known here"),
    }
}

fn has_format(format: &str, text: &str) -> bool {
    match format {
        "date" => text.len() == 10 && text.parse::<Date>().is_ok(),
        "date-time" => text.as_bytes().get(10) == Some(&b'T') && text.parse::<Timestamp>().is_ok(),
        "uri" => reqwest::Url::parse(text).is_ok(),
        format => panic!("the format {format} is not known here"),
    }
}
