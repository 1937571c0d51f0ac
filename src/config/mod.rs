//! Settings: a flag overrides the environment, then come the file and the default.

mod base_url;
mod edit;
pub(crate) mod environment;
mod file;
mod paths;
mod setting;
mod target;

pub(crate) use base_url::BaseUrl;
pub(crate) use edit::{ConfigEdit, edit, profile_name};
pub(crate) use environment::Environment;
pub(crate) use file::{ConfigFile, Profile, SANDBOX_PROFILE};
pub(crate) use paths::Paths;
pub(crate) use setting::{Assignment, setting};
pub(crate) use target::{
    Place, Service, ServiceNeed, SharedJournal, Target, TargetOptions, journal_address, resolve,
};
