//! What is read from the service's documents, and times. Unknown fields are kept by whoever shows them.

pub(crate) mod booking;
pub(crate) mod document;
pub(crate) mod money;
pub(crate) mod slot;
pub(crate) mod venue;
