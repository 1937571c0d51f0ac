//! A guest's account at a provider (`session`, `card`), and an organization's rate limits.

pub(crate) mod card;
pub(crate) mod limits;
pub(crate) mod session;
mod session_list;
