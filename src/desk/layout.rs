//! How the parts stand on a screen of any size: beside each other where there is room, else above each other.

use super::Focus;
use super::action::LETTERS;
use super::card::Card;
use super::list::{Entry, Group, List, ListLine};
use crate::service::documents::plural;
use crate::terminal::output::{StreamStyle, Tone, cut, visible, wrap};
use crate::terminal::prompt::{Line, Size};

/// From this width the card stands beside the list.
const WIDE: usize = 120;
/// What stands between them there.
const BETWEEN: &str = " │ ";
/// The lines above the list: what is shown, and what is searched.
const HEAD: usize = 2;
/// With fewer lines below those, a list has them alone.
const LEAST_BODY: usize = 14;

/// What is drawn.
pub(super) struct View<'a> {
    /// The service, unless it is the sandbox.
    pub(super) desk: Option<String>,
    pub(super) style: StreamStyle,
    pub(super) search: &'a Line,
    pub(super) list: &'a List,
    pub(super) card: Option<&'a mut Card>,
    pub(super) focus: Focus,
    pub(super) shows_keys: bool,
    pub(super) message: Option<&'a str>,
}

/// A part of the screen. One without rows is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

pub(super) struct Parts {
    pub(super) list: Part,
    pub(super) card: Part,
    foot: usize,
}

/// Shares the screen out.
pub(super) fn parts(size: Size, focus: Focus) -> Parts {
    let columns = size.usable();
    // Where the line of keys is longer, it takes two.
    let foot = if columns < 70 { 2 } else { 1 };
    let body = size.rows.saturating_sub(HEAD + foot);
    let part = |rows, columns| Part { rows, columns };
    let (list, card) = if columns + 1 >= WIDE {
        let list = columns * 11 / 20;
        let card = columns - list - BETWEEN.chars().count();
        (part(body, list), part(body, card))
    } else if focus == Focus::Card {
        (part(0, columns), part(body, columns))
    } else if body < LEAST_BODY {
        (part(body, columns), part(0, columns))
    } else {
        // A line is between them.
        let list = body * 11 / 20;
        (part(list, columns), part(body - list - 1, columns))
    };
    Parts { list, card, foot }
}

/// The lines of the screen, and the place of the cursor.
pub(super) fn draw(
    mut view: View<'_>,
    parts: &Parts,
    size: Size,
) -> (Vec<String>, Option<(usize, usize)>) {
    let style = view.style;
    let columns = size.usable();
    let (search, at) = view.search.view(columns.saturating_sub(SEARCH.len()));
    let mut lines = vec![head(&view, columns)];
    lines.push(match search.as_str() {
        "" => format!("{SEARCH}{}", style.paint(Tone::Dim, HINT)),
        _ => format!("{SEARCH}{search}"),
    });
    let body = size.rows.saturating_sub(HEAD + parts.foot);
    let list = list_lines(&view, parts.list);
    let card = view.card.as_mut();
    let card = card.map_or_else(Vec::new, |card| card.shown(parts.card.rows).to_vec());
    if view.shows_keys {
        lines.extend(keys(columns).into_iter().take(body));
    } else if parts.list.columns < columns {
        let width = parts.list.columns;
        for row in 0..body {
            let left = list.get(row).map_or("", String::as_str);
            let blanks = width.saturating_sub(console::measure_text_width(left));
            let right = card.get(row).map_or("", String::as_str);
            let between = style.paint(Tone::Dim, BETWEEN);
            lines.push(format!("{left}{:blanks$}{between}{right}", ""));
        }
    } else {
        let has_both = parts.list.rows > 0 && parts.card.rows > 0;
        lines.extend(list);
        if has_both {
            lines.resize(HEAD + parts.list.rows, String::new());
            lines.push(style.paint(Tone::Dim, &"─".repeat(columns)));
        }
        lines.extend(card);
    }
    lines.resize(HEAD + body, String::new());
    lines.extend(foot(&view, columns).into_iter().take(parts.foot));
    let is_typing = view.focus == Focus::List && !view.shows_keys;
    (lines, is_typing.then_some((1, SEARCH.len() + at)))
}

const SEARCH: &str = "Search: ";
const HINT: &str = " name, phone, email, venue or ID";

/// Whose bookings these are, and what is to be done.
fn head(view: &View<'_>, columns: usize) -> String {
    let counted = [
        (Group::Waiting, "waiting"),
        (Group::Unresolved, "unresolved"),
    ];
    let counts = counted.map(|(group, word)| (view.list.count(group), word));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, word)| format!("{count} {word}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let service = view.desk.as_deref().map_or("sandbox".into(), visible);
    let room = columns.saturating_sub(counts.len() + 2);
    let title = cut(&format!("bookctl desk · {service}"), room).into_owned();
    let blanks = columns.saturating_sub(console::measure_text_width(&title) + counts.len());
    let style = view.style;
    let (title, counts) = (
        style.paint(Tone::Strong, &title),
        style.paint(Tone::Warn, &counts),
    );
    format!("{title}{:blanks$}{counts}", "")
}

/// The lines around the selected row.
fn list_lines(view: &View<'_>, part: Part) -> Vec<String> {
    let (list, style) = (view.list, view.style);
    if list.lines.is_empty() {
        let what = match view.search.text.trim() {
            "" => "No bookings yet. Book one with `bookctl book`.".to_owned(),
            text => format!(
                "Nothing matches \"{}\". Only bookings this computer knows were searched. One made elsewhere opens by its \
                 ID: bookctl show ID",
                visible(text)
            ),
        };
        return wrap(&what, part.columns);
    }
    let is_selected =
        |line: &ListLine| matches!(line, ListLine::Row(place, ..) if *place == list.selected());
    let at = list.lines.iter().position(is_selected).unwrap_or_default();
    // In the middle, so that rows on both sides are visible.
    let top = at.saturating_sub(part.rows / 2);
    let top = top.min(list.lines.len().saturating_sub(part.rows));
    let shown = list.lines.iter().skip(top).take(part.rows);
    let line = |line: &ListLine| match line {
        ListLine::Heading(heading) => style.paint(Tone::Dim, heading),
        line @ ListLine::Row(_, text, _) if is_selected(line) => {
            format!("❯ {}", style.paint(Tone::Strong, text))
        }
        ListLine::Row(_, text, tone) => format!("  {}", style.tint(*tone, text)),
    };
    shown.map(line).collect()
}

/// What was just done, or else the keys of this place.
fn foot(view: &View<'_>, columns: usize) -> Vec<String> {
    if let Some(message) = view.message {
        return wrap(&visible(message), columns);
    }
    let text = match (view.focus, view.list.entry()) {
        _ if view.shows_keys => "Any key goes back".to_owned(),
        (Focus::Card, Some(entry)) => card_keys(entry),
        _ if view.list.has_more => {
            let rows = plural(view.list.len(), "row", "rows");
            format!("Enter open · ? keys · Ctrl-C leave · {rows} shown, search for more")
        }
        _ => "Enter open · ? keys · Ctrl-C leave".to_owned(),
    };
    let lines = wrap(&text, columns).into_iter();
    lines
        .map(|line| view.style.paint(Tone::Dim, &line))
        .collect()
}

/// The letters that do something at this card.
fn card_keys(entry: &Entry) -> String {
    let letters = LETTERS.iter().filter(|(letter, ..)| letter.is_for(entry));
    let letters = letters.map(|(_, key, word, _)| format!("{key} {word}"));
    let back = std::iter::once("Esc back".to_owned());
    back.chain(letters).collect::<Vec<_>>().join(" · ")
}

fn keys(columns: usize) -> Vec<String> {
    let here = [
        ("letters", "Search by name, phone, email, venue or ID"),
        (
            "↑ ↓",
            "Select a row; PgUp and PgDn move ten rows, or scroll a card",
        ),
        ("Enter", "Open the card of the row"),
        ("Esc", "Clear the search; leave the card"),
        ("Ctrl-C", "Leave the desk"),
        ("", ""),
        ("", "At a card:"),
    ];
    let here = here.map(|(key, what)| (key.to_owned(), what));
    let letters = LETTERS.map(|(_, key, _, what)| (key.to_string(), what));
    let mut lines = Vec::new();
    for (key, what) in here.into_iter().chain(letters) {
        let parts = wrap(what, columns.saturating_sub(12).max(12)).into_iter();
        let keys = std::iter::once(key.as_str()).chain(std::iter::repeat(""));
        lines.extend(
            keys.zip(parts)
                .map(|(key, part)| format!("  {key:9} {part}")),
        );
    }
    lines
}
