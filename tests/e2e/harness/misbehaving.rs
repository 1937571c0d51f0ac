//! A booking service of its own that breaks HTTP where a test tells it to, and keeps a ledger of
//! what it committed.
//!
//! It follows the contract for creates, reads and a search of slots: it honours idempotency keys,
//! whatever it answers.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::accepting::Accepting;
use super::misbehaviour::{Answer, answer};
use super::proxy::read_head;
use super::{HANG, text};

/// How long a connection may say nothing before the service gives it up.
const IDLE: Duration = Duration::from_secs(30);

/// A request as the service sees it, before it decides what to do with it.
pub(crate) struct Arrived {
    pub(crate) is_create: bool,
    /// The idempotency key of a booking request; else the path.
    pub(crate) key: String,
    /// How many booking requests of this key, or requests of this path, came before.
    pub(crate) earlier: usize,
}

/// When the service makes the booking, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commit {
    Never,
    BeforeTheAnswer,
    /// So long after the answer, or after the connection ended without one.
    After(Duration),
}

/// What the service does with a request.
#[derive(Clone)]
pub(crate) struct Act {
    pub(crate) commit: Commit,
    pub(crate) answer: Answer,
    /// Held before anything is done.
    held: Option<Gate>,
    /// Held between the commit and the answer.
    answer_held: Option<Gate>,
}

impl Act {
    pub(crate) fn new(commit: Commit, answer: Answer) -> Self {
        Act { commit, answer, held: None, answer_held: None }
    }

    /// As the contract says it.
    pub(crate) fn proper() -> Self {
        Act::new(Commit::BeforeTheAnswer, Answer::Proper)
    }

    /// Refused with this status and one of the service's documents; nothing is made.
    pub(crate) fn refused(status: u16) -> Self {
        Act::new(Commit::Never, Answer::Refused(status))
    }

    /// The booking is made, and the connection ends without an answer.
    pub(crate) fn lost() -> Self {
        Act::new(Commit::BeforeTheAnswer, Answer::Close)
    }

    /// The same, once the gate opens.
    pub(crate) fn held(mut self, gate: &Gate) -> Self {
        self.held = Some(gate.clone());
        self
    }

    /// The same, with the answer held until the gate opens.
    pub(crate) fn answer_held(mut self, gate: &Gate) -> Self {
        self.answer_held = Some(gate.clone());
        self
    }
}

/// Holds whoever comes until it is opened.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<GateState>, Condvar)>);

#[derive(Default)]
struct GateState {
    open: bool,
    arrived: usize,
}

impl Gate {
    pub(crate) fn open(&self) {
        let (state, changed) = &*self.0;
        lock(state).open = true;
        changed.notify_all();
    }

    /// Waits until so many have come to it.
    #[track_caller]
    pub(crate) fn wait_for(&self, arrived: usize) {
        let (state, changed) = &*self.0;
        let came = changed.wait_timeout_while(lock(state), HANG, |it| it.arrived < arrived);
        let came = came.unwrap_or_else(PoisonError::into_inner);
        assert!(!came.1.timed_out(), "no request came to the gate");
    }

    /// Whether anything has come to it.
    pub(crate) fn has_held(&self) -> bool {
        lock(&self.0.0).arrived > 0
    }

    fn pass(&self) {
        let (state, changed) = &*self.0;
        let mut state = lock(state);
        state.arrived += 1;
        changed.notify_all();
        // A test that fails never opens it.
        drop(changed.wait_timeout_while(state, 3 * HANG, |it| !it.open));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A booking request that reached the service whole.
#[derive(Clone, Debug)]
pub(crate) struct Posted {
    pub(crate) key: String,
    pub(crate) request: Value,
}

/// A booking that the service made.
#[derive(Clone, Debug)]
pub(crate) struct Committed {
    pub(crate) key: String,
    pub(crate) request: Value,
    pub(crate) id: String,
}

impl Committed {
    pub(crate) fn guest(&self) -> String {
        text(&self.request["customer"], "name")
    }
}

type Plan = dyn Fn(&Arrived) -> Act + Send + Sync;

struct Shared {
    plan: Mutex<Arc<Plan>>,
    posted: Mutex<Vec<Posted>>,
    ledger: Mutex<Vec<Committed>>,
    paths: Mutex<Vec<String>>,
    /// Requests under way, what is committed after their answers included.
    under_way: AtomicUsize,
}

/// The service; it ends with this value.
pub(crate) struct Misbehaving {
    base_url: String,
    shared: Arc<Shared>,
    _accepting: Accepting,
}

impl Misbehaving {
    /// One that does with each request what `plan` says.
    pub(crate) fn start(plan: impl Fn(&Arrived) -> Act + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared {
            plan: Mutex::new(Arc::new(plan)),
            posted: Mutex::default(),
            ledger: Mutex::default(),
            paths: Mutex::default(),
            under_way: AtomicUsize::new(0),
        });
        let serving = shared.clone();
        let accepting = Accepting::at_once(0, move |stream| serving.serve(stream));
        Misbehaving { base_url: accepting.url(), shared, _accepting: accepting }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Another plan from now on.
    pub(crate) fn plan(&self, plan: impl Fn(&Arrived) -> Act + Send + Sync + 'static) {
        *lock(&self.shared.plan) = Arc::new(plan);
    }

    /// Does from now on what the contract says.
    pub(crate) fn behave(&self) {
        self.plan(|_| Act::proper());
    }

    /// Every booking request that came whole, in order.
    pub(crate) fn posted(&self) -> Vec<Posted> {
        lock(&self.shared.posted).clone()
    }

    /// Every booking that was made, in order.
    pub(crate) fn ledger(&self) -> Vec<Committed> {
        lock(&self.shared.ledger).clone()
    }

    /// Waits until nothing is under way, late commits included.
    #[track_caller]
    pub(crate) fn wait_until_idle(&self) {
        let deadline = Instant::now() + 3 * HANG;
        while self.shared.under_way.load(Ordering::SeqCst) > 0 {
            assert!(Instant::now() < deadline, "the service is never idle");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A request that was read but for its last byte: whoever closes the connection then resets it.
struct Request {
    method: String,
    path: String,
    key: Option<String>,
    body: Value,
    /// Whether a byte of it is still to be read.
    unread: bool,
}

impl Shared {
    fn serve(&self, mut client: TcpStream) {
        let prepared = client.set_nodelay(true).and(client.set_read_timeout(Some(IDLE)));
        // What never ends is given up, too.
        let prepared = prepared.and(client.set_write_timeout(Some(IDLE)));
        while prepared.is_ok()
            && let Some(request) = read(&mut client)
        {
            self.under_way.fetch_add(1, Ordering::SeqCst);
            let goes_on = self.handle(client, request);
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            match goes_on {
                Some(kept) => client = kept,
                None => return,
            }
        }
    }

    /// Answers one request; the connection, where it goes on.
    fn handle(&self, mut client: TcpStream, request: Request) -> Option<TcpStream> {
        let is_create = request.method == "POST" && request.path == "/v1/bookings";
        let key = request.key.clone().filter(|_| is_create);
        let key = key.unwrap_or_else(|| request.path.clone());
        let act = self.act(is_create, &key, &request);
        if let Some(gate) = &act.held {
            gate.pass();
        }
        let (status, document) = match is_create {
            true if act.commit == Commit::BeforeTheAnswer => self.commit(&key, &request.body),
            true => (201, booking("bk_never_made", &request.body)),
            false => self.read_only(&request),
        };
        if let Some(gate) = &act.answer_held {
            gate.pass();
        }
        let resets = matches!(act.answer, Answer::Reset);
        if request.unread && !resets {
            client.read_exact(&mut [0]).ok()?;
        }
        let goes_on = answer(&mut client, &act.answer, status, &document);
        let client = match goes_on {
            true => Some(client),
            false => {
                if !resets {
                    let _ = client.shutdown(Shutdown::Both);
                }
                drop(client);
                None
            }
        };
        if let (Commit::After(pause), true) = (act.commit, is_create) {
            std::thread::sleep(pause);
            self.commit(&key, &request.body);
        }
        client
    }

    fn act(&self, is_create: bool, key: &str, request: &Request) -> Act {
        let earlier = if is_create {
            let mut posted = lock(&self.posted);
            let earlier = posted.iter().filter(|it| it.key == key).count();
            posted.push(Posted { key: key.to_owned(), request: request.body.clone() });
            earlier
        } else {
            let mut paths = lock(&self.paths);
            let earlier = paths.iter().filter(|it| *it == key).count();
            paths.push(key.to_owned());
            earlier
        };
        let plan = lock(&self.plan).clone();
        plan(&Arrived { is_create, key: key.to_owned(), earlier })
    }

    /// "status 201 when it was created now, 200 when the idempotency key returned an earlier one"
    /// (contract)
    fn commit(&self, key: &str, request: &Value) -> (u16, Value) {
        let mut ledger = lock(&self.ledger);
        if let Some(made) = ledger.iter().find(|made| made.key == key) {
            return (200, made_before(booking(&made.id, &made.request)));
        }
        let id = format!("bk_{:06}", ledger.len() + 1);
        ledger.push(Committed { key: key.to_owned(), request: request.clone(), id: id.clone() });
        (201, booking(&id, request))
    }

    fn read_only(&self, request: &Request) -> (u16, Value) {
        if request.path == "/v1/availability/search" {
            return (200, slots(&request.body));
        }
        let id = request.path.strip_prefix("/v1/bookings/").unwrap_or_default();
        let ledger = lock(&self.ledger);
        match ledger.iter().find(|made| made.id == id) {
            Some(made) => (200, booking(&made.id, &made.request)),
            None => (404, json!({"error": "not found", "open_bookings": []})),
        }
    }
}

/// A booking that says that it was made long ago.
fn made_before(mut booking: Value) -> Value {
    booking["created_at"] = json!("2020-01-01T00:00:00Z");
    booking
}

/// The booking that a request asks for.
pub(super) fn booking(id: &str, request: &Value) -> Value {
    json!({
        "id": id,
        "object": "booking",
        "status": "confirmed",
        "provider": request.get("provider").cloned().unwrap_or(json!("provider_a")),
        "venue_id": request["venue_id"],
        "venue_name": "The Unreliable",
        "datetime": request["datetime"],
        "party_size": request["party_size"],
        "customer": request["customer"],
        "created_at": "2031-01-01T00:00:00Z",
        "updated_at": "2031-01-01T00:00:00Z",
    })
}

/// One slot, at the time that was asked for.
fn slots(request: &Value) -> Value {
    json!({
        "object": "list",
        "venue_id": request["venue_id"],
        "provider": "provider_a",
        "slots": [{
            "availability_id": "slot_found",
            "datetime": request["datetime"],
            "party_size": request["party_size"],
            "duration_minutes": 90,
        }],
    })
}

/// Reads a request but for its last byte; `None` where the other side is done.
fn read(client: &mut TcpStream) -> Option<Request> {
    let head = String::from_utf8(read_head(client)?).ok()?;
    let mut start = head.lines().next()?.split(' ').map(str::to_owned);
    let header = |name: &str| -> Option<String> {
        head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let length: usize = header("content-length").map_or(Some(0), |length| length.parse().ok())?;
    let mut body = vec![0; length];
    if length > 0 {
        client.read_exact(&mut body[..length - 1]).ok()?;
        let last = client.peek(&mut body[length - 1..]).ok()?;
        if last == 0 {
            return None;
        }
    }
    Some(Request {
        method: start.next()?,
        path: start.next()?,
        key: header("idempotency-key"),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        unread: length > 0,
    })
}

/// Writes it and says whether the other side still takes it.
pub(super) fn written(client: &mut TcpStream, bytes: &[u8]) -> bool {
    client.write_all(bytes).is_ok()
}
