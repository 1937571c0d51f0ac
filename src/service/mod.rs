//! What is said over HTTP: the client, how a service's documents become ours (`mapping`), the
//! documents themselves, and times.

pub(crate) mod client;
pub(crate) mod documents;
pub(crate) mod mapping;
pub(crate) mod time;
