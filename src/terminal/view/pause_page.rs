//! A paused booking as it is shown before its prompts.

use serde_json::Value;

use super::booking::BookingView;
use super::fields::Fields;
use super::pause::pause;
use super::tone_of;
use crate::terminal::output::{Page, View};

/// A paused booking before the prompts: what is asked, with all that stands in the action.
pub(crate) fn pause_page(view: &BookingView<'_>) -> Page {
    let (booking, certainty) = (view.booking, view.certainty);
    let is_object = booking.next_action().is_some_and(Value::is_object);
    if !is_object {
        // What belongs to the action then stands anywhere in the booking.
        return view.page();
    }
    let mut page = Page::default();
    let fields = &mut Fields::of(booking.value());
    let venue = booking.str("venue_name").unwrap_or_default();
    page.heading(
        tone_of(&booking.status()),
        booking.status().as_str(),
        format!("{} · {venue}", booking.id()),
    );
    pause(
        &mut page,
        fields,
        booking,
        &view.dialect,
        view.now,
        certainty,
    );
    for (path, value) in fields.rest() {
        if path.starts_with("next_action") {
            page.field("other", format!("{path} = {value}"));
        }
    }
    page
}
