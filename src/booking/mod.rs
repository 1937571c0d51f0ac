//! Bookings: a folder for each command, with its flow beside it.

pub(crate) mod arguments;
pub(crate) mod attempts;
pub(crate) mod batch;
pub(crate) mod book;
pub(crate) mod change;
pub(crate) mod confirmation;
pub(crate) mod find;
pub(crate) mod finish;
pub(crate) mod pause;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod terms;
pub(crate) mod verdict;
pub(crate) mod watch;
