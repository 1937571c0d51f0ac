//! What the rest stands on, and what knows nothing of bookings: files of SQLite, a server for HTTP/1.

pub(crate) mod http1;
pub(crate) mod sqlite;
