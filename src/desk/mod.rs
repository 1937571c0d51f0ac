//! `bookctl desk`: one screen for support, over the bookings that this computer or the team knows.
//! It draws and dispatches; what it shows and does is there already.

mod action;
mod layout;
mod list;
mod reads;

use std::pin::Pin;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::app::in_flight::InFlight;
use crate::app::{self, Parts};
use crate::booking::finish;
use crate::booking::watch::wait;
use crate::journal::recent::RecentList;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::key::Key;
use crate::platform::signals::EndSignals;
use crate::service::documents::Booking;
use crate::terminal::output::StreamStyle;
use crate::terminal::prompt::{FullScreen, Line, Size, discard, wait_for_enter};
use action::CardAction;
use list::{Entry, List};
use reads::Reads;

/// Find, watch and change bookings on one live screen
///
/// Shows what waits for an answer with its countdown, unresolved requests, today's and coming
/// bookings, then earlier ones. Type to search. Enter opens a booking's card; there, a letter runs
/// a command with its usual questions. `?` lists the keys, Ctrl-C leaves.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl desk\n  \
    bookctl desk --profile shop")]
pub(crate) struct Args {}

/// How often the journal is read again: others write to it, too.
const READ_AGAIN: Duration = Duration::from_secs(5);
/// How often the clock and the terminal's size are looked at.
const TICK: Duration = Duration::from_millis(200);
/// The rows or lines that a page key goes over.
const PAGE: usize = 10;

enum Step {
    Stay,
    Leave,
    Suspend,
    Act(CardAction),
}

type Reading<'a> = Pin<Box<dyn Future<Output = Result<Booking>> + 'a>>;

struct Desk<'a> {
    parts: &'a Parts,
    clock: Box<dyn Fn() -> Timestamp + 'a>,
    style: StreamStyle,
    search: Line,
    list: List,
    card: Vec<String>,
    /// The width and the second for which they were made, until something else is to be shown.
    card_for: Option<(usize, i64)>,
    top: usize,
    /// Whether the card has the keys.
    is_open: bool,
    shows_keys: bool,
    message: Option<String>,
    reads: Reads,
    reading: Option<(String, Reading<'a>)>,
    /// Why bookings are not up to date, each until it is read.
    troubles: Vec<Trouble>,
}

struct Trouble {
    id: String,
    why: String,
    /// Whether another booking would not be up to date either, until one is.
    is_general: bool,
}

/// What ends the desk between two commands says nothing of those before.
fn closed() -> InFlight {
    InFlight::Other("the desk was closed".to_owned(), "bookctl desk".to_owned())
}

pub(crate) async fn run(parts @ Parts { api, ui, .. }: &Parts, _: Args) -> Result<Exit> {
    let no_terminal = (!ui.out.is_terminal()).then_some("standard output is not one");
    if let Some(why) = ui.prompter.why_no_screen().or(no_terminal) {
        let what = format!("the desk needs a terminal: {why}");
        return Err(Error::usage(what).hint("list them with `bookctl bookings`"));
    }
    let mut signals = app::listen_for_signals()?;
    api.in_flight.replace(closed());
    let mut desk = Desk {
        parts,
        clock: Box::new(api.facts.live_clock()),
        style: ui.out.stderr_style(),
        search: Line::default(),
        list: List::default(),
        card: Vec::new(),
        card_for: None,
        top: 0,
        is_open: false,
        shows_keys: false,
        message: None,
        reads: Reads::new(Instant::now()),
        reading: None,
        troubles: Vec::new(),
    };
    parts.records.expect_known_clock()?;
    desk.read()?;
    loop {
        ui.out.capture(true);
        let step = desk.next_step(&mut signals).await;
        ui.out.capture(false);
        match step? {
            Step::Act(letter) => desk.act(letter, &mut signals).await?,
            _ => return Ok(Exit::Done),
        }
    }
}

impl Desk<'_> {
    /// Draws and takes keys until something is to be done outside of the screen.
    async fn next_step(&mut self, signals: &mut EndSignals) -> Result<Step> {
        let mut screen = FullScreen::open()?;
        let mut read_at = Instant::now();
        loop {
            // Take in all that was typed first, and look for it once.
            let mut key = screen.waiting().await?;
            // Enter opens a row that was visible, or the first one that a search finds.
            if key.is_none_or(|key| key == Key::Enter && self.list.is_stale) {
                self.draw(&mut screen)?;
                if self.list.is_stale || read_at.elapsed() > READ_AGAIN {
                    read_at = Instant::now();
                    match self.read() {
                        Err(error) if error.code == Code::Interrupted => return Err(error),
                        // A shared journal may be back the next time.
                        Err(error) => self.message = Some(error.message.clone()),
                        Ok(()) => {}
                    }
                    self.draw(&mut screen)?;
                }
            }
            if key.is_none() {
                self.read_next();
                let reading = &mut self.reading;
                tokio::select! {
                    pressed = screen.key() => {
                        key = pressed?;
                        if key.is_none() {
                            return Err(Error::interrupted(Exit::HungUp));
                        }
                    }
                    exit = signals.next() => {
                        return match exit {
                            Exit::Interrupted => Ok(Step::Leave),
                            other => Err(Error::interrupted(other)),
                        };
                    }
                    read = async { Some(reading.as_mut()?.1.as_mut().await) }, if reading.is_some() => {
                        self.take_in(read);
                    }
                    () = tokio::time::sleep(TICK) => {}
                }
            }
            match key.map_or(Step::Stay, |key| self.press(key)) {
                Step::Stay => {}
                Step::Suspend => screen.suspend()?,
                step => return Ok(step),
            }
        }
    }

    fn read(&mut self) -> Result<()> {
        let now = (self.clock)();
        self.list.read(self.parts, &self.search.text, now)?;
        if let Some(id) = self.list.gone.take().filter(|_| self.is_open) {
            (self.is_open, self.top) = (false, 0);
            self.message = Some(format!("Closed: {id} is no longer listed."));
        }
        if let Some(wording) = self.parts.ui.out.held() {
            self.message = Some(wording);
        }
        self.card_for = None;
        Ok(())
    }

    /// Begins to read the booking that is due at the service. An open card does not wait for a row.
    fn read_next(&mut self) {
        // At the start the service is not known yet: what is selected is read at once.
        let is_displayed = self.is_open || self.reads.is_hurried;
        let open = self.list.entry().filter(|_| is_displayed).and_then(Entry::booking);
        let open = open.map(|stored| stored.booking.id());
        let is_busy = self.reading.as_ref().is_some_and(|(id, _)| Some(&**id) == open);
        if is_busy || self.reading.is_some() && !self.reads.is_hurried {
            return;
        }
        let failed = self.trouble().map(|it| it.id.clone());
        let failed =
            failed.iter().map(|id| reads::Row { id, age: Duration::MAX, due: reads::OFTEN });
        let rows = self.list.may_have_changed().chain(failed);
        let Some(id) = self.reads.next(open, rows, Instant::now()) else { return };
        let (named, api) = (id.clone(), &self.parts.api);
        self.reading = Some((id, Box::pin(async move { wait::read_now(api, &named).await })));
    }

    fn take_in(&mut self, read: Option<Result<Booking>>) {
        let (Some((id, _)), Some(read)) = (self.reading.take(), read) else { return };
        let Parts { api, records, ui, .. } = self.parts;
        // What was noted meanwhile is on the card.
        drop(ui.out.held());
        self.reads.limit = api.client().ok().and_then(|it| it.rate_limit.get()).flatten();
        let is_key = |exit| matches!(exit, Exit::Unauthorized | Exit::NotAllowed);
        let failed = match read {
            Err(error) => {
                let is_general = wait::passes(&error) || is_key(error.exit);
                Some((error.message.clone(), is_general))
            }
            Ok(booking) => {
                let verdict = finish::store_and_judge(records, &booking);
                // What it shows otherwise is on its card, but another booking is not stored.
                let why = verdict.refusal.filter(|_| verdict.is_another).map(|why| (why, false));
                why.or_else(|| Some((verdict.unstored?.message.clone(), true)))
            }
        };
        self.list.is_stale = true;
        self.troubles.retain(|it| it.id != id && (failed.is_some() || !it.is_general));
        self.troubles.extend(failed.map(|(why, is_general)| Trouble { id, why, is_general }));
    }

    fn trouble(&self) -> Option<&Trouble> {
        let selected = self.list.entry().map(Entry::id);
        self.troubles.iter().rev().find(|it| it.is_general || selected == Some(&it.id))
    }

    fn press(&mut self, key: Key) -> Step {
        self.message = None;
        self.reads.last_key = Instant::now();
        match key {
            Key::Interrupt => return Step::Leave,
            Key::Suspend => return Step::Suspend,
            _ => {}
        }
        if std::mem::take(&mut self.shows_keys) {
            return Step::Stay;
        }
        match (self.is_open, key) {
            (_, Key::Char('?')) => self.shows_keys = true,
            (false, Key::Enter) => self.open(),
            (false, Key::Escape) => {
                self.search = Line::default();
                self.list.searched();
            }
            (false, key) => {
                let last = self.list.len().saturating_sub(1);
                // In a line that is typed, Home and End are its own.
                let is_line_key =
                    matches!(key, Key::Home | Key::End) && !self.search.text.is_empty();
                let selected = moved(self.list.selected, key, last).filter(|_| !is_line_key);
                if let Some(selected) = selected {
                    self.list.selected = selected;
                    (self.card_for, self.top) = (None, 0);
                } else if self.search.press(key) {
                    self.list.searched();
                }
            }
            (true, Key::Escape | Key::BackTab) => {
                (self.is_open, self.card_for, self.top) = (false, None, 0);
            }
            (true, Key::Char(letter)) => return self.chosen(letter),
            (true, key) => {
                self.top = moved(self.top, key, self.card.len()).unwrap_or(self.top);
            }
        }
        Step::Stay
    }

    fn open(&mut self) {
        let Some(entry) = self.list.entry() else {
            return;
        };
        if let Some(stored) = entry.booking() {
            self.parts.records.remember_last(RecentList::LastBooking, stored.booking.id());
            self.reads.is_hurried = true;
        }
        (self.is_open, self.card_for, self.top) = (true, None, 0);
    }

    fn chosen(&mut self, letter: char) -> Step {
        let Some(entry) = self.list.entry() else {
            return Step::Stay;
        };
        let (api, now) = (&self.parts.api, (self.clock)());
        self.message = Some(match CardAction::for_letter(letter, entry, api, now) {
            Err(why) => why,
            // It is not for a request.
            Ok(CardAction::Refresh) => {
                self.reads.is_hurried = true;
                format!("Reading {} …", entry.id())
            }
            Ok(CardAction::CopyId) => action::copy(entry.id()),
            Ok(letter) => return Step::Act(letter),
        });
        Step::Stay
    }

    /// Runs a command below the shell's own lines, and waits until its output was read.
    async fn act(&mut self, letter: CardAction, signals: &mut EndSignals) -> Result<()> {
        let Some(entry) = self.list.entry() else {
            return Ok(());
        };
        // A status from before the command is no news after it.
        (self.reading, self.reads.is_hurried) = (None, true);
        // The rest of a line that was typed at the card answers no question.
        discard()?;
        self.parts.api.in_flight.take();
        let running = action::run(self.parts, letter, entry);
        let ended = tokio::select! {
            biased;
            exit = signals.next() => Err(Error::interrupted(exit)),
            ended = running => ended,
        };
        self.parts.ui.out.make_room();
        let in_flight = self.parts.api.in_flight.replace(closed());
        if let Err(error) = ended.map_err(|error| in_flight.explain(error, None)) {
            if matches!(error.exit, Exit::Terminated | Exit::HungUp | Exit::Quit) {
                return Err(error);
            }
            self.parts.ui.out.report(&error);
        }
        tokio::select! {
            biased;
            exit = signals.next() => match exit {
                Exit::Interrupted => {}
                other => return Err(Error::interrupted(other)),
            },
            read = wait_for_enter("Press Enter to go back to the desk. ") => read?,
        }
        self.list.is_stale = true;
        Ok(())
    }

    fn draw(&mut self, screen: &mut FullScreen) -> Result<()> {
        let size = Size::of_terminal();
        let now = (self.clock)();
        let foot = self.foot(size.usable());
        let parts = layout::areas(size, self.is_open, self.trouble().is_some(), foot.len());
        self.list.lay_out(parts.list.columns, now);
        let counts = self.list.entry().is_some_and(|it| it.deadline().is_some());
        let second = if counts { now.as_second() } else { 0 };
        let made_for = Some((parts.card.columns, second));
        if self.card_for != made_for {
            self.card = match self.list.entry() {
                Some(entry) => {
                    let page = layout::card_page(self.parts, entry, now, self.is_open)?;
                    layout::drawn(&page, self.style, parts.card.columns)
                }
                None => Vec::new(),
            };
            self.card_for = made_for;
        }
        let (lines, cursor) = self.lines(&parts, size, foot);
        Ok(screen.draw(&lines, cursor, size)?)
    }
}

/// Where a key moves to, among places up to `last`. `None` if it is a key that does not move.
fn moved(at: usize, key: Key, last: usize) -> Option<usize> {
    Some(match key {
        Key::Up => at.saturating_sub(1),
        Key::Down => (at + 1).min(last),
        Key::PageUp => at.saturating_sub(PAGE),
        Key::PageDown => (at + PAGE).min(last),
        Key::Home => 0,
        Key::End => last,
        _ => return None,
    })
}
