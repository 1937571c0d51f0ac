//! A question and the rest of the world: signals, a shell's job control, and a terminal that
//! changes its width.

use crate::harness::{Home, Key, Served, Terminal, for_guest};

const PROGRAM: &str = env!("CARGO_BIN_EXE_bookctl");

/// Starts the command in a shell that says the process's id first.
fn started(home: &Home, arguments: &[&str]) -> (Terminal, String) {
    let script = "echo pid $$; exec \"$@\"";
    let program = [&["sh", "-c", script, "sh", PROGRAM], arguments].concat();
    let mut terminal = Terminal::of_program(home, 100, &program);
    let pid = pid_on(&mut terminal);
    (terminal, pid)
}

/// The process's id that was said.
fn pid_on(terminal: &mut Terminal) -> String {
    terminal.see("? ");
    let screen = terminal.to_string();
    let after = screen.split("pid ").skip(1);
    let mut words = after.filter_map(|after| after.split_whitespace().next());
    let pid = words.find(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    pid.unwrap().to_owned()
}

fn signal(name: &str, pid: &str) {
    let sent = std::process::Command::new("kill").args([name, pid]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn signal_at_question_restores_terminal_and_says_what_happened() {
    for (name, code, word) in
        [("-HUP", 129, "hung up"), ("-QUIT", 131, "quit"), ("-TERM", 143, "terminated")]
    {
        let home = Home::new();
        let (mut terminal, pid) = started(&home, &["book"]);
        terminal.see("❯ dining");
        signal(name, &pid);
        let sentence = format!("{word}; nothing was changed");
        terminal.ends(code).says(&sentence);

        let arguments = for_guest("ven_otp");
        let (mut terminal, pid) = started(&home, &arguments);
        terminal.see("? One-time code");
        signal(name, &pid);
        let id = Served::from_home(&home).bookings()[0]["id"].to_string();
        let id = id.trim_matches('"');
        terminal
            .ends(code)
            .says(&format!("{word}; booking {id} has status requires_action"))
            .says(&format!("bookctl continue {id}"));
    }
}

/// `nohup` starts a command with SIGHUP ignored, and a command must leave it so.
#[test]
fn a_hangup_that_was_ignored_before_the_start_stays_ignored() {
    let home = Home::new();
    let script = "trap '' HUP; echo pid $$; exec \"$@\"";
    let program = ["sh", "-c", script, "sh", PROGRAM, "book"];
    let mut terminal = Terminal::of_program(&home, 100, &program);
    terminal.see("❯ dining");
    let pid = pid_on(&mut terminal);
    signal("-HUP", &pid);
    terminal.press(Key::Down).see("❯ fitness").press(Key::CtrlC);
    terminal.ends(130);
}

/// A shell with job control, as a person has it.
fn shell(home: &Home) -> Terminal {
    let shell = ["bash", "--norc", "--noprofile", "-i"];
    let mut terminal = Terminal::of_program(home, 100, &shell);
    terminal.see("bash-").type_in("PS1='ready> '\r");
    terminal.see("ready> ");
    terminal
}

#[test]
fn ctrl_z_suspends_a_question_and_fg_asks_it_again() {
    let home = Home::new();
    let mut terminal = shell(&home);
    terminal.type_in(&format!("{PROGRAM} book\r"));
    terminal.see("❯ dining").press(Key::Down).see("❯ fitness");
    terminal.press(Key::CtrlZ).see("Stopped");
    terminal
        .type_in("stty -a | grep -ow -e '-echo' -e '-icanon' || echo modes are fine; clear; fg\r")
        .see("❯ fitness");
    // Each key arrives at once again, and none is echoed.
    terminal.press(Key::Up).accept("❯ dining");
    terminal.see("? Where?").press(Key::CtrlZ).see("ready>");
    terminal.type_in("clear; fg\r").see("❯ Sandbox");
    assert!(!terminal.to_string().contains("^["), "{terminal}");
    terminal.press(Key::CtrlC).see("nothing was changed");
    terminal.type_in("exit 0\r");
    terminal.ends(0);
}

/// Stopped by somebody else, the command cannot restore the terminal first; it takes it back when
/// it continues.
#[test]
fn question_that_was_stopped_from_outside_is_asked_again_by_fg() {
    let home = Home::new();
    let mut terminal = shell(&home);
    terminal.type_in(&format!("sh -c 'echo pid $$; exec {PROGRAM} book'\r"));
    terminal.see("❯ dining");
    let pid = pid_on(&mut terminal);
    signal("-TSTP", &pid);
    // What is seen after the word is no remainder of the screen before.
    terminal.see("Stopped").type_in("clear; echo aga''in; fg\r");
    terminal.see("again");
    terminal.see("❯ dining").press(Key::Down).see("❯ fitness");
    terminal.press(Key::CtrlC).see("nothing was changed");
    terminal.type_in("exit 0\r");
    terminal.ends(0);
}

/// The times that a part is on the screen.
fn times(terminal: &Terminal, part: &str) -> usize {
    terminal.to_string().matches(part).count()
}

#[test]
fn a_question_is_asked_once_at_every_width_of_the_terminal() {
    let home = Home::new();
    let arguments = ["book", "ven_otp", "--at", "tomorrow 19:30", "--party", "2"];
    let mut terminal = Terminal::of_width(&home, 80, &arguments);
    terminal.answer_guest(["Ada Lovelace", "", ""]);
    terminal.see("? Book it?");
    for columns in [45, 110, 30, 80] {
        terminal.resize(columns).see("goes back").see("? Book it?");
        assert_eq!(times(&terminal, "? Book it?"), 1, "{columns}:\n{terminal}");
    }
    terminal.press(Key::Enter);
    terminal.answer("? One-time code", "000000");
    terminal.see("tries left: 4").see("? One-time code");
    for columns in [30, 80, 45, 110] {
        terminal.resize(columns).see("sandbox's inbox");
        assert_eq!(times(&terminal, "? One-time"), 1, "{columns}:\n{terminal}");
    }
    terminal.press(Key::Enter);
    terminal.ends(0).says("confirmed");
}
