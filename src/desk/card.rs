//! The card of the selected row.

use jiff::Timestamp;

use super::list::Entry;
use crate::app::Parts;
use crate::booking::finish;
use crate::booking::show::{add_timeline, history};
use crate::booking::verdict::compared;
use crate::journal::Attempt;
use crate::outcome::Result;
use crate::outcome::word::Word;
use crate::service::time::duration::in_units;
use crate::service::time::text::to_the_second;
use crate::terminal::output::{Page, Tone, View};

pub(super) fn page(
    Parts { api, records, ui, .. }: &Parts,
    entry: &Entry,
    now: Timestamp,
    is_open: bool,
) -> Result<Page> {
    let stored = match entry {
        Entry::Request(attempt, venue) => return Ok(request_page(attempt, venue)),
        Entry::Booking(stored) => stored,
    };
    let mut view = finish::booking_view(&api.facts, records, ui, &stored.booking);
    view.now = now;
    let mut page = Page::default();
    let seen = stored.age().as_secs();
    if seen >= 60 {
        page.labelled(Tone::Warn, "as seen", format!("{} ago", in_units(seen / 60 * 60)));
    }
    let found = compared(records, &stored.wish(), &stored.booking, false);
    for difference in finish::differences(&stored.booking, &found) {
        page.labelled(Tone::Warn, "warning", difference);
    }
    view.draw(&mut page);
    let mut page = page.without_commands();
    if is_open {
        let rows =
            history::timeline(&api.facts, records, stored.booking.id(), Some(&stored.booking))?;
        page.line("");
        add_timeline(&mut page, &rows);
    }
    Ok(page)
}

fn request_page(attempt: &Attempt, venue: &str) -> Page {
    let wish = attempt.wish();
    let mut page = Page::default();
    page.heading(Tone::Warn, Word::UNRESOLVED.human, &attempt.idempotency_key);
    page.sentence("The result of this request is not known. The booking may exist: find out before you book again.");
    page.field_if("guest", wish.guest());
    page.field_if("phone", wish.text("customer.phone"));
    page.field_if("party", wish.text("party_size"));
    page.field("venue", venue);
    page.field_if("when", wish.time_text());
    page.field("started", to_the_second(&attempt.created_at));
    page
}
