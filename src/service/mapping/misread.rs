//! An answer that came and is not understood, and what a profile can say about it.

use super::kind::ReadKind;
use crate::json::Document;
use crate::outcome::{Code, Error};

#[derive(Debug)]
pub(crate) struct MappingError {
    /// What was found instead, as a sentence.
    pub(crate) why: String,
    /// The settings of a profile that say how to read such a document.
    settings: String,
    document: Box<Document>,
}

impl MappingError {
    /// `why` is the predicate of a sentence about the expression.
    pub(crate) fn of_expression(kind: ReadKind, why: &str, document: &Document) -> Self {
        let name = kind.as_str();
        let why = format!("the profile's expression read.{name} {why}");
        Self::new(why, format!("`read.{name}`"), document)
    }

    pub(crate) fn new(why: String, settings: String, document: &Document) -> Self {
        MappingError {
            why,
            settings,
            document: Box::new(document.clone()),
        }
    }

    pub(crate) fn into_error(self) -> Error {
        let settings = self.settings;
        let mut error = Error::new(Code::UnexpectedAnswer, self.why).hint(format!(
            "if the service names it differently, set {settings} with `bookctl profile set`; `bookctl api` shows the \
             whole answer"
        ));
        error.body = Some(*self.document);
        error
    }
}
