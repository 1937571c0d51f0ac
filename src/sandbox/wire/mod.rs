//! The documents of the wire, in the field order of the contract. Pure: values in, JSON out.

pub(crate) mod booking;
pub(crate) mod event;
pub(crate) mod id;
pub(crate) mod moment;
pub(crate) mod session;
pub(crate) mod slot;
pub(crate) mod venue;
