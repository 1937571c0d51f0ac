//! "Ctrl-C at any point ends with the booking's id, its state and the command that resumes it."
//! (command line, Interactive)

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::faults::{booking, creating_held, home, requested_booking};
use crate::harness::listening::until;
use crate::harness::{
    Ended, GUEST, HANG, Home, Key, Reply, Running, Scripted, Served, Terminal, for_guest,
    full_pipe, words,
};

/// The questions of the walk, and what is typed at each.
const WALK: [(&str, &str); 10] = [
    ("? What would you like to book?", ""),
    ("? Where?", "Sandbox"),
    ("? When?", "tomorrow 19:30"),
    ("? How many people?", "2"),
    ("? Which venue?", "one-time code (otp"),
    ("? Which slot", ""),
    ("? Guest's name", "Ada Lovelace"),
    ("? Guest's email", ""),
    ("? Guest's phone", ""),
    ("? Book it?", ""),
];

/// Walks to a question, and presses a key there that wants out.
fn leave_at(home: &Home, question: usize, key: Key) -> Ended {
    let mut terminal = Terminal::start(home, &["book"]);
    for (question, answer) in &WALK[..question] {
        terminal.see(question).type_in(answer);
        if answer.contains("(otp") {
            terminal.see(" match");
        }
        terminal.press(Key::Enter);
    }
    terminal.see(WALK[question].0).press(key);
    terminal.end()
}

#[test]
fn ctrl_c_at_every_question_before_create_changes_nothing() {
    let home = Home::new();
    for (question, (text, _)) in WALK.iter().enumerate() {
        let ended = leave_at(&home, question, Key::CtrlC).exits(130);
        assert!(ended.screen.contains("nothing was changed"), "{text}:\n{}", ended.screen);
    }
    assert!(Served::from_home(&home).bookings().is_empty());
}

/// A shell without job control starts its background jobs so.
#[test]
fn job_with_sigint_ignored_is_not_interrupted() {
    let (server, arrived, go_on) = creating_held(|_| Reply::json(201, &requested_booking("bk_1")));
    let home = home(&server);
    let mut shell = home.program("sh");
    shell.args(["-c", "trap '' INT; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_bookctl")]);
    shell.args(booking(&[]));
    let running = Running::start(shell);
    arrived.recv_timeout(HANG).unwrap();
    let id = running.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    go_on.send(()).unwrap();
    running.ends(0);
}

#[test]
fn the_end_of_input_is_a_way_out_as_well() {
    let home = Home::new();
    for question in [0, 1, 4, 9] {
        leave_at(&home, question, Key::CtrlD).exits(130);
    }
    let home = home.with("TERM", "dumb");
    let mut terminal = Terminal::start(&home, &["book"]);
    terminal.see("What would you like").press(Key::CtrlC);
    terminal.ends(130).says("nothing was changed");
}

/// The one booking of a home, as the sandbox holds it.
fn only_booking(home: &Home) -> String {
    let bookings = Served::from_home(home).bookings();
    assert_eq!(bookings.len(), 1);
    assert_eq!(bookings[0]["status"], "requires_action");
    bookings[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn ctrl_c_at_code_names_booking_its_state() {
    let home = Home::new();
    let arguments = for_guest("ven_otp");
    let mut terminal = Terminal::start(&home, &arguments);
    terminal.see("? One-time code").type_in("123");
    let ended = terminal.ctrl_c(130);
    let id = only_booking(&home);
    let resume = format!("bookctl continue {id}");
    ended.says(&format!("booking {id} has status requires_action")).says(&resume);

    // The command that was printed does go on.
    let mut terminal = Terminal::start(&home, &["continue", &id]);
    terminal.answer("? One-time code", &home.code());
    terminal.ends(0).says("confirmed");
}

#[test]
fn ctrl_c_at_each_question_of_payment_names_booking() {
    for way in ["menu", "file", "paste"] {
        let home = Home::new();
        let arguments: Vec<&str> = ["book", "ven_payment"]
            .into_iter()
            .chain(GUEST)
            .chain(["--payment", "vendor"])
            .collect();
        let mut terminal = Terminal::start(&home, &arguments);
        terminal.see("? Book it?").type_in("y\r").see("? Payment");
        match way {
            "file" => {
                terminal.press(Key::Down).press(Key::Enter);
                terminal.see("? File with the vendor's response");
            }
            "paste" => {
                terminal.press(Key::Up).press(Key::Up).accept("❯ Paste it");
                terminal.see("? Paste the vendor's response");
                terminal.type_in("{\"approval_id\":");
            }
            _ => {}
        }
        let ended = terminal.ctrl_c(130);
        let id = only_booking(&home);
        ended
            .says(&format!("booking {id} has status requires_action"))
            .says(&format!("bookctl continue {id}"));
    }
}

#[test]
fn ctrl_c_while_booking_is_processing_names_it() {
    let home = Home::new();
    let arguments = for_guest("ven_processing");
    let mut terminal = Terminal::start(&home, &arguments);
    terminal.see("is processing").press(Key::CtrlC);
    let ended = terminal.ends(130);
    let bookings = Served::from_home(&home).bookings();
    let id = bookings[0]["id"].as_str().unwrap();
    ended.says(&format!("booking {id} has status processing")).says(&format!("bookctl watch {id}"));
}

#[test]
fn ctrl_c_in_a_watch_names_the_booking_its_state_and_the_watch() {
    let (home, id) = Home::with_booking("ven_confirms", 0);
    let mut terminal = Terminal::start(&home, &["watch", &id, "--until", "cancelled"]);
    terminal.see("watching for").press(Key::CtrlC);
    terminal
        .ends(130)
        .says(&format!("booking {id} has status confirmed"))
        .says(&format!("bookctl watch {id} --until cancelled"));

    let silent = Scripted::start(|_| Reply::Silence);
    for (watch, certain) in [
        ("watch bk_1", "; booking bk_1 was not read, and nothing was changed"),
        ("watch bk_1 bk_2 --until failed --timeout 90s", "; nothing was changed"),
    ] {
        let running = Home::pointing_to(silent.base_url(), "sk_live_x").start(words(watch));
        let before = silent.requests().len();
        until("the read", || silent.requests().len() > before);
        running.signal("-INT");
        running.ends(130).says(certain).says(format!("hint: bookctl {watch}\n"));
    }
}

/// What is on its way is named for what it is.
#[test]
fn ctrl_c_while_a_change_is_on_its_way_names_the_change() {
    for (arguments, what) in [
        (&["cancel", "bk_1", "--yes"][..], "cancellation"),
        (&["modify", "bk_1", "--party", "3"], "change"),
    ] {
        let server = Scripted::start(|request| match request.method.as_str() {
            "GET" => Reply::json(200, &json!({"id": "bk_1", "status": "confirmed"})),
            _ => Reply::Silence,
        });
        let running = Home::pointing_to(server.base_url(), "sk_live_x").start(arguments);
        server.wait_for("POST");
        running.signal("-INT");
        let sentence = format!("the {what} of booking bk_1 was being sent; the outcome is unknown");
        let output = running.ends(130).says(&sentence);
        output.says("bookctl show bk_1");
    }
}

/// "SIGTERM and Ctrl-C end it cleanly." (command line, Sandbox from the shell)
#[test]
fn ctrl_c_ends_a_served_sandbox_cleanly() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["sandbox", "serve", "--port", "0", "--ephemeral"]);
    terminal.see("http://127.0.0.1:").see("/openapi.json");
    terminal.see("export BOOKCTL_BASE_URL=http://127.0.0.1:");
    terminal.see("export BOOKCTL_API_KEY=sk_live_sandbox");
    terminal.see("export BOOKCTL_WEBHOOK_SECRET=whsec_sandbox");
    terminal.ctrl_c(0);
}

/// "ends within 200 ms of Ctrl-C" (design), also where a pipe is full and nobody reads it.
#[test]
fn ctrl_c_ends_a_command_that_writes_into_a_full_pipe() {
    let home = Home::new();
    let row = json!({
        "venue_id": "ven_confirms", "datetime": "2031-01-01T19:30:00Z", "party_size": 2,
        "customer": {"name": "Ada Lovelace"}, "availability_id": "slot_1",
    });
    let file = home.folder().join("rows.jsonl");
    std::fs::write(&file, format!("{row}\n").repeat(2000)).unwrap();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut command = home.command(["batch", "--dry-run", "--equal-rows", "--json"]);
        command.arg(&file).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let pipe = child.stdout.take().unwrap();
        // Full: what it writes next has to wait.
        let deadline = Instant::now() + Duration::from_secs(20);
        while rustix::io::ioctl_fionread(&pipe).unwrap() < 48 * 1024 {
            assert!(Instant::now() < deadline, "the pipe does not fill");
            std::thread::sleep(Duration::from_millis(10));
        }
        // Lets it block in its next write. Interrupted earlier, it ends as soon, and the test
        // proves less.
        std::thread::sleep(Duration::from_millis(100));
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(code));
        drop(pipe);
    }
}

/// A harness may start a program with `stderr=PIPE` and read nothing of it.
#[test]
fn ctrl_c_ends_each_long_command_whose_stderr_is_full() {
    let (_served, home) = Served::with_home();
    let waiting = home.booked("ven_otp", &[], 10);
    let rows = home.folder().join("rows.csv");
    let row =
        "venue_id,datetime,party_size,customer.name\nven_otp,2031-01-01T19:30:00Z,2,Ada Lovelace\n";
    std::fs::write(&rows, row).unwrap();
    for (line, code) in [
        (&["watch", &waiting, "-v"][..], 130),
        (&["batch", rows.to_str().unwrap(), "-v"], 130),
        (&["webhook", "listen", "--port", "0", "-v"], 0),
        (&["sandbox", "serve", "--port", "0", "--ephemeral"], 0),
    ] {
        let (_unread, full) = full_pipe();
        let running = Running::with_stderr(home.command(line.iter().copied()), full.into());
        running.signal("-INT");
        running.ends(code);
    }
}
