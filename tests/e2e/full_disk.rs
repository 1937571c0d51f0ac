//! A disk that is full or takes nothing: either nothing was sent, or all of it is known.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::harness::{Home, Running, Served, skipped, text};
use crate::promise::{Intent, attempts, sample, try_each};

/// A file system of its own, mounted where a home keeps its files; `None` where that is not
/// allowed.
pub(crate) struct Disk(PathBuf);

impl Disk {
    pub(crate) fn mount(home: &Home) -> Option<Self> {
        let options = ["-t", "tmpfs", "-o", "size=400k,mode=700", "tmpfs"];
        let place = home.path();
        fs::create_dir_all(&place).unwrap();
        let mounted = Self::command("mount", &options, &place);
        if !mounted {
            skipped("no file system may be mounted here");
        }
        mounted.then_some(Disk(place))
    }

    fn command(name: &str, arguments: &[&str], place: &PathBuf) -> bool {
        let mut command = Command::new(name);
        command.args(arguments).arg(place);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Fills it up but for so many kilobytes.
    pub(crate) fn leave(&self, kilobytes: usize) {
        let full = vec![0; 1024 * 1024];
        // As much as there is room for is written, then it fails.
        let _ = fs::write(self.filler(), full);
        let held = fs::metadata(self.filler()).unwrap().len() as usize;
        let file = fs::OpenOptions::new().write(true).open(self.filler()).unwrap();
        file.set_len(held.saturating_sub(kilobytes * 1024) as u64).unwrap();
    }

    pub(crate) fn forbid_writing(&self) {
        assert!(Self::command("mount", &["-o", "remount,ro"], &self.0));
    }

    fn empty(&self) {
        let _ = fs::remove_file(self.filler());
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        Self::command("umount", &["-l"], &self.0);
    }
}

#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn a_disk_that_is_really_full_stops_the_create_or_knows_it() {
    let cases: Vec<(bool, usize)> = [false, true]
        .into_iter()
        .flat_map(|used| (0..=160).step_by(8).map(move |left| (used, left)))
        .collect();
    let cases = sample(cases, 4);
    if Disk::mount(&Home::new()).is_none() {
        return;
    }
    try_each("disks with a little room", 4, &cases, |served, number, (used, left)| {
        let (home, intent) = (served.home(), Intent::number(number));
        let disk = Disk::mount(&home).unwrap();
        if *used {
            home.ok(["attempts"]);
        }
        disk.leave(*left);
        let ended = home.run(intent.arguments());
        assert!(matches!(ended.code, Some(0 | 3)), "{left} KB left: {ended}");
        disk.empty();
        intent.is_kept(served, &home, &ended)
    });
}

#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn home_that_may_not_be_written_stops_create_and_is_still_read() {
    let served = Served::unlimited();
    for made in [0, 1] {
        let home = served.home();
        let Some(disk) = Disk::mount(&home) else {
            return;
        };
        for number in 0..made {
            home.ok(Intent::number(number).arguments());
        }
        disk.forbid_writing();
        let intent = Intent::number(2 + made);
        home.run(intent.arguments()).refused(3, "journal");
        assert!(intent.bookings(&served).is_empty());
        if made > 0 {
            assert_eq!(home.list("bookings").len(), made);
            home.ok(["attempts", "--json"]);
        }
    }
}

/// Runs a booking request with its standard output sent elsewhere by the shell.
fn with_output_to(home: &Home, intent: &Intent, redirection: &str) -> (Option<i32>, String) {
    let mut shell = home.program("bash");
    let script = format!("set -o pipefail; \"$@\" {redirection}");
    shell.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_bookctl")]);
    shell.args(intent.arguments()).stdin(Stdio::null());
    let ended = Running::start(shell).end();
    (ended.code, ended.stderr)
}

/// Standard output that is full, closed, or a pipe that nobody reads: the booking is known all the
/// same.
#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn a_result_that_cannot_be_written_is_not_forgotten() {
    let served = Served::unlimited();
    let ways = [">/dev/full", ">/dev/full 2>/dev/full", ">&-", "| head -0", ">&- 2>&-"];
    for (number, way) in ways.into_iter().enumerate() {
        let (home, intent) = (served.home(), Intent::number(number));
        let (code, stderr) = with_output_to(&home, &intent, way);
        let made = intent.bookings(&served);
        assert_eq!(made.len(), 1, "{way}: {stderr}");
        let id = text(&made[0], "id");
        let known = attempts(&home);
        assert_eq!(known[0].booking_id.as_ref(), Some(&id), "{way}");
        if way == ">/dev/full" {
            assert_eq!(code, Some(1), "{stderr}");
            assert!(stderr.contains(&id), "{stderr}");
        }
    }
}

#[test]
#[ignore = "needs root: it mounts a disk, or makes another user's files"]
fn help_and_version_that_cannot_be_written_say_so() {
    for line in ["--help", "-h", "show --help", "--version", "--version --verbose"] {
        let home = Home::new();
        let mut shell = home.program("bash");
        let script = format!("\"$0\" {line} >/dev/full");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_bookctl")]);
        let output = Running::start(shell).ends(1);
        let says = "the result could not be written to stdout";
        output.tells(says);
    }
}
