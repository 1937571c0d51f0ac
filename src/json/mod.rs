//! JSON documents of other programs.

mod body;
mod document;

pub(crate) use body::{body_text, gunzipped, read_body};
pub(crate) use document::{Document, escape, parsed, plain};
