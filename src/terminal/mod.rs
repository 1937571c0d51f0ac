//! The terminal: asking questions, and writing pages, tables and documents.

pub(crate) mod output;
pub(crate) mod prompt;
pub(crate) mod view;
