//! The error of a response that is not understood, with what a profile can say about it.

use super::kind::ReadKind;
use crate::json::Document;
use crate::outcome::{Code, Error};

/// `why` is what was found instead, as a sentence, and `settings` those of a profile that say how
/// to read such a document.
pub(super) fn misread(why: String, settings: &str, document: &Document) -> Error {
    let hint = format!(
        "if the service names it differently, set {settings} with `bookctl profile set`; `bookctl api` shows the \
         whole answer"
    );
    Error::new(Code::UnexpectedAnswer, why).hint(hint).body(document.clone())
}

/// `why` is the predicate of a sentence about the expression.
pub(super) fn of_expression(kind: ReadKind, why: &str, document: &Document) -> Error {
    let name = kind.as_str();
    let why = format!("the profile's expression read.{name} {why}");
    misread(why, &format!("`read.{name}`"), document)
}
