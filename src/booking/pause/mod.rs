//! What a booking waits for, and how it is answered: one-time codes, payments, other fields.

pub(crate) mod answer;
pub(crate) mod continue_;
pub(crate) mod prompts;
