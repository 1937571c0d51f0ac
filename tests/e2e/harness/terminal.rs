//! A terminal in which the binary runs, and where a person types.

use std::fmt;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::time::Instant;

use pty_process::Size;
use pty_process::blocking::{Pty, open};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use vt100::Parser;

use super::{HANG, Home, Owned};

/// Rows enough for a whole walk, so that nothing scrolls out of sight.
const ROWS: NonZeroU16 = NonZeroU16::new(120).unwrap();

/// The shell that runs the command: sets the size before it starts, and says afterwards how it
/// ended and whether the terminal's modes are what they were. It survives a Ctrl-C that was meant
/// for the command.
const SHELL: &str = r#"
stty sane rows "$1" cols "$2"
shift 2
before=$(stty -g)
trap : INT
"$@"
code=$?
[ "$before" = "$(stty -g)" ] && state=restored || state=changed
printf '\n[exit %s, terminal %s]\n' "$code" "$state"
"#;

/// A key that is no character.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key {
    Enter,
    Down,
    Up,
    CtrlC,
    CtrlD,
    CtrlZ,
    Esc,
    ShiftTab,
}

impl Key {
    fn bytes(self) -> &'static str {
        match self {
            Key::Enter => "\r",
            Key::Down => "\x1b[B",
            Key::Up => "\x1b[A",
            Key::CtrlC => "\x03",
            Key::CtrlD => "\x04",
            Key::CtrlZ => "\x1a",
            Key::Esc => "\x1b",
            Key::ShiftTab => "\x1b[Z",
        }
    }
}

/// A command in a terminal. What is asserted is what a person sees: the screen, not the bytes that
/// made it.
pub(crate) struct Terminal {
    _shell: Owned,
    pty: Pty,
    screen: Parser,
    raw: Vec<u8>,
    /// Lines that were wider than the terminal, as seen at any moment.
    broken: Vec<String>,
}

impl Terminal {
    pub(crate) fn start<A: AsRef<str>>(home: &Home, arguments: &[A]) -> Self {
        Self::of_width(home, 100, arguments)
    }

    pub(crate) fn of_width<A: AsRef<str>>(home: &Home, columns: u16, arguments: &[A]) -> Self {
        let program = [env!("CARGO_BIN_EXE_bookctl")].into_iter();
        let arguments = arguments.iter().map(AsRef::as_ref);
        Self::of_program(home, columns, &program.chain(arguments).collect::<Vec<_>>())
    }

    /// Runs any program.
    pub(crate) fn of_program(home: &Home, columns: u16, program: &[&str]) -> Self {
        Self::of_size(home, (ROWS.get(), columns), program)
    }

    /// Runs any program on a screen of so many rows and columns.
    pub(crate) fn of_size(home: &Home, (rows, columns): (u16, u16), program: &[&str]) -> Self {
        let mut command = home.program("sh");
        if !home.sets("TERM") {
            command.env("TERM", "xterm-256color");
        }
        if !home.sets("BOOKCTL_PAGER") {
            command.env("BOOKCTL_PAGER", "cat");
        }
        command.args(["-c", SHELL, "sh", &rows.to_string(), &columns.to_string()]);
        command.args(program);
        let (pty, end) = open().unwrap();
        let command = pty_process::blocking::Command::from(command);
        let shell = Owned(command.spawn(end).unwrap());
        Terminal {
            _shell: shell,
            pty,
            screen: Parser::new(
                NonZeroU16::new(rows).unwrap(),
                NonZeroU16::new(columns).unwrap(),
                0,
            ),
            raw: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// Waits until this can be read on the screen.
    #[track_caller]
    pub(crate) fn see(&mut self, part: &str) -> &mut Self {
        let deadline = Instant::now() + HANG;
        while !reads(&self.screen.screen().contents(), part) {
            assert!(self.take_in(), "the command ended before {part:?} was seen:\n{self}");
            assert!(Instant::now() < deadline, "{part:?} is never seen:\n{self}");
        }
        self
    }

    /// Takes in what was written; `false` once nothing more can come.
    fn take_in(&mut self) -> bool {
        let a_second = Timespec { tv_sec: 1, tv_nsec: 0 };
        let mut there = [PollFd::new(&self.pty, PollFlags::IN)];
        if poll(&mut there, Some(&a_second)) != Ok(1) {
            return true;
        }
        let mut bytes = [0; 4096];
        // A terminal whose last process is gone reads as an error.
        let count = self.pty.read(&mut bytes).unwrap_or_default();
        self.raw.extend_from_slice(&bytes[..count]);
        self.screen.process(&bytes[..count]);
        self.note_broken_lines();
        count > 0
    }

    fn note_broken_lines(&mut self) {
        let screen = self.screen.screen();
        let (rows, columns) = screen.size();
        for (row, line) in (0..rows.get()).zip(screen.rows(0, columns.get())) {
            if screen.row_wrapped(row) && !self.broken.contains(&line) {
                self.broken.push(line);
            }
        }
    }

    /// Types characters.
    pub(crate) fn type_in(&mut self, text: &str) -> &mut Self {
        self.pty.write_all(text.as_bytes()).unwrap();
        self
    }

    pub(crate) fn press(&mut self, key: Key) -> &mut Self {
        self.type_in(key.bytes())
    }

    /// Waits for the question, then answers it with a line.
    #[track_caller]
    pub(crate) fn answer(&mut self, question: &str, line: &str) -> &mut Self {
        self.see(question).type_in(line).press(Key::Enter)
    }

    /// Waits for the question, then takes what is chosen there.
    #[track_caller]
    pub(crate) fn accept(&mut self, question: &str) -> &mut Self {
        self.see(question).press(Key::Enter)
    }

    /// Answers the questions for the guest: a name, an email address, a phone number.
    #[track_caller]
    pub(crate) fn answer_guest(&mut self, lines: [&str; 3]) {
        for (question, line) in ["name", "email", "phone"].iter().zip(lines) {
            self.answer(&format!("? Guest's {question}"), line);
        }
    }

    /// Takes what is chosen at the last question; the command then ends with this exit code.
    #[track_caller]
    pub(crate) fn accept_last(mut self, question: &str, code: i32) -> Ended {
        self.accept(question);
        self.ends(code)
    }

    /// Presses Ctrl-C, at which the command ends with this exit code.
    #[track_caller]
    pub(crate) fn ctrl_c(mut self, code: i32) -> Ended {
        self.press(Key::CtrlC);
        self.ends(code)
    }

    /// Gives the terminal another width, as a person does with the window.
    pub(crate) fn resize(&mut self, columns: u16) -> &mut Self {
        let (rows, _) = self.screen.screen().size();
        self.pty.resize(Size::new(rows.get(), columns)).unwrap();
        self.screen.screen_mut().set_size(rows, NonZeroU16::new(columns).unwrap());
        self
    }

    /// Waits for the end of the command.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        self.see("[exit ").see("]");
        while self.take_in() && !self.screen.screen().contents().contains("terminal ") {}
        let screen = self.screen.screen();
        let contents = screen.contents();
        let (_, end) = contents.rsplit_once("[exit ").unwrap();
        let code = end.split(',').next().unwrap().parse().unwrap();
        Ended {
            code,
            restored: end.contains("restored")
                && !screen.hide_cursor()
                && !screen.bracketed_paste(),
            rows: styled_rows(screen),
            screen: contents.clone(),
            raw: String::from_utf8_lossy(&self.raw).into_owned(),
            broken: std::mem::take(&mut self.broken),
        }
    }

    /// The same for a command that ends with this exit code, and leaves the terminal as it was
    /// before.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Ended {
        self.end().exits(code)
    }
}

/// Characters of one row in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Styled {
    pub(crate) text: String,
    pub(crate) colour: vt100::Color,
    pub(crate) bold: bool,
    pub(crate) dim: bool,
}

/// Every row of a screen.
fn styled_rows(screen: &vt100::Screen) -> Vec<Vec<Styled>> {
    let (rows, columns) = screen.size();
    (0..rows.get())
        .map(|row| {
            let cells = (0..columns.get()).filter_map(|column| screen.cell(row, column));
            let mut parts: Vec<Styled> = Vec::new();
            for cell in cells.filter(|cell| !cell.is_wide_continuation()) {
                let text = match cell.contents() {
                    "" => " ",
                    text => text,
                };
                let next = Styled {
                    text: text.to_owned(),
                    colour: cell.fgcolor(),
                    bold: cell.bold(),
                    dim: cell.dim(),
                };
                match parts.last_mut() {
                    Some(last)
                        if (last.colour, last.bold, last.dim)
                            == (next.colour, next.bold, next.dim) =>
                    {
                        last.text.push_str(text);
                    }
                    _ => parts.push(next),
                }
            }
            parts
        })
        .collect()
}

fn drop_blank_end(rows: &mut Vec<Vec<Styled>>) {
    let is_blank = |row: &Vec<Styled>| row.iter().all(|part| part.text.trim().is_empty());
    while rows.last().is_some_and(is_blank) {
        rows.pop();
    }
}

/// Whether a text holds a part; where its lines break makes no difference.
fn reads(text: &str, part: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").contains(part)
}

impl fmt::Display for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.screen.screen().contents().trim_end())
    }
}

/// How a command in a terminal ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    /// Echo, line mode, cursor and paste mode are as they were before.
    pub(crate) restored: bool,
    /// What can be read on the screen.
    pub(crate) screen: String,
    /// The same, with its colours.
    rows: Vec<Vec<Styled>>,
    /// Every byte that was written.
    pub(crate) raw: String,
    /// Lines that were wider than the terminal.
    pub(crate) broken: Vec<String>,
}

impl Ended {
    /// What the command itself left on the screen.
    pub(crate) fn text(&self) -> String {
        let text = |row: Vec<Styled>| row.into_iter().map(|part| part.text).collect::<String>();
        let lines = self.own_rows().into_iter().map(text);
        let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n")
    }

    /// The rows of the command itself, without the line that says how it ended.
    pub(crate) fn own_rows(&self) -> Vec<Vec<Styled>> {
        let is_end = |row: &Vec<Styled>| row.iter().any(|part| part.text.starts_with("[exit "));
        let end = self.rows.iter().rposition(is_end).unwrap();
        let mut rows = self.rows[..end].to_vec();
        drop_blank_end(&mut rows);
        rows
    }

    /// Asserts the exit code, and a terminal as it was before.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.screen);
        assert!(self.restored, "the terminal is not as it was:\n{}", self.screen);
        self
    }

    /// Asserts that no line was wider than the terminal, at any moment.
    #[track_caller]
    pub(crate) fn fits(self) -> Self {
        assert_eq!(self.broken, [] as [&str; 0], "{}", self.screen);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, part: &str) -> Self {
        assert!(reads(&self.screen, part), "{part:?} is not in:\n{}", self.screen);
        self
    }
}
