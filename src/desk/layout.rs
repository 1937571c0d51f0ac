//! How the parts stand on a screen: beside each other if there is room, else above each other.

use jiff::Timestamp;

use super::Desk;
use super::action::LETTERS;
use super::list::{Entry, Group};
use crate::app::{Api, Parts};
use crate::booking::finish;
use crate::booking::show::{add_timeline, history};
use crate::booking::verdict::compared;
use crate::journal::Attempt;
use crate::outcome::Result;
use crate::outcome::word::Word;
use crate::service::documents::plural;
use crate::service::time::{in_units, to_the_second};
use crate::terminal::output::{Page, StreamStyle, Tone, View, cut, visible, wrap};
use crate::terminal::prompt::Size;

/// From this width the card stands beside the list.
const WIDE: usize = 120;
const BETWEEN: &str = " │ ";
/// The lines above the list: what is shown, and what is searched.
const HEAD: usize = 2;
/// With fewer lines below those, a list has them alone.
const LEAST_BODY: usize = 14;
const MOST_FOOT: usize = 4;
const SEARCH: &str = "Search: ";
const HINT: &str = " name, phone, email, venue or ID";

/// The parts of the screen. One without rows is not shown.
pub(super) struct Areas {
    pub(super) list: Size,
    pub(super) card: Size,
    head: usize,
}

/// Shares the screen out. `foot` is how many lines stand below.
pub(super) fn areas(size: Size, is_open: bool, has_trouble: bool, foot: usize) -> Areas {
    let columns = size.usable();
    let head = HEAD + usize::from(has_trouble);
    let body = size.rows.saturating_sub(head + foot);
    let part = |rows, columns| Size { rows, columns };
    let list = body * 11 / 20;
    let (list, card) = if columns + 1 >= WIDE {
        let list = columns * 11 / 20;
        let card = columns - list - BETWEEN.chars().count();
        (part(body, list), part(body, card))
    } else if is_open {
        (part(0, columns), part(body, columns))
    } else if body < LEAST_BODY {
        (part(body, columns), part(0, columns))
    } else {
        // A line is between them.
        (part(list, columns), part(body - list - 1, columns))
    };
    Areas { list, card, head }
}

impl Desk<'_> {
    pub(super) fn lines(
        &mut self,
        parts: &Areas,
        size: Size,
        foot: Vec<String>,
    ) -> (Vec<String>, Option<(usize, usize)>) {
        let (columns, style) = (size.usable(), self.style);
        let (search, at) = self.search.view(columns.saturating_sub(SEARCH.len()));
        let hint = match (search.as_str(), self.is_open) {
            (_, true) => " · Esc searches, letters act on the open card",
            ("", false) => HINT,
            _ => "",
        };
        let hint = style.paint(Tone::Dim, &cut(hint, columns.saturating_sub(SEARCH.len() + at)));
        let mut lines = vec![self.head(columns), format!("{SEARCH}{search}{hint}")];
        lines.extend(self.trouble().map(|trouble| {
            let line = format!("Not up to date: {}", visible(&trouble.why));
            style.paint(Tone::Bad, &cut(&line, columns))
        }));
        let body = size.rows.saturating_sub(parts.head + foot.len());
        let list = self.list_lines(parts.list);
        let card = self.card_lines(parts.card.rows);
        if self.shows_keys {
            lines.extend(drawn(&keys(), style, columns).into_iter().take(body));
        } else if parts.list.columns < columns {
            let between = style.paint(Tone::Dim, BETWEEN);
            for row in 0..body {
                let left = list.get(row).map_or("", String::as_str);
                let blanks = parts.list.columns.saturating_sub(console::measure_text_width(left));
                let right = card.get(row).map_or("", String::as_str);
                lines.push(format!("{left}{:blanks$}{between}{right}", ""));
            }
        } else {
            lines.extend(list);
            if parts.list.rows > 0 && parts.card.rows > 0 {
                lines.resize(parts.head + parts.list.rows, String::new());
                lines.push(style.paint(Tone::Dim, &"─".repeat(columns)));
            }
            lines.extend(card);
        }
        lines.resize(parts.head + body, String::new());
        lines.extend(foot);
        let is_typing = !self.is_open && !self.shows_keys;
        (lines, is_typing.then_some((1, SEARCH.len() + at)))
    }

    fn head(&self, columns: usize) -> String {
        let counted = [
            (Group::CallVenue, "to call"),
            (Group::Waiting, "waiting"),
            (Group::Unresolved, "unresolved"),
        ];
        let counts = counted.map(|(group, word)| (self.list.count(group), word));
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts = counts.map(|(count, word)| format!("{count} {word}"));
        let counts = counts.collect::<Vec<_>>().join(", ");
        let service = self.parts.api.facts.named_service();
        let service = service.as_deref().map_or("sandbox".into(), visible);
        let room = columns.saturating_sub(counts.len() + 2);
        let title = cut(&format!("bookctl desk · {service}"), room);
        let blanks = columns.saturating_sub(console::measure_text_width(&title) + counts.len());
        let title = self.style.paint(Tone::Strong, &title);
        let counts = self.style.paint(Tone::Strong, &counts);
        format!("{title}{:blanks$}{counts}", "")
    }

    fn list_lines(&self, part: Size) -> Vec<String> {
        let (list, style) = (&self.list, self.style);
        if list.lines.is_empty() {
            let what = match self.search.text.trim() {
                "" => "No bookings yet. Book one with `bookctl book`.".to_owned(),
                text => format!(
                    "Nothing matches \"{}\". Only bookings this computer knows were searched. One made elsewhere \
                     opens by its ID: bookctl show ID",
                    visible(text)
                ),
            };
            return wrap(&what, part.columns);
        }
        let mut places = list.lines.iter().map(|line| line.place);
        let at = places.position(|place| place == Some(list.selected));
        // In the middle, so that rows on both sides are visible.
        let top = at.unwrap_or_default().saturating_sub(part.rows / 2);
        let top = top.min(list.lines.len().saturating_sub(part.rows));
        let displayed = list.lines.iter().skip(top).take(part.rows).map(|line| match line.place {
            None => style.paint(line.tone, &line.text),
            Some(place) if place == list.selected => {
                format!("❯ {}", style.paint(Tone::Strong, &line.text))
            }
            Some(_) => format!("  {}", style.paint(line.tone, &line.text)),
        });
        displayed.collect()
    }

    /// The lines of the card that have room. Scrolling ends with the last one.
    fn card_lines(&mut self, rows: usize) -> Vec<String> {
        let most = self.card.len().saturating_sub(rows);
        self.top = self.top.min(most);
        let mut displayed: Vec<String> =
            self.card.iter().skip(self.top).take(rows).cloned().collect();
        if let Some(last) = displayed.last_mut().filter(|_| self.top < most) {
            let more = plural(most - self.top + 1, "more line", "more lines");
            let key = if self.is_open { "PgDn" } else { "Enter" };
            *last = self.style.paint(Tone::Dim, &format!("… {more}, {key}"));
        }
        displayed
    }

    /// What was just done, or else the keys of this place.
    pub(super) fn foot(&self, columns: usize) -> Vec<String> {
        if let Some(message) = &self.message {
            return wrap(&visible(message), columns).into_iter().take(MOST_FOOT).collect();
        }
        let mut text = "Enter open · ? keys · Ctrl-C leave".to_owned();
        match (self.is_open, self.list.entry()) {
            _ if self.shows_keys => "Any key goes back".clone_into(&mut text),
            (true, Some(entry)) => {
                text = card_keys(entry, &self.parts.api, (self.clock)());
            }
            _ if self.list.has_more => {
                let rows = plural(self.list.len(), "row", "rows");
                text += &format!(" · {rows} shown, search for more");
            }
            _ => {}
        }
        wrap(&text, columns).into_iter().map(|line| self.style.paint(Tone::Dim, &line)).collect()
    }
}

pub(super) fn drawn(page: &Page, style: StreamStyle, columns: usize) -> Vec<String> {
    let width = columns;
    page.render(&StreamStyle { width, ..style }).lines().map(str::to_owned).collect()
}

fn card_keys(entry: &Entry, api: &Api, now: Timestamp) -> String {
    let letters = LETTERS.iter().filter(|(letter, ..)| letter.is_for(entry, api, now));
    let letters = letters.map(|(_, key, word, ..)| format!("{key} {word}"));
    std::iter::once("Esc back".to_owned()).chain(letters).collect::<Vec<_>>().join(" · ")
}

fn keys() -> Page {
    let mut page = Page::default();
    page.field("letters", "Search by name, phone, email, venue or ID");
    page.field("Up, Down", "Select a row, or scroll a card");
    page.field("PgUp, PgDn", "The same by ten rows or lines");
    page.field("Home, End", "The first or the last row or line");
    page.field("Enter", "Open the card of the row");
    page.field("Esc", "Clear the search; leave the card");
    page.field("Ctrl-C", "Leave the desk");
    page.line("").sentence("At a card:");
    for (_, key, _, what, _) in LETTERS {
        page.field(key, what);
    }
    page
}

pub(super) fn card_page(
    parts: &Parts,
    entry: &Entry,
    now: Timestamp,
    is_open: bool,
) -> Result<Page> {
    let stored = match entry {
        Entry::Request(attempt, venue) => return Ok(request_page(attempt, venue)),
        Entry::Booking(stored) => stored,
    };
    let mut view = finish::booking_view(parts, &stored.booking);
    view.now = now;
    let mut page = Page::default();
    let seen = stored.age().as_secs();
    if seen >= 60 {
        page.labelled(Tone::Warn, "as seen", format!("{} ago", in_units(seen / 60 * 60)));
    }
    let found = compared(&parts.records, &stored.wish(), &stored.booking, false);
    for difference in finish::differences(&stored.booking, &found) {
        page.labelled(Tone::Warn, "warning", difference);
    }
    view.draw(&mut page);
    let mut page = page.without_commands();
    if is_open {
        let rows = history::timeline(parts, stored.booking.id(), Some(&stored.booking))?;
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
