//! How a service's documents become ours: the names that the specification leaves open.

mod dialect;

pub(crate) use dialect::{Dialect, Pause, list};
