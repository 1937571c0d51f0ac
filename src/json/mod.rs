//! JSON documents as another program wrote them.

mod document;
mod lenient;

pub(crate) use document::{Document, plain};
