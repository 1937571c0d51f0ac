//! A connection to PostgreSQL that is counted, and cut.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::accepting::Accepting;

/// Passes bytes on between clients and a server, and cuts the connections as it is told.
pub(crate) struct Wire {
    pub(crate) port: u16,
    _accepting: Accepting,
    /// Cuts a connection after so many commits, once each was passed on, and before it is answered;
    /// 0 cuts none.
    pub(crate) cut_at: Arc<AtomicUsize>,
    pub(crate) cuts: Arc<AtomicUsize>,
    /// How often a client sent something after it was answered.
    pub(crate) round_trips: Arc<AtomicUsize>,
}

impl Wire {
    pub(crate) fn to(server: u16) -> Self {
        let counts: [Arc<AtomicUsize>; 3] = std::array::from_fn(|_| Arc::default());
        let [cut_at, cuts, round_trips] = counts.clone();
        let accepting = Accepting::one_by_one(0, move |client| {
            let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
            let [cut_at, cuts, counted] = counts.clone();
            pass(client, server, cut_at, cuts, counted);
        });
        Wire { port: accepting.address.port(), _accepting: accepting, cut_at, cuts, round_trips }
    }
}

fn pass(
    client: TcpStream,
    server: TcpStream,
    cut_at: Arc<AtomicUsize>,
    cuts: Arc<AtomicUsize>,
    round_trips: Arc<AtomicUsize>,
) {
    let (mut from_server, mut to_client) =
        (server.try_clone().unwrap(), client.try_clone().unwrap());
    let is_cut = Arc::new(AtomicBool::new(false));
    let cut = is_cut.clone();
    let is_answered = Arc::new(AtomicBool::new(true));
    let answered = is_answered.clone();
    std::thread::spawn(move || {
        let mut bytes = [0; 65536];
        while let Ok(count @ 1..) = from_server.read(&mut bytes) {
            answered.store(true, Ordering::SeqCst);
            if cut.load(Ordering::SeqCst) || to_client.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = to_client.shutdown(std::net::Shutdown::Both);
    });
    std::thread::spawn(move || {
        let (mut from_client, mut to_server) = (client, server);
        let mut bytes = [0; 65536];
        while let Ok(count @ 1..) = from_client.read(&mut bytes) {
            if is_answered.swap(false, Ordering::SeqCst) {
                round_trips.fetch_add(1, Ordering::SeqCst);
            }
            let is_commit = bytes[..count].windows(6).any(|it| it == b"COMMIT");
            if is_commit
                && cut_at.load(Ordering::SeqCst) > 0
                && cut_at.fetch_sub(1, Ordering::SeqCst) == 1
            {
                is_cut.store(true, Ordering::SeqCst);
                cuts.fetch_add(1, Ordering::SeqCst);
            }
            if to_server.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = to_server.shutdown(std::net::Shutdown::Write);
    });
}
