//! `bookctl desk`: a screen that a person works at, and the terminal around it.

use std::time::{Duration, Instant};

use crate::docs;
use crate::harness::fixed::{Fixed, as_shown, set_clock};
use crate::harness::{Home, Key, Served, Terminal, text};
use crate::matrix::coloured;

const PROGRAM: &str = env!("CARGO_BIN_EXE_bookctl");

/// A home at 10:00 on a day whose clock stands still, with these bookings: venue, time, guest.
fn home(bookings: &[(&str, &str, &str)]) -> Home {
    let home = Home::new();
    home.ok(["sandbox", "clock", "--to", "2031-11-27T10:00:00Z"]);
    home.ok(["sandbox", "clock", "--freeze"]);
    for (venue, at, name) in bookings {
        book(&home, venue, at, name);
    }
    home
}

fn book(home: &Home, venue: &str, at: &str, name: &str) {
    let guest = ["--at", at, "--party", "2", "--name", name, "--json"];
    home.run(["book", venue].iter().chain(&guest));
}

fn desk(home: &Home, rows: u16, columns: u16) -> Terminal {
    let mut terminal = Terminal::of_size(home, (rows, columns), &[PROGRAM, "desk"]);
    terminal.see("? keys");
    terminal
}

/// The guests in the order of their rows.
fn order<'a>(terminal: &Terminal, guests: &[&'a str]) -> Vec<&'a str> {
    let screen = terminal.to_string();
    let list = screen.split('─').next().unwrap();
    let mut found: Vec<_> = guests.iter().filter_map(|it| Some((list.find(it)?, *it))).collect();
    found.sort_unstable();
    found.into_iter().map(|it| it.1).collect()
}

#[test]
fn desk_shows_waiting_then_unresolved_then_visits_by_time() {
    let home = home(&[
        ("ven_confirms", "2031-11-29T18:00:00Z", "Later Guest"),
        ("ven_provider_fails", "2031-11-28T20:00:00Z", "Failed Guest"),
        ("ven_otp", "2031-12-24T20:00:00Z", "Waiting Guest"),
        ("ven_confirms", "2031-11-27T21:00:00Z", "Second Today"),
        ("ven_confirms", "2031-11-27T19:00:00Z", "First Today"),
    ]);
    home.fault("POST /v1/bookings", "drop_after", 3);
    book(&home, "ven_confirms", "2031-11-30T20:00:00Z", "Lost Guest");
    let mut terminal = desk(&home, 24, 80);
    terminal.see("1 waiting, 1 unresolved").see("20:00 left");
    let guests = [
        "Waiting Guest",
        "Lost Guest",
        "First Today",
        "Second Today",
        "Later Guest",
        "Failed Guest",
    ];
    assert_eq!(order(&terminal, &guests), guests, "{terminal}");
    for heading in
        ["Waiting for an answer", "Unresolved requests", "Today", "Coming", "Earlier and ended"]
    {
        terminal.see(heading);
    }
    // Letters search, as `bookings TEXT` does, and a name that is nearly right is found.
    terminal.type_in("today second").see("❯ Second Today");
    assert_eq!(order(&terminal, &guests), ["Second Today"], "{terminal}");
    terminal.press(Key::Esc).see("First Today");
    terminal.type_in("Secund");
    terminal.see("Similar names").see("❯ Second Today");
    terminal.press(Key::Esc).see("Lost Guest").type_in("nobody");
    terminal.see("Nothing matches \"nobody\".");
    terminal.ctrl_c(0);
    // A clock that passes the deadline: it waits no longer, whatever the journal says.
    home.ok(["sandbox", "clock", "--resume"]);
    home.advance("21m");
    let mut terminal = desk(&home, 24, 80);
    terminal.type_in("waiting").see("❯ Waiting Guest");
    terminal.see("overdue");
    terminal.ctrl_c(0);
}

#[test]
fn a_letter_at_the_card_runs_the_same_command_and_comes_back() {
    let home = home(&[("ven_otp", "2031-11-28T20:00:00Z", "Ada Lovelace")]);
    let id = text(&home.json("bookings --limit 1")["bookings"][0], "id");
    let mut terminal = desk(&home, 24, 80);
    // What it cannot do here it says.
    terminal.press(Key::Enter);
    terminal.see("Esc back · a answer · b book again");
    terminal.type_in("m").see("It ends by itself at 10:20.");
    terminal.type_in("a").see("bookctl continue bk_");
    terminal.see("? One-time code");
    terminal.press(Key::Enter).see("confirmed bk_");
    terminal.see("Press Enter to go back");
    terminal.press(Key::Enter).see("m modify · x cancel");
    // The same questions, whose answers may be no.
    terminal.type_in("x").accept("? Cancel this booking? (no)");
    terminal.accept("Nothing was cancelled. Press Enter");
    terminal.see("m modify").type_in("m");
    terminal.see("? What would you like to change?");
    terminal.see("party size · 2");
    terminal.press(Key::Down).press(Key::Enter);
    terminal.answer("? New party size?", "4");
    // One menu and one confirmation for all of it.
    terminal.see("party size · 2 → 4").press(Key::Down).press(Key::Enter);
    terminal.answer("? New time?", "21:00");
    terminal.accept("❯ done");
    terminal.see("party 2 → 4").see("cancellation as booked: ").see("→ as changed: Free to cancel");
    terminal.see("21:00").answer("? Change this booking?", "yes");
    terminal.accept(&format!("bookctl cancel {id} Press Enter"));
    terminal.see("requested with bookctl book");
    // A moved booking has the terms of its new slot.
    home.ok(["show", &id]).shows("cancellation");
    // Ctrl-C at a question leaves the command alone.
    // The rest of a line that a person types answers no question.
    terminal.type_in("bfri 8pm\r").see("bookctl book --like");
    terminal.see("? When?").press(Key::CtrlC);
    terminal.see("interrupted; nothing was changed Press Enter");
    assert!(!terminal.to_string().contains("✔ When?"), "{terminal}");
    terminal.press(Key::Enter);
    terminal.see("m modify").type_in("c");
    terminal.see("Copied, if this terminal allows it: bk_");
    terminal.press(Key::Esc).see("Enter open").press(Key::CtrlC);
    let ended = terminal.ends(0);
    assert!(ended.raw.contains("\u{1b}]52;c;"), "the id is handed to the clipboard");
    // The commands stay on the page before.
    ended.says("bookctl modify bk_").says("bookctl book --like");
}

/// Paces are a tenth of a person's: what is shown here within a second is shown within ten.
#[test]
fn the_open_card_shows_what_another_computer_has_done() {
    let (server, home) = Served::with_home();
    let colleague = Home::pointing_to(server.base_url(), "sk_live_sandbox");
    let id = home.booked("ven_confirms", &[], 0);
    home.book("ven_otp", &[]).exits(10);
    let mut terminal = desk(&home, 24, 80);
    terminal.type_in("confirms").see("❯ Ada Lovelace").press(Key::Enter);
    terminal.see("The venue is expecting this guest.").see("Esc searches");
    let began = Instant::now();
    colleague.ok(["cancel", &id, "--yes"]);
    terminal.see(&format!("cancelled {id}"));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    // Nobody opens this one. Its time to answer is over by the service's clock.
    colleague.advance("21m");
    terminal.press(Key::Esc).see("Enter open").press(Key::Esc).see("expired");
    assert!(!terminal.to_string().contains(" left"), "{terminal}");
    // A list without a read counts with the service's clock, too.
    home.booked("ven_otp", &[], 10);
    let ended = Terminal::start(&home, &["bookings"]).ends(0).says("waiting ");
    assert!(!ended.screen.contains("waiting 4"), "{}", ended.screen);
    // What cannot be stored is not as it is displayed.
    let (journal, aside) = (home.path().join("journal.db"), home.path().join("aside.db"));
    std::fs::rename(&journal, &aside).unwrap();
    terminal.press(Key::Enter).see("Not up to date: the journal ").see("Esc back");
    std::fs::rename(&aside, &journal).unwrap();
    // What is not read any more says so, and how old it is.
    drop(server);
    terminal.see("Not up to date: cannot connect");
    let journal = rusqlite::Connection::open(&journal).unwrap();
    journal.execute("UPDATE bookings SET seen_at = '2026-01-01T00:00:00Z'", []).unwrap();
    terminal.see("as seen ").press(Key::Down).see("Not up to date: ");
    terminal.ctrl_c(0);
    Terminal::start(&home, &["bookings"]).ends(0).says("As seen up to ");
}

/// Support has a profile that only reads.
#[test]
fn a_desk_that_only_reads_offers_no_writes() {
    let (server, home) = Served::with_home();
    home.booked("ven_confirms", &[], 0);
    let id = home.booked("ven_otp", &[], 10);
    let reads = home.with_profile("shop", server.base_url(), "read_only = true\n");
    let reads = reads.with("BOOKCTL_PROFILE", "shop");
    let mut terminal = desk(&reads, 24, 80);
    terminal.press(Key::Enter).see("Esc back · r refresh · c copy ID");
    for letter in ["a", "m", "x", "b"] {
        terminal.type_in(letter).see("is not possible: this profile only reads");
    }
    terminal.ctrl_c(0);
    let refused = reads.refuses(&format!("cancel {id} --yes"), 3, "config");
    assert!(!text(&refused, "hint").contains("read_only"), "{refused}");
}

#[test]
fn an_unresolved_request_is_resolved_from_its_card() {
    let home = home(&[("ven_confirms", "2031-11-29T20:00:00Z", "First Guest")]);
    home.fault("POST /v1/bookings", "drop_after", 3);
    book(&home, "ven_confirms", "2031-11-30T20:00:00Z", "Lost Guest");
    let mut terminal = desk(&home, 24, 80);
    terminal.press(Key::Enter).see("The booking may exist");
    terminal.see("r resolve · c copy ID");
    terminal.type_in("r").see("bookctl attempts resume");
    terminal.see("confirmed bk_");
    // The card is that of the booking which the request became, whatever stands in its row now.
    terminal.accept("Press Enter").see("Lost Guest");
    terminal.see("m modify · x cancel");
    terminal.press(Key::Esc).see("Coming").see("❯ Lost Guest");
    assert!(!terminal.to_string().contains("unresolved"), "{terminal}");
    // One that is gone has no card any more.
    home.fault("POST /v1/bookings", "drop_after", 3);
    book(&home, "ven_confirms", "2031-12-05T20:00:00Z", "Gone Guest");
    terminal.type_in("gone").see("1 unresolved");
    terminal.press(Key::Enter).see("r resolve");
    home.ok(["attempts", "abandon", "@last"]);
    terminal.see("is no longer listed.");
    terminal.press(Key::Esc).see("❯ First Guest");
    terminal.press(Key::Enter).see("m modify");
    let last = home.json("show @last");
    assert_eq!(last["customer"]["name"], "First Guest", "{last}");
    terminal.press(Key::Esc).see("Enter open");
    terminal.ctrl_c(0);
}

#[test]
fn it_is_readable_at_each_size_without_color() {
    let home = home(&[
        ("ven_otp", "2031-11-28T20:00:00Z", "Ada Lovelace"),
        ("ven_confirms", "2031-11-29T20:00:00Z", "李 小龙 Zoë Crêperie Übergrößenträger"),
        ("ven_confirms", "2031-11-30T20:00:00Z", "Ada\u{202e} \u{200b}Turing"),
    ]);
    let home = home.with("NO_COLOR", "1");
    for (rows, columns) in [(24, 80), (30, 40), (50, 200), (8, 30)] {
        let mut terminal = desk(&home, rows, columns);
        terminal.see("Ada Lo").press(Key::Down).press(Key::Down);
        terminal.see("Ada\\u{");
        terminal.press(Key::Enter).see("Esc back").type_in("?");
        terminal.see("Any key goes back");
        terminal.press(Key::Esc).see("Esc back").press(Key::Esc);
        terminal.see("Enter open");
        for columns in [30, 200, 60, 120] {
            terminal.resize(columns).see("? keys").see("Search:");
            let screen = terminal.to_string();
            assert_eq!(screen.matches("Search:").count(), 1, "{columns}:\n{terminal}");
            assert_eq!(screen.matches('❯').count(), 1, "{columns}:\n{terminal}");
        }
        let ended = terminal.ctrl_c(0);
        assert!(ended.broken.is_empty(), "{rows}x{columns}: {:#?}", ended.broken);
        assert!(!coloured(&ended.raw), "{:?}", ended.raw);
        assert!(!ended.raw.contains(['\u{202e}', '\u{200b}']), "{:?}", ended.raw);
    }
}

#[test]
fn without_a_terminal_the_desk_names_the_list() {
    let home = Home::new();
    let refused = |output: crate::harness::Output| {
        output.exits(2).says("the desk needs a terminal").says("bookctl bookings");
    };
    refused(home.run(["desk"]));
    let error = home.run(["desk", "--json"]).exits(2).error();
    assert!(text(&error, "hint").contains("bookctl bookings"), "{error}");
    for (name, value) in [("TERM", "dumb"), ("BOOKCTL_ACCESSIBLE", "1")] {
        let home = Home::new().with(name, value);
        let ended = Terminal::start(&home, &["desk"]).ends(2);
        ended.says("the desk needs a terminal").says("bookctl bookings");
    }
    let piped = ["sh", "-c", "\"$0\" desk | cat; exit \"${PIPESTATUS:-2}\"", PROGRAM];
    Terminal::of_program(&home, 100, &piped).end().says("standard output is not one");
}

#[test]
fn a_signal_restores_the_terminal_wherever_it_comes() {
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 0)] {
        for in_a_command in [false, true] {
            let home = home(&[("ven_confirms", "2031-11-28T20:00:00Z", "Ada Lovelace")]);
            let pid = home.path().join("pid");
            let script = format!("echo $$ > {}; exec \"$0\" desk", pid.display());
            let mut terminal = Terminal::of_program(&home, 100, &["sh", "-c", &script, PROGRAM]);
            terminal.see("? keys").press(Key::Enter).see("x cancel").type_in("x");
            terminal.see("? Cancel this booking?");
            if !in_a_command {
                terminal.type_in("yes\r").see("Press Enter").press(Key::Enter).see("b book again");
            }
            let pid = std::fs::read_to_string(pid).unwrap();
            let sent = std::process::Command::new("kill")
                .args([&format!("-{signal}"), pid.trim()])
                .status();
            assert!(sent.unwrap().success());
            if in_a_command && signal == "INT" {
                terminal.accept("Press Enter").see("x cancel");
                terminal.press(Key::CtrlC);
            }
            let ended = terminal.ends(code);
            if !in_a_command && code != 0 {
                ended.says("the desk was closed");
            }
        }
    }
}

#[test]
fn ctrl_z_leaves_the_screen_and_fg_draws_it_again() {
    let home = home(&[("ven_confirms", "2031-11-28T20:00:00Z", "Ada Lovelace")]);
    let mut terminal = Terminal::of_program(&home, 100, &["bash", "--norc", "--noprofile", "-i"]);
    terminal.see("bash-");
    terminal.type_in(&format!("PS1='ready> '; {PROGRAM} desk\r"));
    terminal.see("❯ Ada Lovelace").press(Key::CtrlZ);
    terminal.see("Stopped");
    let modes = "stty -a | grep -ow -e '-echo' -e '-icanon' || echo modes are fine\r";
    terminal.type_in(modes).see("modes are fine ready>");
    terminal.type_in("fg\r");
    terminal.accept("❯ Ada Lovelace").see("Esc back");
    terminal.press(Key::CtrlC);
    terminal.see("ready>").type_in("exit 0\r");
    terminal.ends(0);
}

/// The screen in the documentation is one that is seen.
#[test]
fn the_screen_in_the_page_for_support_is_this_one() {
    let home = Home::new();
    set_clock(&home);
    home.ok(["sandbox", "clock", "--freeze"]);
    for (venue, at, name) in [
        ("ven_confirms", "2037-11-27T20:00:00Z", "Ada Lovelace"),
        ("ven_otp", "2037-11-28T20:00:00Z", "Grace Hopper"),
        ("ven_confirms_b", "2037-11-28T20:30:00Z", "Alan Turing"),
        ("ven_confirms", "2037-12-04T19:30:00Z", "Ada Lovelace"),
        ("ven_provider_fails", "2037-11-28T21:00:00Z", "Mary Jackson"),
    ] {
        book(&home, venue, at, name);
    }
    home.fault("POST /v1/bookings", "drop_after", 3);
    book(&home, "ven_confirms", "2037-11-28T21:00:00Z", "Emmy Noether");
    let terminal = desk(&home, 24, 80);
    let screen = as_shown(&Fixed::default().text(&terminal.to_string()));
    let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
    let block = format!("```text\n{}\n```", lines.join("\n"));
    docs::check("docs/support.md", "<!-- the screen of bookctl desk -->", &block);
    terminal.ctrl_c(0);
}
