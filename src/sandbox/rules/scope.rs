//! The scopes of API keys ("Authentication").

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    VenuesRead,
    BookingsRead,
    BookingsCreate,
    BookingsWrite,
    SessionsRead,
    SessionsWrite,
}

impl Scope {
    /// The word in the key list and in refusals.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::VenuesRead => "venues:read",
            Self::BookingsRead => "bookings:read",
            Self::BookingsCreate => "bookings:create",
            Self::BookingsWrite => "bookings:write",
            Self::SessionsRead => "sessions:read",
            Self::SessionsWrite => "sessions:write",
        }
    }
}
