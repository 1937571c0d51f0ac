//! How a service's documents become ours: the names that the specification leaves open, and shapes that differ.

mod around;
mod as_it_came;
mod dialect;
mod find;
mod kind;
mod locate;
mod misread;
mod names;
mod outline;
mod paging;
mod path;
mod profile_adapter;
mod read;
mod resource;
mod shape;
mod transport;
mod write;

pub(crate) use around::{around, scalars};
pub(crate) use as_it_came::as_it_came;
pub(crate) use dialect::{Dialect, Pause, signing_service};
pub(crate) use find::{Search, shallowest};
pub(crate) use kind::{ReadKind, WriteKind};
pub(crate) use misread::Misread;
pub(crate) use names::{is_one_of, member, same_words};
pub(crate) use outline::{Outline, jq_key, missing};
pub(crate) use paging::{NextPage, next_page};
pub(crate) use path::Path;
pub(crate) use profile_adapter::Adapter;
pub(crate) use read::{List, Reading};
pub(crate) use shape::Shape;
