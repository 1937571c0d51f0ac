//! Lists of bookings: of the journal, of the service, and to pick from.

use std::collections::HashMap;
use std::iter;

use jiff::Timestamp;

use super::{numbered, tone_of};
use crate::journal::{Attempt, KeptBooking};
use crate::json::plain;
use crate::outcome::word::Word;
use crate::service::documents::booking::{Booking, Status};
use crate::service::documents::field_value::FieldValue;
use crate::service::time::document_time::DocumentTime;
use crate::service::time::text::{listed, relative, whole_seconds};
use crate::terminal::output::{Page, TableCell, Tone, cut, lines, visible};
use crate::terminal::prompt::countdown;

const HEADERS: [&str; 6] = ["guest", "when", "status", "party", "venue", "booking id"];
/// The letters by which ids are told apart.
const ID_END: usize = 4;
/// With fewer columns, a row has no weekday, so that more of the guest's name has room.
const NARROW: usize = 60;
/// The columns of a row that its status leaves to the guest and to the end of the id.
const BESIDE_STATUS: usize = 20;
/// A pipe has them in this order.
const PIPE: [usize; 6] = [5, 2, 4, 1, 0, 3];

/// What a row shows of a booking, or of what is to become one.
pub(crate) struct BookingRow {
    pub(crate) guest: String,
    /// On the venue's clock where its zone is known.
    pub(crate) time: FieldValue<DocumentTime>,
    pub(crate) time_mark: &'static str,
    pub(crate) status: TableCell,
    pub(crate) party: String,
    pub(crate) venue: String,
    pub(crate) id: String,
}

impl BookingRow {
    /// A request whose result is not known, with its venue's id.
    pub(crate) fn from_request(attempt: &Attempt) -> Self {
        let wish = attempt.wish();
        Self {
            guest: wish.guest().unwrap_or_default(),
            time: FieldValue::from_value(wish.get("datetime"), DocumentTime::read),
            time_mark: "",
            status: TableCell::from(Word::UNRESOLVED.human),
            party: wish.text("party_size").unwrap_or_default(),
            venue: wish.venue(),
            id: attempt.idempotency_key.clone(),
        }
    }

    /// The status of `booking`, and what is known of it. `now` is the service's time.
    fn from_booking(booking: &Booking, known: &Booking, now: Timestamp) -> Self {
        let (tone, word) = tone_and_word(booking, now);
        let party = known.value().get("party_size").map(plain);
        let marked = |field, text: Option<String>| Some(known.mark(field).to_owned() + &text?);
        let venue = known.venue_name();
        BookingRow {
            guest: marked("customer", known.guest()).unwrap_or_default(),
            time: known.time.clone(),
            time_mark: known.mark("datetime"),
            status: TableCell::toned(booking.status().as_str(), tone).in_short(Some(word)),
            party: marked("party_size", party).unwrap_or_default(),
            venue: venue.or_else(|| marked("venue_id", known.venue_id())).unwrap_or_default(),
            id: booking.id().to_owned(),
        }
    }

    pub(crate) fn from_recorded(stored: &KeptBooking, now: Timestamp) -> Self {
        let mut row = Self::from_booking(&stored.booking, &stored.fill_in(&stored.booking), now);
        // The record has the minute.
        if let (FieldValue::Read(time), Some(visit)) = (&mut row.time, stored.visit)
            && time.local_in(None).is_some_and(|it| it.second() == 0 && it != visit)
        {
            time.local = Some(visit);
        }
        if let Some(left) = time_left(&stored.booking, now) {
            row.status = row.status.in_short(Some(format!("waiting {left}")));
        }
        row
    }

    fn cells(self, now: Timestamp) -> Vec<TableCell> {
        let (full, short) = match &self.time {
            FieldValue::Absent => (String::new(), String::new()),
            FieldValue::Read(time) => (time.rfc3339(), listed(time, now)),
            FieldValue::NotUnderstood(text) => (text.clone(), text.clone()),
        };
        let mark = self.time_mark.to_owned();
        vec![
            self.guest.into(),
            TableCell::from(mark.clone() + &full).in_short(Some(mark + &short)),
            self.status,
            self.party.into(),
            self.venue.into(),
            self.id.into(),
        ]
    }
}

/// How long a booking still waits for an answer: `19:48 left`.
pub(crate) fn time_left(booking: &Booking, now: Timestamp) -> Option<String> {
    let until = booking.waits_until().filter(|until| *until > now)?;
    Some(format!("{} left", countdown(until.duration_since(now))))
}

/// Whether a list shows this word as the booking's status, or the word is the status.
pub(crate) fn is_listed_as(booking: &Booking, word: &str, now: Timestamp) -> bool {
    booking.status().as_str() == word || tone_and_word(booking, now).1 == word
}

/// The word for a person, of a list and of a card.
pub(crate) fn tone_and_word(booking: &Booking, now: Timestamp) -> (Tone, String) {
    let status = booking.status();
    if booking.is_overdue(now) {
        (Tone::Bad, Word::OVERDUE.human.to_owned())
    } else if status == Status::Failed && booking.may_stand() {
        (Tone::Bad, Word::FAILED_CHECK.human.to_owned())
    } else {
        (tone_of(&status), status.word().to_owned())
    }
}

/// Bookings of the journal, and when each was last seen. `now` is the service's time.
pub(crate) fn kept_page(stored: &[KeptBooking], now: Timestamp) -> Page {
    let rows = stored.iter().map(|stored| {
        let seen = stored.booking.left_at;
        let ago = seen.map(|seen| relative(seen, Timestamp::now()));
        let mut cells = BookingRow::from_recorded(stored, now).cells(now);
        cells.push(TableCell::from(seen.map(whole_seconds).unwrap_or_default()).in_short(ago));
        (cells, None)
    });
    let headers = [&HEADERS[..], &["last seen"]].concat();
    numbered(&headers, &PIPE, rows)
}

/// The organization's unfinished bookings, each with what this computer knows of it: the service
/// lists them without guest, venue and time.
pub(crate) fn open_page(bookings: &[(Booking, Booking)], now: Timestamp) -> Page {
    let rows = bookings.iter().map(|(booking, known)| {
        let mut cells = BookingRow::from_booking(booking, known, now).cells(now);
        cells.push(booking.str("provider").unwrap_or_default().into());
        cells.push(waiting_for(booking));
        (cells, None)
    });
    let headers = [&HEADERS[..], &["provider", "waiting for"]].concat();
    numbered(&headers, &PIPE, rows)
}

pub(crate) fn bookings_page(bookings: impl Iterator<Item = Booking>, now: Timestamp) -> Page {
    let rows = bookings.map(|booking| {
        let mut cells = BookingRow::from_booking(&booking, &booking, now).cells(now);
        cells.push(booking.str("provider").unwrap_or_default().into());
        cells.push(booking.str("error_code").unwrap_or_default().into());
        cells.push(waiting_for(&booking));
        cells
    });
    let mut page = Page::default();
    let more = ["id", "provider", "error", "waiting for"];
    let headers = [&HEADERS[..5], &more].concat();
    page.table(headers, rows.collect(), PIPE.into_iter().chain(6..9).collect());
    page
}

/// A booking on a line of its own: on a terminal this one, in a pipe the columns of a list.
pub(super) fn line_cells(
    booking: &Booking,
    line: Option<String>,
    now: Timestamp,
) -> Vec<(TableCell, usize)> {
    let cells = BookingRow::from_booking(booking, booking, now).cells(now);
    let code = booking.error_code().unwrap_or_default().into();
    let cells = PIPE.map(|at| cells[at].clone()).into_iter().chain([code]);
    let on_terminal = iter::once(line).chain(iter::repeat(None)).map(Option::unwrap_or_default);
    cells.zip(on_terminal).map(|(cell, line)| (cell.in_short(Some(line)), 0)).collect()
}

fn waiting_for(booking: &Booking) -> TableCell {
    booking.next_action().and_then(|it| it.get("message")).map(plain).unwrap_or_default().into()
}

/// The rows of a menu on a terminal of so many columns. Those that could not be told apart have the
/// end of their id. The filter of a menu looks at further lines too, which are not shown: at all of the
/// guest, the venue and the id.
pub(crate) fn row_lines(rows: Vec<BookingRow>, columns: usize, now: Timestamp) -> Vec<String> {
    let looks =
        |row: &BookingRow| (row.guest.clone(), format!("{:?}", row.time), row.venue.clone());
    let mut alike = HashMap::<_, usize>::new();
    rows.iter().for_each(|row| *alike.entry(looks(row)).or_default() += 1);
    let whole = |row: &BookingRow| format!("{} {} {}", row.guest, row.venue, row.id);
    let found: Vec<String> = rows.iter().map(whole).collect();
    let cells = rows.into_iter().map(|row| {
        let end = row.id.char_indices().nth_back(ID_END - 1).map_or(0, |(at, _)| at);
        let end = (alike[&looks(&row)] > 1).then(|| format!(" …{}", &row.id[end..]));
        let time = match &row.time {
            FieldValue::Read(time) if columns < NARROW => listed(time, now),
            _ => String::new(),
        };
        let without_weekday = time.split_once(' ').map(|(_, time)| row.time_mark.to_owned() + time);
        let mut cells = row.cells(now);
        if without_weekday.is_some() {
            cells[1] = TableCell::from("").in_short(without_weekday);
        }
        if let Some(end) = end {
            let room = columns.saturating_sub(BESIDE_STATUS + cells[1].visible_text().len());
            let status = cut(&cells[2].visible_text(), room);
            cells[2] = TableCell::toned(status + &end, Tone::Warn);
        }
        cells
    });
    let cells: Vec<_> = cells.collect();
    // A menu marks the row that is selected, and leaves the last column free.
    let lines = lines(&HEADERS, &cells, columns.saturating_sub(3)).into_iter().zip(found);
    lines.map(|(line, found)| format!("{line}\n{}", visible(&found))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use console::measure_text_width;
    use serde_json::json;

    fn now() -> Timestamp {
        "2026-11-24T12:00:00Z".parse().unwrap()
    }

    fn time(text: &str) -> FieldValue<DocumentTime> {
        FieldValue::Read(DocumentTime::parse(text).unwrap())
    }

    fn row(guest: &str, id: &str) -> BookingRow {
        BookingRow {
            guest: guest.to_owned(),
            venue: "Crêperie de la Marée Haute 東京タワー".to_owned(),
            time: time("2026-11-27T18:00:00+01:00"),
            time_mark: "",
            status: TableCell::from("requires_action").in_short(Some("waiting".to_owned())),
            party: "2".to_owned(),
            id: id.to_owned(),
        }
    }

    #[test]
    fn row_of_menu_is_one_line_with_guest_first_and_id() {
        let rows = || vec![row("Twin", "bk_1"), row("Ada Lovelace", "bk_38g23bs9ph9a0")];
        for (columns, starts, ends) in [
            (40, "Ada Lovelace  27 Nov 18:00", "waiting"),
            (80, "Ada Lovelace  Fri 27 Nov 18:00  waiting  2      Crêp", "…"),
            (200, "Ada Lovelace  Fri 27 Nov 18:00", "東京タワー  bk_38g23bs9ph9a0"),
        ] {
            let lines = row_lines(rows(), columns, now());
            let displayed = lines[1].lines().next().unwrap();
            assert!(displayed.starts_with(starts), "{displayed}");
            assert!(displayed.ends_with(ends), "{displayed}");
            assert!(measure_text_width(displayed) < columns - 2, "{displayed}");
            let found = lines[1].contains("東京タワー bk_38g23bs9ph9a0");
            assert!(found, "what is cut is found all the same");
        }
    }

    #[test]
    fn rows_that_look_the_same_have_the_ends_of_their_ids() {
        let rows = ["bk_38g23bscfz2et", "bk_2", "bk_3"].into_iter().zip(["Twin", "Twin", "Single"]);
        let lines = row_lines(rows.map(|(id, guest)| row(guest, id)).collect(), 80, now());
        let displayed = |line: usize| lines[line].lines().next().unwrap();
        for (line, part) in [(0, "waiting …z2et  2"), (1, "waiting …bk_2"), (2, "waiting        2")]
        {
            assert!(displayed(line).contains(part), "{lines:?}");
            assert!(
                displayed(line).contains("Crêperie") && !displayed(line).contains("38g23"),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn long_cells_are_cut_and_the_end_of_an_id_stays() {
        let long = || BookingRow {
            time: time("2027-11-27T18:00:00+01:00"),
            ..row("Maximiliane Oberhuber-Lindqvist", "bk_38g23bs9ph9a0")
        };
        for (columns, guest, status) in [
            (40, "Maximi… ", "wa… …h9a0"),
            (65, "Maximilia", "waiting …h9a0"),
            (80, "Maximilia", "waiting …h9a0"),
        ] {
            let lines = row_lines(vec![long(), long()], columns, now());
            let displayed = lines[0].lines().next().unwrap();
            assert!(measure_text_width(displayed) <= columns - 3, "{displayed}");
            let cut = displayed.starts_with(guest) && displayed.contains(status);
            assert!(cut && !displayed.contains("bk_"), "{displayed}");
        }
    }

    #[test]
    fn a_booking_whose_time_to_answer_is_over_is_overdue() {
        let booking = |expires_at: &str| {
            let waits =
                json!({"id": "bk_1", "status": "requires_action", "expires_at": expires_at});
            let booking = Booking::from_document(waits.into()).unwrap();
            BookingRow::from_booking(&booking, &booking, now()).cells(now())
        };
        for (expires_at, word) in
            [("2026-11-24T12:00:00Z", "overdue"), ("2026-11-24T12:00:01Z", "waiting")]
        {
            let displayed = lines(&HEADERS, &[booking(expires_at)], 80);
            assert!(displayed[0].starts_with(word), "{displayed:?}");
        }
    }
}
