//! What a person or a script sees: questions, pages and documents.

pub(crate) mod output;
pub(crate) mod prompt;
pub(crate) mod view;
