//! Where settings come from: flag > environment > file > default.

pub(crate) mod environment;
mod file;
mod paths;
mod target;

pub(crate) use environment::Environment;
pub(crate) use paths::Paths;
pub(crate) use target::{Target, Wishes, resolve};
