//! An answer that came and is not understood, and what a profile can say about it.

use super::kind::ReadKind;
use super::shape::Shape;
use crate::json::Document;
use crate::model::plural;
use crate::outcome::{Code, Error};

#[derive(Debug)]
pub(super) enum NotFound {
    /// The places that fit alike.
    Ambiguous(Vec<String>),
    /// Elements came, and none of them can be read.
    Unreadable { place: String, elements: usize },
    /// The place where they are expected is empty, and elements came at others.
    Elsewhere {
        empty: String,
        lists: Vec<(String, usize)>,
    },
    /// The document has no list.
    NoList,
}

/// Why a document could not be read.
#[derive(Debug)]
pub(crate) struct Misread {
    /// What was found instead, as a sentence.
    pub(crate) why: String,
    /// The settings of a profile that say how to read such a document.
    settings: Vec<String>,
    document: Box<Document>,
}

impl Misread {
    pub(super) fn of_expression(kind: ReadKind, why: &str, document: Document) -> Self {
        let name = kind.as_str();
        Misread {
            why: format!("the profile's expression read.{name} {why}"),
            settings: vec![format!("read.{name}")],
            document: Box::new(document),
        }
    }

    pub(super) fn of_object(kind: ReadKind, why: String, document: Document) -> Self {
        let name = kind.as_str();
        let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
            "an"
        } else {
            "a"
        };
        Misread {
            why: format!("the answer cannot be read as {article} {name}: {why}"),
            settings: vec![format!("read.{name}")],
            document: Box::new(document),
        }
    }

    pub(super) fn of_list(kind: ReadKind, shape: Shape, why: NotFound, document: Document) -> Self {
        let (_, nouns) = shape.nouns();
        let why = match why {
            NotFound::Ambiguous(places) => format!(
                "the answer has {nouns} at `{}`, and nothing says which of them are meant",
                places.join("` and at `")
            ),
            NotFound::Unreadable { place, elements } => format!(
                "the answer has {} at `{place}`, and none of them has {}",
                counted(elements),
                shape.mark()
            ),
            NotFound::Elsewhere { empty, lists } => {
                let lists: Vec<String> = lists
                    .iter()
                    .map(|(place, elements)| format!("{} at `{place}`", counted(*elements)))
                    .collect();
                format!(
                    "the answer has no {nouns} at `{empty}`, and {}: nothing says which of them are meant",
                    lists.join(" and ")
                )
            }
            NotFound::NoList => format!("the answer has no list of {nouns}"),
        };
        Misread {
            why,
            settings: vec![
                format!("{}_field", kind.as_str()),
                format!("read.{}", kind.as_str()),
            ],
            document: Box::new(document),
        }
    }

    /// The error that reaches a person: exit 15. The document is its body.
    pub(crate) fn into_error(self) -> Error {
        let settings = self.settings.join("` or `");
        let mut error = Error::new(Code::UnexpectedAnswer, self.why).hint(format!(
            "if the service names it differently, set `{settings}` with `bookctl profile set`; `bookctl api` shows the \
             whole answer"
        ));
        error.body = Some(*self.document);
        error
    }
}

fn counted(elements: usize) -> String {
    plural(elements, "element", "elements")
}
