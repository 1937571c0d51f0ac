//! The service as another service would speak: an adapter between the contract's shapes and those of a file.
//!
//! Requests are translated into the contract's shape before they are handled, answers and events out of it. It shares
//! no code with the client's adapter, which does the same the other way round.

mod answer;
mod dialect;
mod file;
mod kind;
mod page;
mod path;
mod request;
mod scalars;
mod speech;

pub(crate) use answer::Spoken;
pub(crate) use file::BUILT_IN;
pub(crate) use kind::{AnswerKind, RequestKind};
pub(crate) use page::{Page, PageQuery};
pub(crate) use request::WrongField;
pub(crate) use speech::Speech;
