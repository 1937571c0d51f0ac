//! What is certain of a service before it has said anything.

/// How much of the contract is known to hold at a service: what a whole number means as an amount,
/// and which provider can change bookings, is said by no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// The whole contract: a sandbox of bookctl keeps it.
    Contract,
    /// What the specification states, and nothing more.
    Specification,
}
