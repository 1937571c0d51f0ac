//! Where settings come from: flag > environment > file > default.

mod edit;
pub(crate) mod environment;
mod file;
mod paths;
mod target;

pub(crate) use edit::{ProfileName, edit};
pub(crate) use environment::Environment;
pub(crate) use file::{ConfigFile, Profile};
pub(crate) use paths::Paths;
pub(crate) use target::{BaseUrl, SANDBOX_PROFILE, Service, Target, Wishes, is_loopback, resolve};
