//! A guest's own account at a provider (`session`, `card`), and the rate limits of an organization
//! (`limits`).

pub(crate) mod card;
pub(crate) mod limits;
pub(crate) mod session;
mod session_list;
