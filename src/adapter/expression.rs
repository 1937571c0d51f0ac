//! A jq expression of a profile that translates one document.

use serde_json::Value;

use crate::json::parsed;
use crate::platform::jq;

#[derive(Clone, Debug)]
pub(crate) struct Expression(jq::Expression);

impl Expression {
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        jq::Expression::compile(source).map(Expression)
    }

    pub(crate) fn source(&self) -> &str {
        self.0.source()
    }

    /// Translates a document.
    ///
    /// # Errors
    /// What the expression did, as the predicate of a sentence: it failed, did not end, or gave not exactly one value.
    pub(crate) fn apply(&self, document: &Value) -> Result<Value, String> {
        let outputs = self
            .0
            .run(&document.to_string())
            .map_err(|why| why.to_string())?;
        let mut lines = outputs.lines();
        match (lines.next(), lines.next()) {
            (Some(line), None) => {
                parsed(line).map_err(|error| format!("gives something that is not JSON: {error}"))
            }
            (None, _) => Err("gives no value".to_owned()),
            (Some(_), Some(_)) => Err("gives more than one value".to_owned()),
        }
    }
}
