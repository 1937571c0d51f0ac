//! The JSON documents, with the fields in the order of the contract.

pub(crate) mod booking;
pub(crate) mod id;
pub(crate) mod moment;
pub(crate) mod session;
pub(crate) mod slot;
pub(crate) mod venue;
