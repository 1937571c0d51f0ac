//! What connects a computer to a service: `auth`, `profile`, `doctor`.

pub(crate) mod auth;
pub(crate) mod doctor;
pub(crate) mod forget_secrets;
pub(crate) mod learn;
pub(crate) mod profile;
