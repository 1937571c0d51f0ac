//! How results reach a person or a pipe.

pub(crate) mod json;
pub(crate) mod visible;
pub(crate) mod width;
