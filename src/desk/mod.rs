//! `bookctl desk`: one screen for support, over the bookings that this computer or the team knows. It draws and dispatches; what
//! it shows and does is there already.

mod action;
mod card;
mod layout;
mod list;

use std::pin::Pin;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::app::{self, Context};
use crate::booking::watch::wait;
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::key::Key;
use crate::platform::signals::{Continued, EndSignals};
use crate::service::documents::booking::Booking;
use crate::terminal::output::StreamStyle;
use crate::terminal::prompt::{FullScreen, Line, Size, wait_for_enter};
use action::Letter;
use card::Card;
use list::{Entry, List};

/// Find, watch and change bookings on one live screen
///
/// Shows what waits for an answer with its countdown, unresolved requests, today's and coming bookings, then earlier ones.
/// Type to search. Enter opens a booking's card; there, a letter runs a command with its usual questions. `?` lists the keys,
/// Ctrl-C leaves.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl desk\n  \
    bookctl desk --profile shop")]
pub(crate) struct Args {}

/// How often the journal is read again: others write to it, too.
const READ_AGAIN: Duration = Duration::from_secs(5);
/// How often the clock and the terminal's size are looked at.
const TICK: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    List,
    Card,
}

/// What follows a key.
enum Step {
    Stay,
    Leave,
    Suspend,
    Act(Letter),
}

type Reading<'a> = Pin<Box<dyn Future<Output = Result<Booking>> + 'a>>;

struct Desk<'a> {
    context: &'a Context,
    clock: Box<dyn Fn() -> Timestamp + 'a>,
    style: StreamStyle,
    search: Line,
    list: List,
    card: Option<Card>,
    focus: Focus,
    shows_keys: bool,
    /// What the last key has done, until the next one.
    message: Option<String>,
    /// A booking that is read from the service.
    reading: Option<Reading<'a>>,
}

pub(crate) async fn run(context: &Context, _: Args) -> Result<Exit> {
    if let Some(why) = context.prompter.why_no_screen() {
        let what = format!("the desk needs a terminal: {why}");
        return Err(Error::usage(what).hint("list them with `bookctl bookings`"));
    }
    if !context.out.is_terminal() {
        let what = "the desk needs a terminal: standard output is not one";
        return Err(Error::usage(what).hint("list them with `bookctl bookings`"));
    }
    let mut signals = app::listen_for_signals()?;
    let mut desk = Desk {
        context,
        clock: Box::new(context.live_clock()),
        style: context.out.stderr_style(),
        search: Line::default(),
        list: List::default(),
        card: None,
        focus: Focus::List,
        shows_keys: false,
        message: None,
        reading: None,
    };
    desk.read()?;
    loop {
        context.out.hold();
        let step = desk.until_a_step(&mut signals).await;
        context.out.release();
        match step? {
            Step::Act(letter) => desk.act(letter, &mut signals).await?,
            _ => return Ok(Exit::Done),
        }
    }
}

fn of_terminal(error: std::io::Error) -> Error {
    Error::io("cannot use the terminal", error)
}

impl Desk<'_> {
    /// Draws and takes keys until something is to be done outside of the screen.
    async fn until_a_step(&mut self, signals: &mut EndSignals) -> Result<Step> {
        let mut screen = FullScreen::open().map_err(of_terminal)?;
        let mut continued = Continued::listen().map_err(of_terminal)?;
        let mut read_at = Instant::now();
        loop {
            // Take in all that was typed first, and look for it once.
            let mut key = screen.waiting().await.map_err(of_terminal)?;
            if key.is_none() {
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
                let reading = &mut self.reading;
                tokio::select! {
                    pressed = screen.key() => {
                        key = pressed.map_err(of_terminal)?;
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
                    () = continued.next() => screen.resume().map_err(of_terminal)?,
                    read = async { reading.as_mut()?.await.into() }, if reading.is_some() => {
                        self.take_in(read);
                    }
                    () = tokio::time::sleep(TICK) => {}
                }
            }
            match key.map_or(Step::Stay, |key| self.press(key)) {
                Step::Stay => {}
                Step::Suspend => screen.suspend().map_err(of_terminal)?,
                step => return Ok(step),
            }
        }
    }

    /// Reads the journal.
    fn read(&mut self) -> Result<()> {
        let now = (self.clock)();
        self.list.read(self.context, &self.search.text, now)?;
        if let Some(said) = self.context.out.held() {
            self.message = Some(said);
        }
        if let Some(card) = &mut self.card {
            card.is_old = true;
        }
        Ok(())
    }

    /// Stores a booking that was read from the service.
    fn take_in(&mut self, read: Option<Result<Booking>>) {
        self.reading = None;
        let Some(read) = read else { return };
        let stored = read.and_then(|booking| {
            self.context.journal()?.update(&booking)?;
            Ok(format!("{} is {}.", booking.id(), booking.status().word()))
        });
        self.message = Some(match stored {
            Ok(said) => said,
            Err(error) => format!("Not refreshed: {}", error.message),
        });
        self.list.is_stale = true;
    }

    fn press(&mut self, key: Key) -> Step {
        self.message = None;
        if key == Key::Interrupt {
            return Step::Leave;
        }
        if key == Key::Suspend {
            return Step::Suspend;
        }
        if std::mem::take(&mut self.shows_keys) {
            return Step::Stay;
        }
        match (self.focus, key) {
            (_, Key::Char('?')) => self.shows_keys = true,
            (Focus::List, Key::Enter) if self.list.entry().is_some() => {
                (self.focus, self.card) = (Focus::Card, None);
            }
            (Focus::List, Key::Escape) => {
                self.search = Line::default();
                self.list.searched();
            }
            (Focus::List, key) => {
                if self.list.press(key) {
                    self.card = None;
                } else if self.search.press(key) {
                    self.list.searched();
                }
            }
            (Focus::Card, Key::Escape | Key::BackTab) => {
                (self.focus, self.card) = (Focus::List, None);
            }
            (Focus::Card, Key::Char(letter)) => return self.chosen(letter),
            (Focus::Card, key) => {
                if let Some(card) = &mut self.card {
                    card.press(key);
                }
            }
        }
        Step::Stay
    }

    /// What a letter does at the card.
    fn chosen(&mut self, letter: char) -> Step {
        let Some(entry) = self.list.entry() else {
            return Step::Stay;
        };
        match (Letter::of(letter, entry), entry) {
            (Err(why), _) => self.message = Some(why),
            (Ok(Letter::Refresh), Entry::Booking(kept)) => {
                let (context, id) = (self.context, kept.booking.id().to_owned());
                self.message = Some(format!("Reading {id} …"));
                self.reading = Some(Box::pin(
                    async move { wait::read_booking(context, &id).await },
                ));
            }
            (Ok(Letter::CopyId), entry) => {
                self.message = Some(action::copy(entry.id()));
            }
            (Ok(letter), _) => return Step::Act(letter),
        }
        Step::Stay
    }

    /// Runs a command below the shell's own lines, and waits until the person has read what it wrote.
    async fn act(&mut self, letter: Letter, signals: &mut EndSignals) -> Result<()> {
        let Some(entry) = self.list.entry() else {
            return Ok(());
        };
        let running = action::run(self.context, letter, entry);
        let ended = tokio::select! {
            biased;
            exit = signals.next() => Err(Error::interrupted(exit)),
            ended = running => ended,
        };
        self.context.out.make_room();
        let in_flight = self.context.in_flight.take();
        if let Err(error) = ended.map_err(|error| in_flight.explain(error)) {
            if matches!(error.exit, Exit::Terminated | Exit::HungUp | Exit::Quit) {
                return Err(error);
            }
            self.context.out.report(&error);
        }
        tokio::select! {
            biased;
            exit = signals.next() => match exit {
                Exit::Interrupted => {}
                other => return Err(Error::interrupted(other)),
            },
            read = wait_for_enter("Press Enter to go back to the desk. ") => read.map_err(of_terminal)?,
        }
        self.list.is_stale = true;
        Ok(())
    }

    fn draw(&mut self, screen: &mut FullScreen) -> Result<()> {
        let size = Size::of_terminal();
        let now = (self.clock)();
        let parts = layout::parts(size, self.focus);
        self.list.lay_out(parts.list.columns, now);
        let is_open = self.focus == Focus::Card;
        let is_current = |card: &Card| card.is_of(parts.card.columns, now);
        if !self.card.as_ref().is_some_and(is_current) {
            let at = self.card.take().map_or(0, |card| card.top);
            self.card = match self.list.entry() {
                Some(entry) => Some(Card::of(
                    self.context,
                    entry,
                    now,
                    self.style,
                    parts.card.columns,
                    is_open,
                )?),
                None => None,
            };
            if let Some(card) = &mut self.card {
                card.top = at;
            }
        }
        let view = layout::View {
            desk: self.context.named_service(),
            style: self.style,
            search: &self.search,
            list: &self.list,
            card: self.card.as_mut(),
            focus: self.focus,
            shows_keys: self.shows_keys,
            message: self.message.as_deref(),
        };
        let (lines, cursor) = layout::draw(view, &parts, size);
        screen.draw(&lines, cursor, size).map_err(of_terminal)
    }
}
