//! The lists that are remembered.

/// A list whose rows `@N` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecentList {
    Venues,
    Slots,
    Bookings,
    /// Attempts at all services.
    Attempts,
    /// The booking that was made or shown last.
    LastBooking,
    /// The venue whose slots were shown last.
    LastVenue,
    /// The session that was made or shown last.
    LastSession,
    /// The number of the last received event whose booking the journal took in.
    TakenIn,
    /// The day on which a person was last reminded of open attempts.
    Reminded,
    /// Those that a sandbox has answered.
    Requests,
    Deliveries,
    /// Those that listeners on this computer have received.
    Events,
}

impl RecentList {
    /// Whether each terminal has a list of its own, so that what another one lists moves no `@N` of this one.
    pub(super) fn is_of_a_terminal(self) -> bool {
        !matches!(self, RecentList::TakenIn | RecentList::Reminded)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            RecentList::Venues => "venues",
            RecentList::Slots => "slots",
            RecentList::Bookings => "bookings",
            RecentList::Attempts => "attempts",
            RecentList::LastBooking => "last booking",
            RecentList::LastVenue => "last venue",
            RecentList::LastSession => "last session",
            RecentList::TakenIn => "taken in",
            RecentList::Reminded => "reminded",
            RecentList::Requests => "requests",
            RecentList::Deliveries => "deliveries",
            RecentList::Events => "events",
        }
    }
}
