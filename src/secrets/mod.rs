//! API keys: what they are wrapped in, and where they come from.

mod secret;

pub(crate) use secret::Secret;
