//! A proxy before a served sandbox that passes everything on, and spoils the answers to creates as
//! a test wants it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::HANG;
use super::accepting::Accepting;
use super::listening::until;

/// What becomes of the answer to a booking request.
#[derive(Clone)]
pub(crate) enum Spoil {
    /// It arrives as it is.
    Nothing,
    /// Its first bytes, then the end of the connection.
    Cut(usize),
    /// Its first bytes, then a reset of the connection.
    Reset(usize),
    /// Its first bytes, then nothing more on a connection that stays open.
    Stall(usize),
    /// All of it, a byte at a time.
    Drip,
    /// Something else in its place, then the end of the connection.
    Changed(Change),
    /// The request itself is lost after its first bytes: the service never sees the rest.
    LostRequest(usize),
}

/// What an answer is turned into.
type Change = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

impl Spoil {
    pub(crate) fn changed(change: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Spoil::Changed(Arc::new(change))
    }
}

/// The proxy; it ends with the test.
pub(crate) struct Proxy {
    base_url: String,
    shared: Arc<Shared>,
    _accepting: Accepting,
}

struct Shared {
    upstream: String,
    spoil: Mutex<Spoil>,
    /// How many answers are spoiled yet; then the network is well again.
    left: AtomicUsize,
    /// How many booking requests came.
    creates: AtomicUsize,
    /// Whether a booking request was answered with all that the service said.
    whole: AtomicBool,
}

impl Proxy {
    /// One that spoils the first `times` answers to creates.
    pub(crate) fn start(upstream: &str, spoil: Spoil, times: usize) -> Self {
        let shared = Arc::new(Shared {
            upstream: upstream.trim_start_matches("http://").to_owned(),
            spoil: Mutex::new(spoil),
            left: AtomicUsize::new(times),
            creates: AtomicUsize::new(0),
            whole: AtomicBool::new(false),
        });
        let serving = shared.clone();
        let accepting = Accepting::at_once(0, move |stream| serving.serve(stream));
        Proxy { base_url: accepting.url(), shared, _accepting: accepting }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Whether any create was answered with all that the service said.
    pub(crate) fn passed_a_whole_answer(&self) -> bool {
        self.shared.whole.load(Ordering::SeqCst)
    }

    /// Lets everything pass from now on.
    pub(crate) fn behave(&self) {
        self.shared.left.store(0, Ordering::SeqCst);
    }

    /// Waits until a booking request has come.
    pub(crate) fn wait_for_create(&self) {
        until("a create comes", || self.shared.creates.load(Ordering::SeqCst) > 0);
    }
}

impl Shared {
    /// Serves one connection until either side has enough of it; that is nobody's fault here.
    fn serve(&self, mut client: TcpStream) {
        client.set_nodelay(true).unwrap();
        client.set_read_timeout(Some(HANG)).unwrap();
        while let Some(()) = self.pass_on(&mut client) {}
    }

    /// One request and its answer; `None` where the connection is over.
    fn pass_on(&self, client: &mut TcpStream) -> Option<()> {
        let head = read_head(client)?;
        let is_create = head.starts_with(b"POST /v1/bookings HTTP");
        let body_length = content_length(&head);
        let spoil = self.next_spoil(is_create);
        // What stays unread when a connection is closed makes the end of it a reset.
        let kept_back = usize::from(matches!(spoil, Spoil::Reset(_)) && body_length > 0);
        let mut body = vec![0; body_length];
        if kept_back > 0 {
            while client.peek(&mut body).ok()? < body_length {
                std::thread::sleep(Duration::from_millis(1));
            }
        } else {
            client.read_exact(&mut body).ok()?;
        }
        let head = String::from_utf8(head).unwrap();
        let address = client.local_addr().ok()?.to_string();
        let mut request = head.replace(&address, &self.upstream).into_bytes();
        request.extend_from_slice(&body);
        let mut upstream = TcpStream::connect(&self.upstream).ok()?;
        upstream.set_read_timeout(Some(HANG)).unwrap();
        if let Spoil::LostRequest(bytes) = spoil {
            let _ = upstream.write_all(&request[..bytes.min(request.len() - 1)]);
            self.count(is_create);
            return None;
        }
        upstream.write_all(&request).ok()?;
        let mut answer = read_head(&mut upstream)?;
        let mut rest = vec![0; content_length(&answer)];
        upstream.read_exact(&mut rest).ok()?;
        answer.extend_from_slice(&rest);
        self.count(is_create);
        self.answer(client, &answer, &spoil, is_create)
    }

    fn count(&self, is_create: bool) {
        self.creates.fetch_add(usize::from(is_create), Ordering::SeqCst);
    }

    fn next_spoil(&self, is_create: bool) -> Spoil {
        let spoils = is_create
            && self
                .left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                .is_ok();
        match spoils {
            true => self.spoil.lock().unwrap().clone(),
            false => Spoil::Nothing,
        }
    }

    fn answer(
        &self,
        client: &mut TcpStream,
        answer: &[u8],
        spoil: &Spoil,
        is_create: bool,
    ) -> Option<()> {
        let first = |bytes: usize| &answer[..bytes.min(answer.len())];
        let sent = match spoil {
            Spoil::Cut(bytes) | Spoil::Reset(bytes) | Spoil::Stall(bytes) => first(*bytes),
            _ => answer,
        };
        if is_create && sent.len() == answer.len() && !matches!(spoil, Spoil::Changed(_)) {
            self.whole.store(true, Ordering::SeqCst);
        }
        match spoil {
            Spoil::Drip => {
                for byte in sent {
                    client.write_all(&[*byte]).ok()?;
                    std::thread::sleep(Duration::from_micros(300));
                }
            }
            Spoil::Changed(change) => client.write_all(&change(answer)).ok()?,
            _ => client.write_all(sent).ok()?,
        }
        match spoil {
            Spoil::Nothing | Spoil::Drip => Some(()),
            Spoil::Stall(_) => {
                // Until the other side gives up.
                let _ = client.read(&mut [0]);
                None
            }
            Spoil::Reset(_) => {
                // A reset overtakes what was sent before it.
                std::thread::sleep(Duration::from_millis(2));
                None
            }
            Spoil::Cut(_) | Spoil::Changed(_) | Spoil::LostRequest(_) => {
                let _ = client.shutdown(Shutdown::Both);
                None
            }
        }
    }
}

/// A start line and headers with the blank line after them, and not a byte more.
pub(super) fn read_head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    Some(head)
}

fn content_length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    length.map_or(0, |length| length.trim().parse().unwrap())
}
