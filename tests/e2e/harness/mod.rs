//! What the tests stand on: a blank home, a served sandbox, a terminal, a server that misbehaves on
//! purpose.

mod accepting;
#[cfg(unix)]
mod browser;
#[cfg(unix)]
mod disk;
#[cfg(unix)]
pub(crate) mod document;
pub(crate) mod fixed;
#[cfg(unix)]
mod foreign;
mod home;
pub(crate) mod http;
pub(crate) mod listening;
mod misbehaving;
mod misbehaviour;
mod postgres;
mod proxy;
mod running;
mod scripted;
mod served;
#[cfg(unix)]
mod strace;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod wire;

use std::io::Write;
use std::net::TcpListener;
#[cfg(unix)]
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[cfg(unix)]
pub(crate) use browser::Browser;
#[cfg(unix)]
pub(crate) use disk::{Disk, Step, run_recorded, run_recorded_injected};
#[cfg(unix)]
pub(crate) use foreign::{FOREIGN_KEY, Foreign};
#[cfg(unix)]
pub(crate) use home::for_guest;
pub(crate) use home::{GUEST, Home, each, has, has_fields, holds, text, words};
pub(crate) use misbehaving::{Act, Commit, Committed, Gate, Misbehaving};
pub(crate) use misbehaviour::{Answer, Different, Draw, by_chance};
pub(crate) use postgres::{Postgres, unprivileged};
pub(crate) use proxy::{Proxy, Spoil};
#[cfg(unix)]
pub(crate) use running::full_pipe;
pub(crate) use running::{Output, Running};
pub(crate) use scripted::{Reply, Request, Scripted};
pub(crate) use served::Served;
#[cfg(unix)]
pub(crate) use strace::{Stopped, SystemCall, run_injected, run_traced, strace_is_missing};
#[cfg(unix)]
pub(crate) use terminal::{Ended, Key, Styled, Terminal};
#[cfg(unix)]
pub(crate) use wire::Wire;

/// After this, whatever a test waits for is taken to hang. An emulated Windows answers each call of
/// a program through one server, so a command that takes 0.3 s there takes ten times as long beside
/// other work.
pub(crate) const HANG: Duration = Duration::from_secs(if cfg!(windows) { 90 } else { 20 });

/// For what must not wait where the wait would otherwise last ten seconds or for ever. Far more
/// than what is promised (200 ms after Ctrl-C, a few seconds for what does not answer): machines
/// that test are busy.
pub(crate) const SOON: Duration = Duration::from_secs(8);

/// A process that is killed with this value.
pub(crate) struct Owned(pub(crate) Child);

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether a program of the system is there.
pub(crate) fn installed(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", "command -v \"$0\"", program])
        .stdout(Stdio::null())
        .status();
    found.is_ok_and(|status| status.success())
}

/// A port that nothing listens at.
pub(crate) fn free_port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap().port()
}

/// Makes a named pipe, and the folder for it.
#[cfg(unix)]
pub(crate) fn fifo(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// Says that something cannot be tested here. The line goes past the test runner's capture, which
/// shows only what a failed test prints. Under `BOOKCTL_TEST_STRICT=1`, as in CI, the test fails.
#[track_caller]
pub(crate) fn skipped(why: &str) {
    writeln!(std::io::stderr(), "skipped: {why}").unwrap();
    let is_strict = std::env::var_os("BOOKCTL_TEST_STRICT").is_some_and(|it| it == "1");
    assert!(!is_strict, "this cannot be tested here: {why}");
}

/// A shell starts what it puts into the background with signals ignored, and so does `nohup`;
/// whatever is started from there ignores them too. A signal that has a handler is not ignored, and
/// a new program has its default again.
#[cfg(unix)]
fn pass_on_no_ignored_signal() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            if ignored.unwrap_or_default() & (1 << (signal - 1)) != 0 {
                signal_hook::flag::register(signal, std::sync::Arc::default()).unwrap();
            }
        }
    });
}

/// A number from 0 to 1 that looks like chance and is the same in each run (splitmix64).
pub(crate) fn random(seed: u64) -> f64 {
    let mut bits = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
