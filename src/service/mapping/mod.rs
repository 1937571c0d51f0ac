//! How a service's documents become ours: open names of the specification, other shapes.

pub(crate) mod dialect;
pub(crate) mod envelope_fields;
pub(crate) mod find;
pub(crate) mod kind;
pub(crate) mod locate;
pub(crate) mod names;
pub(crate) mod outline;
pub(crate) mod paging;
pub(crate) mod path;
pub(crate) mod profile_mapping;
pub(crate) mod read;
pub(crate) mod resource;
pub(crate) mod shape;
pub(crate) mod synonyms;
pub(crate) mod transport;
pub(crate) mod write;

pub(crate) use dialect::{Dialect, Pause, signing_service};
pub(crate) use envelope_fields::{envelope_fields, scalars};
pub(crate) use find::shallowest;
pub(crate) use kind::{ReadKind, WriteKind};
pub(crate) use names::{is_one_of, member};
pub(crate) use outline::{HOLE, Outline, jq_key, missing};
pub(crate) use paging::{NextPage, next_page, total};
pub(crate) use path::Path;
pub(crate) use profile_mapping::{Mapping, Setting, set_command};
pub(crate) use read::{List, Reading};
pub(crate) use shape::Shape;
