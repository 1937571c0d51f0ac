//! JSON documents of other programs.

mod document;
mod lenient;

pub(crate) use document::{Document, parsed, plain};
