//! Why the state of a booking does not allow a request.

use super::error_code::ErrorCode;
use super::state::Status;

/// Why the state of a booking does not allow a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    /// The booking is not waiting for anything.
    NotPaused(Status),
    /// The code is wrong.
    InvalidOtp { attempts_left: u8 },
    /// The requested fields are missing: the name of each and its error.
    Unanswered(Vec<(String, String)>),
    /// The `psp_response` is not the one that was asked for.
    MalformedApproval,
    /// The payment was answered after its deadline.
    Late,
    /// Only a confirmed booking can be changed or cancelled.
    NotConfirmed(Status),
    /// The provider cannot modify.
    ModifyUnsupported,
    /// The venue refused the change.
    VenueRefused(ErrorCode),
}
