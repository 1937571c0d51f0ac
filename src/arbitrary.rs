//! What tests of properties draw from: documents in unlikely forms.

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::Value;

/// Any JSON document, not too deep: its texts hold whatever a text may hold.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // What a float of JSON reads as may differ in its last digit; these are exact.
        any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Texts made of these pieces: closer to what is understood than any text is.
pub(crate) fn made_of(
    pieces: impl Into<Cow<'static, [&'static str]>>,
) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(pieces).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}
