//! Views of the service's documents that several commands emit.

#[cfg(test)]
mod any_shape_tests;
mod booking;
mod fields;
mod local_bookings;
mod next_step;
mod pause;
mod request;
mod slot_list;
mod terms;
mod timeline;
mod venue_list;

pub(crate) use booking::{BookingView, pause_page};
pub(crate) use fields::Fields;
pub(crate) use local_bookings::{BookingList, LocalBookings, OpenBookings, RowParts, row_lines};
pub(crate) use pause::{AskedField, asked_fields};
pub(crate) use request::RequestView;
pub(crate) use slot_list::{SlotDetails, SlotList, slot_line};
pub(crate) use terms::TermsReader;
pub(crate) use timeline::{Timeline, TimelineRow};
pub(crate) use venue_list::{VenueList, venue_line, venue_place};

use crate::model::booking::Status;
use crate::terminal::output::Tone;

/// A sentence with its first letter in upper case.
pub(crate) fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

pub(crate) fn tone_of(status: &Status) -> Tone {
    match status {
        Status::Confirmed => Tone::Good,
        Status::RequiresAction | Status::Processing => Tone::Warn,
        Status::Failed | Status::Expired => Tone::Bad,
        Status::Cancelled => Tone::Dim,
        Status::Other(_) => Tone::Strong,
    }
}
