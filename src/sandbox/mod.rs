//! The booking service itself, offline: seeded venues, rules, store and HTTP surface.

pub(crate) mod seed;
